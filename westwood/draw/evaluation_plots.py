# SPDX-License-Identifier: BSD-3-Clause
"""Draws what a criterion found at its points, beside its threshold."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from westwood.control.catalogue import style_of
from westwood.draw.style import SOFT, legend, look, marks_of, name_rows, subplots

_ASKED = "#048B77"
_LEVEL = 70  # most characters of names that stand level under the axis
_LINE = 40  # and most characters of a line of all of them
_DARK, _HEAD = 1.6, 9  # a share on a dark cell; most characters of a line of a column's head
_NEVER = 1.25  # where a run that never ends is drawn: this factor above all others
_BESIDE = 0.06  # between the marks of two controls, so that their intervals stay apart


@dataclass(frozen=True)
class Series:
    """What a control did: values with the ends of their intervals, one for each point."""

    name: str
    cc: str
    values: Sequence[float]
    lows: Sequence[float]
    highs: Sequence[float]


def points(
    names: Sequence[str],
    series: Sequence[Series],
    bound: float | None,
    texts: tuple[str, str, str],
    *,
    at_most: bool,
) -> Figure:
    """Draws the series over the points and shades what is asked for; texts: title, x and y axis."""
    title, x_axis, y_axis = texts
    with look():
        figure, axes = subplots(size=(7.2, 4.2))
        for number, curve in enumerate(series):
            places = [_place(number, len(series), point) for point in range(len(names))]
            _draw(axes, places, curve)
        _draw_endless(axes, series)
        if bound is not None:
            _shade(axes, bound, at_most=at_most)
        is_full = sum(map(len, names)) > _LEVEL
        turned = {"rotation": 60, "ha": "right", "fontsize": 8} if is_full else {}
        wrapped = names if is_full else [_wrapped(name, len(names)) for name in names]
        axes.set_xticks(range(len(names)), wrapped, **turned)
        axes.set(xlabel=x_axis, ylabel=y_axis, title=title)
        has_ends = all(math.isfinite(curve.values[-1]) for curve in series)
        legend(axes, place="below", points=9, at_ends=has_ends)
        return figure


def shares(names: Sequence[str], series: Sequence[Series], title: str, says: str) -> Figure:
    """Draws each value over its bound as a cell: a row for each name, the worst at the top.

    Values above 1 fail: their cells are red and have a number. A control that was not run has an
    empty cell. The colours' scale is logarithmic and ends at half and at twice the bound.
    """
    order = sorted(range(len(names)), key=lambda row: -_worst(series, row))
    values = [[curve.values[row] for curve in series] for row in order]
    with look():
        figure, axes = subplots(size=(7.2, 1.2 + 0.19 * len(names)))
        finite = np.nan_to_num(np.log2(np.array(values)), nan=np.nan, posinf=1.0)
        drawn = axes.imshow(finite, cmap="RdBu_r", vmin=-1, vmax=1, aspect="auto")
        for row, cells in enumerate(values):
            for column, value in enumerate(cells):
                if value > 1:
                    text = "never" if value == math.inf else f"{value:.2f}"
                    ink = "#ffffff" if value > _DARK else "#000000"
                    axes.text(column, row, text, ha="center", va="center", fontsize=8, color=ink)
        failing = [sum(value > 1 for value in curve.values) for curve in series]
        heads = [
            "\n".join([*textwrap.wrap(curve.name, _HEAD), f"{count} fail"])
            for curve, count in zip(series, failing, strict=True)
        ]
        axes.set_xticks(range(len(series)), heads, fontsize=8)
        axes.tick_params(bottom=False, left=False, labelbottom=False, labeltop=True)
        axes.spines[:].set_visible(False)
        axes.grid(visible=False)
        name_rows(axes, [names[row] for row in order])
        scale = figure.colorbar(drawn, ax=axes, label=says, shrink=0.5, extend="max")
        scale.set_ticks([-1, 0, 1], labels=["0.5", "1", "2"])
        axes.set_title(title)
        return figure


def _wrapped(name: str, names: int) -> str:
    return textwrap.fill(name, max(1, _LINE // names), break_long_words=False)


def _worst(series: Sequence[Series], row: int) -> float:
    known = [curve.values[row] for curve in series if not math.isnan(curve.values[row])]
    return max(known, default=0.0)


def _place(number: int, count: int, point: int) -> float:
    """Returns where a series has its mark of a point, so that marks stay apart."""
    return point + _BESIDE * (number - (count - 1) / 2)


def _draw_endless(axes: Any, series: Sequence[Series]) -> None:
    """Draws infinite values above all others, on a level named "never"."""
    finite = [value for curve in series for value in curve.values if math.isfinite(value)]
    level = _NEVER * max(finite, default=1.0)
    endless = [
        (number, point)
        for number, curve in enumerate(series)
        for point, value in enumerate(curve.values)
        if value == math.inf
    ]
    for number, point in endless:
        style = style_of(series[number].cc)
        place = _place(number, len(series), point)
        axes.plot(place, level, color=style.color, marker=style.marker, clip_on=False)
    if endless:
        where = axes.get_yaxis_transform()
        axes.text(1.01, level, "never", va="center", color=SOFT, fontsize=8, transform=where)


def _draw(axes: Any, places: Sequence[float], curve: Series) -> None:
    style = style_of(curve.cc)
    known = [place for place, value in enumerate(curve.values) if math.isfinite(value)]
    axes.errorbar(
        [places[index] for index in known],
        [curve.values[index] for index in known],
        yerr=[
            [_length(curve.values[index], curve.lows[index]) for index in known],
            [_length(curve.highs[index], curve.values[index]) for index in known],
        ],
        label=curve.name,
        linestyle=style.line,
        linewidth=1.1,
        capsize=3,
        **marks_of(style),
    )


def _length(high: float, low: float) -> float:
    return max(0.0, high - low) if math.isfinite(high - low) else 0.0


def _shade(axes: Any, bound: float, *, at_most: bool) -> None:
    low, high = axes.get_ylim()
    room = 0.08 * (max(high, bound) - min(low, bound)) or 1.0
    low, high = min(low, bound - room), max(high, bound + room)
    axes.axhline(bound, color=SOFT, linewidth=1.0, linestyle="--", label="asked for")
    axes.axhspan(*((low, bound) if at_most else (bound, high)), color=_ASKED, alpha=0.08)
    axes.set_ylim(low, high)
