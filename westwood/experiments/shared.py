# SPDX-License-Identifier: BSD-3-Clause
"""Finds runs that several experiments share, so that each runs once.

A scenario's hash and the seed decide a run's outcome. Among equal runs one is executed, preferably
a traced one. The others copy its rows and put their own sweep's settings in front.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from westwood.engines.contract import Job
from westwood.results.columns import LOST_ON, Row, columns


@dataclass(frozen=True, slots=True)
class Use:
    """Identifies a run of an experiment: its number there, and its job."""

    experiment: str
    number: int
    job: Job


@dataclass(frozen=True)
class SharedRuns:
    """Holds the jobs to run, and what each run is used for, its own experiment first."""

    jobs: Sequence[Job]
    uses: Sequence[Sequence[Use]]

    def of(self, place: int, rows: list[Row]) -> Iterator[tuple[str, int, list[Row]]]:
        """Yields each use of a run: the experiment, the number there, and the rows."""
        runs_it, *others = self.uses[place]
        names = _names()
        yield runs_it.experiment, runs_it.number, rows
        for use in others:
            measured = [
                {
                    name: value
                    for name, value in row.items()
                    if name in names or name.startswith(LOST_ON)
                }
                for row in rows
            ]
            use_rows = [{**use.job.settings, **row} for row in measured]
            yield use.experiment, use.number, use_rows


@cache
def _names() -> frozenset[str]:
    return frozenset(column.name for column in columns())


def plan(jobs: Sequence[tuple[str, Job]], *, alone: bool) -> SharedRuns:
    """Plans the runs of all jobs; with `alone` each use has its own run."""
    first: dict[tuple[str, int], list[Use]] = {}
    todo, uses = [], []
    for name, number, job in sorted(
        _numbered(jobs), key=lambda numbered_job: numbered_job[2].more_columns is None
    ):
        seeds = []
        for place, seed in enumerate(job.seeds, start=number):
            use, key = Use(name, place, job), (job.scenario.hash, seed)
            if not alone and key in first and not job.more_columns:
                first[key].append(use)
                continue
            seeds.append(seed)
            uses.append([use])
            first.setdefault(key, uses[-1])
        todo.append(replace(job, seeds=seeds))
    return SharedRuns(todo, uses)


def _numbered(jobs: Sequence[tuple[str, Job]]) -> Iterator[tuple[str, int, Job]]:
    """Yields each job with the number of its first run in its experiment."""
    counts: Counter[str] = Counter()
    for name, job in jobs:
        yield name, counts[name], job
        counts[name] += len(job.seeds)
