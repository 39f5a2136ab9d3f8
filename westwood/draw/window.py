# SPDX-License-Identifier: BSD-3-Clause
"""Chooses the part of a run that a figure shows by default: a few sawteeth.

Hundreds of sawteeth side by side would be a solid bar in which nothing can be seen.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import polars as pl

_TEETH = 16  # sawteeth to show of the flow that has most
_MOST_TEETH = 40  # a run with at most this many is shown whole
_TOOTH = 0.85  # a tooth ends when the window falls below this fraction of itself

Span = tuple[float, float]


def sawteeth(traces: Iterable[pl.DataFrame], whole_s: Span) -> Span:
    """Returns a span of a few sawteeth in the middle of the run; the whole run if it has few."""
    start_s, end_s = whole_s
    length_s = end_s - start_s
    most = max((_teeth(trace) for trace in traces), default=0)
    if most <= _MOST_TEETH:
        return whole_s
    span_s = round_up(length_s * _TEETH / most)
    first_s = start_s + math.floor((length_s - span_s) / 2 / span_s) * span_s
    return first_s, first_s + span_s


def _teeth(trace: pl.DataFrame) -> int:
    """Returns the largest number of sawteeth of any flow."""
    keys = [key for key in ("flow", "transfer") if key in trace.columns]
    steady = trace.filter(pl.col("state") != "recovery") if "state" in trace.columns else trace
    cwnd = pl.col("cwnd")
    falls = (cwnd < _TOOTH * cwnd.shift(1).over(keys)) if keys else cwnd < _TOOTH * cwnd.shift(1)
    counted = steady.with_columns(falls.alias("falls"))
    if keys:
        counted = counted.group_by(keys).agg(pl.col("falls").sum())
        return int(counted["falls"].max() or 0)  # type: ignore[arg-type]
    return int(counted["falls"].sum())


def round_up(span_s: float) -> float:
    """Rounds up to 1, 2 or 5 times a power of ten."""
    unit = 10.0 ** math.floor(math.log10(span_s))
    return next(unit * times for times in (1, 2, 5, 10) if unit * times >= span_s * (1 - 1e-9))


def span_text(span_s: Span, whole_s: Span) -> str:
    """Returns the part of a title that names the part shown; empty for the whole run."""
    if span_s == whole_s:
        return ""
    return f", {span_s[0]:g} to {span_s[1]:g} s of {whole_s[1]:g} s"
