# SPDX-License-Identifier: BSD-3-Clause
"""Linux as an engine: the same scenario on real sockets, through the kernel that runs here.

linux/ww-path (`make linux-path`; WESTWOOD_LINUX names another one) emulates the network between
namespaces of its own and runs the flows, in real time. It lives as long as its standard input is
open: whatever ends this process ends it, and nothing that it made has a name or outlives it.
"""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from westwood.engines import estimates, linux_plan
from westwood.engines.contract import Job, Result, RunSeed
from westwood.engines.counted import CountedConnection, CountedLinkSide, CountedResult
from westwood.errors import InputError, RunError, UnavailableError, one_line
from westwood.kernel.recording import Recording
from westwood.programs import Program
from westwood.results.raw import Columns
from westwood.results.rows import Row, rows_of_run
from westwood.scenario import Scenario

ENGINE = "linux"
VARIABLE = "WESTWOOD_LINUX"
_TRACES = "westwood-trace-"  # begins the names of folders for them
_LACKING = 77  # exit code of ww-path
_PORT = 5001  # kPort of linux/path_host.hpp
_FLOATS = frozenset(("mean_cwnd", "mean_srtt_s", "min_rtt_s", "start_s", "established_s",
                     "completed_s", "waited_s", "longest_wait_s", "utilisation"))  # fmt: skip
# The files of a trace; what is no number of theirs is "nan".
_COUNT, _NUMBER = pl.Int64(), pl.Float64()
_FILES: dict[str, dict[str, pl.DataType]] = {
    "windows": {
        "connection": _COUNT, "time_s": _NUMBER, "cwnd": _NUMBER, "ssthresh": _NUMBER,
        "rtt_s": _NUMBER, "srtt_s": _NUMBER, "rto_s": _NUMBER, "in_flight": _NUMBER,
        "phase": _COUNT,
    },
    "queues": {"pipe": _COUNT, "arrival_s": _NUMBER, "start_s": _NUMBER, "bytes": _COUNT},
    "drops": {"time_s": _NUMBER, "pipe": _COUNT, "flow": _COUNT, "kind": _COUNT, "ack": _COUNT},
}  # fmt: skip
# The columns of a traced run, with their types.
_WINDOWS: dict[str, type] = {
    "time_s": np.float64,
    "cwnd": np.float64,
    "ssthresh": np.float64,
    "estimate_bps": np.float64,
    "sample_bps": np.float64,
    "rtt_s": np.float64,
    "srtt_s": np.float64,
    "rto_s": np.float64,
    "in_flight": np.float64,
    "phase": np.uint8,
}
_WAIT: dict[str, type] = {"arrival_s": np.float64, "start_s": np.float64, "bytes": np.int64}
_DROP: dict[str, type] = {
    "time_s": np.float64,
    "pipe": np.uint32,
    "flow": np.uint32,
    "kind": np.uint8,
    "ack": np.bool_,
}
PROGRAM = Program(
    "linux/ww-path", VARIABLE, "--engine linux needs linux/ww-path", "make linux-path"
)


def program() -> Path:
    """ww-path; UnavailableError with the remedy if it is not there."""
    return PROGRAM.find()


def check_machine() -> None:
    """UnavailableError, with the remedy, if this machine can't emulate a path: a millisecond's."""
    flow = {"name": "probe", "from": "a", "to": "b", "app": {"kind": "udp", "rate": "1Mbps"}}
    link = {"name": "path", "between": ["a", "b"], "rate": "1Mbps", "delay": "0s"}
    run(Scenario(name="probe", duration="1ms", profile="linux", link=[link], flow=[flow]))


def prepare(job: Job) -> RunSeed:
    """Checks a job; gives what runs one of its seeds."""
    if job.more_columns:
        raise InputError("traces nothing for this figure yet", key="--engine", value=ENGINE)
    linux_plan.check(job.scenario)
    program()
    return partial(_rows, job)


def _rows(job: Job, seed: int) -> list[Row]:
    rows = run(job.scenario, seed).flow_rows
    return [{**job.settings, **row} for row in rows]


class TracedOnce:
    """Runs scenarios, but not again what was traced before: a run takes as long as it says."""

    def __init__(self) -> None:
        self._traced: dict[tuple[str, int], list[Row]] = {}

    def simulate(
        self, scenario: Scenario, seed: int = 1, *, trace: bool = False, events: bool = False,
        queues: bool = False, capture: str | None = None,
    ) -> Result:  # fmt: skip
        """`simulator.simulate` on Linux, whose sockets tell no events; nothing is captured here."""
        for option, asked in (("--events", events), ("--pcap", capture)):
            if asked:
                problem = "comes of the simulator only, expected no --engine linux"
                raise InputError(problem, key=option)
        result = run(scenario, seed, trace=trace or queues)
        self._traced[scenario.hash, seed] = result.flow_rows
        return result

    def prepare(self, job: Job) -> RunSeed:
        """Checks a job; gives what runs one of its seeds."""
        plain = prepare(job)

        def run_seed(seed: int) -> list[Row]:
            known = self._traced.pop((job.scenario.hash, seed), None)
            return plain(seed) if known is None else [{**job.settings, **row} for row in known]

        return run_seed


