# SPDX-License-Identifier: BSD-3-Clause
"""Draws curves over a swept quantity with 95 % intervals, and ratios of two engines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Any

import polars as pl
from matplotlib.ticker import FuncFormatter, NullFormatter

from westwood.control.catalogue import PlotStyle, label, style_of
from westwood.draw.style import MBPS, PALETTE, SOFT, legend, look, marks_of, subplots

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_OTHER = "_other"  # ends the columns of the other engine
_NARROWEST, _WIDEST = 1.15, 2.0  # ratios at the edge of an axis
_MARKERS = ("o", "s", "^", "D", "P", "X", "v", "h")


@dataclass(frozen=True)
class Axis:
    """A column on an axis: its label, and the axis's unit in the column's unit."""

    column: str
    name: str
    unit: float = 1.0
    log: bool = False


THROUGHPUT = Axis("throughput_bps", "Throughput (Mb/s)", MBPS)


def curves(points: pl.DataFrame, x: Axis, y: Axis, title: str, by: str = "cc") -> Figure:
    """Draws a curve with intervals for each value of `by`, with protocols in their own styles."""
    with look():
        figure, axes = subplots(size=(7.2, 4.4))
        _draw_curves(axes, points, x, y, by)
        axes.set(title=title, ylabel=y.name)
        axes.set_ylim(bottom=0)
        legend(axes, place="best", points=10, at_ends=True)
        return figure


def panels(
    points: pl.DataFrame, x: Axis, y: Axis, title: str, by: str, name: str, curve_key: str = "cc"
) -> Figure:
    """Draws a panel per value of `curve_key`; `by` gives its curves, `name` the legend's title."""
    values = points[curve_key].unique(maintain_order=True).to_list()
    with look():
        figure, row = _row_of_panels(len(values))
        for axes, value in zip(row, values, strict=True):
            _draw_curves(axes, points.filter(pl.col(curve_key) == value), x, y, by)
            axes.set_title(label(value) if curve_key == "cc" else value)
        row[0].set_ylabel(y.name)
        row[0].set_ylim(bottom=0)  # last, since it stops autoscaling
        named = [set(points.filter(pl.col(curve_key) == value)[by]) for value in values]
        are_alike = all(curve_names == named[0] for curve_names in named)
        for axes in row[:1] if are_alike else row:
            legend(axes, place="below" if are_alike else "best", title=name, points=10)
        figure.suptitle(title)
        return figure


def side_by_side(
    parts: Sequence[tuple[pl.DataFrame, Axis]], y: Axis, title: str, by: str = "cc"
) -> Figure:
    """Draws curves over several quantities, a panel for each."""
    with look():
        figure, row = _row_of_panels(len(parts))
        for axes, (points, x) in zip(row, parts, strict=True):
            _draw_curves(axes, points, x, y, by)
        row[0].set_ylabel(y.name)
        row[0].set_ylim(bottom=0)  # last, since it stops autoscaling
        legend(row[0], place="best", points=10)
        figure.suptitle(title)
        return figure


def _row_of_panels(count: int) -> tuple[Figure, Sequence[Axes]]:
    """Makes a figure of panels side by side that share their y axis."""
    figure, rows = subplots(1, count, size=(3.6 * count, 3.9), sharey=True, squeeze=False)
    return figure, rows[0]


def _draw_curves(axes: Axes, points: pl.DataFrame, x: Axis, y: Axis, by: str) -> None:
    others = zip(cycle(PALETTE), cycle(_MARKERS), strict=False)
    keys = points[by].unique(maintain_order=True).to_list()
    if by == "cc":  # legend in the order of the curves
        mean = points.group_by("cc").agg(pl.mean(y.column)).sort(y.column, descending=True)
        keys = mean["cc"].to_list()
    for key in keys:
        curve = points.filter(pl.col(by) == key).sort(x.column)
        color, marker = next(others)
        style = style_of(key) if by == "cc" else PlotStyle(color, marker, "-")
        axes.errorbar(
            curve[x.column] / x.unit,
            curve[y.column] / y.unit,
            yerr=curve[f"{y.column}_ci95"].fill_nan(0) / y.unit,
            label=label(key) if by == "cc" else str(key),
            linestyle=style.line,
            capsize=2.5,
            elinewidth=1,
            **marks_of(style),
        )
    axes.set_xlabel(x.name)
    if x.log:
        axes.set_xscale("log")
        _write_numbers_plainly(axes)


def _write_numbers_plainly(axes: Axes) -> None:
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def ratios(
    points: pl.DataFrame,
    columns: Sequence[str],
    title: str,
    other: str,
    limits: tuple[float, float] = (0.05, 0.1),
) -> Figure:
    """Draws a panel for each column: a line of points for each control, ours ÷ the other's.

    The bands are the limits. A ratio beyond a factor of two stands at the edge.
    """
    names = points["cc"].unique(maintain_order=True).to_list()
    with look():
        size = (3.7 * len(columns), 1.6 + 0.34 * len(names))
        figure, panels_ = subplots(1, len(columns), size=size, squeeze=False)
        for axes, column in zip(panels_[0], columns, strict=True):
            for limit in limits:
                axes.axvspan(1 / (1 + limit), 1 + limit, color=SOFT, alpha=0.15, linewidth=0)
            axes.axvline(1, color="#000000", linewidth=0.7)
            share_of = pl.col(column) / pl.col(f"{column}{_OTHER}")
            known = points.filter(pl.col(f"{column}{_OTHER}") > 0).select(
                "cc", share_of.clip(1 / _WIDEST, _WIDEST).alias("share")
            )
            known = known.drop_nulls()
            reach = max(
                _NARROWEST, *(max(ratio, 1 / ratio) for ratio in known["share"]), 1 + limits[1]
            )
            for place, cc in enumerate(names):
                share = known.filter(pl.col("cc") == cc)["share"]
                rows = [place + 0.5 * (n / max(1, len(share) - 1) - 0.5) for n in range(len(share))]
                style = style_of(str(cc))
                axes.plot(share, rows, style.marker, color=style.color, alpha=0.85, markersize=4)
            axes.set(
                xscale="log",
                xlim=(0.96 / reach, 1.04 * reach),
                ylim=(len(names) - 0.5, -0.5),
                yticks=range(len(names)),
                yticklabels=[label(str(cc)) for cc in names],
                xlabel=f"{_spoken(column)}, simulator ÷ {other}",
            )
            axes.set_xticks((0.9, 1, 1.1) if reach < 1.3 else (0.5, 0.7, 1, 1.4, 2))
            _write_numbers_plainly(axes)
        figure.suptitle(title)
        return figure


def _spoken(column: str) -> str:
    return column.removesuffix("_bps").replace("_", " ")


def numeric(points: pl.DataFrame, column: str, to: Any) -> pl.DataFrame:
    """Converts a column of swept quantities, such as "10ms", to numbers."""
    values = [float(to(value)) for value in points[column]]
    return points.with_columns(pl.Series(column, values, dtype=pl.Float64))
