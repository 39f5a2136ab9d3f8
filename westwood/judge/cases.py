# SPDX-License-Identifier: BSD-3-Clause
"""The cases that a control is judged on: paths of the population that no search draws.

A case is an environment and, in some sections, the cell of a table that it belongs to. It is run
with the control and with those that it is compared with, on the same random numbers; in sections
with several seeds so often. earlier.py and wide.py have the sections.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from westwood.scenario import Scenario
from westwood.search import population
from westwood.search.environment import Environment

_PURPOSE = "judge"
PACKETS_MOST = 4_000_000  # of a run: 1 Gb/s for 48 s
_A_CELL = 1_000_000  # numbers of paths


@dataclass(frozen=True)
class Control:
    """Names a congestion control and its settings."""

    cc: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    is_again: bool = False  # on other seeds than its case has: compared with itself

    @property
    def text(self) -> str:
        """Names it: its protocol, and what is set otherwise."""
        changed = ", ".join(f"{key}={value}" for key, value in self.settings.items())
        named = f"{self.cc} ({changed})" if changed else self.cc
        return f"{named}, other seeds" if self.is_again else named

    def __hash__(self) -> int:
        return hash(self.text)


CUBIC, BBR, WESTWOOD = Control("cubic"), Control("bbr"), Control("westwood+")
CUBIC_AGAIN = Control("cubic", is_again=True)


@dataclass(frozen=True)
class Case:
    """Describes what a control and its comparators are run on."""

    section: str
    cell: str  # of the section; empty where it has one only
    environment: Environment
    settings: Mapping[str, Any] = field(default_factory=dict)  # of its scenario, beyond
    seeds: int = 1

    def scenario(self, control: Control) -> Scenario:
        """What is run with a control in question, for the first time."""
        return self.run(control, 0)[0]

    def run(self, control: Control, number: int) -> tuple[Scenario, int]:
        """What is run for the time `number`, and its seed."""
        number += self.seeds * control.is_again
        environment = population.again(self.environment, number)
        made = population.scenario(environment, control.cc, control.settings)
        made = made.with_settings(self.settings) if self.settings else made
        return made, environment.seed


Cell = tuple[str, Callable[[Environment], Environment | None]]


@dataclass(frozen=True)
class Section:
    """Describes a part of the table: how its cases are drawn, and what becomes of them."""

    name: str
    says: str
    family: str  # of the population
    cells: tuple[Cell, ...]  # what runs over a path that was drawn; None: it does not fit
    share: float  # of the paths asked for that each cell gets
    against: tuple[Control, ...] = (CUBIC,)
    settings: Callable[[Environment], Mapping[str, Any]] = lambda environment: {}
    seeds: int = 1  # so often each case is run
    packets_most: int = PACKETS_MOST

    def cases(self, seed: int, paths: int) -> Iterator[Case]:
        """Draws the cases of all cells: the first ones stay as they are if more are drawn."""
        count = max(4, round(self.share * paths))
        for place, (cell, fit) in enumerate(self.cells):
            numbers = itertools.count(place * _A_CELL)
            drawn = (
                population.path(_PURPOSE, seed, self.family, n, self.packets_most) for n in numbers
            )
            fitting = (one for one in map(fit, drawn) if one is not None)
            for environment in itertools.islice(fitting, count):
                settings = self.settings(environment)
                yield Case(self.name, cell, environment, settings, self.seeds)


def as_drawn(environment: Environment) -> Environment:
    """Returns a path as it was drawn."""
    return environment
