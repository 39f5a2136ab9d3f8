# SPDX-License-Identifier: BSD-3-Clause
"""Draws one run: windows, estimate and capacity, round trips, the queue, and losses.

For real connections capacity and queue are unknown. Their panels are left out, and the losses that
the sender noticed are marked instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from matplotlib.lines import Line2D

from westwood.control.catalogue import PROTOCOLS, PlotStyle, label, settings_of_protocol, style_of
from westwood.draw.style import (
    CROSSES,
    DOTS,
    MBPS,
    PALETTE,
    SOFT,
    STEPS,
    legend,
    look,
    subplots,
    thinned,
    tint,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_FLOWS = 6  # more could not be told apart
# Marker, colour and legend text of each way to lose a packet; {} is what decides on the link.
_DROPS = {
    "queue": ("x", "#E13200", "dropped, queue full"),
    "early": ("+", "#EEBA07", "dropped by {}"),
    "wire": ("|", "#666666", "lost on the wire"),
    "mark": ("^", "#000C8C", "marked by {} (ECN)"),
}
_CAPACITY = "#1F9ADE"  # dashed upon the estimate, in the queue's hue, so that both are seen
# Marker and legend text of each marked event in a recording.
_EVENTS = {"loss": ("x", "loss"), "timeout": ("v", "timeout")}


@dataclass(frozen=True)
class Panel:
    """Holds frames of `westwood.results.traces` to draw, and the link that limits the run."""

    title: str
    flows: Sequence[tuple[str, str]]  # (name, protocol) of flows with windows
    trace: pl.DataFrame
    span_s: tuple[float, float]  # the part to show
    link: str | None = None  # None if unknown, as are the fields below
    queue: pl.DataFrame | None = None  # time_s, packets: on the link, in the loaded direction
    drops: pl.DataFrame | None = None  # drops on the link in the same direction
    capacity: pl.DataFrame | None = None  # time_s, bps: the link's capacity for payload
    queue_limit: float | None = None  # if the limit is in packets
    decides: str = "the queue"  # what drops or marks packets before the queue is full


def draw(run: Panel) -> Figure:
    """Draws the panel, with at most MOST_FLOWS flows."""
    shown = run.flows[:MOST_FLOWS]
    styles = _styles(shown)
    within = pl.col("time_s").is_between(*run.span_s)
    trace = _from_start(run.trace, run.span_s[0]).filter(within)
    has_estimate = not _has_none(trace, "estimate_bps")
    heights = {"windows": 1.4, "rates": 1.2, "trips": 1.0, "queue": 1.2}
    if not has_estimate:
        del heights["rates"]
    if run.queue is None:
        del heights["queue"]
    with look():
        figure, rows_ = subplots(
            len(heights),
            1,
            size=(7.2, 1.71 * sum(heights.values())),
            sharex=True,
            height_ratios=list(heights.values()),
        )
        axes = dict(zip(heights, rows_, strict=True))
        windows = axes["windows"]
        for name, cc in shown:
            rows = thinned(trace.filter(flow=name))
            _draw_windows(windows, rows, styles[name], _name(name, cc, len(shown)))
            if has_estimate:
                _draw_rates(axes["rates"], rows, styles[name])
            _draw_trips(axes["trips"], rows, styles[name])
            if "event" in trace.columns:
                _draw_events(windows, trace.filter(flow=name), styles[name])
        _finish_windows(windows)
        if has_estimate:
            _finish_rates(axes["rates"], run)
        if run.queue is not None and run.drops is not None:
            queue, drops = (
                _from_start(frame, run.span_s[0]).filter(within) for frame in (run.queue, run.drops)
            )
            _draw_queue(axes["queue"], thinned(queue), drops, run)
        more = len(run.flows) - len(shown)
        windows.set_title(
            run.title + (f" (first {MOST_FLOWS} flows of {len(run.flows)})" if more else "")
        )
        windows.set_xlim(*run.span_s)
        rows_[-1].set_xlabel("Time (s)")
        figure.align_ylabels(rows_)
        return figure


def _name(flow: str, cc: str, flows: int) -> str:
    return f"{flow}: {label(cc)}" if flows > 1 else f"{label(cc)}: cwnd"


def _from_start(frame: pl.DataFrame, start_s: float) -> pl.DataFrame:
    """Adds the state at the start of the span, so that lines begin at the left edge."""
    if frame.is_empty() or start_s <= 0 or "kind" in frame.columns:
        return frame
    keys = [key for key in ("flow", "transfer") if key in frame.columns]
    before = frame.filter(pl.col("time_s") < start_s)
    held = before.group_by(keys, maintain_order=True).last() if keys else before.tail(1)
    held = held.select(frame.columns).with_columns(pl.lit(start_s).alias("time_s"))
    return pl.concat([held, frame]).sort("time_s", maintain_order=True)


def _styles(flows: Sequence[tuple[str, str]]) -> Mapping[str, PlotStyle]:
    """Chooses each protocol's own style if all protocols differ, else a colour for each flow."""
    protocols = [cc for _, cc in flows]
    if len(set(protocols)) == len(protocols):
        return {name: style_of(cc) for name, cc in flows}
    return {
        name: PlotStyle(color, "o", "-") for (name, _), color in zip(flows, PALETTE, strict=False)
    }


def _has_none(trace: pl.DataFrame, column: str) -> bool:
    return trace[column].drop_nans().is_empty()


