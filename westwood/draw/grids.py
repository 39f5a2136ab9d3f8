# SPDX-License-Identifier: BSD-3-Clause
"""Draws grids over two settings: how many conditions each cell fulfils."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from westwood.draw.style import look, subplots


@dataclass(frozen=True)
class Grid:
    """The conditions that each cell fulfils, by row from the bottom, of `most`."""

    title: str
    x_name: str
    y_name: str
    x: Sequence[str]
    y: Sequence[str]
    counts: Sequence[Sequence[int]]
    most: int


def grids(parts: Sequence[Grid], title: str) -> Figure:
    """Draws grids below each other; a cell that fulfils everything is framed."""
    with look():
        width = max(7.2, 0.52 * max(len(part.x) for part in parts) + 1.2)
        height = 0.3 * max(len(part.y) for part in parts) + 1.2
        size = width, height * len(parts) + 0.4
        figure, axes = subplots(len(parts), 1, size=size, squeeze=False)
        for place, grid_part in zip(axes.flat, parts, strict=False):
            place.pcolormesh(
                grid_part.counts, cmap="Blues", vmin=0, vmax=1.4 * grid_part.most, edgecolor="w"
            )
            for row, counts in enumerate(grid_part.counts):
                for column, count in enumerate(counts):
                    whole = count == grid_part.most
                    place.text(
                        column + 0.5,
                        row + 0.5,
                        f"{count}",
                        ha="center",
                        va="center",
                        fontsize=8,
                        weight="bold" if whole else "normal",
                        bbox={"boxstyle": "square", "fill": False, "color": "#C7380F"}
                        if whole
                        else None,
                    )
            place.set_xticks(
                [n + 0.5 for n in range(len(grid_part.x))], grid_part.x, rotation=45, fontsize=8
            )
            place.set_yticks([n + 0.5 for n in range(len(grid_part.y))], grid_part.y, fontsize=8)
            place.set_xlabel(grid_part.x_name)
            place.set_ylabel(grid_part.y_name)
            place.set_title(f"{grid_part.title}: fulfilled of {grid_part.most}", fontsize=9)
            place.grid(visible=False)
        figure.suptitle(title)
        return figure
