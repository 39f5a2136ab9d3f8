# SPDX-License-Identifier: BSD-3-Clause
"""Runs scenarios in real time on sockets of this machine's kernel.

ww-path of linux/path, or the program that WESTWOOD_LINUX names, emulates the network between its
own namespaces and runs the flows. It exits when its standard input closes, so it never outlives
this process. Its namespaces have no names and disappear with it.
"""

from __future__ import annotations

import time
from pathlib import Path

from westwood import programs
from westwood.engines import estimates, linux_emulated, linux_limits, linux_queues, network, wire
from westwood.engines.contract import Job, RunSeed, without_events
from westwood.engines.result import Result
from westwood.errors import InputError, RunError, UnavailableError, one_line
from westwood.kernel import user_controls
from westwood.kernel.recording import Recording
from westwood.programs import Program
from westwood.results.columns import Row
from westwood.scenario import Scenario
from westwood.scenario.one_link import one_link

ENGINE = "linux"
VARIABLE = "WESTWOOD_LINUX"
_LACKING = 77  # exit code of ww-path
_PORT = 5001  # kPort of linux/path/host.hpp
_LATEST_S = 0.1  # half of min_rto; later packets can cause timeouts that are the machine's fault
_ATTEMPTS = 3
PROGRAM = Program(
    "linux/ww-path",
    VARIABLE,
    "engine linux needs ww-path",
    make="make linux-path",
    install=programs.REINSTALL,
)


def program() -> Path:
    """Returns ww-path's location; raises UnavailableError with the remedy if it is missing."""
    return PROGRAM.find()


def check_machine() -> None:
    """Emulates a millisecond; raises UnavailableError with the remedy if that fails."""
    flow = {"name": "probe", "app": {"kind": "udp", "rate": "1Mbps"}}
    run(one_link("probe", "1ms", {"rate": "1Mbps", "delay": "0s"}, flow, profile="linux"))


def prepare(job: Job) -> RunSeed:
    """Checks a job; returns the function that runs a seed."""
    if job.more_columns:
        raise InputError("can't trace for this figure yet", key="--engine", value=ENGINE)
    linux_limits.check(job.scenario)
    program()
    return lambda seed: job.rows(run(job.scenario, seed))


class TracedOnce:
    """Runs scenarios, and reuses traced runs because each run takes place in real time."""

    def __init__(self) -> None:
        self._traced: dict[tuple[str, int], Result] = {}
        self.simulate = without_events(ENGINE, self._simulate)

    def _simulate(self, scenario: Scenario, seed: int, trace: bool) -> Result:
        result = run(scenario, seed, trace=trace)
        self._traced[scenario.hash, seed] = result
        return result

    def prepare(self, job: Job) -> RunSeed:
        """Checks a job; returns the function that runs a seed."""
        run_again = prepare(job)

        def run_seed(seed: int) -> list[Row]:
            known = self._traced.pop((job.scenario.hash, seed), None)
            return run_again(seed) if known is None else job.rows(known)

        return run_seed


def run(scenario: Scenario, seed: int = 1, *, trace: bool = False) -> Result:
    """Runs a scenario once, in real time; `trace` records windows, queues and drops."""
    linux_limits.check(scenario)
    wall = time.perf_counter()
    with wire.trace_files(trace) as files:
        report = _run(scenario, seed, files)
    return report.result_of(scenario, seed, ENGINE, wall)


def _run(scenario: Scenario, seed: int, files: wire.TraceFiles | None) -> wire.Report:
    """Runs the scenario once, and again if this machine stalled."""
    what = f"{scenario.name}, seed {seed}"
    if linux_limits.is_emulated(scenario):
        return _run_emulated(scenario, seed, files, what)
    for _ in range(_ATTEMPTS):
        report = _run_once(scenario, seed, files, what)
        late_s = _check_speed(report, what)
        if late_s <= _LATEST_S:
            return report
    problem = f"this machine stalled for {late_s * 1000:.0f} ms, in {_ATTEMPTS} runs"
    raise RunError(f"{what}: {problem}; use fewer --workers, or stop other programs")


