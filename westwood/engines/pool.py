# SPDX-License-Identifier: BSD-3-Clause
"""Runs the seeds of many jobs side by side, in threads of one process."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from westwood.engines.contract import Job, Prepare, RunSeed
from westwood.results.columns import Row

_QUEUED_PER_WORKER = 8  # runs submitted ahead: memory does not grow with a sweep's length


def run_jobs(
    jobs: Iterable[Job], prepare: Prepare, *, workers: int | None = None
) -> Iterator[tuple[int, list[Row]]]:
    """Runs every seed of every job; yields each run's rows as it ends, with its place in the order.

    `prepare` is the engine's. Closing the iterator (or an interrupt) starts no further run.
    """
    count = workers or os.cpu_count() or 1
    pool = ThreadPoolExecutor(count)
    pending: dict[Future[list[Row]], int] = {}
    try:
        for place, (run, seed) in enumerate(_runs(jobs, prepare)):
            if len(pending) >= count * _QUEUED_PER_WORKER:
                yield from _finished(pending)
            pending[pool.submit(run, seed)] = place
        while pending:
            yield from _finished(pending)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def sorted_rows(runs: Iterable[tuple[int, list[Row]]]) -> list[Row]:
    """Sorts the rows of `run_jobs` by jobs and seeds, whenever each run ended."""
    return [row for _, rows in sorted(runs, key=lambda run: run[0]) for row in rows]


def _runs(jobs: Iterable[Job], prepare: Prepare) -> Iterator[tuple[RunSeed, int]]:
    for job in jobs:
        run = prepare(job)  # once a point
        for seed in job.seeds:
            yield run, seed


def _finished(pending: dict[Future[list[Row]], int]) -> Iterator[tuple[int, list[Row]]]:
    done, _ = wait(pending, return_when=FIRST_COMPLETED)
    for future in done:
        place = pending.pop(future)
        yield place, future.result()
