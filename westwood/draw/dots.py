# SPDX-License-Identifier: BSD-3-Clause
"""Draws a mark for each protocol in each row, such as a path, in panels side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from westwood.control.catalogue import label, style_of
from westwood.draw.style import legend, look, marks_of, name_rows, subplots


@dataclass(frozen=True)
class DotPanel:
    """A quantity: its value for each protocol, by row."""

    name: str
    values: Mapping[str, Sequence[float]]
    log: bool = False


def dots(rows: Sequence[str], panels: Sequence[DotPanel], title: str) -> Figure:
    """Draws the panels; the protocols are those of the first one."""
    with look():
        size = (3.2 + 3.0 * len(panels), 1.6 + 0.36 * len(rows))
        figure, row = subplots(1, len(panels), size=size, sharey=True, squeeze=False)
        places = range(len(rows))
        for axes, panel in zip(row[0], panels, strict=True):
            for cc, values in panel.values.items():
                style = style_of(cc)
                marks = {"linestyle": "none", "alpha": 0.85, **marks_of(style)}
                axes.plot(values, places, label=label(cc), **marks)
            axes.set_xlabel(panel.name)
            if panel.log:
                axes.set_xscale("log", base=2)
                axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            else:
                axes.set_xlim(left=0)
        name_rows(row[0][0], rows)
        legend(row[0][0], place="below", points=10)
        figure.suptitle(title)
        return figure
