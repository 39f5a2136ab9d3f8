# SPDX-License-Identifier: BSD-3-Clause
"""Sweeps survive: finished runs are on disk at once, and a later start does what is missing.

In the folder, while it runs:

    sweep.json             what is swept, by hashes: a resumed sweep must be the same one
    journal-N.jsonl        a line a finished run, written as it ends
    parts/N.parquet        a full journal as Parquet, which replaces it
    .lock                  held by the process that writes here

and at its end runs.parquet, in the order of points and seeds, in place of parts and journals. The
bytes of runs.parquet depend on the scenario only: not on workers, machines or interruptions.
"""

from __future__ import annotations

import errno
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from westwood.engines.contract import Engine, Job
from westwood.engines.pool import run_jobs
from westwood.engines.simulator import SIMULATOR
from westwood.errors import InputError, RunError
from westwood.experiments import experiment
from westwood.experiments.experiment import Experiment, Tracker
from westwood.results.columns import COST, Row, check_metric
from westwood.results.folder import Folder
from westwood.results.metrics import half_width
from westwood.results.rows import rows_frame
from westwood.units import parse_fraction

_OF_THIS_MACHINE = {column.name for column in COST}  # columns that the scenario does not decide
_A_PART = 2000  # runs
_STATE, _RUNS = "sweep.json", "runs.parquet"

RunJobs = Callable[[Iterable[Job]], Iterator[tuple[int, list[Row]]]]
Key = tuple[int, int]  # point, seed


@dataclass(frozen=True)
class Precision:
    """Adds seeds until every mean is known to this relative half width, or there are `most`."""

    relative: float
    metric: str = "goodput_bps"
    most: int = 1000


def precision(ci: object, metric: str, most: int) -> Precision:
    """Reads the precision asked for on the command line."""
    problem = 'expected a fraction more than 0 and at most 1, such as 0.02 or "2%"'
    try:
        relative = parse_fraction(ci)
    except InputError:
        raise InputError(problem, key="--ci", value=ci) from None
    if not relative > 0:
        raise InputError(problem, key="--ci", value=ci)
    check_metric(metric)
    if not 2 <= most <= 1_000_000:
        raise InputError("expected from 2 to 1000000", key="--max-seeds", value=most)
    return Precision(relative, metric, most)


