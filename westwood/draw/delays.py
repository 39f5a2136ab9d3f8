# SPDX-License-Identifier: BSD-3-Clause
"""Draws the distribution of round trips: a curve for each flow, as in flent, or histograms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from westwood.catalogue import PlotStyle
from westwood.draw.style import legend, look, subplots

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_POINTS = 2000  # points per curve
_BINS = 60
_MARKED = (0.5, 0.95)  # shares that a histogram marks

Delays = Sequence[tuple[str, PlotStyle, pl.DataFrame]]  # (name, style, trace) of each flow


def distribution(delays: Delays, title: str) -> Figure:
    """Draws the cumulative distribution of the ACKs' round trips, a curve for each flow."""
    with look():
        figure, axes = subplots(size=(7.2, 4.4))
        for name, style, trace in delays:
            sorted_ms = _milliseconds(trace)
            places = np.linspace(0, max(0, len(sorted_ms) - 1), min(len(sorted_ms), _MOST_POINTS))
            at = places.astype(int)
            shares = (at + 1) / max(1, len(sorted_ms))
            axes.plot(sorted_ms[at], shares, label=name, color=style.color, drawstyle="steps-post")
        axes.set(xlabel="RTT (ms)", ylabel="Share of ACKs", title=title)
        axes.set_xlim(left=0)
        axes.set_ylim(0, 1.01)
        axes.legend(loc="lower right", fontsize=8)
        return figure


def histograms(delays: Delays, title: str) -> Figure:
    """Draws a histogram of the ACKs' round trips for each flow, over a common axis."""
    with look():
        figure, rows = subplots(
            len(delays), 1, size=(7.2, 1.2 + 1.6 * len(delays)), sharex=True, squeeze=False
        )
        all_ms = np.concatenate([_milliseconds(trace) for _, _, trace in delays])
        edges = np.linspace(0, float(all_ms.max()) if len(all_ms) else 1.0, _BINS + 1)
        for axes, (name, style, trace) in zip(rows[:, 0], delays, strict=True):
            sorted_ms = _milliseconds(trace)
            axes.hist(sorted_ms, edges, color=style.color, label=name)
            for share, line in zip(_MARKED, ("-", "--"), strict=True):
                if len(sorted_ms):
                    at = float(sorted_ms[int(share * (len(sorted_ms) - 1))])
                    said = f"{share:.0%} within {at:.4g} ms"
                    axes.axvline(at, color="#000000", linewidth=0.9, linestyle=line, label=said)
            axes.set_ylabel("ACKs")
            legend(axes, *axes.get_legend_handles_labels())
            axes.set_ylim(0, 1.35 * axes.get_ylim()[1])
        rows[-1, 0].set_xlabel("RTT (ms)")
        rows[0, 0].set_title(title)
        rows[0, 0].set_xlim(left=0)
        figure.align_ylabels(rows[:, 0])
        return figure


def _milliseconds(trace: pl.DataFrame) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Returns the round trips of a trace in ascending order, one for each ACK."""
    return np.sort(trace["rtt_s"].drop_nulls().drop_nans().to_numpy()) * 1000
