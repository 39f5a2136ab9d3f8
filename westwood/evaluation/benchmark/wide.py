# SPDX-License-Identifier: BSD-3-Clause
"""Defines the judge's sections on the wide population: queues of 0.5 to 500 ms on any path.

Cells of `crowd` have queues in bandwidth-delay products, since the path decides what is short.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from westwood.evaluation.benchmark.cases import BBR, CUBIC, CUBIC_AGAIN, WESTWOOD, Section, as_drawn
from westwood.evaluation.benchmark.earlier import hundred_transfers, to_the_end
from westwood.scenario.paths.environment import Environment
from westwood.scenario.paths.families import QUEUE_PASSES, max_flows
from westwood.search import bounds

_PACKETS_MOST = 1_000_000  # most packets per run in sections with several seeds
SHARED_SEEDS = 8  # with fewer, CUBIC against itself falls below 0.9 in the worst tenth


def _deep(drawn: Environment) -> Environment | None:
    return drawn if drawn.queue_bdp >= bounds.DEEP_BDP else None


def _thin(drawn: Environment) -> Environment | None:
    return drawn if drawn.queue_bdp < bounds.DEEP_BDP else None


CROWD_BDP = (0.005, 0.02, 0.1, 0.5, 1, 4)


def _crowd(queue_bdp: float) -> Any:
    def fit(drawn: Environment) -> Environment | None:
        queue = round(queue_bdp * drawn.bdp_packets)
        environment = replace(drawn, queue_packets=max(1, queue), aqm="droptail")
        fits = queue >= QUEUE_PASSES
        fits = fits and environment.flows <= max_flows(environment.bdp_packets + queue)
        return environment if fits else None

    return fit


SECTIONS = (
    Section("alone", "one flow, no loss on the wire", "alone", (("", as_drawn),), 0.5),
    Section(
        "wire",
        "one flow, uniform loss",
        "wire",
        (("deep", _deep), ("thin", _thin)),
        0.25,
        (CUBIC, BBR),
    ),
    Section(
        "bursts",
        "one flow, losses in bursts",
        "bursts",
        (("", as_drawn),),
        0.25,
        (CUBIC, BBR, WESTWOOD),
    ),
    Section(
        "shared",
        "against CUBIC, any queue",
        "shared",
        (("", as_drawn),),
        0.2,
        (CUBIC, CUBIC_AGAIN),
        seeds=SHARED_SEEDS,
        packets_most=_PACKETS_MOST,
    ),
    Section(
        "crowd",
        "among themselves, any queue",
        "crowd",
        tuple((f"{queue:g} BDP", _crowd(queue)) for queue in CROWD_BDP),
        0.05,
        seeds=2,
        packets_most=_PACKETS_MOST,
    ),
    Section(
        "late",
        "a flow that joins another",
        "late",
        (("", as_drawn),),
        0.1,
        (CUBIC, CUBIC_AGAIN),
        seeds=4,
        packets_most=_PACKETS_MOST,
    ),
    Section(
        "brief",
        "CUBIC's transfers against it",
        "brief",
        (("", hundred_transfers),),
        0.1,
        settings=to_the_end,
        seeds=2,
    ),
)
