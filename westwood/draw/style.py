# SPDX-License-Identifier: BSD-3-Clause
"""Styles figures: each protocol looks the same everywhere, as the catalogue says."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib
import polars as pl
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patheffects import withStroke
from matplotlib.transforms import Bbox

from westwood.draw import titles

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.backend_bases import RendererBase
    from matplotlib.container import BarContainer

# Metadata to leave out of each format, since a date or a version would change the bytes.
FORMATS: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None},
    "pdf": {"CreationDate": None, "Producer": None},
}
_USUAL = ("png", "svg")
_PLACES = 9  # decimal places of an axes' position in the figure
_MOST_ROWS = 4000  # rows of a trace; a printed line shows no more
MBPS = 1e6  # bit/s in the unit of a rate's axis
# Limits of a legend: columns, lines within the axes and characters per line; a mark takes 7.
_MOST_COLUMNS, _MOST_LINES, _LINE, _MARK = 4, 2, 112, 7
SOFT = "#555555"  # colour of everything that belongs to no protocol
# For curves without a colour of their own: the catalogue's most distinct ones, for all kinds of
# vision.
PALETTE = ("#000C8C", "#E13200", "#048B77", "#C731C7", "#EEBA07", "#8DC8EB", "#000000", "#97A977")


_LOOK: Any = {
    "figure.dpi": 160,
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.titlesize": 10,
    "figure.titlesize": 10,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 5,
    "svg.hashsalt": "westwood",  # the same figure gives the same bytes
    "pdf.fonttype": 42,  # searchable text
}


class Picture(Figure):
    """A figure that fits its titles, and that notebooks show without pyplot."""

    def draw(self, renderer: RendererBase) -> None:
        """Draws the figure once its titles fit."""
        titles.fit(self, renderer)
        super().draw(renderer)

    def _repr_png_(self) -> bytes:
        made = io.BytesIO()
        with look():
            self.savefig(made, format="png")
        return made.getvalue()


class _Layout(ConstrainedLayoutEngine):
    """matplotlib's layout, rounded: its last digits depend on the order of Python's sets."""

    def execute(self, fig: Figure) -> None:
        """Places the axes."""
        super().execute(fig)
        for axes in fig.axes:
            points = axes.get_position(original=True).get_points().round(_PLACES)
            axes.set_position(Bbox(points))
            axes.set_in_layout(True)  # the next layout moves it again


def subplots(
    rows: int = 1, columns: int = 1, *, size: tuple[float, float], **how: Any
) -> tuple[Figure, Any]:
    """Makes a figure of this size in inches and its axes, like pyplot.subplots()."""
    figure = Picture(figsize=size, layout=_Layout())
    return figure, figure.subplots(rows, columns, **how)


def nothing(title: str, why: str) -> Figure:
    """Makes a figure that says why it shows nothing."""
    with look():
        figure, axes = subplots(size=(7.2, 2.4))
        axes.set_axis_off()
        axes.set_title(title)
        axes.text(0.5, 0.5, why, ha="center", va="center", transform=axes.transAxes)
        return figure


def adapt(figure: Figure, title: str | None, size: tuple[float, float] | None) -> Figure:
    """Applies the user's title and size in inches, if any."""
    if size is not None:
        figure.set_size_inches(size)
    if title is not None and figure.get_suptitle():
        figure.suptitle(title)
    elif title is not None:
        figure.axes[0].set_title(title)
    return figure


def save(
    figure: Figure,
    write: Callable[[str, Callable[[Path], object]], Path],
    name: str,
    kinds: Sequence[str] = _USUAL,
) -> Path:
    """Writes the figure in these formats through `write(FILE, fill)`; returns the first path."""
    with look(), warnings.catch_warnings():
        # If the user chose a size that is too small for the texts, it is drawn anyway.
        warnings.filterwarnings("ignore", "constrained_layout not applied")
        written = [
            write(f"{name}.{kind}", partial(figure.savefig, format=kind, metadata=FORMATS[kind]))
            for kind in kinds
        ]
    return written[0]


def legend(axes: Axes, marks: Sequence[Artist], names: Sequence[str]) -> None:
    """Puts the legend into the axes, in as many columns as fit.

    A legend with long names goes below the figure, where it hides nothing.
    """
    if not names:
        return
    longest = max(map(len, names)) + _MARK
    columns = max(1, min(_MOST_COLUMNS, _LINE // longest, len(names)))
    if -(-len(names) // columns) <= _MOST_LINES:
        axes.legend(marks, names, loc="upper right", ncols=columns, fontsize=8)
    else:
        figure: Any = axes.figure
        figure.legend(marks, names, loc="outside lower center", ncols=columns, fontsize=8)


def interval_of(bars: BarContainer) -> list[Artist]:
    """Returns the artists of the bars' intervals."""
    if bars.errorbar is None:
        return []
    _, caps, lines = bars.errorbar.lines
    return [*caps, *lines]


def with_edge(drawn: Sequence[Artist]) -> None:
    """Outlines artists in white, so that they are visible on any colour."""
    for one in drawn:
        one.set_path_effects([withStroke(linewidth=3.2, foreground="#ffffff")])


def thinned(trace: pl.DataFrame) -> pl.DataFrame:
    """Keeps as many rows as a figure can show."""
    return trace.gather_every(max(1, trace.height // _MOST_ROWS))


@contextmanager
def look() -> Iterator[None]:
    """Applies the style of all figures: fonts, grid and lines."""
    with matplotlib.rc_context(_LOOK):
        yield
