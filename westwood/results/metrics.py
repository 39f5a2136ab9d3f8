# SPDX-License-Identifier: BSD-3-Clause
"""Computes means with confidence intervals, Student's t and Jain's index.

It uses rows and columns only, no engine and no scenario.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
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
    """Holds the difference and ratio of two protocols, run by run on common random numbers.

    `half` and `ratio_half` are half of the 95 % intervals. `effect` is the mean difference over the
    standard deviation of the differences (Cohen's d for pairs).
    """

    mean: float  # of the differences
    half: float
    runs: int
    effect: float
    p: float  # two-sided, for no difference
    ratio: float = math.nan  # of the means
    ratio_half: float = math.nan
    minus_mean: float = math.nan  # of the second protocol, the divisor of `ratio`

    @property
    def bound(self) -> float:
        """Returns `half`, or 0 if it is unknown because there is one run."""
        return 0.0 if math.isnan(self.half) else self.half

    def entry(self) -> dict[str, float | int | None]:
        """Returns the fields for JSON; unknown numbers become null."""
        return {key: value if math.isfinite(value) else None for key, value in asdict(self).items()}


def paired(one: pl.DataFrame, two: pl.DataFrame, by: Sequence[str], column: str) -> Paired:
    """Compares a column of two frames whose rows match in the columns `by`, such as the seed."""
    both = one.select(*by, column).join(two.select(*by, column), on=list(by), suffix="_two")
    return compare_pairs(list(zip(both[column], both[f"{column}_two"], strict=True)))


def compare_pairs(values: Sequence[tuple[float, float]]) -> Paired:
    """Compares the first of each pair with the second; pairs with a NaN don't count.

    The ratio is that of the means, and its interval the ratio estimator's: it takes the spread of
    first - ratio * second (Cochran, Sampling Techniques, 1977, chapter 6).
    """
    known = [(one, two) for one, two in values if not (math.isnan(one) or math.isnan(two))]
    runs = len(known)
    if not runs:
        return Paired(math.nan, math.nan, 0, math.nan, math.nan)
    first, second = (math.fsum(side) / runs for side in zip(*known, strict=True))
    ratio = first / second if second else math.nan
    differences = [one - two for one, two in known]
    mean = math.fsum(differences) / runs
    if runs < 2:
        return Paired(mean, math.nan, runs, math.nan, math.nan, ratio, math.nan, second)
    deviation = _deviation(differences, mean)
    half = half_width(deviation, runs)
    ratio_half = math.nan
    if second:
        residuals = [one - ratio * two for one, two in known]
        ratio_half = half_width(_deviation(residuals, 0.0), runs) / abs(second)
    # Without any spread nothing was random, so neither effect nor p is defined.
    effect = mean / deviation if deviation else math.nan
    p = 1 - t_probability(abs(effect) * math.sqrt(runs), runs - 1) if deviation else math.nan
    return Paired(mean, half, runs, effect, p, ratio, ratio_half, second)


def _deviation(values: Sequence[float], mean: float) -> float:
    """Returns the standard deviation of a sample with this mean."""
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


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
