# SPDX-License-Identifier: BSD-3-Clause
"""The simulator as an engine for scenarios: builds its network, runs it, returns rows and traces.

Deterministic: the same scenario and seed give the same rows (but for `cpu_s` and `wall_s`, what the
run cost here) and the same traces, whatever the number of workers.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from westwood import _engine
from westwood.errors import InputError, RunError
from westwood.protocols import PROTOCOLS
from westwood.units import PS_PER_S

if TYPE_CHECKING:
    import polars as pl

    from westwood.model import CongestionControl, Flow, Link
    from westwood.scenario import Scenario

ENGINE = "sim"
Row = dict[str, Any]
_PS_PER_US = 10**6
_UNLIMITED = -1
_LARGEST_WINDOW = 2**28  # segments: the core's WW_CWND_MAX
_QUEUED_PER_WORKER = 8  # runs submitted ahead: memory does not grow with a sweep's length


@dataclass(frozen=True)
class Result:
    """One run: a row a flow, and, where asked for, what happened over time."""

    scenario: Scenario
    seed: int
    flow_rows: list[Row]
    raw: _engine.Result = field(repr=False)

    @property
    def rows(self) -> pl.DataFrame:
        """A row a flow; docs/cli.md lists the columns and their units."""
        return rows_frame(self.flow_rows)

    @property
    def trace(self) -> pl.DataFrame:
        """A row whenever a flow's windows, estimate or RTT changed; empty unless traced.

        flow, time_s, cwnd and ssthresh (segments), estimate_bps, sample_bps, rtt_s, in_flight
        (segments), phase (0 open, 1 disorder, 2 recovery, 3 after a timeout).
        """
        return self._frame([flow.trace() for flow in self.raw.flows])

    @property
    def events(self) -> pl.DataFrame:
        """A row a segment sent, ACK and decision of a sender; empty unless asked for.

        flow, time_s, kind, segment (of an ACK the first not acknowledged), cwnd and ssthresh after
        it (segments).
        """
        import polars as pl

        names = dict(enumerate(_engine.EVENT_KINDS))
        frame = self._frame([flow.event_log() for flow in self.raw.flows])
        return frame.with_columns(pl.col("kind").replace_strict(names, return_dtype=pl.String))

    def _frame(self, columns: list[dict[str, Any]]) -> pl.DataFrame:
        import polars as pl

        frames = [
            pl.DataFrame(column).select(pl.lit(flow.name).alias("flow"), pl.all())
            for flow, column in zip(self.scenario.flow, columns, strict=True)
        ]
        return pl.concat(frames)


def simulate(
    scenario: Scenario, seed: int = 1, *, trace: bool = False, interval_s: float = 0,
    events: bool = False,
) -> Result:  # fmt: skip
    """Runs a scenario once (not its sweep).

    `trace` records windows, estimate and RTT, at most every `interval_s` seconds; `events` every
    segment and decision.
    """
    network = build(scenario)
    network.trace_windows = trace
    network.trace_interval_ps = round(interval_s * PS_PER_S)
    network.trace_events = events
    return _run(scenario, network, seed)


@dataclass(frozen=True)
class Job:
    """A point of a sweep: the settings that make it, the scenario they make, the seeds to run."""

    scenario: Scenario
    seeds: Iterable[int]
    settings: Mapping[str, Any] = field(default_factory=dict)


def simulate_many(
    scenario: Scenario, seeds: Iterable[int] | None = None, *, workers: int | None = None
) -> pl.DataFrame:
    """Every point of the scenario's sweep with every seed, on all cores: a row a flow and run.

    The swept values are columns of the frame, under the names they have in `[sweep]`.
    """
    chosen = range(1, scenario.seeds + 1) if seeds is None else list(seeds)
    jobs = [Job(point, chosen, settings) for settings, point in scenario.points()]
    return rows_frame(sorted_rows(run_jobs(jobs, workers=workers)))


def run_jobs(jobs: Iterable[Job], *, workers: int | None = None) -> Iterator[tuple[int, list[Row]]]:
    """Runs every seed of every job; yields each run's rows as it ends, with its place in the order.

    Closing the iterator (or an interrupt) starts no further run.
    """
    count = workers or os.cpu_count() or 1
    pool = ThreadPoolExecutor(count)
    pending: dict[Future[list[Row]], int] = {}
    try:
        for place, (job, network, seed) in enumerate(_runs(jobs)):
            if len(pending) >= count * _QUEUED_PER_WORKER:
                yield from _finished(pending)
            pending[pool.submit(_rows_of_run, job, network, seed)] = place
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


def _runs(jobs: Iterable[Job]) -> Iterator[tuple[Job, _engine.Network, int]]:
    for job in jobs:
        network = build(job.scenario)  # once a point: runs only read it
        for seed in job.seeds:
            yield job, network, seed


def _finished(pending: dict[Future[list[Row]], int]) -> Iterator[tuple[int, list[Row]]]:
    done, _ = wait(pending, return_when=FIRST_COMPLETED)
    for future in done:
        place = pending.pop(future)
        yield place, future.result()


def _rows_of_run(job: Job, network: _engine.Network, seed: int) -> list[Row]:
    rows = _run(job.scenario, network, seed).flow_rows
    return [{**job.settings, **row} for row in rows] if job.settings else rows


def _run(scenario: Scenario, network: _engine.Network, seed: int) -> Result:
    wall, cpu = time.perf_counter(), time.thread_time()
    try:
        raw = _engine.simulate(network, seed)
    except ValueError as error:
        raise InputError(f"the simulator refuses it: {error}") from None
    except (MemoryError, RuntimeError) as error:
        raise RunError(f"{scenario.name}, seed {seed}: {error or 'out of memory'}") from error
    cost = {"cpu_s": time.thread_time() - cpu, "wall_s": time.perf_counter() - wall}
    return Result(scenario, seed, _rows(scenario, seed, raw, cost), raw)


def _rows(scenario: Scenario, seed: int, raw: _engine.Result, cost: dict[str, float]) -> list[Row]:
    from westwood.metrics import jain

    identity, simulated_s = scenario.hash, scenario.duration / PS_PER_S
    rows: list[Row] = []
    for flow, outcome in zip(scenario.flow, raw.flows, strict=True):
        active_s = _active_s(flow, outcome, simulated_s)
        rows.append(
            {
                "scenario": identity,
                "engine": ENGINE,
                "flow": flow.name,
                "cc": flow.cc.name,
                "seed": seed,
                "goodput_bps": 8 * outcome.delivered_bytes / active_s if active_s > 0 else 0.0,
                "throughput_bps": 8 * outcome.ip_bytes_at_sink / active_s if active_s > 0 else 0.0,
                "sent": outcome.sent,
                "retransmitted": outcome.retransmitted,
                "timeouts": outcome.timeouts,
                "fast_recoveries": outcome.fast_recoveries,
                "mean_cwnd": outcome.mean_cwnd,
                "mean_srtt_s": outcome.mean_srtt_s,
                "min_rtt_s": outcome.min_rtt_s,
                "queue_drops": outcome.queue_drops,
                "lost": outcome.lost,
                "completed_s": outcome.completed_s,
            }
        )
    fairness = jain([float(row["goodput_bps"]) for row in rows])
    for row in rows:
        row.update(jain=fairness, simulated_s=simulated_s, **cost)
    return rows


def _active_s(flow: Flow, outcome: _engine.FlowResult, simulated_s: float) -> float:
    """Seconds over which a flow's rates are averaged: from its start to its end or the run's."""
    end = simulated_s if flow.stop is None else min(simulated_s, flow.stop / PS_PER_S)
    if not math.isnan(outcome.completed_s):
        end = outcome.completed_s
    return end - flow.start / PS_PER_S


def build(scenario: Scenario) -> _engine.Network:
    """The scenario as the engine's data."""
    index = {node: i for i, node in enumerate(scenario.nodes)}
    network = _engine.Network()
    network.nodes = len(index)
    network.links = [_link(link, index) for link in scenario.link]
    network.flows = [_flow(flow, index) for flow in scenario.flow]
    network.duration_ps = scenario.duration
    return network


