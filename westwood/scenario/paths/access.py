# SPDX-License-Identifier: BSD-3-Clause
"""Decides where the flows of an environment begin: at the bottleneck, or behind an access link.

A flow with a longer round trip than the nearest one has an access link with the remaining delay,
which is fast and never full. With `access_share` each flow has an access link with its own rate and
a queue.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from westwood.scenario.paths.environment import Environment

_TIMES = 10  # the fastest access links over the bottleneck's rate
_FASTEST_BPS = 10**12
_QUEUE_LEAST = 10  # packets: minimum of an access link's queue, which otherwise holds a round trip


@dataclass(frozen=True)
class Access:
    """A link from a source of its own to the bottleneck."""

    name: str  # the suffix of its node `source-` and link `access-`
    rate_bps: int
    delay_us: float  # one-way delay of the link
    queue_packets: int | None  # None: unlimited

    @property
    def source(self) -> str:
        """Node at its far end."""
        return f"source-{self.name}"


@dataclass(frozen=True)
class Sender:
    """Flows that begin at one place, with their name, their number and their access link."""

    flow: str
    count: int
    access: Access | None


def nearest_us(environment: Environment) -> int:
    """Returns the shortest two-way propagation delay of all flows: the bottleneck's own."""
    beside_us = environment.beside_delay_us if environment.beside_flows else 0
    return min(environment.delay_us, beside_us or environment.delay_us)


def senders(environment: Environment, role: str) -> list[Sender]:
    """Returns where the flows of the control (`tcp`) or the competing flows (`beside`) begin."""
    if role == "tcp":
        count, shortest_us, spread = environment.flows, environment.delay_us, environment.rtt_spread
    else:
        count, spread = environment.beside_flows, environment.beside_spread
        shortest_us = environment.beside_delay_us or environment.delay_us
    is_late = role == "tcp" and environment.late_us > 0
    if not (environment.access_share or (count > 1 and (spread > 1 or is_late))):
        access = _access(environment, role, shortest_us, 0)
        return [Sender(role, count, access)] if count else []
    prefix = "" if role == "tcp" else f"{role}-"
    steps = max(1, count - 1)
    return [
        Sender(
            f"{role}-{n + 1}",
            1,
            _access(
                environment,
                f"{prefix}{n + 1}",
                shortest_us * spread ** (n / steps),
                _rate(environment, n, count),
            ),
        )
        for n in range(count)
    ]


def _access(environment: Environment, name: str, rtt_us: float, rate_bps: int) -> Access | None:
    """Returns a flow's access link; None if it begins at the bottleneck."""
    delay_us = (rtt_us - nearest_us(environment)) / 2
    if rate_bps:
        holds = environment.packets_in(rtt_us) * rate_bps / environment.rate_bps
        return Access(name, rate_bps, delay_us, max(_QUEUE_LEAST, round(holds)))
    fast = min(_TIMES * environment.rate_bps, _FASTEST_BPS)
    return Access(name, fast, delay_us, None) if delay_us else None


def _rate(environment: Environment, number: int, count: int) -> int:
    """Returns an access link's rate; rates are geometric, shuffled against round trips."""
    if not environment.access_share:
        return 0
    slowest = (
        environment.access_share
        * environment.rate_bps
        / (environment.flows + environment.beside_flows)
    )
    part = _place(number, count) / max(1, count - 1)
    fastest = max(slowest, _TIMES * environment.rate_bps)
    rate_bps = slowest * math.pow(fastest / slowest, part)
    return min(max(1000, round(rate_bps)), _FASTEST_BPS)


def _place(number: int, count: int) -> int:
    """Permutes 0 to count - 1 with a step near 0.6 * count that is coprime to count."""
    step = next(
        stride
        for stride in range(max(1, round(0.6 * count)), 2 * count + 2)
        if math.gcd(stride, count) == 1
    )
    return (number + 1) * step % count
