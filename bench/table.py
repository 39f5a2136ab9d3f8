# SPDX-License-Identifier: BSD-3-Clause
"""Makes the tables of docs/performance.md from the last results of `make bench`.

The sentences around them are written by hand.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tools.pages import DOCS, Numbers, Page, table

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "build" / "bench" / "results.json"

_UNITS = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6))

_MANY = 1000  # flows

Row = Mapping[str, Any]
_HEADS = (
    *("ns per packet", "goal", "x ns-3", "goal", "x htsim", "goal", "instructions"),
    *("cache misses", "MiB"),
)


def tables(results: Mapping[str, Any]) -> dict[str, str]:
    """Returns the tables in Markdown, by the names of their places on the page.

    Each case stands in one of them: many flows in that of the scale, the lone flow that the parts
    are compared with among the flows.
    """
    few = [row for row in results["flows"] if row["flows"] < _MANY]
    many = [row for row in results["flows"] if row["flows"] >= _MANY]
    return {
        "bench: flows": _per_packet(few),
        "bench: parts": _per_packet(results["parts"][1:]),
        "bench: whole": _whole(results),
        "bench: scale": _scale([*many, *results["scale"]]),
        "bench: machine": f"{_machine(results['machine'])}\n",
    }


def _lines(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return table(" | ".join([heads[0], *(f"{head}:" for head in heads[1:])]), rows)


def _per_packet(rows: list[Row]) -> str:
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
    kept = [n for n in range(len(_HEADS)) if any(cell[n] for cell in cells)]
    heads = ("case", *(_HEADS[n] for n in kept))
    named = zip(rows, cells, strict=True)
    return _lines(heads, [(row["case"], *(cell[n] for n in kept)) for row, cell in named])


def _number(value: float | None, digits: int = 0) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _whole(results: Mapping[str, Any]) -> str:
    run, empty = (row["engine_run"] for row in results["short"])
    goals = {"a run of 10 s at 12 Mb/s": 40e-6}
    cells = [
        ("a run of 10 s at 12 Mb/s", run["cpu_s"]),
        (f"the same without its {run['packets']} packets", empty["cpu_s"]),
    ]
    shown = [(name, _seconds(taken), _seconds(goals.get(name)), "") for name, taken in cells]
    for row in results["whole"]:
        ratio = f"{row['ratio']:.1f} x {row['peer']}" if "peer" in row else ""
        shown.append((row["case"], _seconds(row["seconds"]), _seconds(row["goal_s"]), ratio))
    return _lines(("what", "CPU time", "goal", "ratio"), shown)


def _seconds(value: float | None) -> str:
    if value is None:
        return ""
    unit, scale = next((u, s) for u, s in _UNITS if value >= s or s == _UNITS[-1][1])
    return f"{value / scale:.3g} {unit}"


def _scale(rows: list[Row]) -> str:
    cells = []
    for row in rows:
        run = row["engine_run"]
        cells.append(
            (
                row["case"],
                f"{run['packets'] / 1e6:.1f} M",
                f"{run['cpu_s']:.2f} s",
                f"{row['ns']:.0f}",
                _number(row.get("htsim"), 1),
                _number(row.get("instructions")),
                f"{run['run_kib'] / 1024:.0f}",
                f"{run['run_kib'] * 1024 / row['flows']:.0f}",
            )
        )
    heads = ("packets", "CPU time", "ns per packet", "x htsim", "instructions", "MiB")
    return _lines(("case", *heads, "bytes per flow"), cells)


def _machine(machine: Mapping[str, Any]) -> str:
    return (
        f"{machine['processor']}, {machine['cores']} cores, {machine['compiler']}, -O3, no -march."
    )


def measured(stored: Numbers, words: Sequence[str]) -> Iterator[Numbers]:
    """Yields the results."""
    if not RESULTS.is_file():
        raise SystemExit("no build/bench/results.json yet: make bench")
    yield json.loads(RESULTS.read_text())


PAGE = Page(DOCS / "performance.md", tables=tables, measure=measured)
