# SPDX-License-Identifier: BSD-3-Clause
"""`make bench`: the engine beside ns-3, in turn in the same session, and the core by itself.

    python -m bench.run [--quick]     --quick: shorter ns-3 runs, fewer repeats

Each case runs on both sides with the same path, flows and simulated duration. Two ratios are
printed, since the two do not send the same number of packets (mainline's Westwood+ counts
duplicate ACKs twice and keeps a larger window): CPU time for the whole run, and CPU time a data
packet. Everything printed is also in build/bench/results.json.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench import ns3_peer
from westwood.errors import RunError

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "bench"
ENGINE = BUILD / "ww_engine_run"
TURNS = 3

# Flows on one bottleneck: 100 Mb/s, 45 ms, 1500 B packets, a queue of one bandwidth-delay product.
SHARED = {
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
# 10 Gb/s, 10 ms: a queue of a tenth of the bandwidth-delay product.
FAST = {
    "rate": 10e9,
    "access": 40e9,
    "delay": 1e-3,
    "access_delay": 0.004,
    "payload": 1460,
    "queue": 830,
    "loss": 1e-6,
    "window": 1 << 26,
    "ssthresh": 1 << 25,
}


@dataclass
class Case:
    """options: for both sides; ours, theirs: for one; goal: the CPU ratio aimed at."""

    name: str
    goal: int | None = None
    options: dict[str, Any] = field(default_factory=dict)
    ours: dict[str, Any] = field(default_factory=lambda: {"cc": "reno", "recovery": "sack"})
    theirs: dict[str, Any] | None = field(default_factory=lambda: {"cc": "TcpNewReno"})


WESTWOOD = {"cc": "westwood+", "recovery": "newreno"}
CASES = [
    Case("1 flow, Table 1, Westwood+", 1000, {}, WESTWOOD, {"cc": "TcpWestwoodPlus"}),
    Case(
        "1 flow, Table 1, Westwood+, traced",
        500,
        {},
        {**WESTWOOD, "trace": 1},
        {"cc": "TcpWestwoodPlus"},
    ),
    Case("1 flow, Table 1, NewReno with SACK", 1000),
    Case("1 flow, 100 Mb/s", None, {**SHARED, "flows": 1}),
    Case("10 flows, 100 Mb/s", None, {**SHARED, "flows": 10}),
    Case("20 flows, 100 Mb/s", 200, {**SHARED, "flows": 20}),
    Case("100 flows, 100 Mb/s", 200, {**SHARED, "flows": 100}),
    Case("1000 flows, 100 Mb/s", None, {**SHARED, "flows": 1000}),
    Case("1 flow, 100 Mb/s, 60 s", None, {**SHARED, "flows": 1, "duration": 60}, theirs=None),
    Case(
        "1000 flows, 100 Mb/s, 60 s", None, {**SHARED, "flows": 1000, "duration": 60}, theirs=None
    ),
    Case(
        "1000 flows, 1 Gb/s",
        None,
        {**SHARED, "flows": 1000, "rate": 1e9, "access": 10e9, "queue": 4000},
        theirs=None,
    ),
    Case("1 flow, 10 Gb/s, 10 s", None, {**FAST, "flows": 1, "duration": 10}, theirs=None),
    Case("40 flows, 10 Gb/s, 10 s", None, {**FAST, "flows": 40, "duration": 10}, theirs=None),
    Case("40 flows, 10 Gb/s, 0.3 s", None, {**FAST, "flows": 40, "duration": 0.3}),
]

# Each part that a plain flow does not use: 10 Mb/s, 21 ms, an error in 1000, 200 s.
PLAIN = {
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


def part(name: str, ours: dict[str, Any], theirs: str | None = None) -> Case:
    """Measures a line of the second table; theirs is ns-3's class, where it has one."""
    return Case(
        name,
        None,
        PLAIN,
        {"cc": "reno", "recovery": "sack", **ours},
        {"cc": theirs} if theirs else None,
    )


PARTS = [
    part("plain: Reno with SACK", {}, "TcpNewReno"),
    part("Westwood", {"cc": "westwood", "recovery": "newreno"}),
    part("WestwoodNR+", {"cc": "westwoodnr+", "recovery": "newreno"}),
    part("rate halving", {"cc": "westwood+-linux24", "recovery": "rate-halving"}),
    part("PRR", {"cc": "westwood+-linux", "recovery": "prr"}),
    part("CUBIC", {"cc": "cubic"}, "TcpCubic"),
    part("Vegas", {"cc": "vegas"}, "TcpVegas"),
    part("BBR: rate samples, pacing", {"cc": "bbr"}, "TcpBbr"),
    *(
        part(what, {"part": name})
        for what, name in (
            ("RED", "red"),
            ("RED with ECN", "red-ecn"),
            ("two-state loss", "markov"),
            ("bit errors", "bits"),
            ("recorded rate", "opportunities"),
            ("jitter", "jitter"),
            ("reordering", "reordering"),
            ("datagrams, on and off", "datagrams"),
            ("transfers that arrive", "arrivals"),
            ("windows traced", "windows"),
            ("queues traced", "queues"),
            ("a link captured", "capture"),
        )
    ),
]


