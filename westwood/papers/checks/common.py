# SPDX-License-Identifier: BSD-3-Clause
"""Offers what checks share: the curves of a scenario, and findings about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from westwood.control.catalogue import label
from westwood.papers.checks import words
from westwood.papers.checks.words import Named, Runs, shown

WESTWOOD, WESTWOOD_PLUS = "westwood-ns3", "westwood+-ns3"
THROUGHPUT = "throughput_bps"


@dataclass(frozen=True)
class Finding:
    """What a check measured, each place where the claim fails, and a remark for its page."""

    measured: dict[str, Any]
    failures: list[str]
    remark: str = ""


@dataclass(frozen=True)
class Measured:
    """A scenario's rows and their means over the seeds; its figure is over the key `x`.

    A search has too few seeds for intervals, so it decides by means alone.
    """

    rows: pl.DataFrame
    points: pl.DataFrame
    x: str
    with_interval: bool = True

    def table(self, column: str = THROUGHPUT) -> dict[Any, dict[str, float]]:
        """Returns the mean of each protocol at each x, in the order of the sweep."""
        places = self.points.with_columns(pl.lit("").alias("")) if not self.x else self.points
        cells: dict[Any, dict[str, float]] = {}
        for row in places.iter_rows(named=True):
            cells.setdefault(row[self.x], {})[row["cc"]] = row[column]
        return cells

    def runs(self, settings: Mapping[str, Any], column: str = THROUGHPUT) -> Runs:
        """Returns a column by seed, as the mean of the flows in the rows that have these values."""
        here = self.rows.filter(*(pl.col(key) == value for key, value in settings.items()))
        values = here.group_by("seed").agg(pl.col(column).mean())
        return Runs(dict(values.select("seed", column).iter_rows()), self.with_interval)

    def curve(self, cc: str, column: str = THROUGHPUT, **settings: Any) -> Named:
        """Returns the curve of a control over x, in the rows that have these values."""
        here = self.rows.filter(
            pl.col("cc") == cc, *(pl.col(key) == value for key, value in settings.items())
        )
        runs_by_x: dict[Any, dict[int, float]] = {}
        values = here.group_by(self.x, "seed", maintain_order=True).agg(pl.col(column).mean())
        for x, seed, value in values.iter_rows():
            runs_by_x.setdefault(x, {})[seed] = value
        curve = {x: Runs(runs, self.with_interval) for x, runs in runs_by_x.items()}
        return Named(label(cc), curve)


Check = Callable[[Mapping[str, Measured]], Finding]  # takes the measurements by the scenario's name


def leads(measured: Measured, pairs: Sequence[tuple[str, str, float]]) -> Finding:
    """Checks that each first control leads the second, by as much as the third entry says."""
    curves = {cc: measured.curve(cc) for pair in pairs for cc in pair[:2]}
    failures: list[str] = []
    gaps: list[tuple[float, str, str, Any]] = []
    for upper, lower, by in pairs:
        failures += words.leads(curves[upper], curves[lower], by)
        for x, ratio in curves[upper].over(curves[lower]).items():
            gaps.append((ratio.value - 1, upper, lower, x))
    lead, upper, lower, x = min(gaps, key=lambda gap: gap[0])
    entry = {"of": upper, "over": lower, "at": x, "relative": lead}
    return Finding({"smallest_lead": entry, THROUGHPUT: by_x(measured.table())}, failures)


def by_x(table: dict[Any, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Converts a table for JSON."""
    return {shown(x): row for x, row in table.items()}
