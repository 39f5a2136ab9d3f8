# SPDX-License-Identifier: BSD-3-Clause
"""Declares what a search measures of a control on a path, relative to the references there."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from westwood.search import bounds
from westwood.search.outcome import PathOutcomes


@dataclass(frozen=True)
class Quantity:
    """A number of each path: what it is, how it is computed, and which side is better.

    A shortfall of `scale` has a penalty of about 1. NaN means that a path does not have it.
    """

    what: str
    read: Callable[[PathOutcomes], float]
    at_most: bool = False
    scale: float = 0.05


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else math.nan


def _over_cubic(field: str) -> Callable[[PathOutcomes], float]:
    """Returns a function that gives a field of the control's outcome over CUBIC's."""
    return lambda seen: _ratio(getattr(seen.outcome, field), getattr(seen.cubic, field))


def _where_loss_binds(seen: PathOutcomes) -> float:
    """Returns goodput over BBRv1's if it has BINDS times CUBIC's and the queue is DEEP_BDP deep."""
    binds = seen.bbr.goodput_bps >= bounds.BINDS * seen.cubic.goodput_bps
    is_deep = seen.environment.queue_bdp >= bounds.DEEP_BDP
    over_bbr = _ratio(seen.outcome.goodput_bps, seen.bbr.goodput_bps)
    return over_bbr if binds and is_deep else math.nan


def _over_best(seen: PathOutcomes) -> float:
    """Returns goodput over the larger of Westwood+'s and BURSTS_OF_BBR of BBRv1's."""
    best = max(bounds.BURSTS_OF_BBR * seen.bbr.goodput_bps, seen.westwood.goodput_bps)
    return _ratio(seen.outcome.goodput_bps, best)


def _queue_over_cubic(seen: PathOutcomes) -> float:
    """Returns mean queue over CUBIC's, each plus one packet, since some queues are empty."""
    return (seen.outcome.mean_queue + 1) / (seen.cubic.mean_queue + 1)


def _resent_over_cubic(seen: PathOutcomes) -> float:
    """Returns what it resends beyond wire losses over what CUBIC resends, in the worst seeds."""
    resent = max(seen.outcome.resent_beyond, 0.0) + bounds.RESENT_LEAST
    return _ratio(resent, seen.cubic.resent + bounds.RESENT_LEAST)


def _resent_beyond(seen: PathOutcomes) -> float:
    """Returns what it resends beyond wire losses in the worst seed; NaN if CUBIC resends a lot."""
    is_crowded = bounds.RESENT * seen.cubic.resent >= bounds.RUNAWAY
    return math.nan if is_crowded else seen.outcome.resent_beyond


_BEYOND = "share resent beyond what the wire lost"
OVER_CUBIC = Quantity("goodput over CUBIC's", _over_cubic("goodput_bps"))
QUEUE = Quantity("mean queue over CUBIC's", _queue_over_cubic, at_most=True, scale=0.1)
WHERE_LOSS_BINDS = Quantity(
    "goodput over BBRv1's, where BBRv1 has twice CUBIC's and the queue 0.1 BDP", _where_loss_binds
)
OVER_BEST = Quantity("goodput over the larger of 0.8 of BBRv1's and Westwood+'s", _over_best)
UPLINK = Quantity(
    "Mb/s at 10 Mb/s, 90 ms, 0.5 %", lambda seen: seen.outcome.goodput_bps / 1e6, scale=0.5
)
CUBIC_KEEPS = Quantity(
    "goodput of CUBIC against it over that against CUBIC", _over_cubic("beside_bps")
)
IN_ITS_PLACE = Quantity("its goodput against CUBIC over CUBIC's in its place", OVER_CUBIC.read)
RESENT = Quantity(f"{_BEYOND} over CUBIC's", _resent_over_cubic, at_most=True, scale=1.0)
RESENT_BEYOND = Quantity(_BEYOND, _resent_beyond, at_most=True)
FAIRNESS = Quantity(
    "Jain's index among its own flows less CUBIC's",
    lambda seen: seen.outcome.jain - seen.cubic.jain,
)
LATEST = Quantity("goodput of a flow that joins another, over CUBIC's", _over_cubic("latest_bps"))
BESIDE_TRANSFERS = Quantity(
    "median completion time of CUBIC's transfers over that against CUBIC",
    _over_cubic("short_p50_s"),
    at_most=True,
)
FAIRNESS_AT_A_DISTANCE = Quantity(
    "Jain's index at round trips of 10 to 160 ms over CUBIC's", _over_cubic("jain")
)
SHORT = Quantity(
    "median completion time of 10 kB to 1 MB over CUBIC's", BESIDE_TRANSFERS.read, at_most=True
)
SHORT_P95 = Quantity(
    "95th percentile of those times over CUBIC's", _over_cubic("short_p95_s"), at_most=True
)
DROPPED = Quantity(
    "share dropped of 100 flows over 100 packets per round trip, over CUBIC's",
    _over_cubic("loss_ratio"),
    at_most=True,
)
