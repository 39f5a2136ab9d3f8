# SPDX-License-Identifier: BSD-3-Clause
"""Draws what each flow gets over time: data acknowledged in order, in means over equal steps.

A repaired loss acknowledges at once what came after it. So a step can exceed the link's rate.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from westwood.draw.style import MBPS, legend, look, subplots
from westwood.draw.views import TracedFlows
from westwood.draw.window import round_up, span_text

_STEPS = 60  # at most, in a figure


def over_time(traced: TracedFlows) -> Figure:
    """Draws the goodput of each flow, a line for each."""
    start_s, end_s = shown_s = traced.span_s or traced.whole_s
    step_s = round_up((end_s - start_s) / _STEPS)
    edges_s = np.append(np.arange(start_s, end_s - step_s / 1000, step_s), end_s)
    with look():
        figure, axes = subplots(size=(7.2, 4.0))
        for flow in traced.flows:
            bits = 8 * flow.mss_bytes * np.diff(_acknowledged(flow.rows, edges_s))
            axes.stairs(
                bits / np.diff(edges_s) / MBPS,
                edges_s,
                baseline=None,
                label=flow.name,
                color=flow.style.color,
                linewidth=1.3,
            )
        axes.set(xlabel="Time (s)", ylabel=f"Goodput (Mb/s), mean of {step_s:g} s")
        axes.set_title(traced.title + span_text(shown_s, traced.whole_s))
        axes.set_xlim(*shown_s)
        legend(axes)
        axes.set_ylim(0, 1.2 * max(axes.dataLim.y1, 1e-9))  # room for the legend
        return figure


def _acknowledged(events: pl.DataFrame, at_s: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Returns the number of segments that were acknowledged at these times."""
    acks = events.filter(kind="ack")
    before = np.searchsorted(acks["time_s"].to_numpy(), at_s, side="right")
    return np.append(0, acks["segment"].to_numpy())[before]
