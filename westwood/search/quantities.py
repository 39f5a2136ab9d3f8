# SPDX-License-Identifier: BSD-3-Clause
"""Computes what a search measures of a control on a path, relative to the references there."""

from __future__ import annotations

import math

from westwood.search import bounds
from westwood.search.outcome import PathOutcomes


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else math.nan


def over_cubic(one: PathOutcomes) -> float:
    """Returns goodput over CUBIC's."""
    return _ratio(one.own.goodput_bps, one.cubic.goodput_bps)


def over_bbr(one: PathOutcomes) -> float:
    """Returns goodput over BBRv1's."""
    return _ratio(one.own.goodput_bps, one.bbr.goodput_bps)


def over_bbr_where_loss_binds(one: PathOutcomes) -> float:
    """Returns goodput over BBRv1's if it has BINDS times CUBIC's and the queue is DEEP_BDP deep."""
    binds = one.bbr.goodput_bps >= bounds.BINDS * one.cubic.goodput_bps
    is_deep = one.environment.queue_bdp >= bounds.DEEP_BDP
    return over_bbr(one) if binds and is_deep else math.nan


def over_best(one: PathOutcomes) -> float:
    """Returns goodput over the larger of Westwood+'s and BURSTS_OF_BBR of BBRv1's."""
    best = max(bounds.BURSTS_OF_BBR * one.bbr.goodput_bps, one.westwood.goodput_bps)
    return _ratio(one.own.goodput_bps, best)


def queue_over_cubic(one: PathOutcomes) -> float:
    """Returns mean queue over CUBIC's, each plus one packet, since some queues are empty."""
    return (one.own.mean_queue + 1) / (one.cubic.mean_queue + 1)


def cubic_keeps(one: PathOutcomes) -> float:
    """Returns CUBIC's goodput when it competes with the control, over that with as much CUBIC."""
    return _ratio(one.own.beside_bps, one.cubic.beside_bps)


def in_its_place(one: PathOutcomes) -> float:
    """Returns the control's goodput against CUBIC, over that of CUBIC in its place."""
    return over_cubic(one)


def fairness_less_cubic(one: PathOutcomes) -> float:
    """Returns Jain's index among its own flows less that among CUBIC's."""
    return one.own.jain - one.cubic.jain


def latest_over_cubic(one: PathOutcomes) -> float:
    """Returns goodput of its last flow over that of CUBIC's last."""
    return _ratio(one.own.latest_bps, one.cubic.latest_bps)


def resent_over_cubic(one: PathOutcomes) -> float:
    """Returns what it resends beyond wire losses over what CUBIC resends, in the worst seeds."""
    own = max(one.own.resent_beyond, 0.0) + bounds.RESENT_LEAST
    return _ratio(own, one.cubic.resent + bounds.RESENT_LEAST)


def resent_beyond(one: PathOutcomes) -> float:
    """Returns what it resends beyond wire losses in the worst seed; NaN if CUBIC resends a lot."""
    is_crowded = bounds.RESENT * one.cubic.resent >= bounds.RUNAWAY
    return math.nan if is_crowded else one.own.resent_beyond


def fairness_over_cubic(one: PathOutcomes) -> float:
    """Returns Jain's index among its own flows over that among CUBIC's."""
    return _ratio(one.own.jain, one.cubic.jain)


def short_p50_over_cubic(one: PathOutcomes) -> float:
    """Returns the median completion time of short transfers over CUBIC's."""
    return _ratio(one.own.short_p50_s, one.cubic.short_p50_s)


def short_p95_over_cubic(one: PathOutcomes) -> float:
    """Returns the 95th percentile of completion times of short transfers over CUBIC's."""
    return _ratio(one.own.short_p95_s, one.cubic.short_p95_s)


def loss_over_cubic(one: PathOutcomes) -> float:
    """Returns the share of its packets that are dropped over CUBIC's."""
    return _ratio(one.own.loss_ratio, one.cubic.loss_ratio)


def goodput_mbps(one: PathOutcomes) -> float:
    """Returns goodput in Mb/s."""
    return one.own.goodput_bps / 1e6
