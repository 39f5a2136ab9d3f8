# SPDX-License-Identifier: BSD-3-Clause
"""Offers what checks share: tables of means by protocol, paired differences, and wording."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from westwood.catalogue import label
from westwood.results.metrics import Paired, paired

WESTWOOD, WESTWOOD_PLUS = "westwood-ns3", "westwood+-ns3"
THROUGHPUT = "throughput_bps"


@dataclass(frozen=True)
class Finding:
    """What a check measured, and each place where the claim fails."""

    measured: dict[str, Any]
    failures: list[str]


@dataclass(frozen=True)
class Measured:
    """A scenario's rows and their means over the seeds; its figure is over the key `x`."""

    rows: pl.DataFrame
    points: pl.DataFrame
    x: str

    def table(self, column: str = THROUGHPUT) -> dict[Any, dict[str, float]]:
        """Returns the mean of each protocol at each x, in the order of the sweep."""
        places = self.points.with_columns(pl.lit("").alias("")) if not self.x else self.points
        found: dict[Any, dict[str, float]] = {}
        for row in places.iter_rows(named=True):
            found.setdefault(row[self.x], {})[row["cc"]] = row[column]
        return found

    def half(self, x: object, cc: str, column: str = THROUGHPUT) -> float:
        """Returns half of the 95 % interval at x; 0 with a single run."""
        at = (pl.col("cc") == cc) & (pl.col(self.x) == x) if self.x else pl.col("cc") == cc
        half = float(self.points.filter(at)[f"{column}_half"][0])
        return 0.0 if math.isnan(half) else half

    def difference(self, x: object, one: str, two: str, column: str = THROUGHPUT) -> Paired:
        """Compares two protocols at x seed by seed, since both had the same losses."""
        here = self.rows.filter(pl.col(self.x) == x) if self.x else self.rows
        return paired(here.filter(cc=one), here.filter(cc=two), ["seed"], column)


def leads(
    measured: Measured, order: Sequence[tuple[str, str]], among: Callable[[Any], bool]
) -> Finding:
    """Checks that each `upper` is above its `lower` at every x, or every x in `among`."""
    table = {x: row for x, row in measured.table().items() if among(x)}
    failures, gaps = [], []
    for x, row in table.items():
        for upper, lower in order:
            lead = row[upper] / row[lower] - 1
            gaps.append((lead, upper, lower, x))
            if lead <= 0:
                failures.append(f"at {shown(x)} {label(upper)} is {-lead:.1%} below {label(lower)}")
    lead, upper, lower, x = min(gaps, key=lambda gap: gap[0])
    of = {"of": upper, "over": lower, "at": x, "relative": lead}
    return Finding({"smallest_lead": of, THROUGHPUT: by_x(table)}, failures)


def by_x(table: dict[Any, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Converts a table for JSON."""
    return {shown(x): row for x, row in table.items()}


def shown(x: object) -> str:
    """Writes a swept value in words."""
    return f"{x:g}" if isinstance(x, float) else str(x)


def mbps(value: float) -> str:
    """Writes a rate in Mb/s."""
    return f"{value / 1e6:.3f} Mb/s"


def outside(name: str, value: float, low: float, high: float, unit: str = "") -> list[str]:
    """Returns a failure unless `value` lies from low to high."""
    if low <= value <= high:
        return []
    bounds = f"above {low:g}" if math.isinf(high) else f"from {low:g} to {high:g}"
    return [f"{name} is {value:.3g}{unit}, expected {bounds}{unit}"]


def quantity(text: object) -> float:
    """Reads the number in a swept quantity such as "10ms" or "8Mbps"."""
    return float(str(text).rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/"))
