# SPDX-License-Identifier: BSD-3-Clause
"""Holds the families of the first population, from which older rows of the judge still draw.

Rates and delays are log-uniform, and queues are in bandwidth-delay products. A pair is drawn again
if ROUND_TRIPS of a full path exceed the packets that a run may cost. No draw here may change, so
that measurements on these paths stay comparable. The wider families are in families.py.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from westwood.scenario.paths.environment import PACKET_BYTES, Draw, Environment
from westwood.scenario.paths.numbers import log_uniform

ROUND_TRIPS = 40  # of an unloaded path per run; slow start takes 10 of the longest
QUEUE_LEAST = 4  # packets: a delayed ACK releases pairs, and a shorter queue may drop them

_AQMS = ("droptail", "red", "red-ecn")


def _pipe(
    choices: random.Random,
    packets_most: int,
    *,
    mbps: tuple[float, float] = (1, 1000),
    ms: tuple[float, float] = (2, 600),
    queue_bdp: tuple[float, float] = (0.1, 5),
    seconds: float = 10,
) -> Environment:
    """Draws a path. It lasts 100 round trips and at least `seconds`, if packets allow."""
    while True:
        rate_bps = round(log_uniform(choices, *mbps) * 1e3) * 1000
        delay_us = round(log_uniform(choices, *ms) * 1e3)
        packets_a_us = rate_bps / (8e6 * PACKET_BYTES)
        if ROUND_TRIPS * delay_us * packets_a_us <= packets_most:
            break
    queue = round(log_uniform(choices, *queue_bdp) * delay_us * packets_a_us)
    duration_us = min(max(100 * delay_us, seconds * 1e6), packets_most / packets_a_us)
    seed = choices.getrandbits(48)
    return Environment(rate_bps, delay_us, max(queue, QUEUE_LEAST), int(duration_us), seed)


def _aqm(choices: random.Random) -> str:
    return choices.choices(_AQMS, (8, 1, 1))[0]


def _clean(choices: random.Random, packets_most: int) -> Environment:
    """Draws a path without wire loss: mostly a lone flow, else up to 50 flows."""
    flows = 1 if choices.random() < 0.7 else round(log_uniform(choices, 2, 50))
    pipe = _pipe(choices, packets_most, seconds=20 if flows == 1 else 40)
    reverse = 1 if choices.random() < 0.1 else 0
    return replace(pipe, aqm=_aqm(choices), flows=flows, reverse_flows=reverse)


def _lossy(choices: random.Random, packets_most: int) -> Environment:
    """Draws a lone flow over uniform random loss of 0.01 to 2 %."""
    pipe = _pipe(choices, packets_most, mbps=(1, 300), ms=(5, 400), seconds=20)
    return replace(pipe, loss="uniform", loss_rate=log_uniform(choices, 1e-4, 2e-2))


def _beside(choices: random.Random, packets_most: int) -> Environment:
    """Draws flows that compete with CUBIC (1 + 1, 4 + 4 or 1 + 10), a queue of 0.25 to 4 BDP."""
    flows, beside_flows = choices.choice(((1, 1), (4, 4), (1, 10)))
    pipe = _pipe(choices, packets_most, mbps=(2, 300), ms=(5, 300), queue_bdp=(0.25, 4), seconds=40)
    return replace(pipe, flows=flows, beside="cubic", beside_flows=beside_flows)


def _short(choices: random.Random, packets_most: int) -> Environment:
    """Draws transfers of 10 kB to 1 MB at 5 to 50 % of the rate, half of them with a bulk flow."""
    pipe = _pipe(choices, packets_most, mbps=(2, 1000), ms=(2, 300), seconds=20)
    flows = choices.randrange(2)
    return replace(pipe, flows=flows, **transfers(choices, pipe))


def _among(choices: random.Random, packets_most: int) -> Environment:
    """Draws two to twenty flows of the control over one clean path."""
    pipe = _pipe(choices, packets_most, mbps=(5, 300), ms=(5, 200), seconds=40)
    return replace(pipe, flows=round(log_uniform(choices, 2, 20)))


def _distant(choices: random.Random, packets_most: int) -> Environment:
    """Draws two to eight flows of the control, with round trips of 10 to 160 ms."""
    pipe = _pipe(choices, packets_most, mbps=(5, 100), ms=(10, 10), seconds=40)
    queue = round(16 * pipe.bdp_packets * choices.uniform(0.25, 1))
    flows = choices.randint(2, 8)
    return replace(pipe, flows=flows, rtt_spread=16.0, queue_packets=max(queue, QUEUE_LEAST))


def _uplink(choices: random.Random, packets_most: int) -> Environment:
    """Returns an operator's lossy uplink: 10 Mb/s, 90 ms, a queue of one BDP, 0.5 %."""
    duration_us = int(min(40e6, packets_most * 8 * PACKET_BYTES / 10))
    environment = Environment(10_000_000, 90_000, 75, duration_us, choices.getrandbits(48))
    return replace(environment, loss="uniform", loss_rate=0.005)


def _collapse(choices: random.Random, packets_most: int) -> Environment:
    """Draws a hundred flows where link and queue hold a hundred packets a round trip."""
    rate_bps = round(log_uniform(choices, 2, 50) * 1e3) * 1000
    pipe_packets = choices.randint(5, 80)
    duration_us = int(min(20.0, packets_most * 8 * PACKET_BYTES / rate_bps) * 1e6)
    delay_us = round(pipe_packets * 8e6 * PACKET_BYTES / rate_bps)
    queue, seed = 100 - pipe_packets, choices.getrandbits(48)
    delay_us = min(delay_us, duration_us // ROUND_TRIPS)
    return Environment(rate_bps, delay_us, queue, duration_us, seed, flows=100)


def transfers(choices: random.Random, pipe: Environment, most: float = 0.5) -> dict[str, Any]:
    """Draws the transfers' size, at most an eighth of the run's bytes, and their interval."""
    carried = pipe.rate_bps / 8e6 * pipe.duration_us
    size = round(min(log_uniform(choices, 1e4, 1e6), max(1e3, carried / 8)))
    load = choices.uniform(0.05, most)
    every_us = size * 8e6 / (pipe.rate_bps * load)
    return {"short_bytes": size, "short_every_us": max(1, round(every_us))}


FAMILIES: Mapping[str, Draw] = {
    "clean": _clean,
    "lossy": _lossy,
    "beside": _beside,
    "short": _short,
    "among": _among,
    "distant": _distant,
    "uplink": _uplink,
    "collapse": _collapse,
}
