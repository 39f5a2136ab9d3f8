# SPDX-License-Identifier: BSD-3-Clause
"""Computes means with confidence intervals, Student's t and Jain's index.

It uses rows and columns only, no engine and no scenario.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from westwood import _engine
from westwood.control.arguments import checked, each, frame, text
from westwood.errors import InputError, suggestion

if TYPE_CHECKING:
    import polars as pl

    from westwood.results.columns import Row

LEVEL = _engine.LEVEL  # of all confidence intervals
_MOST_COLUMNS = 10_000


def _check_columns(
    rows: pl.DataFrame, names: Sequence[str], key: str, *, numbers: bool = False
) -> None:
    """Raises InputError, which names the argument `key`, unless the frame has these columns."""
    import polars as pl

    for name in names:
        if name not in rows.columns:
            problem = f"no such column, {suggestion(name, rows.columns)}"
            raise InputError(problem, key=key, value=name)
        if numbers and not (rows[name].dtype.is_numeric() or rows[name].dtype == pl.Null):
            raise InputError("expected a column of numbers", key=key, value=name)


def _listed(value: object) -> Any:
    """Returns a list of names, also for a single name."""
    return [value] if isinstance(value, str) else each(text, _MOST_COLUMNS)(value)


jain = _engine.jain  # fairness, 1/n (one has all) to 1 (all equal); NaN if all are 0


def half_width(deviation: float | None, runs: int, level: float = LEVEL) -> float:
    """Returns half the width of a mean's confidence interval; NaN for one run."""
    return math.nan if deviation is None else _engine.half_width(deviation, runs, level)


def percentile(values: Iterable[float], share: float) -> float:
    """Returns the interpolated quantile for a share from 0 to 1; NaN without values."""
    return _engine.percentile(list(values), share)


@dataclass(frozen=True)
class Paired:
    """Holds the difference and ratio of two protocols, run by run on common random numbers.

    `paired` makes one. What one run alone leaves unknown is NaN.

    Parameters
    ----------
    mean : float
        Mean of the differences, in the unit of the column.
    half : float
        Half of the 95 % interval of `mean`, in the unit of the column.
    runs : int
        Number of pairs.
    effect : float
        Mean over the standard deviation of the differences (Cohen's d for pairs).
    p : float
        Probability of such a mean, to either side, if there were no difference.
    ratio : float, default nan
        Ratio of the means.
    ratio_ci95 : float, default nan
        Half of the 95 % interval of `ratio`.
    minus_mean : float, default nan
        Mean of the second protocol, the divisor of `ratio`, in the unit of the column.

    Examples
    --------
    >>> from westwood import Paired
    >>> gain = Paired(mean=0.5, half=0.1, runs=10, effect=3.6, p=0.0)
    >>> gain.mean - gain.half > 0
    True
    """

    mean: float
    half: float
    runs: int
    effect: float
    p: float
    ratio: float = math.nan
    ratio_ci95: float = math.nan
    minus_mean: float = math.nan

    @property
    def bound(self) -> float:
        """`half`, or 0 if one run leaves it unknown.

        Returns
        -------
        float
            In the unit of the column.

        Examples
        --------
        >>> from math import nan
        >>> from westwood import Paired
        >>> Paired(mean=0.5, half=nan, runs=1, effect=nan, p=nan).bound
        0.0
        """
        return 0.0 if math.isnan(self.half) else self.half

    def entry(self) -> dict[str, float | int | None]:
        """Returns the fields for JSON; unknown numbers become null.

        Returns
        -------
        dict of str to float, int or None
            The fields by name; None stands for an unknown number.

        Examples
        --------
        >>> from math import nan
        >>> from westwood import Paired
        >>> Paired(mean=0.5, half=nan, runs=1, effect=nan, p=nan).entry()["half"] is None
        True
        """
        return {key: value if math.isfinite(value) else None for key, value in asdict(self).items()}


