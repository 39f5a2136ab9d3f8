# SPDX-License-Identifier: BSD-3-Clause
"""Runs controls on the paths of a search and collects the outcomes."""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property

from westwood.engines.contract import Job
from westwood.experiments.control import Control
from westwood.results.columns import Row
from westwood.results.metrics import percentile
from westwood.scenario.paths import population
from westwood.scenario.paths.environment import Environment, scenario
from westwood.search import objective
from westwood.search.objective import REFERENCES, REPEATS, TARGETS
from westwood.search.outcome import Outcome, PathOutcomes

LEAST_PATHS = 30
SHARES: Mapping[str, int] = {  # percentage of the paths for each family
    "alone": 14,
    "wire": 20,
    "bursts": 16,
    "shared": 26,
    "crowd": 6,
    "late": 4,
    "brief": 4,
    "short": 3,
    "distant": 2,
    "uplink": 2,
    "collapse": 3,
}
_RESAMPLED = 400  # bootstrap resamples for an interval

RunJobs = Callable[[Iterable[Job]], Generator[tuple[int, list[Row]]]]


@dataclass(frozen=True)
class PathTestSet:
    """The paths that controls run on, by family."""

    families: Mapping[str, tuple[Environment, ...]]

    @classmethod
    def drawn(cls, purpose: str, seed: int, count: int, packets_most: int) -> PathTestSet:
        """Draws about this many paths, divided among the families that targets use."""
        counts = {family: max(2, round(count * share / 100)) for family, share in SHARES.items()}
        return cls(
            {
                family: tuple(population.paths(purpose, seed, mine, family, packets_most))
                for family, mine in counts.items()
            }
        )

    @cached_property
    def paths(self) -> tuple[tuple[str, Environment], ...]:
        """All paths in order, with their families."""
        return tuple((name, path) for name, all_ in self.families.items() for path in all_)

    @cached_property
    def runs(self) -> tuple[tuple[int, Environment], ...]:
        """Each run of a control: the index of its path, and the path with the run's seed."""
        return tuple(
            (place, population.again(path, repeat))
            for place, (family, path) in enumerate(self.paths)
            for repeat in range(REPEATS.get(family, 1))
        )

    def seen(
        self, control_outcomes: Sequence[Outcome], references: Mapping[str, Sequence[Outcome]]
    ) -> dict[str, list[PathOutcomes]]:
        """Pairs a control's outcomes with those of the references, path by path."""
        path_outcomes_of: dict[str, list[PathOutcomes]] = {}
        others = zip(*(references[name] for name in REFERENCES), strict=True)
        for (family, path), mine, theirs in zip(self.paths, control_outcomes, others, strict=True):
            path_outcomes_of.setdefault(family, []).append(PathOutcomes(path, mine, *theirs))
        return path_outcomes_of


def outcomes(
    controls: Sequence[Control], test_set: PathTestSet, run_jobs: RunJobs
) -> Iterator[tuple[int, list[Outcome]]]:
    """Runs all controls on all paths; yields each control's index and outcomes as it finishes."""
    count = len(test_set.runs)
    jobs = (
        Job(scenario(path, tested_control.cc, tested_control.settings), [path.seed])
        for tested_control in controls
        for _, path in test_set.runs
    )
    outcomes_of: list[dict[int, Outcome]] = [{} for _ in controls]
    with closing(run_jobs(jobs)) as runs:
        for place, rows in runs:
            control, run = divmod(place, count)
            outcomes_of[control][run] = Outcome.of(rows)
            if len(outcomes_of[control]) == count:
                yield control, _by_path(test_set, outcomes_of[control])
                outcomes_of[control] = {}


def _by_path(test_set: PathTestSet, runs: Mapping[int, Outcome]) -> list[Outcome]:
    several: list[list[Outcome]] = [[] for _ in test_set.paths]
    for number, (place, _) in enumerate(test_set.runs):
        several[place].append(runs[number])
    return [Outcome.mean(repeats) for repeats in several]


def effect_interval(
    left: Mapping[str, Sequence[PathOutcomes]], right: Mapping[str, Sequence[PathOutcomes]]
) -> tuple[float, float]:
    """Returns the 95 % interval of the cost of `right` less `left`'s, by a paired bootstrap."""
    pairs = {
        target.name: [
            (target.quantity.read(a), target.quantity.read(b))
            for a, b in zip(left[target.family], right[target.family], strict=True)
        ]
        for target in TARGETS
    }
    counts = {target.name: len(pairs[target.name]) for target in TARGETS}
    choices, effects = random.Random(1), []
    for _ in range(_RESAMPLED):
        drawn = {
            family: choices.choices(range(counts[name]), k=counts[name])
            for name, family in {t.name: t.family for t in TARGETS}.items()
        }
        costs = [
            objective.cost(
                {
                    t.name: t.of([pairs[t.name][place][side] for place in drawn[t.family]])
                    for t in TARGETS
                }
            )
            for side in (0, 1)
        ]
        effects.append(costs[1] - costs[0])
    return percentile(effects, 0.025), percentile(effects, 0.975)
