# SPDX-License-Identifier: BSD-3-Clause
"""The cases that `make bench` measures, as on docs/performance.md, with their goals."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Options = dict[str, Any]

# Flows on one bottleneck: 100 Mb/s, 45 ms, 1500 B packets, a queue of one bandwidth-delay product.
SHARED: Options = {
    "rate": 100e6,
    "access": 1e9,
    "delay": 1e-3,
    "access_delay": 0.0225,
    "payload": 1460,
    "queue": 400,
    "loss": 0.0005,
    "window": 1 << 20,
    "ssthresh": 1 << 20,
    "duration": 10,
}
GIGABIT: Options = {**SHARED, "rate": 1e9, "access": 10e9, "queue": 4000}
# 10 Gb/s, 10 ms: a queue of a tenth of the bandwidth-delay product.
FAST: Options = {
    "rate": 10e9,
    "access": 40e9,
    "delay": 1e-3,
    "access_delay": 0.004,
    "payload": 1460,
    "queue": 830,
    "loss": 1e-6,
    "window": 1 << 26,
    "ssthresh": 1 << 25,
    "duration": 10,
}
# Many flows on 10 Gb/s, 45 ms; all start within the first second.
MANY: Options = {**SHARED, "rate": 10e9, "access": 100e9, "queue": 40_000}
# One flow on 10 Mb/s, 21 ms, one error in 1000, 200 s: the case to which parts are added.
BASE: Options = {
    "rate": 10e6,
    "access": 100e6,
    "delay": 0.02,
    "access_delay": 1e-3,
    "payload": 1460,
    "queue": 50,
    "loss": 0.001,
    "ssthresh": 1 << 20,
    "duration": 200,
}
# The kind of run that searches repeat by the million.
SHORT: Options = {**BASE, "rate": 12e6, "duration": 10, "loss": 0.005}

SACK: Options = {"cc": "reno", "recovery": "sack"}
MODERN: Options = {"recovery": "prr", "part": "modern"}  # RACK, PRR, F-RTO, undo, timestamps
WESTWOOD: Options = {"cc": "westwood+", "recovery": "newreno"}


@dataclass(frozen=True)
class Case:
    """A row: `options` are for all sides, `ours` for the engine, `ns3` for its peer."""

    name: str
    options: Options = field(default_factory=dict)
    ours: Options = field(default_factory=lambda: dict(SACK))
    ns3: str = ""  # the class of ns-3's congestion control; empty: not beside it
    htsim: bool = False  # also run in htsim, which has NewReno without SACK
    goal_ns: float | None = None  # per packet
    goal_ns3: float | None = None  # ratio per packet
    goal_htsim: float | None = None


def part(name: str, ours: Options, ns3: str = "", goal_ns: float | None = None) -> Case:
    """Returns a row that shows what a part costs."""
    return Case(name, BASE, {**SACK, **ours}, ns3, goal_ns=goal_ns)


def lone(
    name: str, ours: Options, ns3: str = "", *, htsim: bool = False, path: Options = BASE
) -> Case:
    """Returns a row with a single flow."""
    return Case(name, path, ours, ns3, htsim, goal_ns=15, goal_ns3=1000 if ns3 else None)


def shared(name: str, flows: int) -> Case:
    """Returns a row with several flows on one bottleneck, also run in both peers."""
    options = {**SHARED, "flows": flows}
    return Case(name, options, SACK, "TcpNewReno", True, goal_ns=20, goal_htsim=15)


LONE = "1 flow, SACK"
MANY_IN_OVERLOAD = "1000 flows, 100 Mb/s, 60 s: overload"
TABLES: dict[str, tuple[Case, ...]] = {
    "flows": (
        lone("1 flow, Reno", {"cc": "reno", "recovery": "newreno"}),
        lone(LONE, SACK, "TcpNewReno", htsim=True),
        lone("1 flow, SACK, RACK, PRR", {"cc": "reno", **MODERN}, "TcpNewReno"),
        lone("1 flow, CUBIC, RACK, PRR", {"cc": "cubic", **MODERN}, "TcpCubic"),
        lone("1 flow, Westwood+, RACK, PRR", {"cc": "westwood+", **MODERN}),
        lone("1 flow, Table 1, 600 s, Westwood+", WESTWOOD, "TcpWestwoodPlus", path={}),
        lone("1 flow, Table 1, 600 s, SACK", SACK, "TcpNewReno", htsim=True, path={}),
        shared("20 flows, 100 Mb/s", 20),
        shared("100 flows, 100 Mb/s", 100),
        Case("1000 flows, 1 Gb/s", {**GIGABIT, "flows": 1000}, SACK, "", True, 30),
        Case(MANY_IN_OVERLOAD, {**SHARED, "flows": 1000, "duration": 60}, SACK, "", True),
        Case("10 000 flows, 10 Gb/s", {**MANY, "flows": 10_000, "gap": 1e-4}, SACK, "", True),
        Case("1 flow, 10 Gb/s", {**FAST, "flows": 1}, SACK),
        Case("40 flows, 10 Gb/s", {**FAST, "flows": 40}, SACK),
    ),
    "parts": (
        part("base: Reno with SACK", {}, goal_ns=15),
        part("Westwood", {"cc": "westwood", "recovery": "newreno"}),
        part("WestwoodNR+", {"cc": "westwoodnr+", "recovery": "newreno"}),
        part("rate halving", {"cc": "westwood+-linux24", "recovery": "rate-halving"}),
        part("PRR", {"cc": "westwood+-linux", "recovery": "prr"}),
        part("CUBIC", {"cc": "cubic"}, "TcpCubic", 15),
        part("Vegas", {"cc": "vegas"}, "TcpVegas"),
        part("BBRv1: rate samples, pacing", {"cc": "bbr"}, "TcpBbr", 50),
        part("RED", {"part": "red"}, goal_ns=30),
        part("RED with ECN", {"part": "red-ecn"}, goal_ns=30),
        part("two-state loss", {"part": "markov"}, goal_ns=30),
        part("bit errors", {"part": "bits"}, goal_ns=30),
        part("recorded rate", {"part": "opportunities"}, goal_ns=30),
        part("jitter", {"part": "jitter"}, goal_ns=30),
        part("reordering", {"part": "reordering"}, goal_ns=30),
        part("datagrams, on and off", {"part": "datagrams"}),
        part("transfers that arrive", {"part": "arrivals"}),
        part("windows traced", {"part": "windows"}, goal_ns=20),
        Case("all of it traced: Table 1, Westwood+", {}, {**WESTWOOD, "trace": 1}, goal_ns=30),
        part("queues traced", {"part": "queues"}, goal_ns=40),
        part("a link captured", {"part": "capture"}, goal_ns=60),
        part("a link captured, streamed", {"part": "capture", "stream": 1}, goal_ns=60),
    ),
    "short": (
        Case("10 s at 12 Mb/s", SHORT, {**SACK, "repeat": 200}),
        Case("all but its packets", {**SHORT, "duration": 1e-3}, {**SACK, "repeat": 200}),
    ),
}
# Runs of this many flows take a minute and 3 GB: `python -m bench.run --scale`.
SCALE: tuple[Case, ...] = tuple(
    Case(
        f"{name} flows, {rate_gbps} Gb/s",
        {**MANY, "rate": rate_gbps * 1e9, "access": 1e12, "queue": rate_gbps * 4000}
        | {"flows": flows, "gap": 0.5 / flows, "duration": duration_s},
        {**SACK, "repeat": 1},
    )
    for name, flows, rate_gbps, duration_s in (
        ("100 000", 100_000, 100, 3),
        ("1 000 000", 1_000_000, 500, 1.5),
    )
)
