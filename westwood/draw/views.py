# SPDX-License-Identifier: BSD-3-Clause
"""Declares the figures of a traced run that `trace --view` and `Result.plot` draw.

A new one is a row here and a file whose function makes a figure of `TracedFlows`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Literal

from westwood.errors import InputError, suggestion

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from westwood.control.catalogue import PlotStyle
    from westwood.draw.window import Span


@dataclass(frozen=True)
class TracedFlow:
    """A TCP connection of a run, and the rows that its view needs."""

    name: str
    style: PlotStyle
    mss_bytes: int  # payload of a segment
    rows: pl.DataFrame  # of the run's windows or events


@dataclass(frozen=True)
class TracedFlows:
    """What a view draws: flows of one run, or of several runs of the same path."""

    title: str
    flows: Sequence[TracedFlow]
    whole_s: Span
    span_s: Span | None = None  # the part that the user chose


@dataclass(frozen=True)
class View:
    """Declares a figure of a traced run."""

    shows: str
    function: str  # in westwood.draw; empty: run_figures draws it, since it also shows links
    needs: Literal["windows", "events"] = "windows"

    @property
    def shows_links(self) -> bool:
        """Returns whether it shows the queue of a link."""
        return not self.function

    def draw(self, traced: TracedFlows) -> Figure:
        """Draws the flows."""
        module, _, name = self.function.partition(".")
        figure: Figure = getattr(import_module(f"westwood.draw.{module}"), name)(traced)
        return figure


VIEWS = {
    "windows": View("cwnd, ssthresh, estimate, round trips and the queue", ""),
    "sequence": View("segments sent, sent again and acknowledged", "sequence.segments", "events"),
    "goodput": View("what each flow gets over time", "goodput.over_time", "events"),
    "delays": View("the distribution of round trips", "delays.distribution"),
    "histogram": View("the same with a panel for each flow", "delays.histograms"),
}


def check_view(view: str, key: str = "view") -> None:
    """Raises InputError unless there is such a view."""
    if view not in VIEWS:
        raise InputError(f"no such view, {suggestion(view, VIEWS)}", key=key, value=view)
