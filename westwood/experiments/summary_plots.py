# SPDX-License-Identifier: BSD-3-Clause
"""Draws a column of a summary over what was swept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from westwood import extras, units
from westwood.control.arguments import checked, frame, optional, text
from westwood.control.catalogue import label
from westwood.errors import InputError, suggestion
from westwood.experiments import experiment
from westwood.results.columns import axis, check_metric
from westwood.results.metrics import summarise

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from westwood.draw.curves import Axis

_QUANTITIES: Sequence[tuple[Callable[[Any], float], str, float]] = (
    (units.parse_rate, "Mb/s", 1e6),
    (units.parse_time, "ms", 1e9),
    (units.parse_size, "B", 1.0),
    (units.parse_fraction, "", 1.0),
    (units.parse_products, "bandwidth-delay products", 1.0),
    (lambda text: units.parse_amount(text).packets(1) or 0, "packets", 1.0),
)

# Axis labels, by the ending of the swept key.
_AXES = {
    ".loss.rate": "Share of packets lost",
    ".loss.bad_rate": "Share of packets lost in the bad state",
    ".loss.good_rate": "Share of packets lost in the good state",
    ".queue.limit": "Queue limit",
    ".delay": "One-way delay",
    ".rate": "Link rate",
}


@checked(rows=frame, metric=text, title=text, by=optional(text))
def plot_means(
    rows: pl.DataFrame, metric: str = "goodput_bps", *, title: str = "", by: str | None = None
) -> Figure:
    """Draws the means of a column over what was swept, with 95 % intervals.

    Parameters
    ----------
    rows : polars.DataFrame
        Rows of `simulate_many`.
    metric : str, default "goodput_bps"
        The column that is drawn.
    title : str, optional
        Title of the figure; it names the column if it is not given.
    by : str, optional
        A swept key, "cc" or "flow": a curve for each of its values, and a panel for each value of
        the others; bars are grouped by it. By default panels are of protocols.

    Returns
    -------
    matplotlib.figure.Figure
        Curves over the first swept key with numbers, panels over two keys, bars without any.
        Its `savefig("a.pdf")` writes a file.

    Raises
    ------
    InputError
        If these are no rows of `simulate_many`, if there are none, or if there is no such column.
    UnavailableError
        If the extra `plot` is not installed.

    Examples
    --------
    >>> from westwood import Scenario, plot_means, simulate_many
    >>> path = Scenario.preset("path").with_settings({"duration": "20s"})
    >>> swept = path.with_sweep({"path.loss.rate": [0.001, 0.01], "tcp.cc": ["reno", "bbr"]})
    >>> figure = plot_means(simulate_many(swept, seeds=3))
    >>> figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()
    ('Share of packets lost', 'Goodput (Mb/s)')
    """
    check_metric(metric, "metric")
    if missing := [name for name in ("scenario", "flow", "cc", "seed") if name not in rows.columns]:
        problem = f"has no column {missing[0]}, expected the rows of simulate_many"
        raise InputError(problem, key="rows")
    if rows.is_empty():
        raise InputError("has no rows, expected those of simulate_many", key="rows")
    extras.need("matplotlib", "plot_means()")
    swept = rows.columns[: rows.columns.index("scenario")]
    keys = [
        key
        for key in swept
        if key != "point" and not (key.endswith(".cc") and (rows[key] == rows["cc"]).all())
    ]
    if rows["flow"].n_unique() > experiment.MOST_FLOWS:
        rows = experiment.mean_over_flows(rows, keys, [metric])
    runs = rows["seed"].n_unique()
    means = summarise(rows, [*keys, "flow", "cc"], metric)
    what = metric_axis(metric).name.partition(" (")[0]
    return draw(means, keys, metric, title or f"{what}, mean of {runs} seeds", by)


def metric_axis(metric: str) -> Axis:
    """Returns the axis for a column of a summary."""
    from westwood.draw.curves import Axis

    name, unit = axis(metric)
    return Axis(metric, name, unit)


def draw(
    summary: pl.DataFrame, keys: Sequence[str], metric: str, title: str, by: str | None = None
) -> Figure:
    """Draws curves over one swept number, panels over two keys, or bars without a number.

    `by` chooses what curves differ in and by what bars are grouped.
    """
    if by is not None:
        check_by(by, keys)
    from westwood.draw.bars import summary_bars
    from westwood.draw.curves import Axis, curves, panels

    y = metric_axis(metric)
    numbers = {key: _numbers(summary[key].to_list()) for key in keys}
    x = next((key for key in keys if numbers[key] and key != by), None)
    if x is None:
        if by is not None:
            groups = summary[by].unique(maintain_order=True).to_list()
            summary = summary.sort(
                pl.col(by).map_elements(groups.index, return_dtype=pl.Int64), maintain_order=True
            )
        flows = summary["flow"].n_unique()
        rows = summary.iter_rows(named=True)
        names = [(row["cc"], experiment.point_name(row, keys, flows)) for row in rows]
        return summary_bars(names, summary, metric, title, y.unit, y.name)
    values, unit = numbers[x] or ([], "")
    points = summary.with_columns(pl.Series(x, values, dtype=pl.Float64))
    positive = [value for value in values if value > 0]
    log = len(positive) == len(values) and max(values) > 30 * min(values)
    across = Axis(x, f"{_named(x)} ({unit})" if unit else _named(x), log=log)
    rest = [key for key in keys if key != x]
    if points["flow"].n_unique() > 1:
        rest.append("flow")
    if by is None:
        if not rest:
            return curves(points, across, y, title)
        points = points.with_columns(_joined(rest).alias("curve"))
        return panels(points, across, y, title, "curve", ", ".join(map(_named, rest)))
    others = [key for key in (*rest, "cc") if key != by and points[key].n_unique() > 1]
    points = points.with_columns(pl.col(by).cast(pl.String))
    if not others:
        return curves(points, across, y, title, by)
    name = "" if by == "cc" else _named(by)
    if others == ["cc"]:
        return panels(points, across, y, title, by, name)
    points = points.with_columns(_joined(others, named=True).alias("panel"))
    return panels(points, across, y, title, by, name, "panel")


def _joined(keys: Sequence[str], *, named: bool = False) -> pl.Expr:
    """Returns the values of these columns as names."""
    return pl.concat_str([_text(key, named=named) for key in keys], separator=", ")


def _text(key: str, *, named: bool) -> pl.Expr:
    if key == "cc":
        return pl.col(key).map_elements(label, return_dtype=pl.String)
    name = f"{_named(key).lower() if key.count('.') else key} " if named else ""
    return pl.lit(name) + pl.col(key).cast(pl.String)


def check_by(by: str, keys: Sequence[str], key: str = "by") -> None:
    """Raises InputError unless curves can differ in this."""
    known = [*keys, "cc", "flow"]
    if by not in known:
        problem = f"expected a swept key, {suggestion(by, known)}"
        raise InputError(problem, key=key, value=by)


def _named(key: str) -> str:
    """Returns the name of a swept key in figures."""
    return next((words for end, words in _AXES.items() if key.endswith(end)), key)


def _numbers(values: list[Any]) -> tuple[list[float], str] | None:
    """Turns a swept column into numbers with their unit; None where it has none."""
    if all(isinstance(value, (int, float)) for value in values):
        return [float(value) for value in values], ""
    for parse, unit, factor in _QUANTITIES:
        try:
            return [parse(value) / factor for value in values], unit
        except InputError:
            continue
    return None
