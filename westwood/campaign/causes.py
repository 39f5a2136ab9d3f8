# SPDX-License-Identifier: BSD-3-Clause
"""Explains from the uploads why a control pays on a path, or does not.

A loss is an entry into recovery or a timeout; its round trip is the last one before it. The excess
over the smallest round trip of all uploads separates two kinds of losses. Those of a full queue
come with long round trips. Those of the path come at any moment, usually near the minimum.
"Near" is below half of the largest excess (the 95th percentile of the fullest upload), or below a
tenth of the minimum, since such a short queue hardly counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import polars as pl

_FULL = 0.95  # quantile of the round trips that counts as a full queue
_HALF = 0.5
# Excess that is not due to a queue: a share of the smallest round trip, and a minimum.
_NOISE_SHARE, _NOISE_S = 0.1, 0.001
_MOST_OF = 2 / 3  # share of one kind of losses from which the other goes unmentioned
_LIMITED = 0.5  # an upload limited by its ends for this share of the time is reported as such
_SELDOM = 0.2  # fewer losses per upload are not worth explaining
_MANY_TIMEOUTS = 2.0  # per minute; the report mentions timeouts above this rate
_LOSSES = ("loss", "timeout")  # the kinds of events that are losses
_TIMEOUT = "loss"  # the state after a timeout
_IN_TROUBLE = ("recovery", _TIMEOUT)
LOSS_COLUMNS: dict[str, type[pl.DataType]] = {
    "pair": pl.Int64,
    "cc": pl.String,
    "time_s": pl.Float64,
    "rtt_s": pl.Float64,
}


def full_rtt_s(trace: pl.DataFrame) -> float:
    """Returns the round trip that a twentieth of an upload exceeds; NaN if none is known."""
    known = trace["srtt_s"].drop_nans()
    value = known.quantile(_FULL, "nearest")
    return math.nan if value is None else float(value)


def losses(trace: pl.DataFrame, events: pl.DataFrame) -> pl.DataFrame:
    """Returns time_s and rtt_s of each loss, from the kernel's events or else from the trace.

    A trace has a sample every 10 ms, and its round trips are smoothed.
    """
    if not events.is_empty():
        rtt_s = pl.when(pl.col("rtt_s").is_nan()).then("srtt_s").otherwise("rtt_s")
        lost = events.filter(pl.col("event").cast(pl.String).is_in(_LOSSES))
        return lost.select("time_s", rtt_s.alias("rtt_s"))
    state, before = _states()
    begins = state.is_in(_IN_TROUBLE) & ~before.is_in(_IN_TROUBLE)
    begins |= (state == _TIMEOUT) & (before != _TIMEOUT)  # also during a recovery
    rtt_s = pl.col("srtt_s").shift().alias("rtt_s")
    return trace.select("time_s", rtt_s, begins.alias("begins")).filter("begins").drop("begins")


def timeouts(trace: pl.DataFrame, events: pl.DataFrame) -> int:
    """Counts the losses that a timeout detected."""
    if not events.is_empty():
        return events.filter(event="timeout").height
    state, before = _states()
    return trace.filter((state == _TIMEOUT) & (before != _TIMEOUT)).height


def _states() -> tuple[pl.Expr, pl.Expr]:
    """Returns the state of each row and of the one before."""
    state = pl.col("state").cast(pl.String)
    return state, state.shift(fill_value="open")


@dataclass(frozen=True)
class Causes:
    """Holds what limited the uploads, over all controls."""

    losses: int
    at_minimum: int  # losses at the minimum round trip
    uploads: int
    min_rtt_s: float
    full_rtt_s: float
    minutes: float
    timeouts: int
    rwnd_limited: float  # shares of the time
    sndbuf_limited: float

    @property
    def queue_s(self) -> float:
        """What a full queue adds to the smallest round trip."""
        return self.full_rtt_s - self.min_rtt_s

    def reason(self) -> str:
        """Describes in a few words what limits this path."""
        if self.rwnd_limited >= _LIMITED:
            return "the receiver's window limits, not the path (net.ipv4.tcp_rmem there)"
        if self.sndbuf_limited >= _LIMITED:
            return "the send buffer limits, not the path (net.ipv4.tcp_wmem here)"
        if self.losses < _SELDOM * self.uploads:
            queues = self.queue_s > _noise_s(self.min_rtt_s)
            return "the path loses nothing" + (", it queues" if queues else "")
        sentence = self._losses()
        if self.timeouts > _MANY_TIMEOUTS * self.minutes:
            sentence += f", {self.timeouts} by a timeout"
        return sentence

    def _losses(self) -> str:
        share = self.at_minimum / self.losses
        if share >= _MOST_OF:
            return "losses come at minimum RTT"
        if share <= 1 - _MOST_OF:
            return "losses come from a full queue"
        return (
            f"{100 * share:.0f} % of the losses come at minimum RTT, the others from a full queue"
        )


def _noise_s(min_rtt_s: float) -> float:
    return max(_NOISE_SHARE * min_rtt_s, _NOISE_S)


def causes(rows: pl.DataFrame, lost: pl.DataFrame) -> Causes:
    """Determines the causes from the rows of the uploads and their losses."""

    def total(column: str) -> float:
        return float(sum(rows[column].drop_nulls().drop_nans()))

    least = min(rows["min_rtt_s"].to_list())
    full = max([least, *rows["full_rtt_s"].drop_nulls().drop_nans()])
    near = least + max(_HALF * (full - least), _noise_s(least))
    busy_s = total("busy_s") or math.inf
    return Causes(
        losses=lost.height,
        at_minimum=lost.filter(pl.col("rtt_s") < near).height,
        uploads=rows.height,
        min_rtt_s=least,
        full_rtt_s=full,
        minutes=total("seconds") / 60,
        timeouts=int(total("timeouts")),
        rwnd_limited=total("rwnd_limited_s") / busy_s,
        sndbuf_limited=total("sndbuf_limited_s") / busy_s,
    )
