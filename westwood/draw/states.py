# SPDX-License-Identifier: BSD-3-Clause
"""Draws what connections do in their states: volumes and rates over coloured spans of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from westwood.draw.over_time import TimePanel, draw_lines
from westwood.draw.style import PALETTE, SOFT, legend, look, subplots

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

_FAINT = 0.16


@dataclass(frozen=True)
class StateSpan:
    """A span of time in a state."""

    state: str
    start_s: float
    end_s: float


@dataclass(frozen=True)
class Connection:
    """A column of the figure: one connection, its panels from top to bottom, and its states."""

    name: str
    panels: Sequence[TimePanel]
    spans: Sequence[StateSpan]
    mark_s: float | None = None  # when the path changes


def over_time(connections: Sequence[Connection], title: str, end_s: float) -> Figure:
    """Draws the connections side by side, with the same axes."""
    names = dict.fromkeys(span.state for connection in connections for span in connection.spans)
    colours = dict(zip(names, PALETTE, strict=False))
    rows = max(len(connection.panels) for connection in connections)
    with look():
        width = 3.4 + 3.8 * len(connections)
        figure, axes = subplots(
            rows,
            len(connections),
            size=(width, 1.2 + 2.1 * rows),
            sharex=True,
            sharey="row",
            squeeze=False,
        )
        for place, drawn_connection in enumerate(connections):
            column = axes[:, place]
            for panel_axes, panel in zip(column, drawn_connection.panels, strict=True):
                _draw(panel_axes, panel)
                _colour(panel_axes, drawn_connection.spans, colours)
                if drawn_connection.mark_s is not None:
                    panel_axes.axvline(
                        drawn_connection.mark_s, color=SOFT, linewidth=0.9, linestyle="--"
                    )
                panel_axes.set_ylabel(panel.y_name if place == 0 else "")
            column[0].set_title(drawn_connection.name)
            column[-1].set_xlabel("Time (s)")
            column[-1].set_xlim(0, end_s)
        for row in axes:
            highest = max(axes_.dataLim.y1 for axes_ in row)
            row[0].set_ylim(0, max(1.25 * highest, 1e-9))  # room for the legend
        figure.suptitle(title)
        if colours:
            patches = _patches(colours)
            legend(axes[-1, 0], patches, list(colours), place="below")
        return figure


def _draw(axes: Axes, panel: TimePanel) -> None:
    draw_lines(axes, panel)
    for name, level in panel.levels.items():
        axes.axhline(level, color="#000000", linewidth=0.8, linestyle=":", label=name)
    legend(axes, points=7)


def _colour(axes: Axes, spans: Sequence[StateSpan], colours: dict[str, str]) -> None:
    for span in spans:
        axes.axvspan(span.start_s, span.end_s, color=colours[span.state], alpha=_FAINT, linewidth=0)


def _patches(colours: dict[str, str]) -> list[Patch]:
    from matplotlib.patches import Patch

    return [Patch(color=colour, alpha=2 * _FAINT, linewidth=0) for colour in colours.values()]
