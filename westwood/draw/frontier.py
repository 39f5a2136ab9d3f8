# SPDX-License-Identifier: BSD-3-Clause
"""Draws what controls gain against what they cost others, a named mark for each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matplotlib.transforms import Bbox

from westwood.control.catalogue import style_of
from westwood.draw.style import SOFT, look, marks_of, subplots, with_edge
from westwood.results.intervals import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_DISTANCES = (9, 14, 20, 27, 35, 44, 54, 66, 80, 96, 114, 134, 156, 180)  # points from mark to name
# Fractions of a turn; horizontal and vertical would cover intervals.
_DIRECTIONS, _FIRST = 24, 1 / 12
_MARGIN = 0.12  # right of the marks and above them
_CLEAR = 2.0  # pixels around a name
_MARK, _FONT = 5.0, 8  # points: half width of a mark, font size of a name


@dataclass(frozen=True)
class Mark:
    """A control in the figure: its name, its style and its result."""

    name: str
    cc: str
    x: Estimate
    y: Estimate


@dataclass(frozen=True)
class FrontierAxis:
    """An axis: its label and the required value."""

    name: str
    bound: float


def frontier(marks: Sequence[Mark], x: FrontierAxis, y: FrontierAxis, title: str) -> Figure:
    """Draws the marks with their intervals, and shades the corner that meets both requirements."""
    with look():
        figure, axes = subplots(size=(7.2, 5.4))
        right = _MARGIN + max([1.0, *(mark.x.value for mark in marks)])
        top = _MARGIN + max([1.0, *(mark.y.value for mark in marks)])
        axes.set(title=title, xlabel=x.name, ylabel=y.name, xlim=(-0.06, right), ylim=(-0.06, top))
        axes.fill_between([x.bound, right], y.bound, top, color="#048B77", alpha=0.12, linewidth=0)
        corner = axes.text(
            right - 0.01, y.bound + 0.01, "asked for", ha="right", color=SOFT, fontsize=8
        )
        for mark in marks:
            _draw(axes, mark)
            _point_beyond(axes, mark)
        figure.draw_without_rendering()  # the layout is fixed from here on
        _name(axes, marks, [corner.get_window_extent()])
        return figure


def _draw(axes: Axes, mark: Mark) -> None:
    style = style_of(mark.cc)
    faint: Any = {"color": style.color, "linewidth": 0.8, "alpha": 0.35}
    axes.plot(_ends(mark.x), [mark.y.value] * 2, **faint)
    axes.plot([mark.x.value] * 2, _ends(mark.y), **faint)
    axes.plot([mark.x.value], [mark.y.value], markersize=7, linestyle="none", **marks_of(style))


def _point_beyond(axes: Axes, mark: Mark) -> None:
    """Marks intervals that extend beyond the frame with an arrow."""
    limits = (axes.get_xlim(), axes.get_ylim())
    for across, (coordinate, other, arrows) in enumerate(
        ((mark.x, mark.y, "<>"), (mark.y, mark.x, "v^"))
    ):
        ends = zip(_ends(coordinate), limits[across], (-1, 1), arrows, strict=True)
        for end, limit, outward, arrow in ends:
            if (end - limit) * outward > 0:
                arrow_end = (other.value, limit) if across else (limit, other.value)
                color = style_of(mark.cc).color
                axes.plot(*arrow_end, arrow, color=color, markersize=5, alpha=0.6, clip_on=False)


def _ends(estimate: Estimate) -> tuple[float, float]:
    """Returns the ends of an interval; an open end is drawn at the value."""
    low = estimate.low if math.isfinite(estimate.low) else estimate.value
    high = estimate.high if math.isfinite(estimate.high) else estimate.value
    return low, high


def _name(axes: Axes, marks: Sequence[Mark], written: Sequence[Bbox]) -> None:
    """Writes each name near its mark without covering other marks or text, if there is room."""
    pixels = axes.figure.dpi / 72
    positions = [tuple(axes.transData.transform((mark.x.value, mark.y.value))) for mark in marks]
    taken = [*written, *(Bbox.from_bounds(x, y, 0, 0).padded(_MARK * pixels) for x, y in positions)]
    for number in sorted(range(len(marks)), key=lambda n: _neighbours(positions, n), reverse=True):
        mark, (x, y) = marks[number], positions[number]
        width, height = _size(axes, mark.name)
        for dx, dy in _places(width / pixels):
            left, middle = x + dx * pixels, y + dy * pixels
            box = Bbox.from_bounds(left, middle - height / 2, width, height).padded(_CLEAR)
            if _holds(axes.bbox, box) and not any(box.overlaps(other) for other in taken):
                break
        taken.append(box)
        text = axes.annotate(
            mark.name,
            (mark.x.value, mark.y.value),
            (dx, dy),
            textcoords="offset points",
            fontsize=_FONT,
            color=style_of(mark.cc).color,
            va="center",
            arrowprops={"arrowstyle": "-", "color": "#999999", "linewidth": 0.5, "shrinkB": 3},
        )
        text.set_in_layout(False)
        with_edge([text])


def _size(axes: Axes, name: str) -> tuple[float, float]:
    """Returns the size of a name in pixels."""
    text = axes.text(0, 0, name, fontsize=_FONT)
    box = text.get_window_extent()
    text.remove()
    return box.width, box.height


def _holds(outer: Bbox, inner: Bbox) -> bool:
    return bool(outer.x0 <= inner.x0 and inner.x1 <= outer.x1) and bool(
        outer.y0 <= inner.y0 and inner.y1 <= outer.y1
    )


def _neighbours(positions: Sequence[Sequence[float]], number: int) -> int:
    """Counts the marks nearby; the marks with the most neighbours get their names first."""
    x, y = positions[number]
    return sum(math.hypot(x - other[0], y - other[1]) < 100 for other in positions)


def _places(width: float) -> Iterator[tuple[float, float]]:
    """Returns offsets from a mark to a text's middle left, in points, nearest first."""
    for distance in _DISTANCES:
        for step in range(_DIRECTIONS):
            angle = 2 * math.pi * (step / _DIRECTIONS + _FIRST)
            dx, dy = distance * math.cos(angle), distance * math.sin(angle)
            left = dx if dx > 1 else dx - width if dx < -1 else -width / 2
            yield left, dy
