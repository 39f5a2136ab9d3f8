# SPDX-License-Identifier: BSD-3-Clause
"""Computes the numbers that degradation metrics need, from a run in any engine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from westwood.results.metrics import jain
from westwood.scenario.paths.environment import role

if TYPE_CHECKING:
    from westwood.results.raw import RawLinkSide

PACKET_BITS = 12_000


@dataclass(frozen=True)
class Figures:
    """Holds the results of the flows under test, of the competing flows and of the link."""

    goodput_bps: float  # total of the flows under test
    competing_bps: float  # total of the competing flows
    total_bps: float  # total of all flows in the forward direction
    fairness: float  # Jain's index of the flows under test, if there are several
    timeouts: float  # timeouts of the flows under test
    loss_ratio: float  # packets dropped by the queue over packets sent, for all TCP flows
    queue_s: float  # mean waiting time, from the mean queue and the rate
    completion_s: float  # mean of the transfers; unfinished ones count until the end
    transfers: int


def of_run(
    names: Sequence[str],
    connections: dict[str, Any],
    forward: RawLinkSide,
    duration_s: float,
    rate_bps: float,
) -> Figures:
    """Computes the figures of a run from its flows' names; `forward` is the bottleneck."""
    flows, beside, total, transfers = [], 0.0, 0.0, []
    timeouts = drops = sent = 0.0
    rows = zip(
        connections["source"],
        connections["delivered_bytes"],
        connections["timeouts"],
        connections["queue_drops"],
        connections["sent"],
        connections["start_s"],
        connections["completed_s"],
        strict=True,
    )
    for source, delivered, rto, dropped, segments, start_s, completed_s in rows:
        kind = role(names[source])
        if kind in ("bursts", "reverse"):
            continue
        total += 8 * delivered / duration_s
        drops, sent = drops + dropped, sent + segments
        if kind == "tcp":
            flows.append(8 * delivered / duration_s)
            timeouts += rto
        elif kind == "beside":
            beside += 8 * delivered / duration_s
        else:
            end_s = duration_s if math.isnan(completed_s) else completed_s
            transfers.append(end_s - start_s)
    return Figures(
        sum(flows),
        beside,
        total,
        jain(flows) if len(flows) > 1 else math.nan,
        timeouts,
        drops / sent if sent else 0.0,
        forward.waited_s / duration_s * PACKET_BITS / rate_bps,
        sum(transfers) / len(transfers) if transfers else math.nan,
        len(transfers),
    )
