# SPDX-License-Identifier: BSD-3-Clause
"""Draws figures over time: the windows of several runs, and panels of lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from matplotlib import pyplot as plt

from westwood.catalogue import OTHER_LOOK, Look, look_of
from westwood.draw.style import MBPS, look, thinned

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PANELS = (
    ("cwnd", "cwnd outside\nrecovery\n(segments)", 1.0),
    ("ssthresh", "ssthresh\n(segments)", 1.0),
    ("estimate_bps", "estimate\n(Mb/s)", MBPS),
    ("rtt_s", "RTT\n(ms)", 1e-3),
)
# These rows of a column are drawn, where not all of them are.
_SHOWN = {
    "cwnd": pl.col("state") != "recovery",  # in fast recovery DUPACKs inflate it
    "ssthresh": pl.col("ssthresh") < 2**30,  # "unlimited" before the first loss
}


@dataclass(frozen=True)
class Line:
    """Is one line of a figure over time."""

    name: str
    time_s: pl.Series
    value: pl.Series
    style: Look = OTHER_LOOK


@dataclass(frozen=True)
class Course:
    """Is a panel of a figure over time."""

    y_name: str
    lines: Sequence[Line]
    levels: dict[str, float] = field(default_factory=dict)  # horizontal lines, by name


def over_time(traces: Sequence[tuple[str, str, pl.DataFrame]], title: str) -> Figure:
    """Draws cwnd, ssthresh, estimate and RTT: a line for each (protocol, name, trace)."""
    with look():
        figure, panels = plt.subplots(
            len(PANELS), 1, figsize=(8, 7.6), sharex=True, layout="constrained"
        )
        for axes, (column, name, unit) in zip(panels, PANELS, strict=True):
            for cc, flow, trace in traces:
                rows = thinned(trace.filter(_SHOWN.get(column, pl.col(column).is_not_nan())))
                axes.plot(
                    rows["time_s"],
                    rows[column] / unit,
                    label=flow,
                    linewidth=0.9,
                    alpha=0.85,
                    color=look_of(cc).color,
                    drawstyle="steps-post",
                )
            axes.set_ylabel(name)
            axes.set_ylim(bottom=0)
            if not any(np.size(line.get_xdata()) for line in axes.lines):
                axes.set_yticks([])
                axes.text(
                    0.5,
                    0.5,
                    "none: these protocols estimate nothing",
                    color="#777777",
                    transform=axes.transAxes,
                    ha="center",
                    va="center",
                )
        panels[-1].set_xlabel("Time (s)")
        panels[0].set_title(title)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        figure.align_ylabels(panels)
        return figure


def courses(panels_: Sequence[Course], title: str) -> Figure:
    """Draws panels over the same time, one below the other."""
    with look():
        figure, rows = plt.subplots(
            len(panels_),
            1,
            figsize=(7.2, 1.2 + 2.4 * len(panels_)),
            sharex=True,
            layout="constrained",
            squeeze=False,
        )
        for axes, panel in zip(rows[:, 0], panels_, strict=True):
            for line in panel.lines:
                drawn = thinned(pl.DataFrame({"t": line.time_s, "y": line.value}))
                axes.plot(
                    drawn["t"],
                    drawn["y"],
                    label=line.name,
                    color=line.style.color,
                    linewidth=1.0,
                    drawstyle="steps-post",
                )
            levels = zip(panel.levels.items(), cycle(["--", ":"]), strict=False)
            for (name, level), dashes in levels:
                axes.axhline(level, color="#000000", linewidth=0.9, linestyle=dashes, label=name)
            axes.set_ylabel(panel.y_name)
            axes.set_ylim(0, 1.2 * axes.get_ylim()[1])  # room for the legend
            axes.legend(loc="upper right", ncols=3, fontsize=8)
        rows[-1, 0].set_xlabel("Time (s)")
        rows[0, 0].set_title(title)
        return figure


def styled(name: str, cc: str, time_s: pl.Series, value: pl.Series) -> Line:
    """Makes a line in its protocol's colour."""
    return Line(name, time_s, value, look_of(cc))
