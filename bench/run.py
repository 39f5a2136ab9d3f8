# SPDX-License-Identifier: BSD-3-Clause
"""`make bench`: the engine, ns-3 and htsim in turn in one session, and the core alone.

python -m bench.run [--quick] [--long] [--scale] [--record]

--quick    one turn, no counts      --scale   also 10^4 and 10^5 flows: gigabytes
--long     also `reproduce all`     --record  keep the figures in bench/recorded.json

Each case runs on every side with the same path, flows and simulated duration. No two sides send the
same number of packets (mainline ns-3's Westwood+ counts duplicate ACKs twice and keeps a larger
window), so CPU time per data packet is compared. A peer that is not available is named and left
out. Figures that got worse than the recorded ones are named. Everything is in
build/bench/results.json, from which `python -m tools.pages performance` writes the tables of
docs/performance.md.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bench import counting, htsim_peer, ns3_peer, recorded, table, whole
from bench.cases import SCALE, TABLES, Case
from westwood.errors import WestwoodError

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "bench"
ENGINE = BUILD / "ww_engine_run"
RESULTS = BUILD / "results.json"
TURNS = 3
_COUNTED = 2e5  # packets for which instructions are counted: callgrind is slow
_TOO_MANY = 3e6  # larger cases are not counted: _COUNTED packets would be just their start

Row = dict[str, Any]


class Bench:
    """The means of measurement on this machine."""

    def __init__(self, *, quick: bool) -> None:
        self.turns = 1 if quick else TURNS
        self.ns3 = _peer("ns-3", ns3_peer.peer)
        self.htsim = _peer("htsim", htsim_peer.peer)
        self.count, missing = (None, "") if quick else counting.counter()
        if missing:
            print(missing, file=sys.stderr)

    def measure(self, case: Case) -> Row:
        """Runs all sides in turn, and keeps each side's run with the lowest CPU time."""
        print(f"{case.name} ...", file=sys.stderr)
        runs: dict[str, list[Row]] = {"engine": [], "ns3": [], "htsim": []}
        for turn in range(self.turns):
            runs["engine"].append(ns3_peer.run(ENGINE, **case.options, **case.ours))
            if turn and turn == self.turns - 1:
                continue  # two runs of a long case are enough
            if self.ns3 and case.ns3:
                known = {k: v for k, v in case.options.items() if k != "gap"}
                runs["ns3"].append(ns3_peer.run(self.ns3, **known, cc=case.ns3))
                # The engine takes milliseconds, all of which may be disturbed, so it has another
                # turn.
                runs["engine"].append(ns3_peer.run(ENGINE, **case.options, **case.ours))
            if self.htsim and case.htsim:
                runs["htsim"].append(ns3_peer.run(self.htsim, **case.options))
        row: Row = {"case": case.name, "flows": case.options.get("flows", 1)}
        goals = {"ns": case.goal_ns, "ns3": case.goal_ns3, "htsim": case.goal_htsim}
        row["goals"] = {key: goal for key, goal in goals.items() if goal}
        for side, seen in runs.items():
            if seen:
                row[f"{side}_run"] = min(seen, key=lambda run: float(run["cpu_s"]))
        row["ns"] = _ns(row["engine_run"])
        for side in ("ns3", "htsim"):
            if f"{side}_run" in row:
                row[side] = _ns(row[f"{side}_run"]) / row["ns"]
        row.update(self._counts(case, row["engine_run"]["packets"]))
        return row

    def _counts(self, case: Case, packets: int) -> Mapping[str, float]:
        if self.count is None or not 0 < packets < _TOO_MANY:
            return {}
        given = {"duration": 600, **case.options, **case.ours}
        given["duration"] *= min(1.0, _COUNTED / packets)
        arguments = [f"--{k.replace('_', '-')}={v}" for k, v in given.items() if k != "repeat"]
        return counting.per_packet(self.count, ENGINE, arguments)


def _ns(run: Row) -> float:
    return float(run["cpu_s"]) / max(1, int(run["packets"])) * 1e9


def _peer(name: str, find: Callable[[], Path]) -> Path | None:
    try:
        return find()
    except WestwoodError as error:
        print(f"without {name}: {error}", file=sys.stderr)
        return None


def machine() -> dict[str, Any]:
    """Describes the machine: its processor, cores and compiler."""
    match = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    compiler = subprocess.run(["c++", "--version"], capture_output=True, text=True).stdout
    return {
        "processor": match[1] if match else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "compiler": compiler.partition("\n")[0],
    }


def core() -> dict[str, Any]:
    """Returns google-benchmark's figures for the core, in ns per ACK."""
    done = subprocess.run(
        [BUILD / "ww_core_bench", "--benchmark_format=json"],
        capture_output=True,
        text=True,
        check=True,
    )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def main() -> int:
    options = set(sys.argv[1:])
    if unknown := options - {"--quick", "--long", "--scale", "--record"}:
        print(f"bench.run: unknown: {' '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    bench = Bench(quick="--quick" in options)
    results: dict[str, Any] = {"machine": machine()}
    for name, cases in TABLES.items():
        results[name] = [bench.measure(case) for case in cases]
    results["scale"] = [bench.measure(case) for case in SCALE] if "--scale" in options else []
    results["whole"] = whole.rows(long="--long" in options)
    results["core"] = core()
    RESULTS.write_text(json.dumps(results, indent=1))
    for title, lines in table.tables(results).items():
        print(f"\n{title}\n{lines}")
    for run in results["core"]["benchmarks"]:
        print(f"core: {run['name']:<40} {run['cpu_time']:8.2f} {run['time_unit']}")
    for line in recorded.worse(recorded.figures(results), recorded.read()):
        print(f"WORSE: {line}")
    if "--record" in options:
        recorded.write(results)
    print(f"all figures: {RESULTS.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
