# SPDX-License-Identifier: BSD-3-Clause
"""The families that environments are drawn of: what is drawn, and from which ranges.

Rates and delays are uniform in their logarithms, and a pair is drawn again if ROUND_TRIPS of a full
path are more packets than a run may cost.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from westwood.search.environment import AQMS, ITSELF, LOSSES, PACKET_BYTES, Environment

PACKETS_LEAST = 200  # ROUND_TRIPS on the smallest paths of every family
ROUND_TRIPS = 40  # of an unloaded path, in every run; slow start takes 10 of the longest
QUEUE_LEAST = 4  # packets: below, a pair of segments that a delayed ACK lets go may not pass

Draw = Callable[[random.Random, int], Environment]


def _log_uniform(choices: random.Random, least: float, most: float) -> float:
    """Draws a number of four digits: what is drawn is read by people, too."""
    return float(f"{math.exp(choices.uniform(math.log(least), math.log(most))):.4g}")


def _pipe(
    choices: random.Random,
    packets_most: int,
    *,
    mbps: tuple[float, float] = (1, 1000),
    ms: tuple[float, float] = (2, 600),
    queue_bdp: tuple[float, float] = (0.1, 5),
    seconds: float = 10,
) -> Environment:
    """Draws rate, delay and queue, and how long: 100 round trips or `seconds`, if not too many."""
    while True:
        rate_bps = round(_log_uniform(choices, *mbps) * 1e3) * 1000
        delay_us = round(_log_uniform(choices, *ms) * 1e3)
        packets_a_us = rate_bps / (8e6 * PACKET_BYTES)
        if ROUND_TRIPS * delay_us * packets_a_us <= packets_most:
            break
    queue = round(_log_uniform(choices, *queue_bdp) * delay_us * packets_a_us)
    duration_us = min(max(100 * delay_us, seconds * 1e6), packets_most / packets_a_us)
    seed = choices.getrandbits(48)
    return Environment(rate_bps, delay_us, max(queue, QUEUE_LEAST), int(duration_us), seed)


def _aqm(choices: random.Random) -> str:
    return choices.choices(AQMS, (8, 1, 1))[0]


def _clean(choices: random.Random, packets_most: int) -> Environment:
    """No loss but the queue's: mostly a lone flow, else up to 50, some with reverse traffic."""
    flows = 1 if choices.random() < 0.7 else round(_log_uniform(choices, 2, 50))
    pipe = _pipe(choices, packets_most, seconds=20 if flows == 1 else 40)
    reverse = 1 if choices.random() < 0.1 else 0
    return replace(pipe, aqm=_aqm(choices), flows=flows, reverse_flows=reverse)


def _lossy(choices: random.Random, packets_most: int) -> Environment:
    """A lone flow over uniform random loss of 0.01 to 2 %."""
    pipe = _pipe(choices, packets_most, mbps=(1, 300), ms=(5, 400), seconds=20)
    return replace(pipe, loss="uniform", loss_rate=_log_uniform(choices, 1e-4, 2e-2))


def _beside(choices: random.Random, packets_most: int) -> Environment:
    """With CUBIC on a queue of 0.25 to 4 BDP: 1 + 1, 4 + 4 or 1 + 10 flows."""
    flows, beside_flows = choices.choice(((1, 1), (4, 4), (1, 10)))
    pipe = _pipe(choices, packets_most, mbps=(2, 300), ms=(5, 300), queue_bdp=(0.25, 4), seconds=40)
    return replace(pipe, flows=flows, beside="cubic", beside_flows=beside_flows)


def _short(choices: random.Random, packets_most: int) -> Environment:
    """Transfers of 10 kB to 1 MB at 5 to 50 % of the rate, half of the time beside a bulk flow."""
    pipe = _pipe(choices, packets_most, mbps=(2, 1000), ms=(2, 300), seconds=20)
    flows = choices.randrange(2)
    return replace(pipe, flows=flows, **_transfers(choices, pipe))


def _among(choices: random.Random, packets_most: int) -> Environment:
    """Two to twenty flows of its own over one clean path."""
    pipe = _pipe(choices, packets_most, mbps=(5, 300), ms=(5, 200), seconds=40)
    return replace(pipe, flows=round(_log_uniform(choices, 2, 20)))


