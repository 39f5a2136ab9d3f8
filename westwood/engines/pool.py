# SPDX-License-Identifier: BSD-3-Clause
"""Runs the seeds of many jobs in parallel threads."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

from westwood import _engine, stopping
from westwood.engines import resources
from westwood.engines.contract import Job, Prepare, RunSeed
from westwood.errors import InputError, RunError
from westwood.results.columns import Row

_QUEUED_PER_WORKER = 8  # runs submitted ahead; bounds the memory of a long sweep
MOST_WORKERS = 1024
_END_S = 0.15  # time for stopped runs to clean up


def check_workers(workers: int | None, key: str = "workers") -> None:
    """Raises InputError unless the number of workers is None or valid."""
    whole = isinstance(workers, int) and not isinstance(workers, bool)
    if workers is not None and not (whole and 1 <= workers <= MOST_WORKERS):
        problem = f"expected a whole number from 1 to {MOST_WORKERS}"
        raise InputError(problem, key=key, value=workers)


class Runs(Generator[tuple[int, list[Row]], None, None]):
    """Gives each run's index and rows as it ends; closing it stops the runs in progress."""

    def __init__(
        self, rows: Generator[tuple[int, list[Row]]], jobs: Iterable[Job], workers: int, engine: str
    ) -> None:
        self._rows, self._jobs, self._workers, self._engine = rows, jobs, workers, engine

    @property
    def about_s(self) -> float:
        """How long all of them take, by the engine's measured cost; 0 for jobs made as they run."""
        if not isinstance(self._jobs, Sequence):
            return 0.0
        return resources.seconds_of(self._jobs, self._workers, self._engine)

    def send(self, value: None) -> tuple[int, list[Row]]:
        """Returns the next run that ends."""
        return self._rows.send(value)

    def throw(self, *error: Any) -> tuple[int, list[Row]]:
        """Raises an error where the runs are waited for, which stops them."""
        return self._rows.throw(*error)


def run_jobs(
    jobs: Iterable[Job], prepare: Prepare, *, workers: int | None = None, engine: str = "sim"
) -> Runs:
    """Runs every seed of every job; yields each run's index and rows as it ends.

    `prepare` is that of the engine with this name. Closing the iterator, or an interrupt, stops the
    runs in progress.
    """
    check_workers(workers)
    count = workers or os.cpu_count() or 1
    return Runs(_run_jobs(jobs, prepare, count), jobs, count, engine)


def _run_jobs(
    jobs: Iterable[Job], prepare: Prepare, count: int
) -> Generator[tuple[int, list[Row]]]:
    stop = _engine.Stop()
    pool = ThreadPoolExecutor(count, initializer=stopping.adopt, initargs=(stop,))
    pending: dict[Future[list[Row]], int] = {}
    try:
        for place, (run, seed) in enumerate(_runs(jobs, prepare)):
            if len(pending) >= count * _QUEUED_PER_WORKER:
                yield from _finished(pending)
            pending[_submitted(pool, run, seed)] = place
        while pending:
            yield from _finished(pending)
    finally:
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)
        wait([future for future in pending if future.running()], timeout=_END_S)


def sorted_rows(runs: Iterable[tuple[int, list[Row]]]) -> list[Row]:
    """Returns the rows of `run_jobs` in the order of jobs and seeds."""
    return [row for _, rows in sorted(runs, key=lambda run: run[0]) for row in rows]


def _runs(jobs: Iterable[Job], prepare: Prepare) -> Iterator[tuple[RunSeed, int]]:
    for job in jobs:
        run = prepare(job)  # once per point
        for seed in job.seeds:
            yield run, seed


def _submitted(pool: ThreadPoolExecutor, run: RunSeed, seed: int) -> Future[list[Row]]:
    try:
        return pool.submit(run, seed)
    except RuntimeError as error:  # the system refuses another thread
        problem = f"{error}, expected fewer workers, or a higher limit (ulimit -u)"
        raise RunError(problem) from None


def _finished(pending: dict[Future[list[Row]], int]) -> Iterator[tuple[int, list[Row]]]:
    done: set[Future[list[Row]]] = set()
    # A long wait could outlast a signal: some libraries' handlers make the kernel restart it.
    while not done:
        done, _ = wait(pending, timeout=stopping.POLL_S, return_when=FIRST_COMPLETED)
    for future in done:
        place = pending.pop(future)
        yield place, future.result()
