# SPDX-License-Identifier: BSD-3-Clause
"""ns-3 as a second engine: the same scenario through ns3/runner, a program of our ns-3 module.

`make ns3` builds it against ns-3 3.44; WESTWOOD_NS3 names another one. ns-3 can do what this module
says: loss-based protocols with SACK on point-to-point links. Everything else is one clear line.
"""

from __future__ import annotations

import math
import os
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from westwood.errors import InputError, RunError, UnavailableError, one_line
from westwood.rows import Direction, Row, rows_of_run
from westwood.units import PS_PER_S, format_size

if TYPE_CHECKING:
    from westwood.flows import Flow
    from westwood.links import Link
    from westwood.scenario import Scenario
    from westwood.sim import Job

ENGINE = "ns3"
VARIABLE = "WESTWOOD_NS3"
_OVERHEAD = 2  # bytes: PPP, which ns-3's point-to-point devices add
_UNLIMITED = 2**32 - 1
_RECOVERIES = ("tahoe", "reno", "newreno", "sack")
# Protocol: ns-3's class, and of our module's class the member of the family.
_CLASSES = {
    "tahoe": ("TcpNewReno", "-"), "reno": ("TcpNewReno", "-"), "newreno": ("TcpNewReno", "-"),
    "sack": ("TcpNewReno", "-"), "cubic": ("TcpCubic", "-"), "vegas": ("TcpVegas", "-"),
    "bbr": ("TcpBbr", "-"), "westwood": ("WwTcpWestwood", "Westwood"),
    "westwood+": ("WwTcpWestwood", "WestwoodPlus"),
    "westwood-ns3": ("WwTcpWestwood", "WestwoodNs3"),
    "westwood+-ns3": ("WwTcpWestwood", "WestwoodPlusNs3"),
    "westwoodnr+": ("WwTcpWestwood", "WestwoodNRPlus"),
    "westwood+-linux": ("WwTcpWestwood", "WestwoodPlusLinux"),
}  # fmt: skip


def runner() -> Path:
    """The program; UnavailableError with the remedy if it is not there."""
    named = os.environ.get(VARIABLE)
    built = Path(__file__).parent.parent / "build" / "ns3" / "wheel" / "ww-ns3-runner"
    for path in [Path(named)] if named else [built]:
        if path.is_file() and os.access(path, os.X_OK):
            return path
    where = f"{VARIABLE} names no program" if named else "it is not built"
    raise UnavailableError(f"--engine ns3 needs ns3/runner, and {where}: make ns3")


@dataclass(frozen=True)
class FlowResult:
    """What ns-3 says of a flow, under the simulator's names."""

    source: int
    delivered_bytes: int
    ip_bytes_at_sink: int
    sent: int
    retransmitted: int
    timeouts: int
    fast_recoveries: int
    queue_drops: int
    lost: int
    mean_cwnd: float
    mean_srtt_s: float
    min_rtt_s: float
    start_s: float
    completed_s: float
    ecn_reductions: int = 0


@dataclass(frozen=True)
class Run:
    """A run; ns-3 says nothing of its links."""

    flows: list[FlowResult]
    forward: Sequence[Direction] = field(default=())
    backward: Sequence[Direction] = field(default=())


def prepare(job: Job) -> Callable[[int], list[Row]]:
    """For `sim.run_jobs`: what runs a seed of the job in ns-3."""
    if job.observer:
        raise InputError("traces nothing for this figure yet", key="--engine", value=ENGINE)
    program, text = runner(), network(job.scenario)
    return partial(_rows, program, text, job)


def _rows(program: Path, text: str, job: Job, seed: int) -> list[Row]:
    wall = time.perf_counter()
    scenario = job.scenario
    head = f"run {seed} {scenario.duration / PS_PER_S!r} 0\n"
    done = subprocess.run([program], input=head + text, capture_output=True, text=True, check=False)
    lines = [line.split() for line in done.stdout.splitlines()]
    if done.returncode != 0 or not lines or lines[-1][0] != "end":
        last = (done.stderr.strip() or "no message").splitlines()[-1]
        raise RunError(f"{scenario.name}, seed {seed}: ns-3 ended with {one_line(last)}")
    flows = [_flow_result(scenario, line) for line in lines if line[0] == "flow"]
    cost = {"cpu_s": float(lines[-1][1]), "wall_s": time.perf_counter() - wall}
    rows = rows_of_run(scenario, seed, Run(flows), cost, ENGINE)
    return [{**job.settings, **row} for row in rows]


