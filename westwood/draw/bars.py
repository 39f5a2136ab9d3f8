# SPDX-License-Identifier: BSD-3-Clause
"""Draws horizontal bars with 95 % intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from westwood.control.catalogue import label, style_of
from westwood.draw.style import MBPS, interval_of, look, name_rows, subplots, with_edge

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def summary_bars(
    names: Sequence[tuple[str, str]],
    summary: pl.DataFrame,
    column: str,
    title: str,
    unit: float = MBPS,
    axis: str = "",
) -> Figure:
    """Draws a bar with its interval for each row; `names` are (protocol, name) pairs."""
    with look():
        height = 1.3 + 0.45 * len(names)
        figure, axes = subplots(size=(7.2, height))
        places = range(len(names))
        bars = axes.barh(
            places,
            summary[column] / unit,
            xerr=summary[f"{column}_ci95"] / unit,
            color=[style_of(cc).color for cc, _ in names],
            height=0.65,
            capsize=3,
            error_kw={"elinewidth": 1.2},
        )
        with_edge(interval_of(bars))
        name_rows(axes, [name for _, name in names])
        name = axis or f"{column.removesuffix('_bps').capitalize()} (Mb/s)"
        axes.set_xlabel(name)
        figure.suptitle(title)  # centred on the figure, since the names may be long
        axes.set_xlim(left=0)
        return figure


def grouped_bars(
    groups: Sequence[tuple[str, Sequence[tuple[str, float, float]]]], x_name: str, title: str
) -> Figure:
    """Draws groups of bars: (group, [(protocol or name, value, half of its interval)])."""
    rows = [(group, *bar) for group, bars_ in groups for bar in bars_]
    with look():
        figure, axes = subplots(size=(7.2, 1.3 + 0.42 * len(rows)))
        drawn = axes.barh(
            range(len(rows)),
            [row[2] for row in rows],
            xerr=[row[3] for row in rows],
            color=[style_of(row[1]).color for row in rows],
            height=0.65,
            capsize=3,
            error_kw={"elinewidth": 1.2},
        )
        with_edge(interval_of(drawn))
        name_rows(
            axes,
            [f"{group}: {label(name)}" if group else label(name) for group, name, *_ in rows],
        )
        axes.set_xlabel(x_name)
        figure.suptitle(title)
        axes.set_xlim(left=0)
        return figure
