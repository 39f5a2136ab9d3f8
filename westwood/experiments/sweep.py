# SPDX-License-Identifier: BSD-3-Clause
"""Runs sweeps that survive interruptions: finished runs are on disk at once.

In the folder, while it runs:

    sweep.json             hashes of what is swept; a resumed sweep must be the same
    journal.jsonl          a line for each finished run, written as it ends
    parts/N.parquet        a full journal as Parquet, which replaces it
    .lock                  held by the process that writes here

At the end runs.parquet replaces parts and journal, in the order of points and seeds. Its bytes
depend only on the scenario, not on workers, machines or interruptions. Replacements are on disk
before the originals are removed. Damaged runs and runs of another sweep are named and run again;
all others are kept.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeGuard

import polars as pl

from westwood.engines.contract import Engine, Job
from westwood.engines.pool import check_workers, run_jobs
from westwood.engines.simulator import SIMULATOR
from westwood.errors import InputError
from westwood.experiments.experiment import Experiment, Tracker
from westwood.results.columns import COST, Row, check_metric, columns
from westwood.results.folder import Damaged, Folder
from westwood.results.kinds import ResultKind
from westwood.results.metrics import half_width
from westwood.results.rows import is_number, rows_frame
from westwood.results.store import Store, interrupted
from westwood.units import parse_fraction

_OF_THIS_MACHINE = {column.name for column in COST}  # columns that the scenario does not decide
_A_PART = 2000  # runs in a part
_RUNS = "runs.parquet"
_PARTS = "parts"
_PART = re.compile(r"(\d{6,12})\.parquet")
_MOST_SEEDS = 1 << 32
_COLUMNS = {column.name for column in columns()} - _OF_THIS_MACHINE
_NUMBERS = _COLUMNS - {"scenario", "engine", "flow", "cc"}

RunJobs = Callable[[Iterable[Job]], Generator[tuple[int, list[Row]]]]
Key = tuple[int, int]  # point, seed
_NO_RUN = (-1, -1)


@dataclass(frozen=True)
class Precision:
    """Adds seeds until every mean has this relative half width, or there are `most`."""

    relative: float
    metric: str = "goodput_bps"
    most: int = 1000


def precision(ci: object, metric: str, most: int, seeds: int) -> Precision:
    """Reads the precision that the command line asks for."""
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
    if most < seeds:
        problem = f"expected at least {seeds}, the seeds that each point begins with (--seeds)"
        raise InputError(problem, key="--max-seeds", value=most)
    return Precision(relative, metric, most)


class SweptRuns:
    """Keeps the runs of a sweep in its folder, which is locked while `opened`."""

    def __init__(self, folder: Folder, planned: Experiment, engine: Engine = SIMULATOR) -> None:
        self._folder, self.path = folder, folder.path
        self._planned, self._engine = planned, engine
        self._store = Store(folder, self._take)
        self._done: dict[Key, list[Row]] = {}
        self._in_journal: dict[Key, list[Row]] = {}

    @property
    def done(self) -> set[Key]:
        """Runs that are on disk."""
        return set(self._done)

    def runs(self) -> Iterator[tuple[Key, list[Row]]]:
        """Yields all runs in order."""
        return iter(sorted(self._done.items()))

    def frame(self) -> pl.DataFrame:
        """Returns all rows in order."""
        return rows_frame([row for _, rows in self.runs() for row in rows])

    @contextmanager
    def opened(self, *, resume: bool) -> Iterator[SweptRuns]:
        """Locks the folder, checks that it fits, and reads what it holds."""
        points = [[job.scenario.hash, dict(job.settings)] for job in self._planned.jobs]
        about = self._planned.manifest(self._engine.name)
        state: dict[str, object] = {"points": points}
        state |= {key: about[key] for key in ("engine", "stacks") if key in about}
        with self._store.resumed(
            ResultKind.SWEEP,
            state,
            resume=resume,
            differs="holds another sweep: scenario, settings or protocols differ",
            about=about,
            files=self._planned.files,
        ):
            self._read_tables()
            yield self

    def _read_tables(self) -> None:
        tell, parts = self._folder.tell, self._parts()
        for name in [_RUNS, *parts] if (self.path / _RUNS).exists() else parts:
            try:
                runs = _by_run(self._folder.read_frame(name))
            except Damaged as error:
                tell(f"{error}; its runs are repeated")
                continue
            ours = {key: rows for key, rows in runs.items() if self._is_ours(key, rows)}
            self._done |= ours
            if others := len(runs) - len(ours):
                tell(f"{self.path / name}: has runs of another sweep ({others})")

    def _parts(self) -> list[str]:
        folder = self.path / _PARTS
        if folder.is_symlink() or not folder.is_dir():
            return []
        names = sorted(file.name for file in folder.iterdir() if _PART.fullmatch(file.name))
        return [f"{_PARTS}/{name}" for name in names]

    def _take(self, record: Mapping[str, Any]) -> None:
        key, rows = _run_of(record)
        if not self._is_ours(key, rows):
            raise ValueError(key)
        self._done[key] = self._in_journal[key] = rows

    def _is_ours(self, key: Key, rows: list[Row]) -> bool:
        """Returns whether a run from disk can belong to this sweep."""
        point, seed = key
        if not 0 <= point < len(self._planned.jobs) or not 1 <= seed < _MOST_SEEDS:
            return False
        job = self._planned.jobs[point]
        same = {"scenario": job.scenario.hash, "engine": self._engine.name, "seed": seed}
        same |= {"point": point, **job.settings}
        return len(rows) == len(job.scenario.flows) and all(
            row.keys() == same.keys() | _COLUMNS
            and all(row[name] == value for name, value in same.items())
            and (row["flow"], row["cc"]) == (flow.name, flow.cc.written)
            and all(is_number(row[name]) for name in _NUMBERS)
            for row, flow in zip(rows, job.scenario.flows, strict=True)
        )

    def add(self, key: Key, rows: list[Row]) -> None:
        """Adds the rows of a finished run; they are on disk when this returns."""
        point, seed = key
        kept = [
            {"point": point, **{k: v for k, v in row.items() if k not in _OF_THIS_MACHINE}}
            for row in rows
        ]
        self._store.keep({"point": point, "seed": seed, "rows": kept})
        if len(self._in_journal) >= _A_PART:
            self._to_part()

    def _to_part(self) -> None:
        """Writes the full journal as Parquet; a kill between the steps leaves its runs twice."""
        rows = [row for run in self._in_journal.values() for row in run]
        last = max((int(Path(name).stem) for name in self._parts()), default=0)
        self._folder.frame(f"{_PARTS}/{last + 1:06}.parquet", rows_frame(rows))
        self._store.clear()
        self._in_journal = {}

    def finish(self) -> Path:
        """Writes everything into runs.parquet in order, and removes parts and journal."""
        path = self._folder.frame(_RUNS, self.frame())
        self._store.clear()
        self._folder.remove(self._parts(), _PARTS)
        seeds = dict.fromkeys(range(len(self._planned.jobs)), 0)
        for point, _ in self._done:
            seeds[point] += 1
        self._folder.manifest(
            {**self._planned.manifest(self._engine.name), "runs_a_point": list(seeds.values())}
        )
        return path


def _is_key(key: tuple[object, object]) -> TypeGuard[Key]:
    return all(isinstance(part, int) for part in key)


def _run_of(record: Mapping[str, Any]) -> tuple[Key, list[Row]]:
    """Returns the run of a journal's line."""
    key, rows = (record.get("point"), record.get("seed")), record.get("rows")
    if _is_key(key) and isinstance(rows, list) and all(isinstance(row, dict) for row in rows):
        return key, rows
    return _NO_RUN, []


