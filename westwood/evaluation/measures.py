# SPDX-License-Identifier: BSD-3-Clause
"""Defines what criteria measure of the runs of one seed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from westwood import _engine
from westwood.engines.result import Result
from westwood.evaluation.benchmark.targets import goodput, of_role
from westwood.evaluation.criterion import Runs
from westwood.results.columns import Row

SOLO, BESIDE, ALONE = "solo", "beside", "alone"
BURST, LARGEST_BURST = "burst", "largest_burst"  # columns of `bursts`
EXIT = "exit_bdp"  # the column of slow_start.py
_SLOTS_A_SEGMENT, _MOST_SEGMENTS = 2, 0.95
PAYLOAD = 1448 / 1500  # of a full packet with timestamps
# What measures may read of a flow; a run keeps nothing else.
KEPT = (
    *("flow", "cc", "goodput_bps", "sent", "retransmitted", "retransmission_ratio", "timeouts"),
    *("queue_drops", "lost", "mean_srtt_s", "min_rtt_s", "completed_s", "transfers", "completed"),
    *("completion_s", "completion_p50_s", "completion_p95_s", "completion_max_s", "jain"),
    *("utilisation", "mean_queue", "ecn_reductions", BURST, LARGEST_BURST, EXIT),
)


def harm(
    quantity: Callable[[Sequence[Row]], float], *, more_is_better: bool = True
) -> Callable[[Runs], float]:
    """Returns harm by Ware et al. (2019): the share of its solo performance that a victim loses."""

    def measure(runs: Runs) -> float:
        solo, beside = quantity(runs[SOLO]), quantity(runs[BESIDE])
        better, worse = (solo, beside) if more_is_better else (beside, solo)
        return 1 - worse / better if better > 0 else math.nan

    return measure


def others_goodput(rows: Sequence[Row]) -> float:
    """Returns the goodput of the flows beside the control."""
    return goodput(of_role(rows, "beside"))


def others_rtt(rows: Sequence[Row]) -> float:
    """Returns the mean round trip of the flows beside the control."""
    flows = of_role(rows, "beside")
    return math.fsum(flow["mean_srtt_s"] for flow in flows) / len(flows)


def own_goodput(rows: Sequence[Row]) -> float:
    """Returns the goodput of the control's flows."""
    return goodput(of_role(rows, "tcp"))


def own_mbps(runs: Runs) -> float:
    """Returns the goodput in Mb/s of the control's flows without others."""
    return own_goodput(runs[ALONE]) / 1e6


def completion(role: str, column: str = "completion_s") -> Callable[[Sequence[Row]], float]:
    """Returns a function that gives a role's completion time; inf if unfinished."""

    def completion_s(rows: Sequence[Row]) -> float:
        (row,) = of_role(rows, role)
        unfinished = math.isnan(row[column]) or row["completed"] < row["transfers"]
        return math.inf if unfinished else float(row[column])

    return completion_s


def resent_share(rows: Sequence[Row]) -> float:
    """Returns the share of its packets that the control's flows send again; 0 if they send none."""
    flows = of_role(rows, "tcp")
    again = sum(row["retransmitted"] for row in flows)
    return float(again / max(1, sum(row["sent"] for row in flows)))


def waiting_rtts(delay_us: int, rate_bps: int) -> Callable[[Runs], float]:
    """Returns a function that gives the mean wait in the queue in empty round trips."""
    packet_us = 1500 * 8e6 / rate_bps
    return lambda runs: float(runs[ALONE][0]["mean_queue"]) * packet_us / delay_us


def lost_share(rows: Sequence[Row]) -> float:
    """Returns dropped packets over sent ones, of all flows."""
    return float(sum(row["queue_drops"] for row in rows) / max(1, sum(row["sent"] for row in rows)))


def bursts(result: Result) -> Mapping[str, Mapping[str, float]]:
    """Returns how many segments the run's first flow sends back to back.

    A burst is what leaves in one slot of half a segment's time at the rate of the first link.
    `BURST` is the size within which 95 % of the segments leave.
    """
    import numpy as np

    flow = result.scenario.flows[0]
    segment_s = flow.packet * 8 / result.scenario.link[0].mean_rate_bps("forward")
    sent = [_engine.EVENT_KINDS.index(kind) for kind in ("send", "retransmit")]
    slots = []
    for piece in result.raw.records.pieces("events"):
        is_sent = (piece["connection"] == 0) & np.isin(piece["kind"], sent)
        slots.append(np.floor(piece["time_s"][is_sent] * _SLOTS_A_SEGMENT / segment_s))
    _, sizes = np.unique(np.concatenate(slots), return_counts=True)
    if not len(sizes):
        return {}
    sizes.sort()
    within = np.searchsorted(np.cumsum(sizes), _MOST_SEGMENTS * sizes.sum())
    return {flow.name: {BURST: float(sizes[within]), LARGEST_BURST: float(sizes[-1])}}
