# SPDX-License-Identifier: BSD-3-Clause
"""What harms are measured by: the figures of a run of an attack, in any engine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from westwood.results.metrics import jain
from westwood.search.population import role

if TYPE_CHECKING:
    from westwood.results.raw import RawLinkSide

PACKET_BITS = 12_000


@dataclass(frozen=True)
class Figures:
    """Says what became of the flows in question, of those beside them, and of the link."""

    goodput_bps: float  # of the flows of the control in question together
    competing_bps: float  # of the flows beside them
    total_bps: float  # of all whose data go the same way
    fairness: float  # Jain's index of the flows of the control in question, if there are several
    timeouts: float  # of the flows in question
    loss_ratio: float  # packets that the queue dropped over those that all of TCP's flows sent
    queue_s: float  # mean wait, as the packets in the queue take to leave it
    completion_s: float  # of the transfers, the mean; those that did not complete till the end
    transfers: int


def of_run(
    names: Sequence[str],
    connections: dict[str, Any],
    forward: RawLinkSide,
    duration_s: float,
    rate_bps: float,
) -> Figures:
    """Reads the figures of a run with flows of these names; `forward` is its bottleneck."""
    own, beside, total, transfers = [], 0.0, 0.0, []
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
            own.append(8 * delivered / duration_s)
            timeouts += rto
        elif kind == "beside":
            beside += 8 * delivered / duration_s
        else:
            end_s = duration_s if math.isnan(completed_s) else completed_s
            transfers.append(end_s - start_s)
    return Figures(
        sum(own),
        beside,
        total,
        jain(own) if len(own) > 1 else math.nan,
        timeouts,
        drops / sent if sent else 0.0,
        forward.waited_s / duration_s * PACKET_BITS / rate_bps,
        sum(transfers) / len(transfers) if transfers else math.nan,
        len(transfers),
    )
