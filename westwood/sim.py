# SPDX-License-Identifier: BSD-3-Clause
"""The simulator as an engine for scenarios: runs them, returns rows and traces.

Deterministic: the same scenario and seed give the same rows (but for `cpu_s` and `wall_s`, what the
run cost here) and the same traces, whatever the number of workers.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from westwood import _engine
from westwood.errors import InputError, RunError, suggestion
from westwood.network import build
from westwood.rows import Row, rows_of_run
from westwood.units import PS_PER_S

if TYPE_CHECKING:
    import polars as pl

    from westwood.observers import Observer
    from westwood.scenario import Scenario
    from westwood.traces import Run as Recorded

_QUEUED_PER_WORKER = 8  # runs submitted ahead: memory does not grow with a sweep's length


@dataclass(frozen=True)
class Result:
    """One run: a row a flow, and, where asked for, what happened over time.

    The frames of what was not asked for are empty. docs/traces.md lists their columns.
    """

    scenario: Scenario
    seed: int
    flow_rows: list[Row]
    raw: Recorded = field(repr=False)

    @property
    def rows(self) -> pl.DataFrame:
        """A row a flow; docs/cli.md lists the columns and their units."""
        return rows_frame(self.flow_rows)

    @property
    def trace(self) -> pl.DataFrame:
        """A row whenever a sender's windows, estimate, timer or RTT changed (`trace`)."""
        from westwood import traces

        return traces.windows(self.scenario, self.raw)

    def sampled(self, every_s: float) -> pl.DataFrame:
        """The trace at 0, `every_s`, 2 `every_s`... seconds, as it stood then."""
        from westwood import traces

        return traces.sampled(self.trace, every_s, self.scenario.duration / PS_PER_S)

    @property
    def events(self) -> pl.DataFrame:
        """A row a segment sent, ACK and decision of a sender (`events`)."""
        from westwood import traces

        return traces.events(self.scenario, self.raw)

    @property
    def queues(self) -> pl.DataFrame:
        """A row whenever the length of a link's queue changed (`queues`)."""
        from westwood import traces

        return traces.queues(self.scenario, self.raw)

    @property
    def drops(self) -> pl.DataFrame:
        """A row a packet dropped by a queue, lost on a wire or marked (`queues`)."""
        from westwood import traces

        return traces.drops(self.scenario, self.raw)

    @property
    def links(self) -> pl.DataFrame:
        """A row a direction of a link: what crossed it and what its queue did. Always there."""
        from westwood import traces

        return traces.links(self.scenario, self.raw)

    @property
    def transfers(self) -> pl.DataFrame:
        """A row a connection, several where a flow has arrivals. Always there."""
        from westwood import traces

        return traces.transfers(self.scenario, self.raw)


def simulate(
    scenario: Scenario, seed: int = 1, *, trace: bool = False, interval_s: float = 0,
    events: bool = False, queues: bool = False, capture: str | None = None,
) -> Result:  # fmt: skip
    """Runs a scenario once (not its sweep).

    `trace` records windows, estimate and RTT, at most every `interval_s` seconds; `events` every
    segment and decision; `queues` the queues and what they drop; `capture` the packets of the link
    of this name, as its first node sees them, for `westwood.pcap`.
    """
    network = build(scenario)
    network.trace_windows = trace
    network.trace_interval_ps = round(interval_s * PS_PER_S)
    network.trace_events = events
    network.trace_queues = queues
    if capture is not None:
        names = [link.name for link in scenario.link]
        if capture not in names:
            raise InputError(f"no such link, {suggestion(capture, names)}", value=capture)
        network.capture_link = names.index(capture)
    return _run(scenario, network, seed)


@dataclass(frozen=True)
class Job:
    """A point of a sweep: the settings that make it, the scenario they make, the seeds to run.

    With an observer each run is traced, and its rows have what the observer reads from the trace.
    """

    scenario: Scenario
    seeds: Sequence[int]
    settings: Mapping[str, Any] = field(default_factory=dict)
    observer: Observer | None = None


def simulate_many(
    scenario: Scenario, seeds: Iterable[int] | None = None, *, workers: int | None = None
) -> pl.DataFrame:
    """Every point of the scenario's sweep with every seed, on all cores: a row a flow and run.

    The swept values are columns of the frame, under the names they have in `[sweep]`.
    """
    chosen = range(1, scenario.seeds + 1) if seeds is None else list(seeds)
    jobs = [Job(point, chosen, settings) for settings, point in scenario.points()]
    return rows_frame(sorted_rows(run_jobs(jobs, workers=workers)))


def run_jobs(
    jobs: Iterable[Job], *, workers: int | None = None, prepare: Prepare | None = None
) -> Iterator[tuple[int, list[Row]]]:
    """Runs every seed of every job; yields each run's rows as it ends, with its place in the order.

    `prepare` makes of a job what runs a seed of it: an engine other than the simulator's own.
    Closing the iterator (or an interrupt) starts no further run.
    """
    count = workers or os.cpu_count() or 1
    pool = ThreadPoolExecutor(count)
    pending: dict[Future[list[Row]], int] = {}
    try:
        for place, (run, seed) in enumerate(_runs(jobs, prepare or _prepare)):
            if len(pending) >= count * _QUEUED_PER_WORKER:
                yield from _finished(pending)
            pending[pool.submit(run, seed)] = place
        while pending:
            yield from _finished(pending)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def sorted_rows(runs: Iterable[tuple[int, list[Row]]]) -> list[Row]:
    """The rows of `run_jobs` in the order of the jobs and seeds, whenever each run ended."""
    return [row for _, rows in sorted(runs, key=lambda run: run[0]) for row in rows]


def rows_frame(rows: list[Row]) -> pl.DataFrame:
    """Rows as a frame."""
    import polars as pl

    return pl.DataFrame(rows, infer_schema_length=None)


def _runs(jobs: Iterable[Job], prepare: Prepare) -> Iterator[tuple[RunSeed, int]]:
    for job in jobs:
        run = prepare(job)  # once a point
        for seed in job.seeds:
            yield run, seed


def _prepare(job: Job) -> RunSeed:
    """The simulator's: the network, which runs only read."""
    network = build(job.scenario)
    if job.observer:
        network.trace_windows, network.trace_events = True, job.observer.events
    return partial(_rows_of_run, job, network)


def _finished(pending: dict[Future[list[Row]], int]) -> Iterator[tuple[int, list[Row]]]:
    done, _ = wait(pending, return_when=FIRST_COMPLETED)
    for future in done:
        place = pending.pop(future)
        yield place, future.result()


RunSeed = Callable[[int], list[Row]]
Prepare = Callable[[Job], RunSeed]


def _rows_of_run(job: Job, network: _engine.Network, seed: int) -> list[Row]:
    result = _run(job.scenario, network, seed)
    seen = job.observer.read(result) if job.observer else {}
    return [{**job.settings, **row, **seen.get(row["flow"], {})} for row in result.flow_rows]


def _run(scenario: Scenario, network: _engine.Network, seed: int) -> Result:
    wall, cpu = time.perf_counter(), time.thread_time()
    try:
        raw = _engine.simulate(network, seed)
    except ValueError as error:
        raise InputError(f"the simulator refuses it: {error}") from None
    except (MemoryError, RuntimeError) as error:
        raise RunError(f"{scenario.name}, seed {seed}: {error or 'out of memory'}") from error
    cost = {"cpu_s": time.thread_time() - cpu, "wall_s": time.perf_counter() - wall}
    return Result(scenario, seed, rows_of_run(scenario, seed, raw, cost), raw)
