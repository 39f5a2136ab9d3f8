# SPDX-License-Identifier: BSD-3-Clause
"""Computes what a search measures of a control on a path, relative to the references there."""

from __future__ import annotations

import math

from westwood.search import bounds
from westwood.search.outcome import PathOutcomes


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else math.nan


def over_cubic(path_outcomes: PathOutcomes) -> float:
    """Returns goodput over CUBIC's."""
    return _ratio(path_outcomes.outcome.goodput_bps, path_outcomes.cubic.goodput_bps)


def over_bbr(path_outcomes: PathOutcomes) -> float:
    """Returns goodput over BBRv1's."""
    return _ratio(path_outcomes.outcome.goodput_bps, path_outcomes.bbr.goodput_bps)


def over_bbr_where_loss_binds(path_outcomes: PathOutcomes) -> float:
    """Returns goodput over BBRv1's if it has BINDS times CUBIC's and the queue is DEEP_BDP deep."""
    binds = path_outcomes.bbr.goodput_bps >= bounds.BINDS * path_outcomes.cubic.goodput_bps
    is_deep = path_outcomes.environment.queue_bdp >= bounds.DEEP_BDP
    return over_bbr(path_outcomes) if binds and is_deep else math.nan


def over_best(path_outcomes: PathOutcomes) -> float:
    """Returns goodput over the larger of Westwood+'s and BURSTS_OF_BBR of BBRv1's."""
    best = max(
        bounds.BURSTS_OF_BBR * path_outcomes.bbr.goodput_bps, path_outcomes.westwood.goodput_bps
    )
    return _ratio(path_outcomes.outcome.goodput_bps, best)


def queue_over_cubic(path_outcomes: PathOutcomes) -> float:
    """Returns mean queue over CUBIC's, each plus one packet, since some queues are empty."""
    return (path_outcomes.outcome.mean_queue + 1) / (path_outcomes.cubic.mean_queue + 1)


def cubic_keeps(path_outcomes: PathOutcomes) -> float:
    """Returns CUBIC's goodput when it competes with the control, over that with as much CUBIC."""
    return _ratio(path_outcomes.outcome.beside_bps, path_outcomes.cubic.beside_bps)


def in_its_place(path_outcomes: PathOutcomes) -> float:
    """Returns the control's goodput against CUBIC, over that of CUBIC in its place."""
    return over_cubic(path_outcomes)


def fairness_less_cubic(path_outcomes: PathOutcomes) -> float:
    """Returns Jain's index among its own flows less that among CUBIC's."""
    return path_outcomes.outcome.jain - path_outcomes.cubic.jain


def latest_over_cubic(path_outcomes: PathOutcomes) -> float:
    """Returns goodput of its last flow over that of CUBIC's last."""
    return _ratio(path_outcomes.outcome.latest_bps, path_outcomes.cubic.latest_bps)


def resent_over_cubic(path_outcomes: PathOutcomes) -> float:
    """Returns what it resends beyond wire losses over what CUBIC resends, in the worst seeds."""
    resent = max(path_outcomes.outcome.resent_beyond, 0.0) + bounds.RESENT_LEAST
    return _ratio(resent, path_outcomes.cubic.resent + bounds.RESENT_LEAST)


def resent_beyond(path_outcomes: PathOutcomes) -> float:
    """Returns what it resends beyond wire losses in the worst seed; NaN if CUBIC resends a lot."""
    is_crowded = bounds.RESENT * path_outcomes.cubic.resent >= bounds.RUNAWAY
    return math.nan if is_crowded else path_outcomes.outcome.resent_beyond


def fairness_over_cubic(path_outcomes: PathOutcomes) -> float:
    """Returns Jain's index among its own flows over that among CUBIC's."""
    return _ratio(path_outcomes.outcome.jain, path_outcomes.cubic.jain)


def short_p50_over_cubic(path_outcomes: PathOutcomes) -> float:
    """Returns the median completion time of short transfers over CUBIC's."""
    return _ratio(path_outcomes.outcome.short_p50_s, path_outcomes.cubic.short_p50_s)


def short_p95_over_cubic(path_outcomes: PathOutcomes) -> float:
    """Returns the 95th percentile of completion times of short transfers over CUBIC's."""
    return _ratio(path_outcomes.outcome.short_p95_s, path_outcomes.cubic.short_p95_s)


def loss_over_cubic(path_outcomes: PathOutcomes) -> float:
    """Returns the share of its packets that are dropped over CUBIC's."""
    return _ratio(path_outcomes.outcome.loss_ratio, path_outcomes.cubic.loss_ratio)


def goodput_mbps(path_outcomes: PathOutcomes) -> float:
    """Returns goodput in Mb/s."""
    return path_outcomes.outcome.goodput_bps / 1e6
