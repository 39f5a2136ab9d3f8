# SPDX-License-Identifier: BSD-3-Clause
"""Converts queue limits such as "1bdp" and "5ms" to packets.

"1bdp" is a bandwidth-delay product: the link's rate times the longest round-trip propagation delay
of the flows that cross it, or its own delay if none does. "5ms" is what the link carries in that
time. plan/routes.hpp says how it is rounded.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from westwood import _engine
from westwood.errors import InputError
from westwood.units import UNLIMITED, parse_limit

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
            if isinstance(limit, str) and parse_limit(limit) is None:
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
    """Returns the limits in packets by link index, which the draft's network has."""
    given = with_limits(draft.model_dump(exclude={"sweep"}), wanted)
    links = _engine.plan(given).network.links
    return {place: f"{links[place].forward.queue_packets}p" for place in wanted}