def _link(link: Link, index: dict[str, int]) -> _engine.Link:
    built = _engine.Link()
    built.a, built.b = (index[node] for node in link.between)
    built.overhead_bytes = link.overhead
    built.forward = _direction(link, "forward")
    built.backward = _direction(link, "backward")
    return built


def _direction(link: Link, side: str) -> _engine.Direction:
    built = _engine.Direction()
    built.rate_bps, built.delay_ps = link.rate, link.delay
    limit = _UNLIMITED if link.queue.limit.count is None else link.queue.limit.count
    in_packets = link.queue.limit.unit == "p"
    built.queue_packets = limit if in_packets else _UNLIMITED
    built.queue_bytes = _UNLIMITED if in_packets else limit
    if link.loss.kind != "none" and link.loss.on in (side, "both"):
        built.loss_kind = link.loss.kind
        if link.loss.kind == "uniform":
            built.loss_rate = link.loss.rate
        else:
            built.loss_packets = list(link.loss.packets)
    return built


def _flow(flow: Flow, index: dict[str, int]) -> _engine.Flow:
    built = _engine.Flow()
    built.from_node, built.to_node = index[flow.from_], index[flow.to]
    built.cc = _congestion_control(flow.cc)
    built.recovery = flow.recovery
    built.start_ps = flow.start
    built.stop_ps = _UNLIMITED if flow.stop is None else flow.stop
    built.size_bytes = _UNLIMITED if flow.size is None else flow.size
    built.mss, built.header_bytes = flow.mss, flow.header
    built.initial_cwnd = min(max(1, flow.initial_cwnd.packets(flow.mss) or 1), _LARGEST_WINDOW)
    ssthresh = flow.initial_ssthresh.packets(flow.mss)
    built.initial_ssthresh = _UNLIMITED if ssthresh is None else max(2, ssthresh)
    built.receive_window = flow.receive_window
    built.min_rto_ps, built.max_rto_ps = flow.min_rto, flow.max_rto
    built.initial_rto_ps = flow.initial_rto
    built.clock_granularity_ps = flow.clock_granularity
    built.delayed_ack = flow.delayed_ack
    built.delayed_ack_timeout_ps = flow.delayed_ack_timeout
    built.dupack_threshold = flow.dupack_threshold
    built.limited_transmit = flow.limited_transmit
    built.handshake_rtt = flow.handshake_rtt
    built.flight_excludes_sacked = flow.flight_excludes_sacked
    return built


def _congestion_control(cc: CongestionControl) -> _engine.CongestionControl:
    """The protocol's preset, with what the scenario says otherwise."""
    built = _engine.preset(PROTOCOLS[cc.name].preset)
    built.byte_counting, built.validate_cwnd = cc.byte_counting, cc.validate_cwnd
    given: dict[str, Any] = {
        "sampler": cc.sampler,
        "filter": cc.filter,
        "tau_us": None if cc.tau is None else cc.tau // _PS_PER_US,
        "virtual_m": cc.m,
        "alpha_permille": None if cc.alpha is None else round(1000 * cc.alpha),
        "min_interval_us": None if cc.min_interval is None else cc.min_interval // _PS_PER_US,
        "min_cwnd": cc.min_cwnd,
        "set_cwnd_on_loss": cc.set_cwnd_on_loss,
        "seed_filter": cc.seed_filter,
        "literal_count": cc.literal_count,
    }
    for name, value in given.items():
        if value is not None:
            setattr(built, name, value)
    return built
