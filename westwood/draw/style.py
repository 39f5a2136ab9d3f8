# SPDX-License-Identifier: BSD-3-Clause
"""How figures look. A protocol looks the same in every one of them.

Colours are Okabe and Ito's, which people with any colour vision can tell apart; markers and line
styles tell the protocols apart in grey, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
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


def thinned(trace: pl.DataFrame) -> pl.DataFrame:
    """No more rows than can be seen."""
    return trace.gather_every(max(1, trace.height // _MOST_ROWS))


@contextmanager
def look() -> Iterator[None]:
    """Every figure's fonts, grid and lines."""
    with plt.rc_context(_LOOK):
        yield
