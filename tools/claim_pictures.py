# SPDX-License-Identifier: BSD-3-Clause
"""Draws the pictures of docs/papers.md: our figures, and the papers' numbers beside ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from matplotlib import pyplot
from matplotlib.ticker import FuncFormatter
from PIL import Image

from tools.claim_tables import GALLERY, REDRAWN, numbers_of, published_numbers
from tools.pages import Numbers
from westwood.draw.style import legend, look, subplots
from westwood.papers.checks.words import NEAR
from westwood.papers.studies import STUDIES

_WIDTH = 1280  # pixels
_THEIRS, _OURS, _FAR = "0.35", "tab:blue", "#E13200"


def shrink(picture: Path, to: Path) -> None:
    """Writes a copy of a picture that is small enough for the repository."""
    to.parent.mkdir(parents=True, exist_ok=True)
    with Image.open(picture) as whole:
        width = min(_WIDTH, whole.width)
        height = round(whole.height * width / whole.width)
        small = whole.convert("RGB").resize((width, height), Image.Resampling.LANCZOS)
        small.save(to, optimize=True)


def draw_published(claims: Mapping[str, Numbers], path: Path) -> None:
    """Draws our numbers over the published ones."""
    numbers = [published for published in published_numbers(claims) if published[1]][::-1]
    with look():
        figure, axes = subplots(size=(7.2, 0.24 * len(numbers) + 1))
        axes.axvspan(1 - NEAR, 1 + NEAR, color="0.9")
        for place, (number, ours, _) in enumerate(numbers):
            near = number.off(ours) <= NEAR
            shape = "<" if number.kind == "at most" else "o" if near else "D"
            axes.plot(ours / number.value, place, shape, color=_OURS if near else _FAR)
        axes.set_yticks(range(len(numbers)), [number.name for number, _, _ in numbers], fontsize=9)
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.set_xlabel("Ours ÷ published")
        shapes = {
            "within a tenth": ("o", _OURS),
            "further away": ("D", _FAR),
            "published as at most": ("<", _THEIRS),
        }
        for name, (shape, color) in shapes.items():
            axes.plot([], [], shape, color=color, label=name)
        legend(axes, place="below")
        count = sum(number.off(ours) <= NEAR for number, ours, _ in numbers)
        axes.set_title(f"Ours is within a tenth of {count} of {len(numbers)} published numbers")
        figure.savefig(path)


def redraw(claims: Mapping[str, Numbers], docs: Path) -> None:
    """Draws the published numbers of each figure with ours, a panel for each unit."""
    for name in STUDIES:
        if numbers := numbers_of(claims, name):
            path = docs / GALLERY / f"{name}-{REDRAWN}.png"
            _draw_numbers(numbers, path)
            shrink(path, path)


def _draw_numbers(numbers: Sequence[tuple[Any, float, str]], path: Path) -> None:
    ordered = sorted(numbers, key=lambda published: _axis(published[0]))
    panels = [
        (axis, list(these))
        for axis, these in groupby(ordered, lambda published: _axis(published[0]))
    ]
    heights = [len(these) for _, these in panels]
    with look():
        figure, rows = pyplot.subplots(
            len(panels),
            squeeze=False,
            figsize=(7.2, 0.75 * len(numbers) + 0.9 * len(panels) + 0.6),
            height_ratios=heights,
            layout="constrained",
        )
        for (axes,), (axis, these) in zip(rows, panels, strict=True):
            _draw_panel(axes, axis, these)
        handles, labels = rows[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=2)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path)
        pyplot.close(figure)


def _axis(number: Any) -> str:
    """Names the axis of a number: its unit, or what it is."""
    return number.unit or ("error rate" if "error rate" in number.name else "number")


def _draw_panel(axes: Any, axis: str, numbers: Sequence[tuple[Any, float, str]]) -> None:
    for place, (number, ours, _) in enumerate(numbers):
        bars = ((-0.2, number.value, _THEIRS, "the paper"), (0.2, ours, _OURS, "ours, profile"))
        for shift, value, color, label in bars:
            text = f"{value:.4g}"
            if label == "the paper" and number.kind == "at most":
                text = f"at most {text}"
            axes.barh(place + shift, value, 0.36, color=color, label=label if not place else None)
            axes.annotate(
                text,
                (value, place + shift),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                fontsize=9,
            )
    axes.set_yticks(range(len(numbers)), [number.name for number, _, _ in numbers])
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.set_xlim(0, 1.2 * max(max(number.value, ours) for number, ours, _ in numbers))
    axes.set_xlabel(axis)
