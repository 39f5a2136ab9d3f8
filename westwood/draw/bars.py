# SPDX-License-Identifier: BSD-3-Clause
"""Draws horizontal bars with 95 % intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence

import polars as pl
from matplotlib.figure import Figure

from westwood.control.catalogue import label, style_of
from westwood.draw.style import MBPS, interval_of, look, name_rows, subplots, with_edge


def summary_bars(
    names: Sequence[tuple[str, str]],
    summary: pl.DataFrame,
    column: str,
    title: str,
    unit: float = MBPS,
    axis: str = "",
) -> Figure:
    """Draws a bar with its interval for each row; `names` are (protocol, name) pairs."""
    known = summary.select(column, f"{column}_ci95").fill_null(math.nan) / unit
    rows = zip(names, known.iter_rows(), strict=True)
    bars = [(cc, name, value, half) for (cc, name), (value, half) in rows]
    x_name = axis or f"{column.removesuffix('_bps').capitalize()} (Mb/s)"
    return _drawn(bars, 0.45, x_name, title)


def grouped_bars(
    groups: Sequence[tuple[str, Sequence[tuple[str, float, float]]]], x_name: str, title: str
) -> Figure:
    """Draws groups of bars: (group, [(protocol or name, value, half of its interval)])."""
    bars = [
        (cc, f"{group}: {label(cc)}" if group else label(cc), value, half)
        for group, bars_ in groups
        for cc, value, half in bars_
    ]
    return _drawn(bars, 0.42, x_name, title)


def _drawn(
    bars: Sequence[tuple[str, str, float, float]], room: float, x_name: str, title: str
) -> Figure:
    """Draws bars: (protocol, name, value, half of its interval), each in so many inches."""
    with look():
        figure, axes = subplots(size=(7.2, 1.3 + room * len(bars)))
        drawn = axes.barh(
            range(len(bars)),
            [value for _, _, value, _ in bars],
            xerr=[half for *_, half in bars],
            color=[style_of(cc).color for cc, *_ in bars],
            height=0.65,
            capsize=3,
            error_kw={"elinewidth": 1.2},
        )
        with_edge(interval_of(drawn))
        name_rows(axes, [name for _, name, *_ in bars])
        axes.set_xlabel(x_name)
        figure.suptitle(title)  # centred on the figure, since the names may be long
        axes.set_xlim(left=0)
        return figure