def _by_run(rows: pl.DataFrame) -> dict[Key, list[Row]]:
    """Groups a file's rows by run."""
    rows_by_run: dict[Key, list[Row]] = {}
    for row in rows.iter_rows(named=True):
        key = (row.get("point"), row.get("seed"))
        rows_by_run.setdefault(key if _is_key(key) else _NO_RUN, []).append(row)
    return rows_by_run


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
) -> pl.DataFrame:
    """Runs what is missing and returns all rows; Interrupted says how to resume."""
    check_workers(workers, "--workers")
    engine.check(planned.jobs)
    count = engine.workers if workers is None else workers
    with SweptRuns(folder, planned, engine).opened(resume=resume) as store:
        wanted: set[Key] = set()
        try:
            for wanted in _rounds(planned, store, precision):
                missing = sorted(wanted - store.done)
                jobs = _jobs(planned, missing)
                runs = (
                    elsewhere(jobs)
                    if elsewhere
                    else run_jobs(jobs, engine.prepare, workers=count, engine=engine.name)
                )
                with closing(runs):
                    for place, rows in track(runs, len(missing)):
                        store.add(missing[place], rows)
            store.finish()
        except KeyboardInterrupt:
            kept = f"{len(wanted & store.done)} of {len(wanted)} runs"
            raise interrupted(folder, kept) from None
        return store.frame()


def _jobs(planned: Experiment, missing: list[Key]) -> list[Job]:
    """Makes jobs of the missing runs, point by point, in order."""
    seeds: dict[int, list[int]] = {}
    for point, seed in missing:
        seeds.setdefault(point, []).append(seed)
    return [replace(planned.jobs[point], seeds=chosen) for point, chosen in seeds.items()]


def _rounds(
    planned: Experiment, store: SweptRuns, precision: Precision | None
) -> Iterator[set[Key]]:
    """Yields the runs to have after each round: the scenario's seeds, then more for wide intervals.

    A round depends only on the complete rounds before it, so a resumed sweep makes the same runs.
    """
    seeds = [planned.scenario.seeds] * len(planned.jobs)
    yield _keys(seeds)
    while precision is not None:
        # One dictionary per point, by flow.
        values: list[dict[str, list[float]]] = [{} for _ in seeds]
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
    """Returns how many seeds a point's widest interval needs, at most twice as many as now."""
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
