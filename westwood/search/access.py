# SPDX-License-Identifier: BSD-3-Clause
"""Where the flows of an environment begin: at the bottleneck, or behind a link of their own.

A flow that is farther than the nearest one has an access link with the rest of the way, which is
fast and never full. With `access_share` each flow has one with a rate of its own, and a queue.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from westwood.search.environment import Environment

_TIMES = 10  # as fast as the bottleneck: the fastest access links
_FASTEST_BPS = 10**12
_QUEUE_LEAST = 10  # packets of an access link's queue, which holds a round trip else


@dataclass(frozen=True)
class Access:
    """A link from a source of its own to the bottleneck."""

    name: str  # follows `source-` and `access-`
    rate_bps: int
    delay_us: float  # one way
    queue_packets: int | None  # None: unlimited

    @property
    def source(self) -> str:
        """The node at its far end."""
        return f"source-{self.name}"


@dataclass(frozen=True)
class Sender:
    """Flows that begin at one place: what they are called, how many, and their own link."""

    flow: str
    count: int
    access: Access | None


def nearest_us(one: Environment) -> int:
    """Returns the least propagation there and back of all flows: the bottleneck's own."""
    beside_us = one.beside_delay_us if one.beside_flows else 0
    return min(one.delay_us, beside_us or one.delay_us)


def senders(one: Environment, role: str) -> list[Sender]:
    """Returns where the flows of the control, `tcp`, or those `beside` it begin."""
    if role == "tcp":
        count, shortest_us, spread = one.flows, one.delay_us, one.rtt_spread
    else:
        count, spread = one.beside_flows, one.beside_spread
        shortest_us = one.beside_delay_us or one.delay_us
    is_late = role == "tcp" and one.late_us > 0
    if not (one.access_share or (count > 1 and (spread > 1 or is_late))):
        access = _access(one, role, shortest_us, 0)
        return [Sender(role, count, access)] if count else []
    prefix = "" if role == "tcp" else f"{role}-"
    steps = max(1, count - 1)
    return [
        Sender(
            f"{role}-{n + 1}",
            1,
            _access(
                one, f"{prefix}{n + 1}", shortest_us * spread ** (n / steps), _rate(one, n, count)
            ),
        )
        for n in range(count)
    ]


def _access(one: Environment, name: str, rtt_us: float, rate_bps: int) -> Access | None:
    """The link of a flow with this round trip; None if it begins at the bottleneck itself."""
    delay_us = (rtt_us - nearest_us(one)) / 2
    if rate_bps:
        holds = one.packets_in(rtt_us) * rate_bps / one.rate_bps
        return Access(name, rate_bps, delay_us, max(_QUEUE_LEAST, round(holds)))
    fast = min(_TIMES * one.rate_bps, _FASTEST_BPS)
    return Access(name, fast, delay_us, None) if delay_us else None


def _rate(one: Environment, number: int, count: int) -> int:
    """The rate of a flow's own link, in equal ratios, in another order than the round trips."""
    if not one.access_share:
        return 0
    slowest = one.access_share * one.rate_bps / (one.flows + one.beside_flows)
    part = _place(number, count) / max(1, count - 1)
    fastest = max(slowest, _TIMES * one.rate_bps)
    rate_bps = slowest * math.pow(fastest / slowest, part)
    return min(max(1000, round(rate_bps)), _FASTEST_BPS)


def _place(number: int, count: int) -> int:
    """Permutes 0 to count - 1: steps of about 0.6 of them, which have no divisor in common."""
    step = next(
        one for one in range(max(1, round(0.6 * count)), 2 * count + 2) if math.gcd(one, count) == 1
    )
    return (number + 1) * step % count