def _draw_windows(axes: Axes, rows: pl.DataFrame, style: PlotStyle, name: str) -> None:
    steps: Any = {"color": style.color, **STEPS}
    # Faint, because duplicate ACKs inflate cwnd in fast recovery beyond what the path must hold.
    axes.plot(rows["time_s"], rows["cwnd"], linewidth=0.7, alpha=0.3, **steps)
    steady = rows.filter(pl.col("state") != "recovery")
    axes.plot(steady["time_s"], steady["cwnd"], linewidth=1.2, label=name, **steps)
    largest = 1.3 * float(rows["cwnd"].max() or 1)  # type: ignore[arg-type]
    threshold = pl.when(pl.col("ssthresh") < largest).then(pl.col("ssthresh"))
    axes.plot(
        rows["time_s"], rows.select(threshold).to_series(), linewidth=0.9, linestyle="--", **steps
    )


def _draw_events(axes: Axes, rows: pl.DataFrame, style: PlotStyle) -> None:
    """Marks each event at the window in force."""
    for event, (marker, _) in _EVENTS.items():
        event_rows = rows.filter(pl.col("event") == event)
        times_s, windows = event_rows["time_s"], event_rows["cwnd"]
        axes.plot(times_s, windows, marker=marker, color=style.color, **CROSSES)


def _finish_windows(axes: Axes) -> None:
    marks, names = axes.get_legend_handles_labels()
    marks.append(Line2D([], [], color=SOFT, linewidth=0.9, linestyle="--"))
    names.append("ssthresh")
    for marker, name in _EVENTS.values():
        if any(
            line.get_marker() == marker and len(np.asarray(line.get_xdata())) for line in axes.lines
        ):
            marks.append(Line2D([], [], color=SOFT, linestyle="none", marker=marker))
            names.append(name)
    axes.set_ylabel("Window\n(segments)")
    axes.set_ylim(0, 1.15 * axes.get_ylim()[1])
    legend(axes, marks, names)


def _draw_rates(axes: Axes, rows: pl.DataFrame, style: PlotStyle) -> None:
    known = rows.filter(pl.col("estimate_bps").is_not_nan())
    if not known.is_empty():
        times_s = known["time_s"]
        axes.plot(times_s, known["sample_bps"] / MBPS, color=tint(style.color), **DOTS)
        estimate = known["estimate_bps"] / MBPS
        axes.plot(times_s, estimate, linewidth=1.2, color=style.color, **STEPS)


def _finish_rates(axes: Axes, run: Panel) -> None:
    lines = [np.asarray(line.get_ydata()) for line in axes.lines if line.get_marker() != "."]
    estimates = [float(values.max()) for values in lines if values.size] or [0.0]
    limit = max(estimates)
    marks: list[Line2D] = []
    names: list[str] = []
    if run.capacity is not None:
        dashed: Any = {"color": _CAPACITY, "linewidth": 1.2, "linestyle": (0, (4, 2)), "zorder": 3}
        axes.plot(run.capacity["time_s"], run.capacity["bps"] / MBPS, **STEPS, **dashed)
        highest = float(run.capacity["bps"].max() or 0) / MBPS  # type: ignore[arg-type]
        limit = max(highest, min(limit, 4 * highest))
        marks, names = [Line2D([], [], **dashed)], [f"capacity of {run.link} for payload"]
    axes.set_ylim(0, 1.35 * (limit or 1))
    axes.set_ylabel("Estimate\n(Mb/s)")
    marks += [
        Line2D([], [], color=SOFT, linewidth=1.2),
        Line2D([], [], color=tint(SOFT), linestyle="none", marker="."),
    ]
    has_filter = [
        cc in PROTOCOLS and "filter" in settings_of_protocol(cc) for _, cc in run.flows[:MOST_FLOWS]
    ]
    estimate = "filtered estimate" if all(has_filter) else "estimate"
    legend(axes, marks, [*names, estimate, "raw sample"])


def _draw_trips(axes: Axes, rows: pl.DataFrame, style: PlotStyle) -> None:
    axes.plot(rows["time_s"], rows["rtt_s"] * 1000, color=tint(style.color), **DOTS)
    axes.plot(rows["time_s"], rows["srtt_s"] * 1000, linewidth=1.1, color=style.color)
    axes.set_ylabel("RTT, smoothed\nRTT (ms)")
    axes.set_ylim(bottom=0)


def _draw_queue(axes: Axes, queue: pl.DataFrame, drops: pl.DataFrame, run: Panel) -> None:
    axes.fill_between(
        queue["time_s"], queue["packets"], step="post", color="#56B4E9", alpha=0.6, linewidth=0
    )
    highest = float(queue["packets"].max() or 1)  # type: ignore[arg-type]
    limit = run.queue_limit
    # Otherwise the limit would flatten the queue's curve.
    near = limit is not None and highest > limit / 4
    top = max(highest, limit) if limit is not None and near else highest
    if limit is not None and near:
        axes.axhline(limit, color="#000000", linewidth=0.8, linestyle=":", label="limit")
    present = [kind for kind in _DROPS if not drops.filter(kind=kind).is_empty()]
    for level, kind in enumerate(present):
        marker, color, name = _DROPS[kind]
        drops_of_kind = drops.filter(kind=kind)
        times = thinned(drops_of_kind)["time_s"]
        heights = [top * (1.12 + 0.14 * level)] * len(times)
        text = f"{name.format(run.decides)}: {drops_of_kind.height}"
        marks: Any = {"marker": marker, "color": color, "label": text, "clip_on": False}
        axes.plot(times, heights, **marks, **CROSSES)
    entries = len(axes.get_legend_handles_labels()[0])
    axes.set_ylim(0, top * (1.45 + 0.14 * len(present) + (0.2 if entries > 3 else 0)))
    axes.set_ylabel(f"Queue of {run.link}\n(packets)")
    legend(axes)