@checked(one=frame, two=frame, by=_listed, column=text)
def paired(one: pl.DataFrame, two: pl.DataFrame, by: str | Sequence[str], column: str) -> Paired:
    """Compares a column of two frames, row by row.

    The same seed loses the same packets for every protocol, until they send differently. Pairs by
    the seed therefore show a difference with far fewer runs than two means do.

    Parameters
    ----------
    one : polars.DataFrame
        Rows of `simulate_many`, such as those of one protocol.
    two : polars.DataFrame
        The rows to compare with.
    by : str or list of str
        Columns whose values match a row of `one` with a row of `two`, such as `"seed"`.
    column : str
        The column of numbers that is compared.

    Returns
    -------
    Paired
        The mean of `one` minus `two`, its interval, effect size and p-value, and the ratio.

    Raises
    ------
    InputError
        If there is no such column, if it has no numbers, or if no two rows form a pair.

    Examples
    --------
    >>> from westwood import Scenario, paired, simulate_many
    >>> short = Scenario.preset("table1").with_settings({"duration": "20s"})
    >>> rows = simulate_many(short.with_sweep({"tcp.cc": ["newreno", "westwood+"]}), seeds=10)
    >>> ours, theirs = rows.filter(cc="westwood+"), rows.filter(cc="newreno")
    >>> gain = paired(ours, theirs, "seed", "goodput_bps")
    >>> f"{gain.mean / 1e6:.2f} ± {gain.half / 1e6:.2f} Mb/s, p {gain.p:.3f}"
    '0.31 ± 0.06 Mb/s, p 0.000'
    """
    for rows in (one, two):
        _check_columns(rows, by, "by")
        _check_columns(rows, [column], "column", numbers=True)
    both = one.select(*by, column).join(two.select(*by, column), on=list(by), suffix="_two")
    if both.is_empty():
        raise InputError("no row of one has the values of a row of two", key="by", value=by)
    return compare_pairs(list(zip(both[column], both[f"{column}_two"], strict=True)))


def compare_pairs(values: Sequence[tuple[float, float]]) -> Paired:
    """Compares the first of each pair with the second; pairs with a NaN don't count.

    The ratio is that of the means, and its interval the ratio estimator's: metrics/statistics.hpp.
    """
    mean, deviation, runs, ratio, residual, second = _engine.compare(list(values))
    if runs < 2:
        return Paired(mean, math.nan, runs, math.nan, math.nan, ratio, math.nan, second)
    ratio_ci95 = half_width(residual, runs) / abs(second) if second else math.nan
    # Without any spread nothing was random, so neither effect nor p is defined.
    effect = mean / deviation if deviation else math.nan
    t = abs(effect) * math.sqrt(runs)
    p = 1 - _engine.t_probability(t, runs - 1) if deviation else math.nan
    half = half_width(deviation, runs)
    return Paired(mean, half, runs, effect, p, ratio, ratio_ci95, second)


@checked(rows=frame, by=_listed, columns=_listed)
def summarise(
    rows: pl.DataFrame, by: str | Sequence[str], columns: str | Sequence[str]
) -> pl.DataFrame:
    """Computes means over runs, with their 95 % confidence intervals.

    Parameters
    ----------
    rows : polars.DataFrame
        Rows of `simulate_many`, or any frame.
    by : str or list of str
        Columns whose values make a group, such as `"cc"`.
    columns : str or list of str
        Columns of numbers. A run whose value is NaN does not count for that column.

    Returns
    -------
    polars.DataFrame
        One row per group, in order of appearance: the columns `by`; `runs` (UInt32); and for each
        column its mean, `COLUMN_sd` (standard deviation) and `COLUMN_ci95` (half the interval), as
        Float64 in the unit of the column.

    Raises
    ------
    InputError
        If there is no such column, or if it has no numbers.

    Examples
    --------
    >>> from westwood import Scenario, simulate_many, summarise
    >>> short = Scenario.preset("table1").with_settings({"duration": "20s"})
    >>> rows = simulate_many(short.with_sweep({"tcp.cc": ["newreno", "westwood+"]}), seeds=10)
    >>> summarise(rows, "cc", "goodput_bps")
    shape: (2, 5)
    ┌───────────┬──────┬─────────────┬────────────────┬──────────────────┐
    │ cc        ┆ runs ┆ goodput_bps ┆ goodput_bps_sd ┆ goodput_bps_ci95 │
    │ ---       ┆ ---  ┆ ---         ┆ ---            ┆ ---              │
    │ str       ┆ u32  ┆ f64         ┆ f64            ┆ f64              │
    ╞═══════════╪══════╪═════════════╪════════════════╪══════════════════╡
    │ newreno   ┆ 10   ┆ 345196.8    ┆ 80338.114929   ┆ 57470.425327     │
    │ westwood+ ┆ 10   ┆ 651945.6    ┆ 148050.009799  ┆ 105908.596939    │
    └───────────┴──────┴─────────────┴────────────────┴──────────────────┘
    """
    _check_columns(rows, by, "by")
    _check_columns(rows, columns, "columns", numbers=True)
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
            f"{c}_ci95",
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
    mean_rows = []
    for key, group in groups.items():
        moments = {column: _moments(row[column] for row in group) for column in columns}
        mean_rows.append(
            {
                **dict(zip(by, key, strict=True)),
                "runs": len(group),
                **{column: mean for column, (mean, _, _) in moments.items()},
                **{f"{column}_sd": deviation for column, (_, deviation, _) in moments.items()},
                **{f"{column}_ci95": half_width(sd, n) for column, (_, sd, n) in moments.items()},
            }
        )
    return mean_rows


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
