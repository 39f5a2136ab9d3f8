# SPDX-License-Identifier: BSD-3-Clause
"""Runs scenarios on Linux: on real sockets, through the kernel that runs here.

ww-path (of linux/path; WESTWOOD_LINUX names another one) emulates the network between
namespaces of its own and runs the flows, in real time. It lives as long as its standard input is
open: whatever ends this process ends it, and nothing that it made has a name or outlives it.
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from westwood import programs
from westwood.engines import estimates, linux_emulated, linux_limits, wire
from westwood.engines.contract import Job, RunSeed, refuse_simulators_own
from westwood.engines.result import Result
from westwood.errors import InputError, RunError, UnavailableError, one_line
from westwood.kernel.recording import Recording
from westwood.programs import Program
from westwood.results.columns import Row
from westwood.results.rows import rows_of_run
from westwood.scenario import Scenario

if TYPE_CHECKING:
    from westwood.results.spool import Spool

ENGINE = "linux"
VARIABLE = "WESTWOOD_LINUX"
_LACKING = 77  # exit code of ww-path
_PORT = 5001  # kPort of linux/path/host.hpp
_LATEST_S = 0.1  # half of min_rto: packets that leave the path later bring timeouts of this machine
_ATTEMPTS = 3
PROGRAM = Program(
    "linux/ww-path",
    VARIABLE,
    "--engine linux needs ww-path",
    make="make linux-path",
    install=programs.REINSTALL,
)


def program() -> Path:
    """Finds ww-path; UnavailableError with the remedy if it is not there."""
    return PROGRAM.find()


def check_machine() -> None:
    """Emulates a millisecond; UnavailableError with the remedy if this machine can't."""
    flow = {"name": "probe", "from": "a", "to": "b", "app": {"kind": "udp", "rate": "1Mbps"}}
    link = {"name": "path", "between": ["a", "b"], "rate": "1Mbps", "delay": "0s"}
    run(Scenario(name="probe", duration="1ms", profile="linux", link=[link], flow=[flow]))


def prepare(job: Job) -> RunSeed:
    """Checks a job; gives what runs one of its seeds."""
    if job.more_columns:
        raise InputError("traces nothing for this figure yet", key="--engine", value=ENGINE)
    linux_limits.check(job.scenario)
    program()
    return partial(_rows, job)


def _rows(job: Job, seed: int) -> list[Row]:
    return job.rows(run(job.scenario, seed))


class TracedOnce:
    """Runs scenarios, but not again what was traced before: a run takes as long as it says."""

    def __init__(self) -> None:
        self._traced: dict[tuple[str, int], Result] = {}

    def simulate(
        self,
        scenario: Scenario,
        seed: int = 1,
        *,
        trace: bool = False,
        events: bool = False,
        queues: bool = False,
        capture: str | None = None,
        spool: Spool | None = None,
        yes: bool = False,
    ) -> Result:
        """Does what `simulator.simulate` does, but refuses events and captures."""
        refuse_simulators_own(ENGINE, events=events, capture=capture)
        result = run(scenario, seed, trace=trace or queues)
        self._traced[scenario.hash, seed] = result
        return result

    def prepare(self, job: Job) -> RunSeed:
        """Checks a job; gives what runs one of its seeds."""
        plain = prepare(job)

        def run_seed(seed: int) -> list[Row]:
            known = self._traced.pop((job.scenario.hash, seed), None)
            return plain(seed) if known is None else job.rows(known)

        return run_seed


def run(scenario: Scenario, seed: int = 1, *, trace: bool = False) -> Result:
    """Runs a scenario once, in real time. `trace`: record windows, queues and drops."""
    linux_limits.check(scenario)
    wall = time.perf_counter()
    with wire.trace_files(trace) as files:
        report = _run(scenario, seed, files)
    cost = {"cpu_s": report.cpu_s, "wall_s": time.perf_counter() - wall}
    raw = report.result()
    return Result(scenario, seed, rows_of_run(scenario, seed, raw, cost, ENGINE), raw)


