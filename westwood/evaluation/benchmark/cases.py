# SPDX-License-Identifier: BSD-3-Clause
"""Draws the cases that a control is judged on, from paths that no search draws.

A case is an environment and, in some sections, a cell of a table. It runs with the control and its
references on the same random numbers, in some sections with several seeds. earlier.py and wide.py
define the sections.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from westwood.experiments.control import Control
from westwood.scenario import Scenario
from westwood.scenario.paths import population
from westwood.scenario.paths.environment import Environment
from westwood.scenario.paths.environment import scenario as scenario_of

_PURPOSE = "judge"
PACKETS_MOST = 4_000_000  # most packets per run: 1 Gb/s for 48 s
_A_CELL = 1_000_000  # path numbers reserved for each cell


CUBIC, BBR, WESTWOOD = Control("cubic"), Control("bbr"), Control("westwood+")
CUBIC_AGAIN = Control("cubic", is_again=True)


@dataclass(frozen=True)
class Case:
    """An environment on which a control and its references run."""

    section: str
    cell: str  # cell of the section; empty if it has only one
    environment: Environment
    settings: Mapping[str, Any] = field(default_factory=dict)  # additional settings of the scenario
    seeds: int = 1

    def scenario(self, control: Control) -> Scenario:
        """Returns the scenario of the first run with this control."""
        return self.run(control, 0)[0]

    def run(self, control: Control, number: int) -> tuple[Scenario, int]:
        """Returns the scenario and the seed of run `number`."""
        number += self.seeds * control.is_again
        environment = population.again(self.environment, number)
        scenario = scenario_of(environment, control.cc, control.settings)
        scenario = scenario.with_settings(self.settings) if self.settings else scenario
        return scenario, environment.seed


# A name, and a function that adapts a drawn path; None if the path does not fit.
Cell = tuple[str, Callable[[Environment], Environment | None]]


@dataclass(frozen=True)
class Section:
    """A part of the table: how its cases are drawn, and what runs on them."""

    name: str
    says: str
    family: str  # family of the population
    cells: tuple[Cell, ...]
    share: float  # share of the requested paths for each cell
    against: tuple[Control, ...] = (CUBIC,)
    settings: Callable[[Environment], Mapping[str, Any]] = lambda environment: {}
    seeds: int = 1  # runs per case
    packets_most: int = PACKETS_MOST

    def paths_a_cell(self, paths: int) -> int:
        """Returns how many of the requested paths each cell has."""
        return max(4, round(self.share * paths))

    def runs(self, paths: int, controls: int) -> int:
        """Returns how many runs its cases have with so many controls and the references."""
        cases = len(self.cells) * self.paths_a_cell(paths)
        return cases * self.seeds * (len(self.against) + controls)

    def cases(self, seed: int, paths: int) -> Iterator[Case]:
        """Draws the cases of all cells; asking for more paths keeps the first ones."""
        count = self.paths_a_cell(paths)
        for place, (cell, fit) in enumerate(self.cells):
            numbers = itertools.count(place * _A_CELL)
            drawn = (
                population.path(_PURPOSE, seed, self.family, n, self.packets_most) for n in numbers
            )
            fitting = (case for case in map(fit, drawn) if case is not None)
            for environment in itertools.islice(fitting, count):
                settings = self.settings(environment)
                yield Case(self.name, cell, environment, settings, self.seeds)


def as_drawn(environment: Environment) -> Environment:
    """Returns a path as it was drawn."""
    return environment
