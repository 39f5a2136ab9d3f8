# SPDX-License-Identifier: BSD-3-Clause
"""Draws segments over time as Jacobson did in 1988: sent, resent, acknowledged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from westwood.control.catalogue import PlotStyle
from westwood.draw.style import SOFT, STEPS, below_each_other, legend, look
from westwood.draw.views import TracedFlows
from westwood.draw.window import Span, span_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SEGMENTS = 1200  # shown unless the user chooses the span
_MOST_MARKS = 20_000  # marks of one kind in a panel
_AGAIN = "#E13200"
_MARKS = {"timeout": "v", "ecn": "^"}


def segments(traced: TracedFlows) -> Figure:
    """Draws a panel for each flow; without a span it shows a few hundred segments near a loss."""
    flows, whole_s = traced.flows, traced.whole_s
    shown_s = traced.span_s or _about_a_loss(pl.concat(flow.rows for flow in flows), whole_s)
    with look():
        figure, rows = below_each_other(len(flows), size=(7.2, 1 + 3.2 * len(flows)))
        for axes, flow in zip(rows, flows, strict=True):
            within = flow.rows.filter(pl.col("time_s").is_between(*shown_s))
            _draw(axes, within, flow.style, flow.name)
        rows[-1].set_xlabel("Time (s)")
        rows[0].set_xlim(*shown_s)
        rows[0].set_title(traced.title + span_text(shown_s, whole_s))
        return figure


def _about_a_loss(events: pl.DataFrame, whole_s: Span) -> Span:
    """Chooses a span of this many segments, with the first retransmission near its start."""
    sent = events.filter(pl.col("kind").is_in(["send", "retransmit"]))
    if sent.height <= _SEGMENTS:
        return whole_s
    times = sent["time_s"].sort()
    again = sent.filter(kind="retransmit")["time_s"]
    nearest = int(times.search_sorted(again.min())) if len(again) else _SEGMENTS // 3  # type: ignore[arg-type]
    first = min(max(0, nearest - _SEGMENTS // 3), len(times) - 1)
    last = min(first + _SEGMENTS, len(times) - 1)
    return round(float(times[first]), 3), round(float(times[last]), 3)


def _draw(axes: Axes, events: pl.DataFrame, style: PlotStyle, name: str) -> None:
    acked = _few(events.filter(pl.col("kind") == "ack"))
    sent = _few(events.filter(pl.col("kind") == "send"))
    again = _few(events.filter(pl.col("kind") == "retransmit"))
    acks: Any = {"color": SOFT, "linewidth": 0.9, "label": "acknowledged up to", **STEPS}
    axes.plot(acked["time_s"], acked["segment"], **acks)
    _mark(axes, sent, ".", "sent", style.color, markersize=2.5)
    if again.height:
        color = _AGAIN if style.color != _AGAIN else "#000000"
        _mark(axes, again, "x", "sent again", color, markersize=4, markeredgewidth=0.9)
    for kind, marker in _MARKS.items():
        kind_events = events.filter(pl.col("kind") == kind)
        if kind_events.height:
            _mark(axes, kind_events, marker, kind, "#000000")
    axes.set_ylabel(f"{name}\n(segment)")
    legend(axes)


def _mark(axes: Axes, rows: pl.DataFrame, marker: str, name: str, color: str, **more: Any) -> None:
    """Draws a mark at each segment of these events."""
    dots: Any = {"linestyle": "none", "rasterized": True, "marker": marker, "color": color}
    axes.plot(rows["time_s"], rows["segment"], label=name, **dots, **more)


def _few(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.gather_every(max(1, rows.height // _MOST_MARKS))
