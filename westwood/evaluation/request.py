# SPDX-License-Identifier: BSD-3-Clause
"""States what is evaluated, and what runs at a point."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from westwood import __version__
from westwood.engines.contract import Engine, MoreColumns
from westwood.engines.simulator import SIMULATOR
from westwood.errors import InputError
from westwood.evaluation.benchmark.targets import Target
from westwood.evaluation.criterion import Criterion, Effort, Part, RunKey, Runs
from westwood.experiments.control import Control
from westwood.results.columns import Row
from westwood.scenario import Scenario

MOST_LOOKS = 10**9


def is_sharing(criterion: Criterion | Target) -> TypeGuard[Criterion]:
    """Returns whether it judges what others keep beside a control."""
    return isinstance(criterion, Criterion) and criterion.compare == "kept"


@dataclass(frozen=True)
class Request:
    """States what is evaluated, against what, by which criteria, and how thoroughly."""

    controls: Sequence[Control]
    against: Control
    criteria: Mapping[str, Sequence[Criterion | Target]]  # by the part's name
    harnesses: Sequence[Part]
    effort: Effort
    seed: int
    engine: Engine = SIMULATOR
    also: Engine | None = None  # that judges, too, where a verdict of sharing was decided

    def state(self) -> dict[str, Any]:
        """Returns what decides the answers."""
        second = {"also": [self.also.name, self.also.title]} if self.also else {}
        return {
            **second,
            "controls": [control.identity() for control in self.controls],
            "against": self.against.identity(),
            "criteria": [criterion.name for all_ in self.criteria.values() for criterion in all_],
            "harnesses": [[part.name, *part.names] for part in self.harnesses],
            "effort": self.effort.name,
            "paths": self.effort.paths,
            "calls_s": self.effort.calls_s,
            "seed": self.seed,
            "engine": [self.engine.name, self.engine.title],
            "version": __version__,
        }


@dataclass(frozen=True)
class Side:
    """The runs of a point with a control."""

    scenarios: Mapping[str, Scenario]  # by name
    seeds: Sequence[int]

    def each(self) -> Iterator[tuple[RunKey, Scenario]]:
        for scenario in self.scenarios.values():
            for seed in self.seeds:
                yield (scenario.hash, seed), scenario

    def of(self, rows_by_key: Mapping[RunKey, list[Row]]) -> list[Runs]:
        """Returns the runs, a mapping for each seed."""
        return [
            {name: rows_by_key[scenario.hash, seed] for name, scenario in self.scenarios.items()}
            for seed in self.seeds
        ]


@dataclass(frozen=True)
class PointRuns:
    """The runs of a point: with the control, with the reference, and with paced CUBIC."""

    control: Side
    reference: Side
    paced: Side
    more_columns: MoreColumns | None
    lacks: InputError | None = None  # a setting of the point

    def each(self) -> Iterator[tuple[RunKey, Scenario]]:
        for side in (self.control, self.reference, self.paced):
            yield from side.each()
