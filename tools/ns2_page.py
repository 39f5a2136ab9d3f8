# SPDX-License-Identifier: BSD-3-Clause
"""Writes ns-2's tables of docs/comparison.md: `python -m tools.pages ns2 FOLDER...`.

The folders are those of `westwood validate --engine ns2`.
docs/ns2.json keeps the numbers of each grid, with a fingerprint of our side. A figure is
`<!-- ns2: GRID/PROTOCOL/KEY FORMAT -->`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from tools.pages import DOCS, Numbers, Page, fingerprint, rounded, table
from westwood.engines.simulator import simulate
from westwood.experiments.validation.grid import Point, scenario
from westwood.experiments.validation.ns2_grids import NS2

CLOSE = 0.05
_TOGETHER = ("tahoe", "reno", "newreno", "sack")
_NAMES = {
    **dict(zip(_TOGETHER, ("Tahoe", "Reno", "NewReno", "SACK"), strict=True)),
    "vegas": "Vegas",
    "westwood+-linux": "Linux's Westwood",
}
_OF_MODULE = "westwood-ucla"
_OF_GRIDS = ("goodput_bps", "sent", "retransmitted", "timeouts")


def grid_fingerprint(name: str) -> str:
    """Returns a fingerprint of our side of a grid: short runs at two of its points."""
    grid = NS2[name]
    names = [_OF_MODULE] * 2 if _OF_MODULE in grid.protocols else ["reno", "sack"]
    points = [Point(**grid.points[place]) for place in (3, 10)]
    return fingerprint(
        simulate(scenario(grid, cc, point, 1, "20s")).rows.select(_OF_GRIDS).rows()
        for cc, point in zip(names, points, strict=True)
    )


def kept_points(points: pl.DataFrame) -> Numbers:
    """Returns the page's numbers for the points of a grid: by protocol, and for groups of four."""
    if _OF_MODULE in points["cc"]:
        return {_OF_MODULE: _agreement(points)}
    by_name = {name: _agreement(points.filter(pl.col("cc") == name)) for name in _NAMES}
    together = points.filter(pl.col("cc").is_in(_TOGETHER))
    return {**by_name, "together": _agreement(together)}


def _agreement(points: pl.DataFrame) -> Numbers:
    ratios = points["goodput_ratio"]
    within = int(((ratios - 1).abs() <= CLOSE).sum())
    agreement = {
        "points": len(points),
        "within": within,
        "share": within / len(points),
        "least": ratios.min(),
        "most": ratios.max(),
        "timeouts": points["timeouts"].mean(),
    }
    return {key: rounded(value) for key, value in agreement.items()}


def _ns2_tables(stored: Numbers) -> dict[str, str]:
    """Returns a table of protocols by grids, and one of UCLA's module by grids."""
    grids = {name: grid for name, grid in stored["grids"].items() if _OF_MODULE not in grid}
    sums = [grid["together"] for grid in grids.values()]
    rows = {
        name: (_NAMES[name], *(_cell(grid[name]) for grid in grids.values())) for name in _NAMES
    }
    lines = [rows.pop(name) for name in _TOGETHER]
    lines += [("together", *(f"{o['within']} of {o['points']}, {o['share']:.0%}" for o in sums))]
    lines += [("timeouts within one per minute", *(f"{total['timeouts']:.0%}" for total in sums))]
    module = [
        (f"`{name}`", _cell(grid[_OF_MODULE]), f"{grid[_OF_MODULE]['timeouts']:.0%}")
        for name, grid in stored["grids"].items()
        if _OF_MODULE in grid
    ]
    return {
        "against ns-2": table(
            f" | {' | '.join(f'`{name}`' for name in grids)}", [*lines, *rows.values()]
        ),
        "against the module": table(
            " | goodput within 5 % | timeouts within one per minute", module
        ),
    }


def _cell(agreement: Numbers) -> str:
    spread = f"{agreement['least']:.2f} to {agreement['most']:.2f}"
    return f"{agreement['within']} of {agreement['points']}, {spread}"


def measured(stored: Numbers, words: Sequence[str]) -> Iterator[Numbers]:
    """Yields the numbers; grids without a new folder keep theirs."""
    for folder in words:
        points = pl.read_csv(Path(folder) / "validation.csv", schema_overrides={"grid": pl.String})
        for (name,), some in points.group_by("grid", maintain_order=True):
            stored["grids"][str(name)] = kept_points(some)
            stored["fingerprints"][str(name)] = grid_fingerprint(str(name))
    yield {what: {name: some[name] for name in sorted(NS2)} for what, some in stored.items()}


PAGE = Page(
    DOCS / "comparison.md",
    DOCS / "ns2.json",
    _ns2_tables,
    lambda stored: {"ns2": stored["grids"]},
    measured,
    {
        "fingerprints": lambda stored: (
            {name: grid_fingerprint(name) for name in stored["fingerprints"]},
            stored["fingerprints"],
        )
    },
)
