# SPDX-License-Identifier: BSD-3-Clause
"""Gives figures their look: a protocol looks the same in all of them, as the catalogue says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib
import polars as pl

matplotlib.use("Agg")
from matplotlib import pyplot as plt

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Each format with what to leave out: a date or a version would change the bytes.
FORMATS: dict[str, dict[str, Any]] = {"png": {"Software": None}, "svg": {"Date": None}}
_MOST_ROWS = 4000  # of a trace in a figure: more than a printed line can show
MBPS = 1e6  # bit/s in the unit of a rate's axis


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


def thinned(trace: pl.DataFrame) -> pl.DataFrame:
    """Thins rows out to as many as can be seen."""
    return trace.gather_every(max(1, trace.height // _MOST_ROWS))


@contextmanager
def look() -> Iterator[None]:
    """Sets every figure's fonts, grid and lines."""
    with plt.rc_context(_LOOK):
        yield
