# SPDX-License-Identifier: BSD-3-Clause
"""Runs scenarios in the simulator and returns rows and traces.

It is deterministic: the same scenario and seed give the same rows and traces, whatever the number
of workers. Only the columns `cpu_s` and `wall_s`, the cost of the run, differ.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from westwood import __version__, _engine, stopping
from westwood.control import loading, python
from westwood.engines.contract import Engine, Job, RunSeed
from westwood.engines.network import build
from westwood.engines.result import Result
from westwood.errors import InputError, RunError
from westwood.results.raw import RawResult
from westwood.results.records import InMemory
from westwood.results.rows import rows_of_run
from westwood.scenario import Scenario
from westwood.scenario.topology import check_link
from westwood.units import PS_PER_S

if TYPE_CHECKING:
    from westwood.results.spool import Spool

ENGINE = "sim"
MOST_SEEDS = 1_000_000


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
) -> Result:
    """Runs a scenario as `westwood.simulate` does; with `spool`, records go to disk."""
    network = build(scenario)
    network.trace_windows = trace
    network.trace_interval = round(interval_s * PS_PER_S)
    network.trace_events = events
    network.trace_queues = queues
    if capture is not None:
        check_link(scenario.link, capture, "capture")
        network.capture_link = [link.name for link in scenario.link].index(capture)
    return _run(scenario, network, seed, spool)


def prepare(job: Job) -> RunSeed:
    """Builds the network, which the runs of all seeds share; returns the function for a seed."""
    network = build(job.scenario)
    if job.more_columns:
        network.trace_windows, network.trace_events = True, job.needs_events
    return lambda seed: job.rows(_run(job.scenario, network, seed))


def _run(
    scenario: Scenario, network: _engine.Network, seed: int, spool: Spool | None = None
) -> Result:
    wall, cpu = time.perf_counter(), time.thread_time()
    try:
        take = spool.take if spool else None
        outcome = _engine.simulate(network, seed, stopping.of_thread(), take)
    except _engine.ControlFailed as error:
        raise loading.located(str(error)) from None
    except _engine.PythonControlRaised as error:
        cause = error.__cause__ or error
        problem = python.explained(str(error), cause)
        raise RunError(f"{scenario.name}, seed {seed}: {problem}") from cause
    except ValueError as error:
        raise InputError(f"the simulator refuses it: {error}") from None
    except (MemoryError, RuntimeError) as error:
        raise RunError(f"{scenario.name}, seed {seed}: {error or 'out of memory'}") from error
    cost = {"cpu_s": time.thread_time() - cpu, "wall_s": time.perf_counter() - wall}
    in_memory = InMemory(lambda table: getattr(outcome.records, table)())
    raw = RawResult(
        outcome.connections(),
        outcome.forward,
        outcome.backward,
        spool or in_memory,
        outcome.messages(),
    )
    return Result(scenario, seed, rows_of_run(scenario, seed, raw, cost, ENGINE), raw)


SIMULATOR = Engine(ENGINE, prepare, simulate, runs_everything=True, title=f"westwood {__version__}")