def _run(scenario: Scenario, seed: int, files: wire.TraceFiles | None) -> wire.Report:
    """Runs it, again if this machine stood still meanwhile."""
    what = f"{scenario.name}, seed {seed}"
    if linux_limits.is_emulated(scenario):
        return _run_emulated(scenario, seed, files, what)
    for _ in range(_ATTEMPTS):
        report = _run_once(scenario, seed, files, what)
        late_s = _check_speed(report, what)
        if late_s <= _LATEST_S:
            return report
    problem = f"this machine stood still for {late_s * 1000:.0f} ms, in {_ATTEMPTS} runs"
    raise RunError(f"{what}: {problem}; fewer --workers, or less beside it")


def _run_once(
    scenario: Scenario, seed: int, files: wire.TraceFiles | None, what: str
) -> wire.Report:
    """Runs it, and puts what was recorded of the estimates into the traces."""
    controls = {linux_limits.CONTROLS.get(flow.cc.name, "") for flow in scenario.flows if files}
    with estimates.recording_of(controls, _PORT) as recording:
        lines = execute(wire.plan(scenario) + wire.conclusion(seed, files), what)
    report = wire.read(lines, files)
    _add_estimates(report, scenario, recording)
    return report


def _run_emulated(
    scenario: Scenario, seed: int, files: wire.TraceFiles | None, what: str
) -> wire.Report:
    """Runs it in the emulated machine, for this kernel lacks a control of its."""
    controls = linux_limits.controls_of(scenario)
    if files:
        missing = ", ".join(sorted(filter(linux_limits.is_missing, controls)))
        problem = f"{what}: a run in the emulated machine has no trace, and this kernel has no"
        raise UnavailableError(f"{problem} {missing}: modprobe tcp_{missing}")
    plan = wire.plan(scenario) + wire.conclusion(seed, None)
    report = wire.read(linux_emulated.execute(program(), plan, controls, what), None)
    _check_speed(report, what)
    return report


def _check_speed(report: wire.Report, what: str) -> float:
    """How late the latest packet was, in s; RunError if this machine did not take every packet."""
    (said,) = report.others["emulator"]
    emulator = dict(zip(said[::2], said[1::2], strict=True))
    if missed := int(emulator["overruns"]) + int(emulator["refused"]):
        problem = f"this machine was too slow: {missed} packets never reached the path"
        raise RunError(f"{what}: {problem}; lower rates or fewer --workers")
    return float(emulator["late_worst_s"])


def _add_estimates(report: wire.Report, scenario: Scenario, recording: Recording) -> None:
    """Puts the recorded estimates beside TCP_INFO's columns, in flows of one connection."""
    ports = [int(port) for (port,) in report.others.get("port", [])]
    for index, trace in report.windows.items():
        its = report.flows[index]
        source = int(its["source"])
        if scenario.flows[source].arrivals is None:
            ends = _ends(source, ports[index])
            established_s = its["established_s"]
            report.windows[index] = estimates.with_estimates(trace, recording, ends, established_s)


def _ends(flow: int, port: int) -> str:
    """Names a flow's connection as a recording does: linux/path/packet.hpp has the addresses."""
    host = f"{flow >> 8}.{flow & 255}"
    return f"10.64.{host}:{port}>10.65.{host}:{_PORT}"


def execute(plan: str, what: str) -> list[list[str]]:
    """Runs ww-path with this plan; returns its lines, split into words."""
    done = programs.run([program()], plan)
    lines, problem = [line.split() for line in done.out.splitlines()], done.errors.strip()
    if done.code == _LACKING:
        raise UnavailableError(f"--engine linux: {one_line(problem.removeprefix('ww-path: '))}")
    if done.code != 0 or not wire.is_whole(lines):
        last = (problem or f"exit code {done.code}").splitlines()[-1]
        raise RunError(f"{what}: the emulated path ended with {one_line(last)}")
    return lines
