# SPDX-License-Identifier: BSD-3-Clause
"""Runs the seeds of many jobs side by side, in threads of one process."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from westwood import _engine, stopping
from westwood.engines.contract import Job, Prepare, RunSeed
from westwood.errors import InputError
from westwood.results.columns import Row

_QUEUED_PER_WORKER = 8  # runs submitted ahead: memory does not grow with a sweep's length
MOST_WORKERS = 1024
_END_S = 0.15  # what runs that were asked to end get to clean up


def check_workers(workers: int | None, key: str = "workers") -> None:
    """Raises an error unless it is a number of workers that makes sense."""
    whole = isinstance(workers, int) and not isinstance(workers, bool)
    if workers is not None and not (whole and 1 <= workers <= MOST_WORKERS):
        problem = f"expected a whole number from 1 to {MOST_WORKERS}"
        raise InputError(problem, key=key, value=workers)


def run_jobs(
    jobs: Iterable[Job], prepare: Prepare, *, workers: int | None = None
) -> Generator[tuple[int, list[Row]]]:
    """Runs every seed of every job; yields each run's rows as it ends, with its place in the order.

    `prepare` is the engine's. Closing the iterator (or an interrupt) ends the runs in progress.
    """
    check_workers(workers)
    count = workers or os.cpu_count() or 1
    stop = _engine.Stop()
    pool = ThreadPoolExecutor(count, initializer=stopping.adopt, initargs=(stop,))
    pending: dict[Future[list[Row]], int] = {}
    try:
        for place, (run, seed) in enumerate(_runs(jobs, prepare)):
            if len(pending) >= count * _QUEUED_PER_WORKER:
                yield from _finished(pending)
            pending[pool.submit(run, seed)] = place
        while pending:
            yield from _finished(pending)
    finally:
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)
        wait([one for one in pending if one.running()], timeout=_END_S)


def sorted_rows(runs: Iterable[tuple[int, list[Row]]]) -> list[Row]:
    """Sorts the rows of `run_jobs` by jobs and seeds, whenever each run ended."""
    return [row for _, rows in sorted(runs, key=lambda run: run[0]) for row in rows]


def _runs(jobs: Iterable[Job], prepare: Prepare) -> Iterator[tuple[RunSeed, int]]:
    for job in jobs:
        run = prepare(job)  # once a point
        for seed in job.seeds:
            yield run, seed


def _finished(pending: dict[Future[list[Row]], int]) -> Iterator[tuple[int, list[Row]]]:
    done: set[Future[list[Row]]] = set()
    while (
        not done
    ):  # in short waits, for a library's signal handler may have the system restart one
        done, _ = wait(pending, timeout=stopping.POLL_S, return_when=FIRST_COMPLETED)
    for future in done:
        place = pending.pop(future)
        yield place, future.result()
