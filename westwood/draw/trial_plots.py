# SPDX-License-Identifier: BSD-3-Clause
"""Draws a path comparison: its pairs, how the interval narrowed, and one pair side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from matplotlib.ticker import MaxNLocator

from westwood.control.catalogue import OTHER_STYLE, PROTOCOLS, PlotStyle
from westwood.draw.style import DASHED, MBPS, draw_ssthresh, legend, look, subplots, thinned

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LEGEND_ROOM = 1.25  # of the highest rate, for the legend above the curves
_BINS = 60  # bins for an upload's goodput over time
_ROUND_TRIPS = 2  # smallest round trips per bin, to average over bursts
_MOST_GAIN = 3.0  # largest gain on the axis; 3 is 300 %


@dataclass(frozen=True)
class GainCourse:
    """A control's gain over the baseline with its interval, after each pair."""

    cc: str
    gain: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]


def style_of_control(control: str) -> PlotStyle:
    """Returns the style of a kernel's control: that of its protocol."""
    styles = {
        protocol.kernel: protocol.style
        for protocol in reversed(PROTOCOLS.values())
        if protocol.kernel
    }
    known = PROTOCOLS.get(control)  # several protocols are the kernel's reno
    return known.style if known and known.kernel == control else styles.get(control, OTHER_STYLE)


def pairs(rows: pl.DataFrame, courses: Sequence[GainCourse], baseline: str, worth: float) -> Figure:
    """Draws every upload's goodput, and the gain with its interval after each pair."""
    with look():
        figure, (rates, gains) = subplots(2, 1, size=(7.2, 5.4), sharex=True)
        for (cc,), mine in rows.group_by("cc", maintain_order=True):
            style = style_of_control(str(cc))
            line = {"color": style.color, "marker": style.marker, "linewidth": 0.8}
            rates.plot(mine["pair"], mine["goodput_bps"] / MBPS, label=str(cc), **line)
        rates.set_ylabel("Goodput (Mb/s)")
        rates.set_ylim(bottom=0)
        for course in courses:
            _draw_course(gains, course)
        gains.axhline(0, color="#000000", linewidth=0.9)
        gains.axhline(100 * worth, color="#777777", linewidth=0.9, linestyle=":")
        low, high = gains.get_ylim()
        gains.set_ylim(max(low, -100.0), min(high, 100 * _MOST_GAIN))
        gains.set(ylabel=f"Gain over {baseline} (%)", xlabel="Pair")
        gains.xaxis.set_major_locator(MaxNLocator(integer=True))
        legend(rates, place="below", points=10)
        figure.align_ylabels([rates, gains])
        return figure


def _draw_course(axes: Axes, course: GainCourse) -> None:
    number = np.arange(1, len(course.gain) + 1)
    color = style_of_control(course.cc).color
    low, high = (
        100 * np.clip(np.asarray(bound, float), -1, 10 * _MOST_GAIN)
        for bound in (course.low, course.high)
    )
    gain = 100 * np.asarray(course.gain, float)
    axes.fill_between(number, low, high, color=color, alpha=0.15, linewidth=0)
    bars = np.stack([gain - low, high - gain])
    axes.errorbar(number, gain, bars, color=color, marker="o", markersize=3, capsize=3)


def side_by_side(traces: Mapping[str, pl.DataFrame], title: str) -> Figure:
    """Draws windows, round trips and goodput of one upload for each control, on common axes."""
    with look():
        figure, panels = subplots(
            3,
            len(traces),
            size=(3.2 + 2.4 * len(traces), 6),
            sharex=True,
            sharey="row",
            squeeze=False,
        )
        for column, (cc, trace) in zip(panels.T, traces.items(), strict=True):
            _draw_upload(column, cc, trace)
        for axes, name in zip(
            panels[:, 0], ("cwnd (segments)", "RTT (ms)", "Goodput (Mb/s)"), strict=True
        ):
            axes.set_ylabel(name)
            axes.set_ylim(bottom=0)
        rates = panels[-1, 0]
        rates.set_ylim(top=_LEGEND_ROOM * rates.get_ylim()[1])
        for axes in panels[-1]:
            axes.set_xlabel("Time (s)")
        legend(panels[0, 0], place="below", points=10)
        figure.suptitle(title)
        figure.align_ylabels(panels[:, 0])
        return figure


def _draw_upload(panels: Sequence[Axes], cc: str, trace: pl.DataFrame) -> None:
    windows, trips, rates = panels
    color = style_of_control(cc).color
    rows = thinned(trace)
    windows.set_title(cc)
    windows.plot(rows["time_s"], rows["cwnd"], color=color, linewidth=1.0, drawstyle="steps-post")
    draw_ssthresh(windows, rows)
    known = rows.filter(pl.col("srtt_s").is_not_nan())
    trips.plot(known["time_s"], 1000 * known["srtt_s"], color=color, linewidth=1.0)
    begins, bps = goodput(trace)
    rates.step(begins, bps / MBPS, where="post", color=color, linewidth=1.0)
    estimate = rows.filter(pl.col("estimate_bps").is_not_nan())
    if not estimate.is_empty():
        rates.plot(estimate["time_s"], estimate["estimate_bps"] / MBPS, label="estimate", **DASHED)
        legend(rates)
    _mark_losses(windows, trace)


def _mark_losses(axes: Axes, trace: pl.DataFrame) -> None:
    state = pl.col("state").cast(pl.String)
    for kind, marker, name in (("recovery", "x", "loss"), ("loss", "v", "timeout")):
        begins = (state == kind) & (state.shift() != kind)
        losses = trace.with_columns(pl.col("cwnd").shift().alias("before")).filter(begins)
        hollow: Any = {"color": "#B00020", "markersize": 5, "markerfacecolor": "none"}
        axes.plot(losses["time_s"], losses["before"], marker, label=name, **hollow)


def goodput(trace: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Returns the start of each bin of an upload, and the rate in it in bit/s."""
    times, bytes_ = trace["time_s"].to_numpy(), trace["delivered_bytes"].to_numpy()
    if len(times) < 2:
        return np.zeros(0), np.zeros(0)
    longest = float(times[-1])
    rtt_s = trace["srtt_s"].drop_nans().mean()
    width_s = max(longest / _BINS, _ROUND_TRIPS * (float(rtt_s) if rtt_s is not None else 0.0))  # type: ignore[arg-type]
    edges = np.linspace(0, longest, max(1, int(longest / width_s)) + 1)
    amounts = np.diff(np.interp(edges, times, bytes_))
    return edges[:-1], 8 * amounts / np.diff(edges)
