# SPDX-License-Identifier: BSD-3-Clause
"""Draws the distribution of round trips: a curve for each flow, as in flent, or histograms."""

from __future__ import annotations

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from westwood.draw.style import STEPS, below_each_other, legend, look, subplots
from westwood.draw.views import TracedFlows
from westwood.draw.window import span_text

_MOST_POINTS = 2000  # points per curve
_BINS = 60
_MARKED = (0.5, 0.95)  # shares that a histogram marks


def distribution(traced: TracedFlows) -> Figure:
    """Draws the cumulative distribution of the ACKs' round trips, a curve for each flow."""
    with look():
        figure, axes = subplots(size=(7.2, 4.4))
        for flow, sorted_ms in zip(traced.flows, _milliseconds(traced), strict=True):
            places = np.linspace(0, max(0, len(sorted_ms) - 1), min(len(sorted_ms), _MOST_POINTS))
            indices = places.astype(int)
            shares = (indices + 1) / max(1, len(sorted_ms))
            times_ms = sorted_ms[indices]
            axes.plot(times_ms, shares, label=flow.name, color=flow.style.color, **STEPS)
        axes.set(xlabel="RTT (ms)", ylabel="Share of ACKs", title=_title(traced))
        axes.set_xlim(left=0)
        axes.set_ylim(0, 1.01)
        legend(axes, place="lower right")
        return figure


def histograms(traced: TracedFlows) -> Figure:
    """Draws a histogram of the ACKs' round trips for each flow, over a common axis."""
    flows, delays_ms = traced.flows, _milliseconds(traced)
    with look():
        figure, rows = below_each_other(len(flows), size=(7.2, 1.2 + 1.6 * len(flows)))
        all_ms = np.concatenate(delays_ms)
        edges = np.linspace(0, float(all_ms.max()) if len(all_ms) else 1.0, _BINS + 1)
        for axes, flow, sorted_ms in zip(rows, flows, delays_ms, strict=True):
            axes.hist(sorted_ms, edges, color=flow.style.color, label=flow.name)
            for share, line in zip(_MARKED, ("-", "--"), strict=True):
                if len(sorted_ms):
                    time_ms = float(sorted_ms[int(share * (len(sorted_ms) - 1))])
                    label = f"{share:.0%} within {time_ms:.4g} ms"
                    axes.axvline(
                        time_ms, color="#000000", linewidth=0.9, linestyle=line, label=label
                    )
            axes.set_ylabel("ACKs")
            legend(axes)
            axes.set_ylim(0, 1.35 * axes.get_ylim()[1])
        rows[-1].set_xlabel("RTT (ms)")
        rows[0].set_title(_title(traced))
        rows[0].set_xlim(left=0)
        figure.align_ylabels(rows)
        return figure


def _milliseconds(traced: TracedFlows) -> list[np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """Returns the round trips of each flow in ascending order, one for each ACK."""
    within = pl.col("time_s").is_between(*(traced.span_s or traced.whole_s))
    rtts_s = (flow.rows.filter(within)["rtt_s"].drop_nulls().drop_nans() for flow in traced.flows)
    return [np.sort(rtt_s.to_numpy()) * 1000 for rtt_s in rtts_s]


def _title(traced: TracedFlows) -> str:
    return traced.title + span_text(traced.span_s or traced.whole_s, traced.whole_s)