def plan(scenario: Scenario) -> str:
    """Returns the scenario as a plan, with the kernel's names of users' controls."""
    ccs = {(cc.source, cc.name) for cc in (flow.cc for flow in scenario.flow) if cc.source}
    named = (f"object {source} {user_controls.name_of(name)}\n" for source, name in sorted(ccs))
    return network.plan_of_kernel(scenario) + "".join(named)


def _run_once(
    scenario: Scenario, seed: int, files: wire.TraceFiles | None, what: str
) -> wire.Report:
    """Runs it once, and adds the recorded estimates to the traces."""
    controls = linux_limits.controls_of(scenario) if files else set()
    with estimates.recording_of(controls, _PORT) as recording:
        lines = execute(plan(scenario) + wire.conclusion(seed, files), what)
    report = _read(lines, scenario, files, what)
    _add_estimates(report, scenario, recording)
    return report


def _run_emulated(
    scenario: Scenario, seed: int, files: wire.TraceFiles | None, what: str
) -> wire.Report:
    """Runs the scenario in the emulated machine, because this kernel lacks some module."""
    if files:
        missing = linux_limits.missing(scenario)
        problem = f"{what}: a run in the emulated machine has no trace, and this kernel has no"
        raise UnavailableError(f"{problem} {', '.join(missing)}: modprobe {' '.join(missing)}")
    text = plan(scenario) + wire.conclusion(seed, None)
    controls = linux_limits.controls_of(scenario)
    disciplines = linux_queues.disciplines_of(scenario)
    lines = linux_emulated.execute(program(), text, controls, disciplines, what)
    report = _read(lines, scenario, None, what)
    _check_speed(report, what)
    return report


def _read(
    lines: list[list[str]], scenario: Scenario, files: wire.TraceFiles | None, what: str
) -> wire.Report:
    """Parses a report and the lines that only ww-path prints."""
    report = wire.read(lines, scenario, files, what, PROGRAM)
    try:
        (emulator_words,) = report.others["emulator"]
        (
            int(emulator_words[emulator_words.index("overruns") + 1]),
            int(emulator_words[emulator_words.index("refused") + 1]),
        )
        float(emulator_words[emulator_words.index("late_worst_s") + 1])
        ports = [int(port) for (port,) in report.others.get("port", [])]
    except (LookupError, ValueError):
        ports = [-1]
    if ports and (len(ports) != len(report.flows) or min(ports) < 0):
        problem = "expected a line `emulator`, and a port for each connection"
        raise RunError(f"{what}: {PROGRAM.find()} reports no run: {problem}")
    return report


def _check_speed(report: wire.Report, what: str) -> float:
    """Returns the largest lateness of a packet in s; raises RunError if any never arrived."""
    (emulator_words,) = report.others["emulator"]
    emulator = dict(zip(emulator_words[::2], emulator_words[1::2], strict=True))
    if missed := int(emulator["overruns"]) + int(emulator["refused"]):
        problem = f"this machine was too slow: {missed} packets never reached the path"
        raise RunError(f"{what}: {problem}; use lower rates or fewer --workers")
    return float(emulator["late_worst_s"])


def _add_estimates(report: wire.Report, scenario: Scenario, recording: Recording) -> None:
    """Adds the recorded estimates to the traces of flows with a single connection."""
    ports = [int(port) for (port,) in report.others.get("port", [])]
    for index, trace in report.windows.items():
        flow = report.flows[index]
        source = int(flow["source"])
        if scenario.flows[source].arrivals is None:
            ends = _ends(source, ports[index])
            established_s = flow["established_s"]
            report.windows[index] = estimates.with_estimates(trace, recording, ends, established_s)


def _ends(flow: int, port: int) -> str:
    """Returns a flow's connection as recordings name it; see linux/path/packet.hpp."""
    host = f"{flow >> 8}.{flow & 255}"
    return f"10.64.{host}:{port}>10.65.{host}:{_PORT}"


def execute(plan: str, what: str) -> list[list[str]]:
    """Runs ww-path with this plan; returns the words of its output lines."""
    done = programs.run([program()], plan)
    lines, problem = wire.heard(done)
    if done.code == _LACKING:
        raise UnavailableError(f"engine linux: {one_line(problem.removeprefix('ww-path: '))}")
    if problem:
        wire.refuse_stale(PROGRAM, problem)
        raise RunError(f"{what}: the emulated path ended with {one_line(problem)}")
    return lines
