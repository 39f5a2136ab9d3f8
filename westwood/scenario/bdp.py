# SPDX-License-Identifier: BSD-3-Clause
"""Converts queue limits in bandwidth-delay products, such as "1bdp", to packets.

A link's product is its rate times the longest round-trip propagation delay of the flows that cross
it, or its own delay if none does. The unit is the largest packet of any flow with the link's
framing. The limit is rounded, and at least 1 packet.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from westwood.errors import InputError
from westwood.scenario import topology
from westwood.units import PS_PER_S, UNLIMITED, parse_products

if TYPE_CHECKING:
    from westwood.scenario.scenario import Scenario


def products(given: Mapping[str, Any]) -> dict[int, Fraction]:
    """Returns the number of products by link index, for queues given in products."""
    found = {}
    links = given.get("link")
    for place, link in enumerate(links if isinstance(links, (list, tuple)) else ()):
        queue = link.get("queue") if isinstance(link, Mapping) else None
        limit = queue.get("limit") if isinstance(queue, Mapping) else None
        if isinstance(limit, str) and limit.endswith("bdp"):
            with contextlib.suppress(InputError):  # the link's own check reports it
                found[place] = parse_products(limit)
    return found


def with_limits(given: Mapping[str, Any], limits: Mapping[int, str]) -> dict[str, Any]:
    """Replaces the queue limits of these links."""
    links = list(given["link"])
    for place, limit in limits.items():
        links[place] = {**links[place], "queue": {**links[place]["queue"], "limit": limit}}
    return {**given, "link": links}


def unlimited(given: Mapping[str, Any], wanted: Mapping[int, Fraction]) -> dict[str, Any]:
    """Makes these queues unlimited, to build a draft that has the rates and delays."""
    return with_limits(given, dict.fromkeys(wanted, UNLIMITED))


def packets(draft: Scenario, wanted: Mapping[int, Fraction]) -> dict[int, str]:
    """Returns the limits in packets by link index."""
    links = {link.name: link for link in draft.link}
    longest = {name: 2 * link.delay for name, link in links.items()}  # ps: round trips
    for route in topology.routes(draft.link, draft.flow).values():
        round_trip = 2 * sum(links[name].delay for name, _ in route)
        for name, _ in route:
            longest[name] = max(longest[name], round_trip)
    limits = {}
    for place, count in wanted.items():
        link = draft.link[place]
        rate_bps = max(link.mean_rate_bps("forward"), link.mean_rate_bps("backward"))
        packet_bits = 8 * (max(flow.packet for flow in draft.flow) + link.overhead)
        product = count * Fraction(rate_bps) * longest[link.name] / PS_PER_S / packet_bits
        limits[place] = f"{max(1, round(product))}p"
    return limits