def _distant(choices: random.Random, packets_most: int) -> Environment:
    """Two to eight flows of its own, with round trips of 10 to 160 ms."""
    pipe = _pipe(choices, packets_most, mbps=(5, 100), ms=(10, 10), seconds=40)
    queue = round(16 * pipe.bdp_packets * choices.uniform(0.25, 1))
    flows = choices.randint(2, 8)
    return replace(pipe, flows=flows, rtt_spread=16.0, queue_packets=max(queue, QUEUE_LEAST))


def _uplink(choices: random.Random, packets_most: int) -> Environment:
    """The path of an operator's lossy uplink: 10 Mb/s, 90 ms, a queue of one BDP, 0.5 %."""
    duration_us = int(min(40e6, packets_most * 8 * PACKET_BYTES / 10))
    made = Environment(10_000_000, 90_000, 75, duration_us, choices.getrandbits(48))
    return replace(made, loss="uniform", loss_rate=0.005)


def _collapse(choices: random.Random, packets_most: int) -> Environment:
    """A hundred flows where link and queue hold a hundred packets a round trip."""
    rate_bps = round(_log_uniform(choices, 2, 50) * 1e3) * 1000
    pipe_packets = choices.randint(5, 80)
    duration_us = int(min(20.0, packets_most * 8 * PACKET_BYTES / rate_bps) * 1e6)
    delay_us = round(pipe_packets * 8e6 * PACKET_BYTES / rate_bps)
    queue, seed = 100 - pipe_packets, choices.getrandbits(48)
    delay_us = min(delay_us, duration_us // ROUND_TRIPS)
    return Environment(rate_bps, delay_us, queue, duration_us, seed, flows=100)


def _transfers(choices: random.Random, pipe: Environment) -> dict[str, Any]:
    """Draws their size, at most an eighth of what the run carries, and how often they arrive."""
    carried = pipe.rate_bps / 8e6 * pipe.duration_us
    size = round(min(_log_uniform(choices, 1e4, 1e6), max(1e3, carried / 8)))
    load = choices.uniform(0.05, 0.5)
    every_us = size * 8e6 / (pipe.rate_bps * load)
    return {"short_bytes": size, "short_every_us": max(1, round(every_us))}


def _all(choices: random.Random, packets_most: int) -> Environment:
    """Whatever there is, each by chance: the paths that no other family has as well."""
    flows = 1 if choices.random() < 0.5 else round(_log_uniform(choices, 2, 50))
    made = replace(_pipe(choices, packets_most, seconds=20), aqm=_aqm(choices), flows=flows)
    made = replace(made, **_wire(choices, made))
    if flows > 1 and choices.random() < 0.3:
        made = replace(made, rtt_spread=_log_uniform(choices, 1.2, 16))
    if choices.random() < 0.5:
        beside = choices.choice(("cubic", "cubic", "sack", "bbr", ITSELF))
        count = round(_log_uniform(choices, 1, 10))
        made = replace(made, beside=beside, beside_flows=count)
    if choices.random() < 0.15:
        made = replace(made, reverse_flows=choices.randint(1, 3))
    if choices.random() < 0.2:
        made = replace(made, **_transfers(choices, made))
    return made


def _wire(choices: random.Random, pipe: Environment) -> dict[str, Any]:
    """Draws what the wire does: loss, jitter, a rate that wanders."""
    drawn: dict[str, Any] = {}
    kind = choices.choices(LOSSES, (4, 3, 2))[0]
    if kind != "none":
        drawn |= {"loss": kind, "loss_rate": _log_uniform(choices, 1e-4, 2e-2)}
    if kind == "two-state":
        drawn["loss_rate"] = _log_uniform(choices, 1e-2, 1)
        drawn["good_us"] = round(_log_uniform(choices, 0.1, 10) * 1e6)
        drawn["bad_us"] = round(_log_uniform(choices, 0.002, 0.5) * 1e6)
    if choices.random() < 0.25:
        drawn["jitter_us"] = max(1, round(_log_uniform(choices, 0.01, 0.5) * pipe.delay_us))
    if choices.random() < 0.15:
        drawn["rate_swing"] = _log_uniform(choices, 1.2, 10)
    return drawn


FAMILIES: Mapping[str, Draw] = {
    "clean": _clean,
    "lossy": _lossy,
    "beside": _beside,
    "short": _short,
    "among": _among,
    "distant": _distant,
    "uplink": _uplink,
    "collapse": _collapse,
    "all": _all,
}
