# SPDX-License-Identifier: BSD-3-Clause
"""Computes means with confidence intervals, Student's t and Jain's index.

It uses rows and columns only, no engine and no scenario.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from westwood.results.columns import Row

LEVEL = 0.95  # of all confidence intervals


def jain(rates: Sequence[float]) -> float:
    """Returns Jain's fairness index, 1/n (one has all) to 1 (all equal); NaN if all are 0."""
    squares = sum(rate * rate for rate in rates)
    return sum(rates) ** 2 / (len(rates) * squares) if squares else math.nan


def t_probability(t: float, dof: int) -> float:
    """Returns P(|T| < t) for Student's t with `dof` degrees of freedom.

    Abramowitz and Stegun, 26.7.3 and 26.7.4: a finite sum, exact for integer degrees of freedom.
    """
    theta = math.atan2(t, math.sqrt(dof))
    cos2 = math.cos(theta) ** 2
    odd = dof % 2
    term = math.cos(theta) if odd else 1.0
    total = 0.0
    for k in range(2 + odd, dof + 2, 2):  # the term in cos^(k-2)
        total += term
        term *= cos2 * (k - 1) / k
    if odd:
        return 2 / math.pi * (theta + math.sin(theta) * total)
    return math.sin(theta) * total


@cache
def t_quantile(dof: int, level: float = LEVEL) -> float:
    """Returns the t with P(|T| < t) = `level`: 12.706 for one degree of freedom at 95 %."""
    from statistics import NormalDist

    z = NormalDist().inv_cdf((1 + level) / 2)
    if dof > 1000:  # Cornish-Fisher, A&S 26.7.5: the error is below 1e-9 up to a level of 99.9 %
        third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * dof**3)
        return z + (z**3 + z) / (4 * dof) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * dof**2) + third
    low, high = 0.0, 1.0
    while t_probability(high, dof) < level:
        high *= 2
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if t_probability(middle, dof) < level else (low, middle)
    return (low + high) / 2


def half_width(deviation: float | None, runs: int, level: float = LEVEL) -> float:
    """Returns half the width of a mean's confidence interval; NaN for one run."""
    if deviation is None or runs < 2:
        return math.nan
    return t_quantile(runs - 1, level) * deviation / math.sqrt(runs)


def percentile(values: Sequence[float], share: float) -> float:
    """Returns the interpolated quantile for a share from 0 to 1; NaN without values."""
    ordered = sorted(values)
    if not ordered:
        return math.nan
    place = share * (len(ordered) - 1)
    low, high = ordered[math.floor(place)], ordered[math.ceil(place)]
    return low + (place - math.floor(place)) * (high - low)


@dataclass(frozen=True)
class Paired:
    """Holds the mean difference between two protocols over runs with the same seeds.

    `half` is half the 95 % interval of the mean difference. `effect`, the mean over the standard
    deviation of the differences (Cohen's d for pairs), puts `p` into perspective.
    """

    mean: float
    half: float
    runs: int
    effect: float
    p: float  # two-sided p-value of the hypothesis of no difference

    @property
    def bound(self) -> float:
        """Returns `half`, or 0 if it is unknown because there is one run."""
        return 0.0 if math.isnan(self.half) else self.half

    def entry(self) -> dict[str, float | int | None]:
        """Returns the fields for JSON, with None instead of NaN."""
        values = {"mean": self.mean, "half": self.half, "effect": self.effect, "p": self.p}
        known = {key: value if math.isfinite(value) else None for key, value in values.items()}
        return {**known, "runs": self.runs}


def paired(one: pl.DataFrame, two: pl.DataFrame, by: Sequence[str], column: str) -> Paired:
    """Compares a column of two frames whose rows match in the columns `by`, such as the seed."""
    both = one.select(*by, column).join(two.select(*by, column), on=list(by), suffix="_two")
    differences = (both[column] - both[f"{column}_two"]).to_list()
    runs = len(differences)
    mean = math.fsum(differences) / runs if runs else math.nan
    if runs < 2:
        return Paired(mean, math.nan, runs, math.nan, math.nan)
    deviation = math.sqrt(math.fsum((d - mean) ** 2 for d in differences) / (runs - 1))
    half = half_width(deviation, runs)
    if deviation == 0:  # nothing was random, so there is no p-value
        return Paired(mean, half, runs, math.nan, math.nan)
    effect = mean / deviation
    p = 1 - t_probability(abs(effect) * math.sqrt(runs), runs - 1)
    return Paired(mean, half, runs, effect, p)


def summarise(rows: pl.DataFrame, by: Sequence[str], columns: Sequence[str]) -> pl.DataFrame:
    """Returns a row per group: `runs`, and for each column its mean, `COLUMN_sd`, `COLUMN_half`.

    The 95 % confidence interval is the mean plus or minus half. Groups stay in order of appearance.
    A run whose value is NaN does not count for that column.
    """
    import polars as pl

    values = [pl.col(c).fill_nan(None) for c in columns]
    frame = rows.group_by(by, maintain_order=True).agg(
        pl.len().alias("runs"),
        *(value.mean().alias(c) for c, value in zip(columns, values, strict=True)),
        *(value.std().alias(f"{c}_sd") for c, value in zip(columns, values, strict=True)),
        *(value.count().alias(f"{c}_n") for c, value in zip(columns, values, strict=True)),
    )
    halves = [
        pl.Series(
            f"{c}_half",
            [half_width(sd, n) for sd, n in zip(frame[f"{c}_sd"], frame[f"{c}_n"], strict=True)],
            dtype=pl.Float64,
        )
        for c in columns
    ]
    return frame.with_columns(halves).drop(f"{c}_n" for c in columns)


def means(rows: Sequence[Row], by: Sequence[str], columns: Sequence[str]) -> list[Row]:
    """Computes exactly what `summarise` computes, from rows that are not in a frame.

    A command that prints one table must not wait for the import of polars.
    """
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in by), []).append(row)
    found = []
    for key, group in groups.items():
        of = {column: _moments(row[column] for row in group) for column in columns}
        found.append(
            {
                **dict(zip(by, key, strict=True)),
                "runs": len(group),
                **{column: mean for column, (mean, _, _) in of.items()},
                **{f"{column}_sd": deviation for column, (_, deviation, _) in of.items()},
                **{f"{column}_half": half_width(sd, n) for column, (_, sd, n) in of.items()},
            }
        )
    return found


def _moments(values: Iterable[float | None]) -> tuple[float | None, float | None, int]:
    """Returns the mean, the deviation and the number of the known values.

    It uses the algorithms of polars: Kahan (1965) for the sum, Welford (1962) for the deviation.
    """
    count, total, lost = 0, 0.0, 0.0
    middle, squares = 0.0, 0.0
    for value in values:
        if value is None or value != value:
            continue
        count += 1
        term = value - lost
        grown = total + term
        lost = (grown - total) - term
        total = grown
        distance = value - middle
        middle += distance / count
        squares += distance * (value - middle)
    mean = total / count if count else None
    return mean, math.sqrt(squares / (count - 1)) if count > 1 else None, count
