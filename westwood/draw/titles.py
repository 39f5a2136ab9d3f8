# SPDX-License-Identifier: BSD-3-Clause
"""Breaks the titles of a figure into lines that fit it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.backend_bases import RendererBase
    from matplotlib.figure import Figure
    from matplotlib.text import Text

_OF_FIGURE = 0.97  # share of the figure's width that its title may take
_OF_PANEL = 0.86  # share of a panel's width, if others stand beside it
_BREAKS = (r"(?<=[;:]) ", r"(?<=[,;:]) ", r"(?<!\d) ")  # best places first; a number keeps its unit
_STEPS = 20


def fit(figure: Figure, renderer: RendererBase) -> None:
    """Wraps the titles of the figure and its panels where they are too wide."""
    whole = float(figure.bbox.width)
    if figure.get_suptitle():
        fit_text(figure._suptitle, _OF_FIGURE * whole, renderer)  # type: ignore[attr-defined]
    for axes in figure.axes:
        place = axes.get_subplotspec()
        columns = place.get_gridspec().ncols if place else 1
        # It is centred on its axes, beside which only the left side has labels.
        middle = (axes.bbox.x0 + axes.bbox.x1) / 2
        room = 2 * min(middle, whole - middle) if columns == 1 else _OF_PANEL * whole / columns
        fit_text(axes.title, _OF_FIGURE * room, renderer)


def fit_text(title: Text, limit: float, renderer: RendererBase) -> None:
    """Wraps a text of a figure where it is wider than this, in pixels."""
    font = title.get_fontproperties()

    def width(line: str) -> float:
        return renderer.get_text_width_height_descent(line, font, ismath=False)[0]

    lines = title.get_text().split("\n")
    if any(width(line) > limit for line in lines):
        title.set_text("\n".join(part for line in lines for part in wrapped(line, limit, width)))


def wrapped(text: str, limit: float, width: Callable[[str], float]) -> Sequence[str]:
    """Breaks a text into as few lines as fit, of similar width."""
    if width(text) <= limit:
        return [text]
    for breaks in _BREAKS:
        pieces = re.split(breaks, text)
        lines = _filled(pieces, limit, width)
        if all(width(line) <= limit for line in lines):
            break
    narrower = (_filled(pieces, limit * n / _STEPS, width) for n in range(1, _STEPS))
    return next((candidate for candidate in narrower if len(candidate) == len(lines)), lines)


def _filled(pieces: Sequence[str], limit: float, width: Callable[[str], float]) -> list[str]:
    """Puts as many pieces on each line as the limit allows."""
    lines = [pieces[0]]
    for piece in pieces[1:]:
        longer = f"{lines[-1]} {piece}"
        if width(longer) <= limit:
            lines[-1] = longer
        else:
            lines.append(piece)
    return lines
