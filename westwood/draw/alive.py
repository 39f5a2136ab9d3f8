# SPDX-License-Identifier: BSD-3-Clause
"""Reads a drawn figure back as numbers, for the interactive plots of a page.

The numbers are those that matplotlib drew, so picture and plots can't differ. lab/src/plots.js
draws the plots; `make lab` builds it into plots.js beside this file.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matplotlib.colors import to_hex
from matplotlib.container import ErrorbarContainer

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

SCRIPT = Path(__file__).with_name("plots.js")
_DASHES = {"-": [], "--": [6, 3], ":": [2, 3], "-.": [7, 3, 2, 3]}


def script() -> str:
    """Returns the script that draws the plots; empty if it was not built."""
    return SCRIPT.read_text(encoding="utf-8") if SCRIPT.exists() else ""


def read(figure: Figure) -> str:
    """Returns the figure's curves as JSON for a page; empty if it has anything but curves."""
    panels = [_panel(axes) for axes in figure.axes]
    if not panels or None in panels:
        return ""
    by = next((key.title for key in getattr(figure, "keys", ()) if key.title), "")
    text = json.dumps({"by": by, "panels": panels}, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")  # no name may end the script element


def _panel(axes: Axes) -> dict[str, Any] | None:
    """Reads one axes; None unless it holds only curves and their intervals."""
    intervals = [
        container for container in axes.containers if isinstance(container, ErrorbarContainer)
    ]
    known = {id(part) for interval in intervals for part in interval.get_children()}
    known |= {id(name) for key in getattr(axes.figure, "keys", ()) for name in key.drawn}
    others = [*axes.collections, *axes.patches, *axes.images, *axes.texts]
    lines = [line for line in axes.lines if id(line) not in known]
    scales = {axes.get_xscale(), axes.get_yscale()}
    if any(id(axes_) not in known for axes_ in others) or not scales <= {"linear", "log"}:
        return None
    curves = [_curve(axes, interval[0], _label(interval), interval) for interval in intervals]
    curves += [_curve(axes, line, _label(line), None) for line in lines]
    if not curves or not all(_rises(curve["x"]) for curve in curves):
        return None
    place = axes.get_subplotspec()
    return {
        "title": axes.get_title().replace("\n", " "),
        "side_by_side": place is not None and place.get_gridspec().ncols > 1,
        "x": _axis(_name(axes, "x"), axes.get_xscale(), axes.get_xlim()),
        "y": _axis(_name(axes, "y"), axes.get_yscale(), axes.get_ylim()),
        "curves": curves,
    }


def _name(axes: Axes, which: str) -> str:
    """Returns the label of an axis, which panels may share."""
    shared = {"x": axes.get_shared_x_axes, "y": axes.get_shared_y_axes}[which]().get_siblings(axes)
    names = [getattr(axes_, f"get_{which}label")() for axes_ in (axes, *shared)]
    return next((name for name in names if name), "")


def _axis(name: str, scale: str, limits: tuple[float, float]) -> dict[str, Any]:
    return {
        "name": name.replace("\n", " "),
        "log": scale == "log",
        "limits": [float(limit) for limit in limits],
    }


def _label(artist: Any) -> str:
    label = str(artist.get_label() or "")
    return "" if label.startswith("_") else label  # matplotlib's own names


def _curve(
    axes: Axes, line: Line2D, name: str, interval: ErrorbarContainer | None
) -> dict[str, Any]:
    x, y = _numbers(line.get_xdata(orig=False)), _numbers(line.get_ydata(orig=False))
    if line.get_transform() != axes.transData:  # a horizontal line over the whole width
        x = [float(limit) for limit in axes.get_xlim()]
    dash = str(line.get_linestyle())
    face = line.get_markerfacecolor()
    curve: dict[str, Any] = {
        "name": name,
        "colour": to_hex(line.get_color()),
        "width": float(line.get_linewidth()),
        "dash": None if dash.strip() in ("", "None") else _DASHES.get(dash, _DASHES["--"]),
        "mark": None if line.get_marker() in (None, "None", "", " ") else str(line.get_marker()),
        "hollow": isinstance(face, str) and face == "none",
        "steps": line.get_drawstyle() == "steps-post",
        "x": x,
        "y": y,
    }
    if interval is not None and interval[2]:
        ends = [segment[:, 1] for segment in interval[2][0].get_segments()]
        curve["low"] = _numbers([end[0] for end in ends])
        curve["high"] = _numbers([end[1] for end in ends])
    return curve


def _numbers(values: Any) -> list[float | None]:
    return [float(value) if math.isfinite(value) else None for value in values]


def _rises(x: list[float | None]) -> bool:
    """Returns whether all x are known and in ascending order."""
    known = [coordinate for coordinate in x if coordinate is not None]
    return len(known) == len(x) and known == sorted(known)
