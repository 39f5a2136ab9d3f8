# SPDX-License-Identifier: BSD-3-Clause
"""Computes a route's limits: the shortest round trip and the highest rate."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from westwood.scenario import topology
from westwood.scenario.flows import Flow
from westwood.scenario.links import Direction, Link
from westwood.units import PS_PER_S

_SIDES: tuple[Direction, Direction] = ("forward", "backward")


@dataclass(frozen=True)
class Path:
    """Holds the limits of the route between two nodes; links with traces set none."""

    delay_s: float  # round-trip propagation delay
    byte_s: float  # to send a byte there and back
    overhead_s: float  # to send the links' framing of a packet there and back
    transmissions: int  # there and back; an engine rounds each to picoseconds
    most_bps: float  # the slowest rate on the forward route

    def least_rtt_s(self, packet_bytes: int) -> float:
        """Returns the shortest RTT with packets of this size in both directions."""
        sending_s = packet_bytes * self.byte_s + self.overhead_s
        return self.delay_s + max(0.0, sending_s - self.transmissions / PS_PER_S)


def of_flows(links: Sequence[Link], flows: Sequence[Flow]) -> Mapping[tuple[str, str], Path]:
    """Returns the path of each pair of nodes that flows connect."""
    named = {link.name: link for link in links}
    found = topology.routes(links, flows)
    return {
        ends: _path([(named[name], side) for name, side in route]) for ends, route in found.items()
    }


def _path(route: Sequence[tuple[Link, int]]) -> Path:
    delay_s = byte_s = overhead_s = 0.0
    transmissions = 0
    most_bps = math.inf
    for link, side in route:
        delay_s += 2 * link.delay / PS_PER_S
        if not link.opportunities(_SIDES[side]):
            most_bps = min(most_bps, link.mean_rate_bps(_SIDES[side]))
        for one in _SIDES:
            if not link.opportunities(one):
                byte_s += 8 / link.mean_rate_bps(one)
                overhead_s += 8 * link.overhead / link.mean_rate_bps(one)
                transmissions += 1
    return Path(delay_s, byte_s, overhead_s, transmissions, most_bps)
