# SPDX-License-Identifier: BSD-3-Clause
"""Runs scenarios in the simulator and returns rows and traces.

It is deterministic: the same scenario and seed give the same rows and traces, whatever the number
of workers. Only the columns `cpu_s` and `wall_s`, the cost of the run, differ.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from westwood import _engine, extras, stopping
from westwood.arguments import checked, each, has, instance, number, optional, switch, text, whole
from westwood.catalogue import LONGEST_PS
from westwood.engines import resources
from westwood.engines.contract import Engine, Job, RunSeed
from westwood.engines.network import build
from westwood.engines.pool import MOST_WORKERS, run_jobs, sorted_rows
from westwood.engines.resources import Recorded
from westwood.engines.result import Result
from westwood.errors import InputError, RunError, suggestion
from westwood.results.columns import Row
from westwood.results.raw import RawResult
from westwood.results.records import InMemory
from westwood.results.rows import rows_frame, rows_of_run
from westwood.scenario import Scenario
from westwood.units import PS_PER_S

if TYPE_CHECKING:
    import polars as pl

    from westwood.results.spool import Spool

ENGINE = "sim"


_SEED = whole(0, 2**64 - 1)
MOST_SEEDS = 1_000_000


@checked(
    scenario=instance(Scenario),
    seed=_SEED,
    trace=switch,
    interval_s=number(0, LONGEST_PS / PS_PER_S),
    events=switch,
    queues=switch,
    capture=optional(text),
    spool=optional(has("take")),
    yes=switch,
)
def simulate(
    scenario: Scenario,
    seed: int = 1,
    *,
    trace: bool = False,
    interval_s: float = 0,
    events: bool = False,
    queues: bool = False,
    capture: str | None = None,
    spool: Spool | None = None,
    yes: bool = False,
) -> Result:
    """Runs a scenario once (not its sweep).

    `trace` records windows, estimate and RTT, at most every `interval_s` seconds; `events` every
    segment and decision; `queues` the queues and what they drop; `capture` the packets of the link
    of this name, as its first node sees them, for `westwood.results.pcap`. All of that is kept in
    memory, or, while the run goes on, on disk in `spool`.
    InputError if it would take more memory than there is; `yes` runs it all the same.
    """
    if trace or events or queues or capture is not None:
        extras.need("numpy", "a trace")
    if not yes:
        recorded = Recorded(trace, events, queues, capture, on_disk=spool is not None)
        resources.check(resources.estimate_run(scenario, recorded), scenario)
    network = build(scenario)
    network.trace_windows = trace
    network.trace_interval = round(interval_s * PS_PER_S)
    network.trace_events = events
    network.trace_queues = queues
    if capture is not None:
        names = [link.name for link in scenario.link]
        if capture not in names:
            raise InputError(f"no such link, {suggestion(capture, names)}", value=capture)
        network.capture_link = names.index(capture)
    return _run(scenario, network, seed, spool)


@checked(
    scenario=instance(Scenario),
    seeds=optional(each(_SEED, MOST_SEEDS)),
    workers=optional(whole(1, MOST_WORKERS)),
)
def simulate_many(
    scenario: Scenario,
    seeds: Iterable[int] | None = None,
    *,
    workers: int | None = None,
    yes: bool = False,
) -> pl.DataFrame:
    """Runs every point of the scenario's sweep with every seed, on all cores: a row a flow and run.

    The swept values are columns of the frame, under the names they have in `[sweep]`.
    InputError if that would take more memory than there is; `yes` runs it all the same.
    """
    chosen = range(1, scenario.seeds + 1) if seeds is None else list(seeds)
    if not yes:
        resources.check_sweep([scenario], len(chosen))
    jobs = [Job(point, chosen, settings) for settings, point in scenario.points()]
    resources.check_many([job.scenario for job in jobs], len(chosen), workers, yes=yes)
    return rows_frame(sorted_rows(run_jobs(jobs, prepare, workers=workers)))


def prepare(job: Job) -> RunSeed:
    """Builds the network, which the runs of all seeds share; returns the function for a seed."""
    network = build(job.scenario)
    if job.more_columns:
        network.trace_windows, network.trace_events = True, job.needs_events
    return partial(_rows, job, network)


def _rows(job: Job, network: _engine.Network, seed: int) -> list[Row]:
    return job.rows(_run(job.scenario, network, seed))


def _run(
    scenario: Scenario, network: _engine.Network, seed: int, spool: Spool | None = None
) -> Result:
    wall, cpu = time.perf_counter(), time.thread_time()
    try:
        take = spool.take if spool else None
        outcome = _engine.simulate(network, seed, stopping.of_thread(), take)
    except ValueError as error:
        raise InputError(f"the simulator refuses it: {error}") from None
    except (MemoryError, RuntimeError) as error:
        raise RunError(f"{scenario.name}, seed {seed}: {error or 'out of memory'}") from error
    cost = {"cpu_s": time.thread_time() - cpu, "wall_s": time.perf_counter() - wall}
    in_memory = InMemory(lambda table: getattr(outcome.records, table)())
    raw = RawResult(outcome.connections(), outcome.forward, outcome.backward, spool or in_memory)
    return Result(scenario, seed, rows_of_run(scenario, seed, raw, cost, ENGINE), raw)


SIMULATOR = Engine(ENGINE, prepare, simulate, runs_everything=True)
