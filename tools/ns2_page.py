# SPDX-License-Identifier: BSD-3-Clause
"""Writes the comparison with ns-2 into docs/ns2.md: python -m tools.ns2_page FOLDER...

Each FOLDER is the output of `westwood validate --engine ns2 --grid NAME --out FOLDER`.
docs/ns2.json keeps the page's numbers, with a fingerprint of each grid: the results of our runs at
two of its points. tests/tools/test_ns2_page.py fails if the page or the simulator gives other
numbers now.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl

from tools.tables import replace, table_of
from tools.verdicts import quoted, rounded

ROOT = Path(__file__).resolve().parent.parent
FILE, PAGE = ROOT / "docs/ns2.json", ROOT / "docs/ns2.md"
TABLE, MODULE = "against ns-2", "against the module"
CLOSE = 0.05
_TOGETHER = ("tahoe", "reno", "newreno", "sack")
_NAMES = {
    **dict(zip(_TOGETHER, ("Tahoe", "Reno", "NewReno", "SACK"), strict=True)),
    "vegas": "Vegas",
    "westwood+-linux": "Linux's Westwood",
}
_OF_MODULE = "westwood-ucla"
_MEASURED = ("goodput_bps", "sent", "retransmitted", "timeouts")


def fingerprint(grid: str) -> str:
    """Returns numbers that change with our side of a grid: short runs at two of its points."""
    from westwood.engines.simulator import simulate
    from westwood.experiments.validation.grid import Point, scenario
    from westwood.experiments.validation.ns2_grids import NS2

    names = [_OF_MODULE] * 2 if _OF_MODULE in NS2[grid].protocols else ["reno", "sack"]
    points = [Point(**NS2[grid].points[place]) for place in (3, 10)]
    measured = [
        simulate(scenario(NS2[grid], cc, point, 1, "20s")).rows.select(_MEASURED).rows()
        for cc, point in zip(names, points, strict=True)
    ]
    return hashlib.sha256(repr(measured).encode()).hexdigest()[:16]


def kept(points: pl.DataFrame) -> dict[str, Any]:
    """Returns the page's numbers for the points of a grid: by protocol, and for groups of four."""
    if _OF_MODULE in points["cc"]:
        return {_OF_MODULE: _of(points)}
    by_name = {name: points.filter(pl.col("cc") == name) for name in _NAMES}
    together = points.filter(pl.col("cc").is_in(_TOGETHER))
    return {**{name: _of(some) for name, some in by_name.items()}, "together": _of(together)}


def _of(points: pl.DataFrame) -> dict[str, Any]:
    ratios = points["goodput_ratio"]
    within = int(((ratios - 1).abs() <= CLOSE).sum())
    found = {
        "points": len(points),
        "within": within,
        "share": within / len(points),
        "least": ratios.min(),
        "most": ratios.max(),
        "timeouts": points["timeouts"].mean(),
    }
    return {key: rounded(value) for key, value in found.items()}


def row(head: str, cells: Iterable[str]) -> str:
    """Returns a row of a table."""
    return f"| {' | '.join([head, *cells])} |"


def table(all_grids: dict[str, Any]) -> str:
    """Returns points within 5 % and extremes: a row per protocol, a column per grid."""
    grids = {name: one for name, one in all_grids.items() if _OF_MODULE not in one}
    lines = [row("", (f"`{name}`" for name in grids)), row("---", ("---" for _ in grids))]
    rows = {
        name: row(_NAMES[name], (_cell(one[name]) for one in grids.values())) for name in _NAMES
    }
    lines += [rows.pop(name) for name in _TOGETHER]
    sums = [one["together"] for one in grids.values()]
    lines += [row("together", (f"{o['within']} of {o['points']}, {o['share']:.0%}" for o in sums))]
    lines += [row("timeouts within one per minute", (f"{one['timeouts']:.0%}" for one in sums))]
    return "\n".join([*lines, *rows.values()]) + "\n"


def table_of_module(grids: dict[str, Any]) -> str:
    """Returns the table for UCLA's module, with a row per grid."""
    heads = ("goodput within 5 %", "timeouts within one per minute")
    lines = [row("", heads), row("---", ("---" for _ in heads))]
    for name, one in grids.items():
        if found := one.get(_OF_MODULE):
            lines.append(row(f"`{name}`", (_cell(found), f"{found['timeouts']:.0%}")))
    return "\n".join(lines) + "\n"


def _cell(one: dict[str, Any]) -> str:
    return f"{one['within']} of {one['points']}, {one['least']:.2f} to {one['most']:.2f}"


def _figures(grids: dict[str, Any]) -> dict[str, Any]:
    """Returns the numbers by their names in the page: <!-- ns2: GRID/PROTOCOL/KEY FORMAT -->."""
    return {"ns2": {"measured": grids}}


def write(grids: dict[str, Any], page: Path = PAGE) -> None:
    """Writes the tables and the numbers into the page."""
    replace(page, {TABLE: table(grids), MODULE: table_of_module(grids)})
    page.write_text(quoted(_figures(grids), page.read_text("utf-8")), encoding="utf-8")


def is_written(grids: dict[str, Any], page: Path = PAGE) -> bool:
    """Returns whether the page has these numbers."""
    text = page.read_text(encoding="utf-8")
    tables = {TABLE: table(grids), MODULE: table_of_module(grids)}
    same = all(table_of(name, text) == its for name, its in tables.items())
    return same and quoted(_figures(grids), text) == text


def read() -> dict[str, Any]:
    """Reads the file of the page's numbers."""
    stored: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return stored


def _main(folders: list[str]) -> None:
    from westwood.experiments.validation.ns2_grids import NS2

    stored = read() if FILE.exists() else {"fingerprints": {}, "grids": {}}
    for folder in folders:
        points = pl.read_csv(Path(folder) / "validation.csv", schema_overrides={"grid": pl.String})
        for (name,), some in points.group_by("grid", maintain_order=True):
            stored["grids"][str(name)] = kept(some)
            stored["fingerprints"][str(name)] = fingerprint(str(name))
    stored = {what: {n: stored[what][n] for n in sorted(NS2, key=_place)} for what in stored}
    FILE.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    write(stored["grids"])


def _place(name: str) -> tuple[str, str]:
    year, _, way = name.partition("-")
    return f"{-int(year)}", way


if __name__ == "__main__":
    _main(sys.argv[1:])