def measure(case: Case, peer: Path | None, turns: int) -> dict[str, Any]:
    """Ours and theirs in turn; of each the run that took the least CPU time."""
    ours: list[dict[str, Any]] = []
    theirs: list[dict[str, Any]] = []
    for turn in range(turns):
        ours.append(ns3_peer.run(ENGINE, **case.options, **case.ours))
        if peer is not None and case.theirs is not None and turn < max(1, turns - 1):
            theirs.append(ns3_peer.run(peer, **case.options, **case.theirs))
    best = min(ours, key=lambda run: float(run["cpu_s"]))
    row = {"case": case.name, "goal": case.goal, "engine": best}
    if theirs:
        row["ns3"] = min(theirs, key=lambda run: float(run["cpu_s"]))
        row["ratio"] = row["ns3"]["cpu_s"] / best["cpu_s"]
        row["ratio_a_packet"] = row["ratio"] * best["packets"] / row["ns3"]["packets"]
    return row


def show(rows: list[dict[str, Any]], title: str) -> None:
    table = Table(title=title)
    columns = (
        "ours (ms)",
        "ns-3 (s)",
        "ratio",
        "goal",
        "ratio a packet",
        "ns a packet",
        "packets/s",
        "MiB",
    )
    table.add_column("case", no_wrap=True)
    for name in columns:
        table.add_column(name, justify="right")
    for row in rows:
        ours = row["engine"]
        seen = "ns3" in row
        table.add_row(
            row["case"],
            f"{ours['cpu_s'] * 1e3:.1f}",
            f"{row['ns3']['cpu_s']:.2f}" if seen else "",
            f"{row['ratio']:.0f}" if seen else "",
            str(row["goal"] or ""),
            f"{row['ratio_a_packet']:.0f}" if seen else "",
            f"{ours['cpu_s'] / ours['packets'] * 1e9:.1f}",
            f"{ours['packets'] / ours['cpu_s'] / 1e6:.1f} M",
            f"{ours['peak_kib'] / 1024:.1f}",
        )
    Console(width=132).print(table)


def show_growth(rows: list[dict[str, Any]]) -> None:
    a_packet = {row["case"]: row["engine"]["cpu_s"] / row["engine"]["packets"] for row in rows}
    alone = a_packet["1 flow, 100 Mb/s, 60 s"]
    for name in ("1000 flows, 100 Mb/s, 60 s", "1000 flows, 1 Gb/s"):
        print(
            f"a packet of {name}, costs {a_packet[name] / alone:.2f} times one of 1 flow (goal: 2)"
        )


def core() -> dict[str, Any]:
    """google-benchmark's figures for the core: ns an ACK."""
    done = subprocess.run(
        [BUILD / "ww_core_bench", "--benchmark_format=json"],
        capture_output=True,
        text=True,
        check=True,
    )
    result: dict[str, Any] = json.loads(done.stdout)
    for run in result["benchmarks"]:
        print(f"core: {run['name']:<40} {run['cpu_time']:8.2f} {run['time_unit']}")
    return result


def main() -> int:
    quick = "--quick" in sys.argv[1:]
    try:
        peer: Path | None = ns3_peer.peer()
    except RunError as error:
        peer = None
        print(f"without ns-3: {error}", file=sys.stderr)
    tables: dict[str, list[dict[str, Any]]] = {}
    for name, cases in (("cases", CASES), ("parts", PARTS)):
        tables[name] = []
        for case in cases:
            print(f"{case.name} ...", file=sys.stderr)
            tables[name].append(measure(case, peer, 1 if quick else TURNS))
    show(tables["cases"], "Engine beside ns-3 3.44: CPU time, best of the turns")
    show_growth(tables["cases"])
    show(tables["parts"], "What each part costs: 1 flow, 10 Mb/s, 200 s")
    results = {**tables, "core": core()}
    (BUILD / "results.json").write_text(json.dumps(results, indent=1))
    print(f"all figures: {(BUILD / 'results.json').relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
