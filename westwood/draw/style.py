# SPDX-License-Identifier: BSD-3-Clause
"""Styles figures: each protocol looks the same everywhere, as the catalogue says."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import matplotlib
import numpy as np
import polars as pl
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patheffects import withStroke
from matplotlib.transforms import Bbox

from westwood.control.catalogue import PlotStyle
from westwood.draw import fitting
from westwood.draw.fitting import Key, NamedRows

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
_TINT = 0.4  # share of the colour; white is the rest
_MOST_ROWS = 4000  # rows of a trace; a printed line shows no more
MBPS = 1e6  # bit/s in the unit of a rate's axis
SOFT = "#555555"  # colour of everything that belongs to no protocol
DASHED: Any = {"color": SOFT, "linewidth": 0.9, "linestyle": "--", "drawstyle": "steps-post"}
STEPS: Any = {"drawstyle": "steps-post"}  # a line that holds each value until the next
DOTS: Any = {"linestyle": "none", "marker": ".", "markersize": 1.8, "rasterized": True}
CROSSES: Any = {"linestyle": "none", "markersize": 4.5, "markeredgewidth": 0.9}  # of events
# For curves without a colour of their own: the catalogue's most distinct ones, for all kinds of
# vision.
PALETTE = ("#000C8C", "#E13200", "#048B77", "#C731C7", "#EEBA07", "#8DC8EB", "#000000", "#97A977")
_PIXELS, _WIDTH = 1280, 7.2  # of most figures; the width in inches
_LOOK: Any = {
    "figure.dpi": _PIXELS / _WIDTH,
    "font.size": fitting.USUAL_POINTS,
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
    """A figure that fits its size, and that notebooks show without pyplot."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**how)
        self.usual: tuple[float, float] = how["figsize"]  # inches
        self.keys: list[Key] = []
        self.named_rows: list[NamedRows] = []
        self.row: Sequence[Axes] = ()  # panels side by side, if there is one row of them
        self.shares_y = False
        # What fitting.py has done: for which size, and from which font sizes to which.
        self.fitted: tuple[float, ...] = ()
        self.usual_points: dict[Any, float] = {}
        self.usual_widths: dict[Any, tuple[float, float]] = {}
        self.points: Callable[[float], float] = float

    def draw(self, renderer: RendererBase) -> None:
        """Draws the figure once all of it fits."""
        with look():
            fitting.fit(self, renderer)
        super().draw(renderer)

    def _repr_png_(self) -> bytes:
        png = io.BytesIO()
        with look():
            self.savefig(png, format="png")
        return png.getvalue()


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
    axes = figure.subplots(rows, columns, **how)
    if rows == 1 and columns > 1:
        figure.row, figure.shares_y = list(np.ravel(axes)), bool(how.get("sharey"))
    return figure, axes


def nothing(title: str, why: str) -> Figure:
    """Makes a figure that says why it shows nothing."""
    with look():
        figure, axes = subplots(size=(7.2, 2.4))
        axes.set_axis_off()
        axes.set_title(title)
        axes.text(0.5, 0.5, why, ha="center", va="center", transform=axes.transAxes)
        return figure


Size = tuple[float, float | None]  # inches; without a height the width decides


def adapt(figure: Figure, title: str | None, size: Size | None) -> Figure:
    """Applies the user's title and size, if any."""
    if size is not None:
        width, height = size
        if height is None:
            fitting.set_width(cast("Picture", figure), width)
        else:
            figure.set_size_inches(width, height)
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


def legend(
    axes: Axes,
    marks: Sequence[Any] | None = None,
    names: Sequence[str] | None = None,
    *,
    place: str = "upper right",
    title: str = "",
    points: float = 8,
    at_ends: bool = False,
) -> None:
    """Adds a legend, by default of all that the axes name, which the figure fits to its size.

    It lies at this place of the axes if it hides little there; "best" is matplotlib's. "above" is
    over the axes, "below" under the figure. at_ends: curves are named at their ends if they are
    apart there.
    """
    if marks is None or names is None:
        marks, names = axes.get_legend_handles_labels()
    if names:
        figure: Any = axes.figure
        key = Key(axes, marks, names, title, place, points, at_ends)
        on: Any = figure if place == "below" else axes
        # For the time being.
        key.drawn = [on.legend(marks, names, title=title or None, fontsize=points)]
        figure.keys.append(key)


def marks_of(style: PlotStyle) -> dict[str, Any]:
    """Returns how the marks of a protocol look; those of some are hollow."""
    face = "none" if style.hollow else style.color
    return {"color": style.color, "marker": style.marker, "markerfacecolor": face}


def below_each_other(count: int, *, size: tuple[float, float]) -> tuple[Figure, Any]:
    """Makes a figure of panels below each other that share their x axis, and a list of them."""
    figure, rows = subplots(count, 1, size=size, sharex=True, squeeze=False)
    return figure, rows[:, 0]


def name_rows(axes: Axes, names: Sequence[str]) -> None:
    """Names the rows 0, 1, 2... of an axes, such as bars, from top to bottom."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(axis="y", visible=False)
    figure: Any = axes.figure
    if names:
        figure.named_rows.append(NamedRows(axes, names))


def interval_of(bars: BarContainer) -> list[Artist]:
    """Returns the artists of the bars' intervals."""
    if bars.errorbar is None:
        return []
    _, caps, lines = bars.errorbar.lines
    return [*caps, *lines]


def with_edge(drawn: Sequence[Artist]) -> None:
    """Outlines artists in white, so that they are visible on any colour."""
    for artist in drawn:
        artist.set_path_effects([withStroke(linewidth=3.2, foreground="#ffffff")])


def tint(color: str) -> tuple[float, float, float]:
    """Returns a colour mixed with white, for samples under the line of their mean."""
    red, green, blue = (1 - _TINT * (1 - part) for part in to_rgb(color))
    return red, green, blue


def draw_ssthresh(axes: Axes, rows: pl.DataFrame) -> None:
    """Draws ssthresh dashed, where it is not far above the windows of a trace."""
    highest = 1.5 * float(rows["cwnd"].max() or 1)  # type: ignore[arg-type]
    shown = pl.when(pl.col("ssthresh") < highest).then(pl.col("ssthresh"))
    axes.plot(rows["time_s"], rows.select(shown).to_series(), label="ssthresh", **DASHED)


def thinned(trace: pl.DataFrame) -> pl.DataFrame:
    """Keeps as many rows as a figure can show."""
    return trace.gather_every(max(1, trace.height // _MOST_ROWS))


@contextmanager
def look() -> Iterator[None]:
    """Applies the style of all figures: fonts, grid and lines."""
    with matplotlib.rc_context(_LOOK):
        yield
