# SPDX-License-Identifier: BSD-3-Clause
"""Figures, drawn from summaries and traces. A protocol looks the same in every one of them.

Colours are Okabe and Ito's, which people with any colour vision can tell apart; markers and line
styles tell the protocols apart in grey, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
import polars as pl

matplotlib.use("Agg")
from matplotlib import pyplot as plt

from westwood.catalogue import label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Each format with what to leave out: a date or a version would change the bytes.
FORMATS: dict[str, dict[str, Any]] = {"png": {"Software": None}, "svg": {"Date": None}}
_MOST_ROWS = 4000  # of a trace in a figure: more than a printed line can show
_MBPS = 1e6
_TICKS = (0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05)


@dataclass(frozen=True)
class Style:
    """How a protocol is drawn."""

    color: str
    marker: str
    line: str | tuple[int, tuple[int, ...]]
    hollow: bool = False  # a marker that shows what lies under it


STYLES = {
    "tahoe": Style("#999999", "v", (0, (1, 1))),
    "reno": Style("#E69F00", "s", "--", hollow=True),
    "newreno": Style("#56B4E9", "D", "-."),
    "sack": Style("#0072B2", "^", "-"),
    "westwood": Style("#D55E00", "o", "-"),
    "westwood-ns3": Style("#D55E00", "o", "-"),
    "westwood+": Style("#009E73", "P", "-"),
    "westwood+-ns3": Style("#009E73", "P", (0, (5, 1))),
    "westwoodnr": Style("#A63C06", "h", ":"),
    "westwoodnr+": Style("#A63C06", "H", "-"),
    "westwood+-linux24": Style("#005C43", "p", "--"),
    "westwood+-linux": Style("#005C43", "*", "-"),
    "cubic": Style("#CC79A7", "<", "-"),
    "vegas": Style("#B8860B", ">", "--"),
    "bbr": Style("#000000", "d", "-."),
    "udp": Style("#999999", ".", ":"),
}
OTHER = Style("#555555", "X", ":")

_LOOK: Any = {
    "figure.dpi": 160,
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 5,
    "svg.hashsalt": "westwood",  # the same figure gives the same bytes
}


def save(figure: Figure, write: Callable[[str, Callable[[Path], object]], Path], name: str) -> Path:
    """Writes the figure in every format through `write(FILE, fill)`; the PNG's path."""
    with look():
        written = [
            write(f"{name}.{kind}", partial(figure.savefig, metadata=metadata))
            for kind, metadata in FORMATS.items()
        ]
    plt.close(figure)
    return written[0]


def throughput_over_error_rate(points: pl.DataFrame, title: str) -> Figure:
    """Mean throughput with its interval over the packet error rate, a curve a protocol."""
    with look():
        figure, axes = plt.subplots(figsize=(7.2, 4.6), layout="constrained")
        means = points.group_by("cc").agg(pl.col("throughput_bps").mean())
        for cc in means.sort("throughput_bps", descending=True)["cc"]:  # the legend's order
            curve = points.filter(pl.col("cc") == cc).sort("per")
            style = STYLES.get(cc, OTHER)
            axes.errorbar(
                curve["per"], curve["throughput_bps"] / _MBPS,
                yerr=curve["throughput_bps_half"].fill_nan(0) / _MBPS,
                label=label(cc), color=style.color, marker=style.marker, linestyle=style.line,
                markerfacecolor="none" if style.hollow else style.color,
                capsize=2.5, elinewidth=1,
            )  # fmt: skip
        axes.set(xscale="log", xlabel="Packet error rate of the bottleneck",
                 ylabel="Throughput (Mb/s)", title=title)  # fmt: skip
        axes.set_ylim(bottom=0)
        axes.set_xticks(_TICKS, [f"{tick:.4f}".rstrip("0") for tick in _TICKS])
        axes.minorticks_off()
        axes.legend()
        return figure


PANELS = (
    ("cwnd", "cwnd outside\nrecovery\n(segments)", 1.0),
    ("ssthresh", "ssthresh\n(segments)", 1.0),
    ("estimate_bps", "estimate\n(Mb/s)", _MBPS),
    ("rtt_s", "RTT\n(ms)", 1e-3),
)
# What of a column is drawn, where that is not all of it.
_SHOWN = {
    "cwnd": pl.col("state") != "recovery",  # in fast recovery DUPACKs inflate it
    "ssthresh": pl.col("ssthresh") < 2**30,  # "unlimited" before the first loss
}


def over_time(traces: Sequence[tuple[str, str, pl.DataFrame]], title: str) -> Figure:
    """Window, threshold, estimate and RTT over time; a line for each (protocol, name, trace)."""
    with look():
        figure, panels = plt.subplots(len(PANELS), 1, figsize=(8, 7.6), sharex=True,
                                      layout="constrained")  # fmt: skip
        for axes, (column, name, unit) in zip(panels, PANELS, strict=True):
            for cc, flow, trace in traces:
                rows = thinned(trace.filter(_SHOWN.get(column, pl.col(column).is_not_nan())))
                axes.plot(
                    rows["time_s"], rows[column] / unit, label=flow, linewidth=0.9, alpha=0.85,
                    color=STYLES.get(cc, OTHER).color, drawstyle="steps-post",
                )  # fmt: skip
            axes.set_ylabel(name)
            axes.set_ylim(bottom=0)
            if not any(np.size(line.get_xdata()) for line in axes.lines):
                axes.set_yticks([])
                axes.text(0.5, 0.5, "none: these protocols estimate nothing", color="#777777",
                          transform=axes.transAxes, ha="center", va="center")  # fmt: skip
        panels[-1].set_xlabel("Time (s)")
        panels[0].set_title(title)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        figure.align_ylabels(panels)
        return figure


def bars(
    names: Sequence[tuple[str, str]], summary: pl.DataFrame, column: str, title: str,
    unit: float = _MBPS, axis: str = "",
) -> Figure:  # fmt: skip
    """A bar with its interval for each row of the summary; `names` are (protocol, name) pairs."""
    with look():
        height = 1.3 + 0.45 * len(names)
        figure, axes = plt.subplots(figsize=(7.2, height), layout="constrained")
        places = range(len(names))
        axes.barh(
            places, summary[column] / unit, xerr=summary[f"{column}_half"].fill_nan(0) / unit,
            color=[STYLES.get(cc, OTHER).color for cc, _ in names], height=0.65, capsize=3,
            error_kw={"elinewidth": 1.2},
        )  # fmt: skip
        axes.set_yticks(places, [name for _, name in names])
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
        name = axis or f"{column.removesuffix('_bps').capitalize()} (Mb/s)"
        axes.set(xlabel=name, title=title)
        axes.set_xlim(left=0)
        return figure


def thinned(trace: pl.DataFrame) -> pl.DataFrame:
    """No more rows than can be seen."""
    return trace.gather_every(max(1, trace.height // _MOST_ROWS))


@contextmanager
def look() -> Iterator[None]:
    """Every figure's fonts, grid and lines."""
    with plt.rc_context(_LOOK):
        yield
