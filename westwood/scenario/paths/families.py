# SPDX-License-Identifier: BSD-3-Clause
"""Defines the families of environments: what is drawn, and from which ranges.

Rates, round trips and queues are log-uniform and independent: a queue is a time, whatever the round
trip. A path is drawn again if ROUND_TRIPS round trips with a full queue need more packets than a
run may carry. The families of earlier.py are included.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from westwood.scenario.paths import aqms, earlier
from westwood.scenario.paths.earlier import ROUND_TRIPS, transfers
from westwood.scenario.paths.environment import ITSELF, PACKET_BYTES, Draw, Environment
from westwood.scenario.paths.numbers import log_count, log_uniform
from westwood.scenario.paths.recorded import RECORDINGS

PACKETS_LEAST = 200  # ROUND_TRIPS on the smallest paths of every family
QUEUE_MS = (0.5, 500)
# In slow start a delayed ACK releases three segments at once: one is sent, and two wait.
QUEUE_PASSES = 2  # smallest queue in packets: with one, every window would lose its last packet
FLOWS_MOST = 50  # limit for each kind of flow, if a full path has room for them
# Packets per flow; with fewer, any control resends over a tenth, and timeouts decide.
SEGMENTS_A_FLOW = 4
_MBPS, _MS = (1, 1000), (2, 600)
_LOSS, _LOSS_MOST = 1e-4, 0.1  # smallest and largest mean loss rate of the wire


def _path(
    choices: random.Random,
    packets_most: int,
    *,
    mbps: tuple[float, float] = _MBPS,
    ms: tuple[float, float] = _MS,
    seconds: float = 30,
    is_shared: bool = False,
) -> Environment:
    """Draws rate, delay, queue and duration: 100 full round trips or `seconds`, if packets allow.

    Competing flows have round trips of their own. On some paths every flow has an access link.
    """
    while True:
        rate_bps = round(log_uniform(choices, *mbps) * 1e3) * 1000
        delay_us = round(log_uniform(choices, *ms) * 1e3)
        queue_us = log_uniform(choices, *QUEUE_MS) * 1e3
        others = _others(choices, delay_us, ms) if is_shared else {}
        a_us = rate_bps / (8e6 * PACKET_BYTES)
        longest_us = _longest_us(delay_us, others) + queue_us
        if ROUND_TRIPS * longest_us * a_us <= packets_most:
            break
    queue = max(round(queue_us * a_us), QUEUE_PASSES)
    duration_us = int(min(max(100 * longest_us, seconds * 1e6), packets_most / a_us))
    seed, acts = choices.getrandbits(48), aqms.drawn(choices, round(queue_us))
    path = Environment(rate_bps, delay_us, queue, duration_us, seed, **acts)
    return replace(path, **others, **_counts(choices, path, others)) if is_shared else path


def _counts(choices: random.Random, path: Environment, others: Mapping[str, Any]) -> dict[str, Any]:
    """Draws the number of flows of the control and of CUBIC."""
    mean_us = (path.delay_us + others["beside_delay_us"]) / 2
    most = max_flows(path.packets_in(mean_us) + path.queue_packets, kinds=2)
    return {key: log_count(choices, 1, most) for key in ("flows", "beside_flows")}


def max_flows(full_packets: float, kinds: int = 1) -> int:
    """Returns how many flows of each kind fit a path that holds this many packets when full."""
    return max(1, min(FLOWS_MOST, int(full_packets / SEGMENTS_A_FLOW / kinds)))


def _longest_us(delay_us: int, others: Mapping[str, Any]) -> float:
    own_us: float = delay_us * others.get("rtt_spread", 1.0)
    beside_us: float = others.get("beside_delay_us", delay_us) * others.get("beside_spread", 1.0)
    return max(own_us, beside_us)


def _others(choices: random.Random, delay_us: int, ms: tuple[float, float]) -> dict[str, Any]:
    """Draws competing CUBIC flows, and where all flows begin."""
    beside_us = round(log_uniform(choices, *ms) * 1e3)
    drawn: dict[str, Any] = {"beside": "cubic", "beside_delay_us": beside_us}
    if choices.random() < 0.3:
        most = {"rtt_spread": ms[1] * 1e3 / delay_us, "beside_spread": ms[1] * 1e3 / beside_us}
        drawn |= {key: max(1.0, min(log_uniform(choices, 1.2, 8), most[key])) for key in most}
        drawn["access_share"] = log_uniform(choices, 0.5, 10)
    return drawn


def _uniform(choices: random.Random) -> dict[str, Any]:
    return {"loss": "uniform", "loss_rate": log_uniform(choices, _LOSS, _LOSS_MOST)}


def _gilbert(choices: random.Random) -> dict[str, Any]:
    """Draws two-state losses with a mean rate of at most _LOSS_MOST."""
    while True:
        good_us = round(log_uniform(choices, 0.1, 10) * 1e6)
        bad_us = round(log_uniform(choices, 0.002, 10) * 1e6)
        rate = log_uniform(choices, 0.02, 1)
        if rate * bad_us <= _LOSS_MOST * (good_us + bad_us):
            return {"loss": "two-state", "loss_rate": rate, "good_us": good_us, "bad_us": bad_us}


def _recorded(choices: random.Random) -> dict[str, Any]:
    which = choices.choice(list(RECORDINGS))
    rate = log_uniform(choices, 10 * _LOSS, _LOSS_MOST)
    return {"loss": "recorded", "loss_rate": rate, "loss_recording": which}


def _no_loss(choices: random.Random) -> dict[str, Any]:
    return {}


_WIRES = (_no_loss, _uniform, _gilbert, _recorded)


def _alone(choices: random.Random, packets_most: int) -> Environment:
    """Draws a lone flow where only the queue drops packets."""
    return _path(choices, packets_most)


def _wire(choices: random.Random, packets_most: int) -> Environment:
    """Draws a lone flow over uniform random loss of 0.01 to 10 %."""
    return replace(_path(choices, packets_most, mbps=(1, 300)), **_uniform(choices))


def _bursts(choices: random.Random, packets_most: int) -> Environment:
    """Draws a lone flow over bursty losses: two states, or a recording."""
    lost = choices.choice((_gilbert, _recorded))
    return replace(_path(choices, packets_most, mbps=(1, 300)), **lost(choices))


def _shared(choices: random.Random, packets_most: int) -> Environment:
    """Draws 1 to 50 flows with as many CUBIC flows at other round trips, some over a lossy wire."""
    (wire,) = choices.choices(_WIRES, (7, 1, 1, 1))
    return replace(_path(choices, packets_most, seconds=60, is_shared=True), **wire(choices))


def _crowd(choices: random.Random, packets_most: int) -> Environment:
    """Draws two to fifty flows of the control over one clean path."""
    path = _path(choices, packets_most, mbps=(2, 1000), seconds=60)
    most = max_flows(path.bdp_packets + path.queue_packets)
    return replace(path, flows=log_count(choices, 2, max(2, most)))


def _late(choices: random.Random, packets_most: int) -> Environment:
    """Draws a flow of the control that joins another one after a third of the time."""
    path = _path(choices, packets_most, mbps=(2, 300), seconds=120)
    return replace(path, flows=2, late_us=path.duration_us // 3)


def _brief(choices: random.Random, packets_most: int) -> Environment:
    """Draws CUBIC transfers of 10 kB to 1 MB, 5 to 30 % of the rate, with one to four flows."""
    path = _path(choices, packets_most, mbps=(2, 1000), ms=(2, 300))
    drawn = transfers(choices, path, most=0.3)
    return replace(path, flows=choices.randint(1, 4), short_cc="cubic", **drawn)


def _all(choices: random.Random, packets_most: int) -> Environment:
    """Draws any combination of properties, including those that no other family combines."""
    path = _path(choices, packets_most, is_shared=choices.random() < 0.5)
    if path.beside is None and choices.random() < 0.5:
        # May exceed what the path has room for.
        path = replace(path, flows=log_count(choices, 2, FLOWS_MOST))
    if path.beside is not None:
        path = replace(path, beside=choices.choice(("cubic", "cubic", "sack", "bbr", ITSELF)))
    (wire,) = choices.choices(_WIRES, (4, 3, 2, 1))
    path = replace(path, **wire(choices))
    if choices.random() < 0.25:
        path = replace(
            path, jitter_us=max(1, round(log_uniform(choices, 0.01, 0.5) * path.delay_us))
        )
    if choices.random() < 0.15:
        path = replace(path, rate_swing=log_uniform(choices, 1.2, 10))
    if choices.random() < 0.15:
        path = replace(path, reverse_flows=choices.randint(1, 3))
    if choices.random() < 0.2:
        path = replace(path, **transfers(choices, path))
    return path


FAMILIES: Mapping[str, Draw] = {
    "alone": _alone,
    "wire": _wire,
    "bursts": _bursts,
    "shared": _shared,
    "crowd": _crowd,
    "late": _late,
    "brief": _brief,
    "all": _all,
    **earlier.FAMILIES,
}
