# SPDX-License-Identifier: BSD-3-Clause
"""Draws a campaign's sessions, its single uploads, and some of them over time.

Figure numbers refer to Dell'Aera, Grieco and Mascolo 2003.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl
from matplotlib.ticker import MaxNLocator

from westwood.control.catalogue import label, style_of
from westwood.draw.report import megabytes
from westwood.draw.style import (
    MBPS,
    STEPS,
    draw_ssthresh,
    interval_of,
    legend,
    look,
    subplots,
    thinned,
    with_edge,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH = 0.8  # width of all bars of a session together


def sessions(frame: pl.DataFrame, title: str) -> Figure:
    """Draws mean goodput and share of retransmissions, with intervals (Figures 1, 2, 7 to 10)."""
    with look():
        figure, (rates, resent) = subplots(1, 2, size=(8, 3.6))
        _bars(rates, frame, "goodput_bps", 1 / MBPS)
        _bars(resent, frame, "retransmission_ratio", 100)
        rates.set_ylabel("Mean goodput (Mb/s)")
        resent.set_ylabel("Retransmitted segments (%)")
        legend(rates, place="below", points=10)
        figure.suptitle(title)
        return figure


def _bars(axes: Axes, frame: pl.DataFrame, column: str, factor: float) -> None:
    sizes = frame["size_bytes"].unique(maintain_order=True).to_list()
    protocols = frame["cc"].unique(maintain_order=True).to_list()
    width = _WIDTH / len(protocols)
    for number, cc in enumerate(protocols):
        mine = frame.filter(cc=cc)
        left = (number - (len(protocols) - 1) / 2) * width
        bars = axes.bar(
            [sizes.index(size) + left for size in mine["size_bytes"]],
            mine[column] * factor,
            width=0.92 * width,
            yerr=mine[f"{column}_ci95"] * factor,
            capsize=3,
            color=style_of(cc).color,
            label=label(cc),
            error_kw={"elinewidth": 1.2},
        )
        with_edge(interval_of(bars))
    axes.set_xticks(range(len(sizes)), [f"files of {megabytes(size)}" for size in sizes])
    axes.grid(axis="x", visible=False)
    axes.set_ylim(bottom=0)


def uploads(rows: pl.DataFrame, title: str) -> Figure:
    """Draws every upload's goodput, session by session (Figures 15 to 35)."""
    sizes = rows["size_bytes"].unique(maintain_order=True).to_list()
    with look():
        figure, panels = subplots(len(sizes), 1, size=(7.2, 1 + 2.4 * len(sizes)), squeeze=False)
        for axes, size in zip(panels[:, 0], sizes, strict=True):
            for (cc,), mine in rows.filter(size_bytes=size).group_by("cc", maintain_order=True):
                style = style_of(str(cc))
                line: Any = {"color": style.color, "marker": style.marker, "linewidth": 0.8}
                rates = mine["goodput_bps"] / MBPS
                axes.plot(mine["number"], rates, label=label(str(cc)), markersize=3.5, **line)
            axes.set(ylabel="Goodput (Mb/s)", title=f"{title}, files of {megabytes(size)}")
            axes.set_ylim(bottom=0)
        panels[-1, 0].set_xlabel("Upload")
        panels[-1, 0].xaxis.set_major_locator(MaxNLocator(integer=True))
        legend(panels[0, 0])
        return figure


def dynamics(traces: Sequence[tuple[str, pl.DataFrame]], title: str) -> Figure:
    """Draws cwnd, ssthresh, estimates if known, and round trips (Figures 3 to 6, 11 to 14)."""
    estimating = [
        named_trace
        for named_trace in traces
        if not named_trace[1]["estimate_bps"].drop_nans().is_empty()
    ]
    rows = len(traces) + bool(estimating) + 1
    with look():
        figure, panels = subplots(rows, 1, size=(7.2, 1.7 * rows), sharex=True)
        for axes, (cc, trace) in zip(panels, traces, strict=False):
            _windows(axes, cc, thinned(trace))
        for cc, trace in estimating:
            _line(panels[-2], cc, trace["time_s"], trace["estimate_bps"] / MBPS)
        for cc, trace in traces:
            known = thinned(trace.filter(pl.col("rtt_s").is_not_nan()))
            _line(panels[-1], cc, known["time_s"], known["rtt_s"] * 1000)
        if estimating:
            panels[-2].set_ylabel("Estimate\n(Mb/s)")
        panels[-1].set(ylabel="RTT (ms)", xlabel="Time (s)")
        for axes in panels:
            axes.set_ylim(bottom=0)
        panels[0].set_title(f"{title}: one upload each, one after the other")
        figure.align_ylabels(panels)
        return figure


def _windows(axes: Axes, cc: str, trace: pl.DataFrame) -> None:
    _line(axes, cc, trace["time_s"], trace["cwnd"], "cwnd")
    draw_ssthresh(axes, trace)
    axes.set_ylabel(f"{label(cc)}\n(segments)")
    legend(axes)


def _line(axes: Axes, cc: str, time_s: pl.Series, value: pl.Series, name: str = "") -> None:
    style: Any = {"color": style_of(cc).color, "linewidth": 1.0, **STEPS}
    axes.plot(time_s, value, label=name or label(cc), **style)
