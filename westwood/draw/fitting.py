# SPDX-License-Identifier: BSD-3-Clause
"""Fits a figure to its size: fonts, rows of panels, names of rows, legends and labels.

A figure is drawn once, for its usual size. A user may want the width of a column of a paper. So
what depends on the size is arranged when the size is known, just before the figure is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.container import Container
from matplotlib.font_manager import FontProperties
from matplotlib.gridspec import GridSpec
from matplotlib.lines import Line2D
from matplotlib.text import Text

from westwood.draw import titles

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.backend_bases import RendererBase
    from matplotlib.legend import Legend

    from westwood.draw.style import Picture

# Widths in inches: of a column of a paper, and from which on nothing is made smaller.
_COLUMN, _WHOLE = 3.35, 6.0
_SMALLEST_SCALE, _LEAST_POINTS = 0.75, 7.0  # of fonts
USUAL_POINTS = 10  # of a font
_LEAST_PANEL = (1.6, 1.3)  # inches, of panels side by side
_LEAST_ALONE = 2.3  # inches, of a panel with a y axis that others do not share
_LEAST_OF_HEIGHT = 0.66  # that all axes take, unless the user chose the height
_ROOM = 3.0  # inches, enough for all titles and legends
_LOWEST, _HIGHEST = 0.6, 1.3  # of the usual height, for another width
_MOST_COLUMNS, _MOST_LINES, _MOST_NAMES = 4, 2, 8  # of a legend within the axes
_OF_FIGURE = 0.95  # share of the width that a legend may take
_OF_ROWS = 0.35  # share of the width that names of rows may take beside their rows
_NAME, _FARTHEST = 1.2, 1.5  # a name's height in font sizes; heights between it and its curve's end
_HANDLE, _PAD, _GAP = 1.5, 0.6, 1.4  # parts of a legend, in font sizes


@dataclass
class Key:
    """A legend: what it explains, and where it lies if there is room.

    at_ends: curves that end far enough apart are named there instead.
    """

    axes: Axes
    marks: Sequence[Artist]
    names: Sequence[str]
    title: str
    place: str  # within the axes; "below" the figure, "above" the axes
    points: float
    at_ends: bool = False
    drawn: Sequence[Artist] = ()


@dataclass
class NamedRows:
    """Rows of an axes, such as bars, with their names."""

    axes: Axes
    names: Sequence[str]
    are_above: bool = False


def fit(figure: Picture, renderer: RendererBase) -> None:
    """Arranges the figure for its size; titles also if they have changed."""
    size = (*figure.get_size_inches(), figure.dpi)
    if figure.fitted != size:
        figure.fitted = size
        _scale(figure)
        _flow(figure)
        for rows in figure.named_rows:
            _name_rows(figure, rows, renderer)
        _place_keys(figure, renderer)
        titles.fit(figure, renderer)
        if (layout := figure.get_layout_engine()) is not None:
            layout.execute(figure)
        for axes in figure.axes:
            titles.fit_text(axes.yaxis.label, 1.1 * axes.bbox.height, renderer)
            titles.fit_text(axes.xaxis.label, 1.1 * axes.bbox.width, renderer)
    titles.fit(figure, renderer)


def set_width(figure: Picture, width: float) -> None:
    """Sets the width in inches, and a height that suits it."""
    usual_width, usual_height = figure.usual
    panels = max(1, len(figure.row))
    a_row = _a_row(figure, width)
    rows = math.ceil(panels / a_row)
    ratio = math.sqrt((width / a_row) / (usual_width / panels))
    height = rows * usual_height * min(max(ratio, _LOWEST), _HIGHEST)
    figure.set_size_inches(width, height + _ROOM)
    figure.draw_without_rendering()
    columns: dict[int, float] = {}
    for axes in figure.axes:
        place = axes.get_subplotspec()
        column = place.colspan.start if place else 0
        columns[column] = columns.get(column, 0) + axes.bbox.height / figure.dpi
    tallest = max(columns.values())
    # A figure of another height has the same titles, legends and labels: only the axes change.
    beside = height + _ROOM - tallest
    figure.set_size_inches(width, max(height, beside / (1 - _LEAST_OF_HEIGHT)))


def _a_row(figure: Picture, width: float) -> int:
    least = _LEAST_PANEL[0] if figure.shares_y else _LEAST_ALONE
    return max(1, min(len(figure.row), int(width / least)))


def _scale(figure: Picture) -> None:
    """Makes fonts, lines and marks of a narrow figure smaller."""
    width = figure.get_figwidth()
    slope = (1 - _SMALLEST_SCALE) / (_WHOLE - _COLUMN)
    scale = min(1.0, max(_SMALLEST_SCALE, _SMALLEST_SCALE + slope * (width - _COLUMN)))

    figure.points = partial(_points, scale)
    if scale == 1 and not figure.usual_points:
        return
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_tick_params(which="both", labelsize=figure.points(USUAL_POINTS))
    for text in figure.findobj(Text):
        usual = figure.usual_points.setdefault(text, float(text.get_fontsize()))
        text.set_fontsize(figure.points(usual))
    for line in figure.findobj(Line2D):
        usual, mark = figure.usual_widths.setdefault(
            line, (line.get_linewidth(), line.get_markersize())
        )
        line.set_linewidth(scale * usual)
        line.set_markersize(scale * mark)


def _points(scale: float, usual: float) -> float:
    return max(min(usual, _LEAST_POINTS), usual * scale)


def _flow(figure: Picture) -> None:
    """Breaks a row of panels into rows that have room for them."""
    count = len(figure.row)
    if count < 2:
        return
    width, height = figure.get_size_inches()
    a_row = _a_row(figure, width)
    while a_row < count and math.ceil(count / a_row) * _LEAST_PANEL[1] > height:
        a_row += 1
    grid = GridSpec(math.ceil(count / a_row), a_row, figure=figure)
    name = figure.row[0].get_ylabel()
    for place, axes in enumerate(figure.row):
        axes.set_subplotspec(grid[place // a_row, place % a_row])
        if figure.shares_y:
            is_first = place % a_row == 0
            has_names = any(
                named_row.axes is axes and named_row.are_above for named_row in figure.named_rows
            )
            axes.tick_params(labelleft=is_first and not has_names)
            axes.set_ylabel(name if is_first else "")


def _name_rows(figure: Picture, rows: NamedRows, renderer: RendererBase) -> None:
    """Puts names that would leave little room beside them above their rows."""
    font = FontProperties(size=figure.points(USUAL_POINTS))
    width = _measure(renderer, font)
    room = _OF_ROWS * figure.bbox.width / math.sqrt(max(1, len(figure.row)))
    if rows.are_above or max(map(width, rows.names)) <= room:
        return
    rows.are_above, axes = True, rows.axes
    axes.tick_params(axis="y", labelleft=False)
    axes.set_zorder(2)  # a long name passes over the panel beside it
    axes.patch.set_visible(False)
    for place, name in enumerate(rows.names):
        where = axes.get_yaxis_transform()
        text = axes.text(0, place - 0.24, name, transform=where, va="bottom", fontproperties=font)
        text.set_in_layout(False)
    for bar in axes.patches:
        middle = bar.get_y() + bar.get_height() / 2  # type: ignore[attr-defined]
        bar.set(height=0.4, y=middle - 0.2)
    axes.set_ylim(len(rows.names) - 0.5, -0.9)


def _place_keys(figure: Picture, renderer: RendererBase) -> None:
    """Makes the legends: within the axes where they hide little, else below or above them."""
    for key in figure.keys:
        for artist in key.drawn:
            artist.remove()
        key.drawn = _names_at_ends(figure, key)
    outside = [key for key in figure.keys if not (key.drawn or _fits_inside(figure, key, renderer))]
    alone = len(outside) == 1 and outside[0].place != "above"
    below = outside if alone else [key for key in outside if key.place == "below"]
    for key in figure.keys:
        if key.drawn:
            continue
        if key not in outside:
            drawn = _inside(figure, key, renderer)
        elif key in below:
            drawn = _legend(figure, key, renderer, figure, "outside lower center")
        else:
            drawn = _legend(figure, key, renderer, key.axes, "lower right", bbox_to_anchor=(1, 1))
            if key.axes.get_title():  # which is above the legend
                tall = drawn.get_window_extent(renderer).height
                points = key.axes.title.get_fontsize()
                pad = 6 + 72 * tall / figure.dpi
                key.axes.set_title(key.axes.get_title(), pad=pad, fontsize=points)
        key.drawn = [drawn]


def _names_at_ends(figure: Picture, key: Key) -> Sequence[Artist]:
    """Names curves right of the axes, where they end; returns nothing if the names lack room."""
    if not key.at_ends or figure.get_figwidth() < _WHOLE:
        return ()
    points, axes = figure.points(key.points), key.axes
    tall = _NAME * points * figure.dpi / 72 / axes.bbox.height
    to_axes = axes.transData + axes.transAxes.inverted()
    lines: list[Any] = [mark[0] if isinstance(mark, Container) else mark for mark in key.marks]
    ends = sorted(
        (float(to_axes.transform((0, np.asarray(line.get_ydata())[-1]))[1]), name, line.get_color())
        for line, name in zip(lines, key.names, strict=True)
    )
    places: list[float] = []
    for end, _, _ in ends:
        places.append(max(end, places[-1] + tall) if places else end)
    if any(place - end > _FARTHEST * tall for place, (end, _, _) in zip(places, ends, strict=True)):
        return ()
    return [
        axes.text(
            1.01, place, name, va="center", color=color, fontsize=points, transform=axes.transAxes
        )
        for place, (_, name, color) in zip(places, ends, strict=True)
    ]


def _fits_inside(figure: Picture, key: Key, renderer: RendererBase) -> bool:
    if key.place in ("below", "above") or figure.get_figwidth() < _WHOLE:
        return False
    if key.place == "best":
        return len(key.names) <= _MOST_NAMES
    columns = _columns(figure, key, key.names, _width_of(figure, key), renderer)
    return math.ceil(len(key.names) / columns) <= _MOST_LINES


def _inside(figure: Picture, key: Key, renderer: RendererBase) -> Legend:
    if key.place == "best":
        points = figure.points(key.points)
        # matplotlib warns about a slow machine only if "best" is not asked for.
        return key.axes.legend(key.marks, key.names, loc="best", title=key.title, fontsize=points)
    return _legend(figure, key, renderer, key.axes, key.place)


def _legend(
    figure: Picture, key: Key, renderer: RendererBase, on: Any, place: str, **how: Any
) -> Legend:
    """Makes a legend on the axes or on the figure, in as many columns as fit."""
    points = figure.points(key.points)
    limit = _OF_FIGURE * figure.bbox.width if on is figure else _width_of(figure, key)
    width = _measure(renderer, FontProperties(size=points))
    a_line = limit - (_HANDLE + _PAD + 1) * points * figure.dpi / 72
    names = ["\n".join(titles.wrapped(name, a_line, width)) for name in key.names]
    legend: Legend = on.legend(
        key.marks,
        names,
        loc=place,
        ncols=_columns(figure, key, names, limit, renderer),
        fontsize=points,
        title=key.title or None,
        title_fontsize=points,
        handlelength=_HANDLE,
        handletextpad=_PAD,
        columnspacing=_GAP,
        borderaxespad=0.3,
        borderpad=0.2,
        labelspacing=0.3,
        **how,
    )
    return legend


def _width_of(figure: Picture, key: Key) -> float:
    """Returns about the width of the axes that a legend is for, in pixels."""
    place = key.axes.get_subplotspec()
    return float(figure.bbox.width) * 0.85 / (place.get_gridspec().ncols if place else 1)


def _columns(
    figure: Picture, key: Key, names: Sequence[str], limit: float, renderer: RendererBase
) -> int:
    """Returns how many columns of a legend are at most this wide together."""
    em = figure.points(key.points) * figure.dpi / 72
    measure = _measure(renderer, FontProperties(size=figure.points(key.points)))
    widths = [max(map(measure, name.split("\n"))) + (_HANDLE + _PAD) * em for name in names]
    most = len(names) if key.place == "below" else min(_MOST_COLUMNS, len(names))
    for columns in range(most, 1, -1):
        together = sum(
            max(column_widths) for column_widths in np.array_split(widths, columns)
        )  # as matplotlib does
        if together + (columns - 1) * _GAP * em <= limit:
            return columns
    return 1


def _measure(renderer: RendererBase, font: FontProperties) -> Callable[[str], float]:
    def width(text: str) -> float:
        return float(renderer.get_text_width_height_descent(text, font, ismath=False)[0])

    return width
