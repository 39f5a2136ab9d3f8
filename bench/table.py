# SPDX-License-Identifier: BSD-3-Clause
"""Writes the tables of docs/performance.md from the last results of `make bench`.

python -m bench.table

The sentences around them are written by hand.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.cases import LONE
from tools.pages import replace

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "build" / "bench" / "results.json"
PAGE = ROOT / "docs" / "performance.md"

# Lower bounds for a packet of a lone flow. A slot of a channel's ring and a segment's sending time
# are written and read again. A current core renames this many instructions per cycle.
_SLOT, _SEND_TIME = 24, 8  # bytes
_WIDTH = 6

_UNITS = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6))

Row = Mapping[str, Any]
_HEADS = (
    "ns per packet",
    "goal",
    "x ns-3",
    "goal",
    "x htsim",
    "goal",
    "instructions",
    "cache misses",
    "MiB",
)


def tables(results: Mapping[str, Any]) -> dict[str, list[str]]:
    """Returns the tables in Markdown, by the names of their places on the page."""
    return {
        "bench: flows": list(_per_packet(results["flows"])),
        "bench: parts": list(_per_packet(results["parts"])),
        "bench: growth": list(_growth(results)),
        "bench: whole": list(_whole(results)),
        "bench: scale": list(_scale([*results["flows"], *results["scale"]])),
        "bench: limit": list(_limit(results)),
        "bench: machine": [_machine(results["machine"])],
    }


def _lines(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"| --- |{' ---: |' * (len(heads) - 1)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _per_packet(rows: list[Row]) -> Iterator[str]:
    """Returns a table with one row per case, without columns that no row has."""
    cells = []
    for row in rows:
        goals, run = row["goals"], row["engine_run"]
        cells.append(
            (
                f"{row['ns']:.1f}",
                _number(goals.get("ns")),
                _number(row.get("ns3")),
                _number(goals.get("ns3")),
                _number(row.get("htsim"), 1),
                _number(goals.get("htsim")),
                _number(row.get("instructions")),
                _number(row.get("cache-misses"), 2),
                f"{run['peak_kib'] / 1024:.1f}",
            )
        )
    kept = [n for n in range(len(_HEADS)) if any(one[n] for one in cells)]
    heads = ("case", *(_HEADS[n] for n in kept))
    named = zip(rows, cells, strict=True)
    return _lines(heads, [(row["case"], *(one[n] for n in kept)) for row, one in named])


def _number(value: float | None, digits: int = 0) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _growth(results: Mapping[str, Any]) -> Iterator[str]:
    """Returns the cost of a packet among many flows, relative to a lone flow of the same kind."""
    rows = {row["case"]: row["ns"] for row in results["flows"]}
    several = {name: ns for name, ns in rows.items() if " flows, " in name}
    hundred = next(ns for name, ns in several.items() if name.startswith("100 "))
    cells = [
        (name, f"{ns:.1f}", f"{ns / rows[LONE]:.2f}", f"{ns / hundred:.2f}")
        for name, ns in {LONE: rows[LONE], **several}.items()
    ]
    return _lines(("case", "ns per packet", "over one flow", "over 100 flows"), cells)


def _whole(results: Mapping[str, Any]) -> Iterator[str]:
    run, empty = (row["engine_run"] for row in results["short"])
    goals = {"a run of 10 s at 12 Mb/s": 40e-6}
    cells = [
        ("a run of 10 s at 12 Mb/s", run["cpu_s"]),
        (f"the same without its {run['packets']} packets", empty["cpu_s"]),
    ]
    shown = [(name, _seconds(taken), _seconds(goals.get(name))) for name, taken in cells]
    shown += [
        (row["case"], _seconds(row["seconds"]), _seconds(row["goal_s"])) for row in results["whole"]
    ]
    return _lines(("what", "time", "goal"), shown)


def _seconds(value: float | None) -> str:
    if value is None:
        return ""
    unit, scale = next((u, s) for u, s in _UNITS if value >= s or s == _UNITS[-1][1])
    return f"{value / scale:.3g} {unit}"


def _scale(rows: list[Row]) -> Iterator[str]:
    cells = []
    for row in rows:
        run, flows = row["engine_run"], row["flows"]
        if flows >= 1000:
            a_flow = run["run_kib"] * 1024 / flows
            cells.append(
                (
                    row["case"],
                    f"{run['packets'] / 1e6:.1f} M",
                    f"{run['cpu_s']:.2f} s",
                    f"{row['ns']:.0f}",
                    f"{run['run_kib'] / 1024:.0f}",
                    f"{a_flow:.0f}",
                )
            )
    return _lines(("case", "packets", "CPU time", "ns per packet", "MiB", "bytes per flow"), cells)


def _limit(results: Mapping[str, Any]) -> Iterator[str]:
    """Returns a lone flow's time per packet if only memory or the front end limited it."""
    machine = results["machine"]
    lone = results["parts"][0]
    touched = 2 * (_SLOT + _SEND_TIME)
    memory_ns = touched / machine["copied_bytes_per_s"] * 1e9
    cells = [("measured", f"{lone['ns']:.1f}")]
    if lone.get("instructions") and machine["clock_ghz"]:
        issue_ns = lone["instructions"] / _WIDTH / machine["clock_ghz"]
        what = f"{lone['instructions']:.0f} instructions, {_WIDTH} a cycle"
        cells.append((f"{what} of {machine['clock_ghz']:.1f} GHz", f"{issue_ns:.1f}"))
    bandwidth = machine["copied_bytes_per_s"] / 1e9
    cells.append((f"{touched} bytes, {bandwidth:.1f} GB/s copied", f"{memory_ns:.1f}"))
    return _lines(("a packet of a lone flow", "ns"), cells)


def _machine(machine: Mapping[str, Any]) -> str:
    return (
        f"{machine['processor']}, {machine['cores']} cores, {machine['compiler']}, -O3, no -march."
    )


def main() -> int:
    if not RESULTS.is_file():
        print("bench.table: no build/bench/results.json yet: make bench", file=sys.stderr)
        return 2
    results = json.loads(RESULTS.read_text())
    replace(PAGE, {name: "\n".join(lines) + "\n" for name, lines in tables(results).items()})
    return 0


if __name__ == "__main__":
    sys.exit(main())
