# SPDX-License-Identifier: BSD-3-Clause
"""Draws figures over time: the windows of several runs, and panels of lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import TYPE_CHECKING, Any

import polars as pl

from westwood.control.catalogue import OTHER_STYLE, PlotStyle, style_of
from westwood.draw.style import MBPS, STEPS, below_each_other, legend, look, nothing, thinned
from westwood.draw.window import Span, sawteeth, span_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANELS = (
    ("cwnd", "cwnd outside\nrecovery\n(segments)", 1.0),
    ("ssthresh", "ssthresh\n(segments)", 1.0),
    ("estimate_bps", "Estimate\n(Mb/s)", MBPS),
    ("rtt_s", "RTT\n(ms)", 1e-3),
)
# Filters for columns that are not drawn in every row.
_SHOWN = {
    "cwnd": pl.col("state") != "recovery",  # duplicate ACKs inflate it in fast recovery
    "ssthresh": pl.col("ssthresh") < 2**30,  # "unlimited" before the first loss
}


@dataclass(frozen=True)
class Line:
    """A line of a figure over time."""

    name: str
    time_s: pl.Series
    value: pl.Series
    style: PlotStyle = OTHER_STYLE
    dashed: bool = False


@dataclass(frozen=True)
class TimePanel:
    """A panel of a figure over time."""

    y_name: str
    lines: Sequence[Line]
    levels: dict[str, float] = field(default_factory=dict)  # horizontal lines, by name


@dataclass(frozen=True)
class TracedRun:
    """A run in an overlay: its protocol, its name and its frames."""

    cc: str
    name: str
    trace: pl.DataFrame
    queue: pl.DataFrame | None = None  # queue of the bottleneck
    dashed: bool = False  # so that an equal line below it is seen


def over_time(
    runs: Sequence[TracedRun],
    title: str,
    whole_s: Span,
    span_s: Span | None = None,
    queue: str = "Queue",
) -> Figure:
    """Draws cwnd, ssthresh, estimate, RTT and, if known, the queue, with a line for each run.

    Without a span it chooses one that shows sawteeth. A quantity that no run has gets no panel.
    """
    shown_s = sawteeth([run.trace for run in runs], whole_s) if span_s is None else span_s
    drawn_ = [(name, [_line(run, column, unit) for run in runs]) for column, name, unit in PANELS]
    panels_ = [
        (name, lines) for name, lines in drawn_ if any(len(series.value) for series in lines)
    ]
    queues = [_queue_line(run) for run in runs if run.queue is not None]
    if queues:
        panels_.append((f"{queue}\n(packets)", queues))
    if not panels_:
        return nothing(title, "no connection was established")
    with look():
        figure, axes = below_each_other(len(panels_), size=(8, 1 + 1.65 * len(panels_)))
        for panel_axes, (name, lines) in zip(axes, panels_, strict=True):
            for line in lines:
                drawn = within(line, shown_s)
                width, dashes = (1.4, (0, (4, 4))) if line.dashed else (0.9, "-")
                style = {"linewidth": width, "linestyle": dashes, "color": line.style.color}
                panel_axes.plot(
                    drawn["t"], drawn["y"], label=line.name, alpha=0.85, **style, **STEPS
                )
            panel_axes.set_ylabel(name)
            panel_axes.set_ylim(
                0, max(1.05 * panel_axes.dataLim.y1, 1e-9)
            )  # keeps a constant line off the edge
        axes[-1].set_xlabel("Time (s)")
        axes[-1].set_xlim(*shown_s)
        axes[0].set_title(title + span_text(shown_s, whole_s))
        legend(axes[0], place="below", points=10)
        figure.align_ylabels(axes)
        return figure


def _line(run: TracedRun, column: str, unit: float) -> Line:
    rows = run.trace.filter(_SHOWN.get(column, pl.col(column).is_not_nan()))
    return Line(run.name, rows["time_s"], rows[column] / unit, style_of(run.cc), run.dashed)


def _queue_line(run: TracedRun) -> Line:
    assert run.queue is not None
    return Line(run.name, run.queue["time_s"], run.queue["packets"], style_of(run.cc))


def within(line: Line, span_s: Span) -> pl.DataFrame:
    """Returns the points within the span, starting with the value in force at its start."""
    points = pl.DataFrame({"t": line.time_s, "y": line.value})
    before = points.filter(pl.col("t") < span_s[0]).tail(1)
    held = before.with_columns(pl.lit(span_s[0]).alias("t"))
    inside = points.filter(pl.col("t").is_between(*span_s))
    return thinned(pl.concat([held, inside]))


def courses(panels_: Sequence[TimePanel], title: str) -> Figure:
    """Draws panels over the same time, one below the other."""
    with look():
        figure, rows = below_each_other(len(panels_), size=(7.2, 1.2 + 2.4 * len(panels_)))
        for axes, panel in zip(rows, panels_, strict=True):
            draw_lines(axes, panel)
            levels = zip(panel.levels.items(), cycle(["--", ":"]), strict=False)
            for (name, level), dashes in levels:
                axes.axhline(level, color="#000000", linewidth=0.9, linestyle=dashes, label=name)
            axes.set_ylabel(panel.y_name)
            axes.set_ylim(0, 1.2 * axes.get_ylim()[1])  # room for the legend
            legend(axes)
        rows[-1].set_xlabel("Time (s)")
        rows[0].set_title(title)
        return figure


def draw_lines(axes: Axes, panel: TimePanel) -> None:
    """Draws the lines of a panel, in steps; a second line of the same colour is dashed."""
    for place, line in enumerate(panel.lines):
        earlier = {before.style.color for before in panel.lines[:place]}
        drawn = thinned(pl.DataFrame({"t": line.time_s, "y": line.value}))
        dashes: Any = (0, (3, 1.5)) if line.style.color in earlier else "-"
        style: Any = {"color": line.style.color, "linestyle": dashes, "linewidth": 1.0}
        axes.plot(drawn["t"], drawn["y"], label=line.name, **style, **STEPS)


def styled(name: str, cc: str, time_s: pl.Series, value: pl.Series) -> Line:
    """Makes a line in its protocol's colour."""
    return Line(name, time_s, value, style_of(cc))
