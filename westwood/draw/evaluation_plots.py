# SPDX-License-Identifier: BSD-3-Clause
"""Draws what a criterion found at its points, beside its threshold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matplotlib.ticker import FuncFormatter

from westwood.catalogue import style_of
from westwood.draw.style import SOFT, look, subplots

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ASKED = "#048B77"
_LEVEL = 9  # most names that stand level under the axis
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
    is_course: bool = True,
) -> Figure:
    """Draws the series over the points and shades what is asked for; texts: title, x and y axis.

    is_course: the points have an order, and lines join them.
    """
    title, x_axis, y_axis = texts
    with look():
        figure, axes = subplots(size=(7.2, 4.2))
        middle = (len(series) - 1) / 2
        for number, one in enumerate(series):
            places = [place + _BESIDE * (number - middle) for place in range(len(names))]
            _draw(axes, places, one, is_course=is_course)
        if not is_course:
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axes.yaxis.set_minor_formatter(FuncFormatter(_some))
        if bound is not None:
            _shade(axes, bound, at_most=at_most)
        turned = {"rotation": 60, "ha": "right", "fontsize": 8} if len(names) > _LEVEL else {}
        axes.set_xticks(range(len(names)), names, **turned)
        axes.set(xlabel=x_axis, ylabel=y_axis, title=title)
        marks = axes.get_legend_handles_labels()
        figure.legend(*marks, loc="outside lower center", ncols=6, fontsize=8)
        return figure


def _some(value: float, _: int) -> str:
    """Labels 2, 3 and 5 of each decade."""
    return f"{value:g}" if f"{value:e}"[0] in "235" else ""


def _draw(axes: Any, places: Sequence[float], one: Series, *, is_course: bool) -> None:
    style = style_of(one.cc)
    known = [place for place, value in enumerate(one.values) if math.isfinite(value)]
    axes.errorbar(
        [places[at] for at in known],
        [one.values[at] for at in known],
        yerr=[
            [_length(one.values[at], one.lows[at]) for at in known],
            [_length(one.highs[at], one.values[at]) for at in known],
        ],
        label=one.name,
        color=style.color,
        marker=style.marker,
        markerfacecolor="none" if style.hollow else style.color,
        linestyle=style.line if is_course else "none",
        linewidth=1.1,
        capsize=3,
    )


def _length(high: float, low: float) -> float:
    return max(0.0, high - low) if math.isfinite(high - low) else 0.0


def _shade(axes: Any, bound: float, *, at_most: bool) -> None:
    low, high = axes.get_ylim()
    if axes.get_yscale() == "log":
        low, high = min(low, bound / 1.2), max(high, bound * 1.2)
    else:
        room = 0.08 * (max(high, bound) - min(low, bound)) or 1.0
        low, high = min(low, bound - room), max(high, bound + room)
    axes.axhline(bound, color=_ASKED, linewidth=1.0, linestyle="--")
    axes.axhspan(*((low, bound) if at_most else (bound, high)), color=_ASKED, alpha=0.08)
    where = axes.get_yaxis_transform()
    axes.text(
        0.99, bound, "asked for", ha="right", color=SOFT, fontsize=8, transform=where,
        va="top" if at_most else "bottom",
    )  # fmt: skip
    axes.set_ylim(low, high)
