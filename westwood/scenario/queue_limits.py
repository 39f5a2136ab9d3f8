# SPDX-License-Identifier: BSD-3-Clause
"""Converts queue limits such as "1bdp" and "5ms" to packets.

"1bdp" is a bandwidth-delay product: the link's rate times the longest round-trip propagation delay
of the flows that cross it, or its own delay if none does. "5ms" is what the link carries in that
time. The unit is the largest packet of any flow with the link's framing. The limit is rounded, and
at least 1 packet.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from westwood.errors import InputError
from westwood.scenario import topology
from westwood.units import PS_PER_S, UNLIMITED, is_relative_limit, parse_products, parse_time

if TYPE_CHECKING:
    from westwood.scenario.scenario import Scenario


def relative(given: Mapping[str, Any]) -> dict[int, str]:
    """Returns the limits that depend on rate or delay, such as "1bdp" and "5ms", by link index."""
    found = {}
    links = given.get("link")
    for place, link in enumerate(links if isinstance(links, (list, tuple)) else ()):
        queue = link.get("queue") if isinstance(link, Mapping) else None
        limit = queue.get("limit") if isinstance(queue, Mapping) else None
        with contextlib.suppress(InputError):  # the link's own check reports it
            if isinstance(limit, str) and is_relative_limit(limit):
                found[place] = limit
    return found


def with_limits(given: Mapping[str, Any], limits: Mapping[int, str]) -> dict[str, Any]:
    """Replaces the queue limits of these links."""
    links = list(given["link"])
    for place, limit in limits.items():
        links[place] = {**links[place], "queue": {**links[place]["queue"], "limit": limit}}
    return {**given, "link": links}


def unlimited(given: Mapping[str, Any], wanted: Mapping[int, str]) -> dict[str, Any]:
    """Makes these queues unlimited, to build a draft that has the rates and delays."""
    return with_limits(given, dict.fromkeys(wanted, UNLIMITED))


def packets(draft: Scenario, wanted: Mapping[int, str]) -> dict[int, str]:
    """Returns the limits in packets by link index."""
    links = {link.name: link for link in draft.link}
    longest = {name: 2 * link.delay for name, link in links.items()}  # ps: round trips
    for route in topology.routes(draft.link, draft.flow).values():
        round_trip = 2 * sum(links[name].delay for name, _ in route)
        for name, _ in route:
            longest[name] = max(longest[name], round_trip)
    limits = {}
    for place, limit in wanted.items():
        link = draft.link[place]
        if limit.endswith("bdp"):
            held_ps = parse_products(limit) * longest[link.name]
        else:
            held_ps = Fraction(parse_time(limit))
        rate_bps = max(link.mean_rate_bps("forward"), link.mean_rate_bps("backward"))
        packet_bits = 8 * (max(flow.packet for flow in draft.flow) + link.overhead)
        held = held_ps * Fraction(rate_bps) / PS_PER_S / packet_bits
        limits[place] = f"{max(1, round(held))}p"
    return limits
