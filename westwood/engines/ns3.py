# SPDX-License-Identifier: BSD-3-Clause
"""ns-3 as a second engine: the same scenario through ns3/runner, a program of our ns-3 module.

`make ns3` builds it against ns-3 3.44; WESTWOOD_NS3 names another one.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from westwood._engine import DROP_KINDS
from westwood.engines.contract import Result, RunSeed
from westwood.engines.counted import CountedConnection, CountedLinkSide, CountedResult
from westwood.engines.ns3_words import network
from westwood.errors import InputError, RunError, one_line
from westwood.programs import Program
from westwood.results.raw import Columns
from westwood.results.rows import Row, rows_of_run
from westwood.units import PS_PER_S

if TYPE_CHECKING:
    from westwood.engines.contract import Job
    from westwood.scenario import Scenario

ENGINE = "ns3"
VARIABLE = "WESTWOOD_NS3"


PROGRAM = Program("ns3/wheel/ww-ns3-runner", VARIABLE, "--engine ns3 needs ns3/runner", "make ns3")


def program() -> Path:
    """The runner; UnavailableError with the remedy if it is not there."""
    return PROGRAM.find()


def simulate(
    scenario: Scenario, seed: int = 1, *, trace: bool = False, queues: bool = False,
    events: bool = False, capture: str | None = None,
) -> Result:  # fmt: skip
    """`simulator.simulate` in ns-3, which knows no events and captures nothing here."""
    for option, asked in (("--events", events), ("--pcap", capture)):
        if asked:
            raise InputError("comes of the simulator only, expected no --engine ns3", key=option)
    return _run(program(), network(scenario), scenario, seed, trace or queues)


def prepare(job: Job) -> RunSeed:
    """Checks a job; gives what runs one of its seeds in ns-3."""
    if job.needs_events:
        raise InputError("logs no events for this figure", key="--engine", value=ENGINE)
    return partial(_rows, program(), network(job.scenario), job)


def _rows(program: Path, text: str, job: Job, seed: int) -> list[Row]:
    return job.rows(_run(program, text, job.scenario, seed, bool(job.more_columns)))


def _run(program: Path, text: str, scenario: Scenario, seed: int, trace: bool) -> Result:
    wall = time.perf_counter()
    head = f"run {seed} {scenario.duration / PS_PER_S!r} {int(trace)}\n"
    done = subprocess.run([program], input=head + text, capture_output=True, text=True, check=False)
    lines = [line.split() for line in done.stdout.splitlines()]
    if done.returncode != 0 or not lines or lines[-1][0] != "end":
        last = (done.stderr.strip() or "no message").splitlines()[-1]
        raise RunError(f"{scenario.name}, seed {seed}: ns-3 ended with {one_line(last)}")
    raw = _read(lines, scenario)
    cost = {"cpu_s": float(lines[-1][1]), "wall_s": time.perf_counter() - wall}
    return Result(scenario, seed, rows_of_run(scenario, seed, raw, cost, ENGINE), raw)


_ROW = ("time_s", "cwnd", "ssthresh", "estimate_bps", "sample_bps", "rtt_s", "srtt_s", "rto_s",
        "in_flight", "phase")  # fmt: skip
_WAIT = ("arrival_s", "start_s", "bytes")
_DROP = ("time_s", "pipe", "flow", "ack", "kind")


def _read(lines: Iterable[list[str]], scenario: Scenario) -> CountedResult:
    """What the runner printed."""
    said: dict[tuple[str, ...], list[str]] = {}  # the kind of line and the place it is about
    tables: dict[tuple[str, ...], list[list[str]]] = {}
    for kind, *words in lines:
        if kind == "flow":
            said[kind, words[0]] = words[1:]
        elif kind == "way":
            said[kind, words[0], words[1]] = words[2:]
        elif kind == "row":
            tables.setdefault((kind, words[0]), []).append(words[1:])
        elif kind == "wait":
            tables.setdefault((kind, words[0], words[1]), []).append(words[2:])
        elif kind == "drop":
            time_s, link, side, flow, ack, why = words
            row = [time_s, str(2 * int(link) + int(side)), flow, ack, str(DROP_KINDS.index(why))]
            tables.setdefault((kind,), []).append(row)
    flows = [
        _connection(scenario, index, said["flow", str(index)],
                    _columns(_ROW, tables.get(("row", str(index)), []), ("phase",)))
        for index in range(len(scenario.flows))
    ]  # fmt: skip
    forward, backward = (
        [_way(said["way", str(link), side], tables.get(("wait", str(link), side), []))
         for link in range(len(scenario.link))]
        for side in ("0", "1")
    )  # fmt: skip
    return CountedResult(
        flows, forward, backward, _columns(_DROP, tables.get(("drop",), []), _DROP[1:])
    )


def _columns(names: tuple[str, ...], rows: list[list[str]], whole: tuple[str, ...]) -> Columns:
    """A table's columns; those in `whole` are whole numbers."""
    table = np.array(rows, dtype=np.float64).reshape(len(rows), len(names))
    return {
        name: table[:, i].astype(np.uint32) if name in whole else table[:, i]
        for i, name in enumerate(names)
    }


def _way(words: list[str], waits: list[list[str]]) -> CountedLinkSide:
    seen = dict(zip(words[::2], words[1::2], strict=True))
    counts = {name: int(seen[name]) for name in ("packets", "bytes", "queue_drops", "lost")}
    times = {name: float(seen[name]) for name in ("utilisation", "longest_wait_s", "waited_s")}
    waited = _columns(_WAIT, waits, ("bytes",))
    return CountedLinkSide({**counts, **times, "early_drops": 0, "marked": 0}, waited)


# What the runner calls a count of a connection, where rows have another name for it.
_OTHER_NAMES = {
    "delivered": "delivered_bytes",
    "ip_bytes": "ip_bytes_at_sink",
    "recoveries": "fast_recoveries",
    "drops": "queue_drops",
}
_MEASURES = ("mean_cwnd", "mean_srtt_s", "min_rtt_s", "established_s", "completed_s")


def _connection(
    scenario: Scenario, index: int, words: list[str], rows: Columns
) -> CountedConnection:
    start_s = scenario.flows[index].start / PS_PER_S
    numbers: dict[str, float] = {"source": index, "start_s": start_s, "ecn_reductions": 0}
    for name, value in zip(words[::2], words[1::2], strict=True):
        number = float(value) if name in _MEASURES else int(value)
        numbers[_OTHER_NAMES.get(name, name)] = number
    return CountedConnection(numbers, rows)
