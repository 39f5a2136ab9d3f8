# SPDX-License-Identifier: BSD-3-Clause
"""What a search measures of a control on a path, against what the references came to there."""

from __future__ import annotations

import math

from westwood.search import bounds
from westwood.search.outcome import Seen


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else math.nan


def over_cubic(one: Seen) -> float:
    """Goodput over CUBIC's."""
    return _ratio(one.own.goodput_bps, one.cubic.goodput_bps)


def over_bbr(one: Seen) -> float:
    """Goodput over BBR's."""
    return _ratio(one.own.goodput_bps, one.bbr.goodput_bps)


def over_bbr_where_loss_binds(one: Seen) -> float:
    """Goodput over BBR's, where BBR has BINDS times CUBIC's and the queue holds DEEP_BDP."""
    binds = one.bbr.goodput_bps >= bounds.BINDS * one.cubic.goodput_bps
    is_deep = one.environment.queue_bdp >= bounds.DEEP_BDP
    return over_bbr(one) if binds and is_deep else math.nan


def over_best(one: Seen) -> float:
    """Goodput over the larger of Westwood+'s and BURSTS_OF_BBR of BBR's."""
    best = max(bounds.BURSTS_OF_BBR * one.bbr.goodput_bps, one.westwood.goodput_bps)
    return _ratio(one.own.goodput_bps, best)


def queue_over_cubic(one: Seen) -> float:
    """Mean queue over CUBIC's, both with a packet more: most queues are empty somewhere."""
    return (one.own.mean_queue + 1) / (one.cubic.mean_queue + 1)


def cubic_keeps(one: Seen) -> float:
    """What CUBIC has beside the control over what it has beside as much CUBIC."""
    return _ratio(one.own.beside_bps, one.cubic.beside_bps)


def in_its_place(one: Seen) -> float:
    """What the control has beside CUBIC over what CUBIC has in its place."""
    return over_cubic(one)


def fairness_less_cubic(one: Seen) -> float:
    """Jain's index among its own flows less CUBIC's among its."""
    return one.own.jain - one.cubic.jain


def latest_over_cubic(one: Seen) -> float:
    """Goodput of its flow that came last over CUBIC's."""
    return _ratio(one.own.latest_bps, one.cubic.latest_bps)


def resent_over_cubic(one: Seen) -> float:
    """What it resends beyond what the wire lost over what CUBIC resends, in the worst seeds."""
    own = max(one.own.resent_beyond, 0.0) + bounds.RESENT_LEAST
    return _ratio(own, one.cubic.resent + bounds.RESENT_LEAST)


def resent_beyond(one: Seen) -> float:
    """What it resends beyond what the wire lost, in the worst seed, where CUBIC resends little."""
    is_crowded = bounds.RESENT * one.cubic.resent >= bounds.RUNAWAY
    return math.nan if is_crowded else one.own.resent_beyond


def fairness_over_cubic(one: Seen) -> float:
    """Jain's index among its own flows over CUBIC's among its."""
    return _ratio(one.own.jain, one.cubic.jain)


def short_p50_over_cubic(one: Seen) -> float:
    """Median completion time of short transfers over CUBIC's."""
    return _ratio(one.own.short_p50_s, one.cubic.short_p50_s)


def short_p95_over_cubic(one: Seen) -> float:
    """95th percentile of the completion times of short transfers over CUBIC's."""
    return _ratio(one.own.short_p95_s, one.cubic.short_p95_s)


def loss_over_cubic(one: Seen) -> float:
    """Share of its packets that are dropped over CUBIC's."""
    return _ratio(one.own.loss_ratio, one.cubic.loss_ratio)


def goodput_mbps(one: Seen) -> float:
    """Goodput, Mb/s."""
    return one.own.goodput_bps / 1e6