class SweptRuns:
    """Keeps the runs of a sweep in its folder, under a lock while `opened`."""

    def __init__(self, folder: Folder, planned: Experiment, engine: Engine = SIMULATOR) -> None:
        self._folder, self.path = folder, folder.path
        self._planned, self._engine = planned, engine
        self._done: dict[Key, list[Row]] = {}
        self._journal: Any = None
        self._in_journal: list[tuple[Key, list[Row]]] = []
        self._number = 0

    @property
    def done(self) -> set[Key]:
        """The runs that are on disk."""
        return set(self._done)

    def runs(self) -> Iterator[tuple[Key, list[Row]]]:
        """Yields all runs, in order."""
        return iter(sorted(self._done.items()))

    def frame(self) -> pl.DataFrame:
        """Returns all rows, in order."""
        return rows_frame([row for _, rows in self.runs() for row in rows])

    @contextmanager
    def opened(self, *, resume: bool) -> Iterator[SweptRuns]:
        """Takes the lock, checks that the folder fits, reads what is there."""
        with self._folder.locked("sweep"):
            self._check(resume)
            self._read()
            try:
                yield self
            finally:
                if self._journal is not None:
                    self._journal.close()

    def _check(self, resume: bool) -> None:
        points = [[job.scenario.hash, dict(job.settings)] for job in self._planned.jobs]
        state = {"engine": self._engine.name, "points": points}
        differs = "holds another sweep: scenario, settings or protocols differ"
        if self._folder.holds("sweep", _STATE, state, resume=resume, differs=differs):
            return
        if resume and any(self.path.glob("*.parquet")):
            raise self._folder.error("holds no sweep to resume")
        self._folder.manifest(self._planned.manifest(self._engine.name), complete=False)
        self._folder.text("scenario.toml", self._planned.scenario.to_toml())
        self._folder.json(_STATE, state)

    def _read(self) -> None:
        for file in [self.path / _RUNS, *sorted(self.path.glob("parts/*.parquet"))]:
            if file.exists():
                self._done |= _by_run(pl.read_parquet(file))
        for file in sorted(self.path.glob("journal-*.jsonl")):
            number = int(file.stem.partition("-")[2])
            self._number = max(self._number, number)
            with file.open(encoding="utf-8") as lines:
                for line in lines:
                    if line.endswith("\n"):  # else the last one was cut off: not finished
                        run = json.loads(line)
                        self._done[run["point"], run["seed"]] = run["rows"]
        self._number += 1

    def add(self, key: Key, rows: list[Row]) -> None:
        """Takes the rows of a run that has ended; they are on disk when this returns."""
        point, seed = key
        kept = [
            {"point": point, **{k: v for k, v in row.items() if k not in _OF_THIS_MACHINE}}
            for row in rows
        ]
        line = (json.dumps({"point": point, "seed": seed, "rows": kept}) + "\n").encode("ascii")
        try:
            if self._journal is None:
                file = self.path / f"journal-{self._number:06}.jsonl"
                self._journal = file.open("ab", buffering=0)
            if self._journal.write(line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            problem = f"{self.path}: can't be written: {error.strerror or error}"
            raise RunError(f"{problem}; --resume goes on") from None
        self._done[key] = kept
        self._in_journal.append((key, kept))
        if len(self._in_journal) >= _A_PART:
            self._to_part()

    def _to_part(self) -> None:
        """Writes the full journal as Parquet. Dying between the steps leaves its runs twice."""
        rows = [row for _, run in self._in_journal for row in run]
        self._folder.frame(f"parts/{self._number:06}.parquet", rows_frame(rows))
        self._journal.close()
        (self.path / f"journal-{self._number:06}.jsonl").unlink()
        self._journal, self._in_journal = None, []
        self._number += 1

    def finish(self) -> Path:
        """Writes everything into runs.parquet, in order, and removes parts and journals."""
        path = self._folder.frame(_RUNS, self.frame())
        if self._journal is not None:
            self._journal.close()
            self._journal = None
        for file in [*self.path.glob("parts/*.parquet"), *self.path.glob("journal-*.jsonl")]:
            file.unlink()
        if (self.path / "parts").is_dir():
            (self.path / "parts").rmdir()
        seeds = dict.fromkeys(range(len(self._planned.jobs)), 0)
        for point, _ in self._done:
            seeds[point] += 1
        self._folder.manifest(
            {**self._planned.manifest(self._engine.name), "runs_a_point": list(seeds.values())}
        )
        return path


def _by_run(rows: pl.DataFrame) -> dict[Key, list[Row]]:
    """Groups a file's rows by run."""
    found: dict[Key, list[Row]] = {}
    for row in rows.iter_rows(named=True):
        found.setdefault((row["point"], row["seed"]), []).append(row)
    return found


def run(
    planned: Experiment,
    folder: Folder,
    *,
    resume: bool = False,
    workers: int | None = None,
    precision: Precision | None = None,
    track: Tracker,
    elsewhere: RunJobs | None = None,
    engine: Engine = SIMULATOR,
) -> tuple[pl.DataFrame, bool]:
    """Runs what is missing; returns the rows there are then, and whether that is all."""
    experiment.check_workers(workers)
    engine.check(planned.jobs)
    count = engine.workers if workers is None else workers
    with SweptRuns(folder, planned, engine).opened(resume=resume) as store:
        try:
            for wanted in _rounds(planned, store, precision):
                missing = sorted(wanted - store.done)
                jobs = _jobs(planned, missing)
                runs = (
                    elsewhere(jobs) if elsewhere else run_jobs(jobs, engine.prepare, workers=count)
                )
                for place, rows in track(runs, len(missing)):
                    store.add(missing[place], rows)
        except KeyboardInterrupt:
            return store.frame(), False
        store.finish()
        return store.frame(), True


def _jobs(planned: Experiment, missing: list[Key]) -> list[Job]:
    """Makes jobs of the missing runs, point by point, in their order."""
    seeds: dict[int, list[int]] = {}
    for point, seed in missing:
        seeds.setdefault(point, []).append(seed)
    return [replace(planned.jobs[point], seeds=chosen) for point, chosen in seeds.items()]


def _rounds(
    planned: Experiment, store: SweptRuns, precision: Precision | None
) -> Iterator[set[Key]]:
    """Yields the runs there should be: the scenario's seeds; then more where an interval is wide.

    A round is decided by whole rounds before it, so that a resumed sweep decides alike.
    """
    seeds = [planned.scenario.seeds] * len(planned.jobs)
    yield _keys(seeds)
    while precision is not None:
        values: list[dict[str, list[float]]] = [{} for _ in seeds]  # a dictionary a point, by flow
        for (point, seed), rows in store.runs():
            for row in rows if seed <= seeds[point] else ():
                values[point].setdefault(row["flow"], []).append(float(row[precision.metric]))
        more = [_enough(mine, count, precision) for mine, count in zip(values, seeds, strict=True)]
        if more == seeds:
            return
        seeds = more
        yield _keys(seeds)


def _keys(seeds: list[int]) -> set[Key]:
    return {(point, seed) for point, count in enumerate(seeds) for seed in range(1, count + 1)}


def _enough(values: dict[str, list[float]], count: int, precision: Precision) -> int:
    """Returns how many seeds a point's widest interval asks for, at most twice as many as now."""
    wanted = count
    for mine in values.values():
        known = [value for value in mine if not math.isnan(value)]
        mean = math.fsum(known) / len(known) if known else 0.0
        if len(known) < 2 or mean == 0:
            continue
        deviation = math.sqrt(math.fsum((v - mean) ** 2 for v in known) / (len(known) - 1))
        width = half_width(deviation, len(known)) / abs(mean)
        if width > precision.relative:
            ratio = min((width / precision.relative) ** 2, 2.0)
            wanted = max(wanted, math.ceil(count * ratio))
    return max(count, min(wanted, precision.most))