def _flow_result(scenario: Scenario, words: list[str]) -> FlowResult:
    index = int(words[1])
    seen = dict(zip(words[2::2], words[3::2], strict=True))
    return FlowResult(
        source=index, delivered_bytes=int(seen["delivered"]),
        ip_bytes_at_sink=int(seen["ip_bytes"]), sent=int(seen["sent"]),
        retransmitted=int(seen["retransmitted"]), timeouts=int(seen["timeouts"]),
        fast_recoveries=int(seen["recoveries"]), queue_drops=int(seen["drops"]),
        lost=int(seen["lost"]), mean_cwnd=float(seen["mean_cwnd"]),
        mean_srtt_s=float(seen["mean_srtt_s"]), min_rtt_s=float(seen["min_rtt_s"]),
        start_s=scenario.flows[index].start / PS_PER_S, completed_s=float(seen["completed_s"]),
    )  # fmt: skip


def network(scenario: Scenario) -> str:
    """The scenario in the runner's words; InputError names what ns-3 can't do."""
    index = {node: i for i, node in enumerate(scenario.nodes)}
    links = [_link(link, index) for link in scenario.link]
    flows = [_flow(flow, index) for flow in scenario.flows]
    return "".join(f"{line}\n" for line in [*links, *flows])


def _refuse(key: str, value: object, expected: str) -> InputError:
    return InputError(f"--engine ns3 expects {expected}", key=key, value=value)


def _link(link: Link, index: dict[str, int]) -> str:
    name = link.name
    if link.overhead != _OVERHEAD:
        raise _refuse(f"{name}.overhead", format_size(link.overhead), 'the "2B" of its devices')
    if link.queue.kind != "droptail" or link.queue.limit.unit != "p":
        raise _refuse(f"{name}.queue", link.queue.kind, "drop-tail with a limit in packets")
    if link.loss.kind not in ("none", "uniform"):
        raise _refuse(f"{name}.loss.kind", link.loss.kind, '"none" or "uniform"')
    if link.trace or link.jitter or link.reorder:
        raise _refuse(name, link.name, "no trace, jitter or reordering")
    rates = {"forward": 0.0, "backward": 0.0}
    if link.loss.kind == "uniform":
        for side in rates:
            rates[side] = link.loss.rate if link.loss.on in (side, "both") else 0.0
    a, b = (index[node] for node in link.between)
    limit = link.queue.limit.count or 2**31
    return (f"link {a} {b} {link.rate} {link.delay / PS_PER_S!r} {limit} "
            f"{rates['forward']!r} {rates['backward']!r}")  # fmt: skip


def _flow(flow: Flow, index: dict[str, int]) -> str:
    name = flow.name
    if flow.cc.name not in _CLASSES:
        raise _refuse(f"{name}.cc", flow.cc.name, "one of " + ", ".join(_CLASSES))
    if flow.recovery not in _RECOVERIES:
        raise _refuse(f"{name}.recovery", flow.recovery, "one of " + ", ".join(_RECOVERIES))
    if flow.app.kind != "bulk" or flow.arrivals or flow.ecn or flow.start_spread:
        raise _refuse(name, flow.app.kind, "a bulk flow without arrivals, ECN and spread starts")
    if flow.header != 40:
        raise _refuse(f"{name}.header", format_size(flow.header), '"40B"')
    kind, protocol = _CLASSES[flow.cc.name]
    ssthresh = flow.initial_ssthresh.packets(flow.mss)
    stop_s = math.inf if flow.stop is None else flow.stop / PS_PER_S
    words = [
        index[flow.from_], index[flow.to], kind, protocol, flow.recovery, flow.mss,
        max(1, flow.initial_cwnd.packets(flow.mss) or 1),
        _UNLIMITED if ssthresh is None else max(2, ssthresh) * flow.mss, flow.receive_window,
        flow.min_rto / PS_PER_S, flow.initial_rto / PS_PER_S, flow.delayed_ack,
        flow.delayed_ack_timeout / PS_PER_S, flow.dupack_threshold, int(flow.limited_transmit),
        flow.start / PS_PER_S, 1e9 if math.isinf(stop_s) else stop_s, flow.size or 0,
    ]  # fmt: skip
    return "flow " + " ".join(str(word) for word in words)