def run(scenario: Scenario, seed: int = 1, *, trace: bool = False) -> Result:
    """Runs a scenario once, in real time. `trace`: record windows, queues and drops."""
    linux_plan.check(scenario)
    wall = time.perf_counter()
    if not trace:
        raw, cpu_s = _run(scenario, seed, None)
    else:
        _sweep_up()
        with tempfile.TemporaryDirectory(prefix=f"{_TRACES}{os.getpid()}-") as folder:
            raw, cpu_s = _run(scenario, seed, Path(folder))
    cost = {"cpu_s": cpu_s, "wall_s": time.perf_counter() - wall}
    return Result(scenario, seed, rows_of_run(scenario, seed, raw, cost, ENGINE), raw)


def _run(scenario: Scenario, seed: int, folder: Path | None) -> tuple[CountedResult, float]:
    """What was counted, and the processor time it took; traces come through the folder."""
    plan = linux_plan.text(scenario) + linux_plan.run_lines(seed, folder)
    controls = {linux_plan.CONTROLS.get(flow.cc.name, "") for flow in scenario.flows if folder}
    with estimates.recording_of(controls, _PORT) as recording:
        lines = execute(plan, f"{scenario.name}, seed {seed}")
    emulator = next(_numbers(words[1:]) for words in lines if words[0] == "emulator")
    if lost := emulator["overruns"] + emulator["refused"]:
        problem = f"this machine was too slow: {lost:.0f} packets never reached the path"
        raise RunError(f"{scenario.name}, seed {seed}: {problem}; lower rates or fewer --workers")
    looks, waited, dropped = (_table(folder, name) for name in _FILES)
    sides: dict[str, list[CountedLinkSide]] = {"forward": [], "backward": []}
    for pipe, words in enumerate(words for words in lines if words[0] == "link"):
        there = waited.filter(pl.col("pipe") == pipe)
        sides[words[1]].append(CountedLinkSide(_numbers(words[2:]), _columns(there, _WAIT)))
    connections = [words[1:] for words in lines if words[0] == "flow"]
    flows = [
        _connection(scenario, words, looks.filter(pl.col("connection") == index), recording)
        for index, words in enumerate(connections)
    ]
    drops = _columns(dropped, _DROP)
    return CountedResult(flows, sides["forward"], sides["backward"], drops), float(lines[-1][1])


def _connection(
    scenario: Scenario, words: list[str], looks: pl.DataFrame, recording: Recording
) -> CountedConnection:
    """A connection with its trace: TCP_INFO's columns, and the estimates where they are recorded.

    TCP_INFO tells the smoothed round trip only, which stands for both.
    """
    source, numbers = int(words[0]), _numbers(words[1:])
    looks = looks.with_columns(estimate_bps=pl.lit(math.nan), sample_bps=pl.lit(math.nan))
    if scenario.flows[source].arrivals is None:  # else it has several connections
        ends = _ends(source, round(numbers["port"]))
        looks = estimates.beside(looks, recording, ends, numbers["established_s"])
    return CountedConnection({"source": source, **numbers}, _columns(looks, _WINDOWS))


def _columns(table: pl.DataFrame, types: Mapping[str, type]) -> Columns:
    return {name: table[name].to_numpy().astype(kind) for name, kind in types.items()}


def _sweep_up() -> None:
    """Removes the traces of processes that were killed: nothing else of theirs is left."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_TRACES}*"):
        owner = folder.name.removeprefix(_TRACES).partition("-")[0]
        if not Path(f"/proc/{owner}").exists():
            shutil.rmtree(folder, ignore_errors=True)


def _ends(flow: int, port: int) -> str:
    """Of a flow's connection, as a recording names it: linux/path_packet.hpp has the addresses."""
    host = f"{flow >> 8}.{flow & 255}"
    return f"10.64.{host}:{port}>10.65.{host}:{_PORT}"


def execute(plan: str, what: str) -> list[list[str]]:
    """Runs ww-path with this plan; its lines, word by word."""
    # Its standard input stays open until it ends: see above.
    with subprocess.Popen(
        [program()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    ) as process:  # fmt: skip
        assert process.stdin and process.stdout and process.stderr
        try:
            process.stdin.write(plan)
            process.stdin.flush()
            lines = [line.split() for line in process.stdout]
            problem = process.stderr.read().strip()
        except BrokenPipeError:
            lines, problem = [], process.stderr.read().strip()
        except BaseException:
            process.kill()
            raise
    if process.returncode == _LACKING:
        raise UnavailableError(f"--engine linux: {one_line(problem.removeprefix('ww-path: '))}")
    if process.returncode != 0 or not lines or lines[-1][0] != "end":
        last = (problem or f"exit code {process.returncode}").splitlines()[-1]
        raise RunError(f"{what}: the emulated path ended with {one_line(last)}")
    return lines


def _numbers(words: list[str]) -> dict[str, float]:
    pairs = zip(words[::2], words[1::2], strict=True)
    return {
        name: float(value) if name in _FLOATS or name.startswith("late") else int(value)
        for name, value in pairs
    }


def _table(folder: Path | None, name: str) -> pl.DataFrame:
    """A file of the trace; without a folder nothing was traced."""
    schema = _FILES[name]
    if folder is None:
        return pl.DataFrame(schema=schema)
    table = pl.read_csv(folder / f"{name}.csv", schema=schema, null_values="nan")
    return table.with_columns(pl.col(pl.Float64).fill_null(math.nan))
