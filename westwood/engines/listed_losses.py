# SPDX-License-Identifier: BSD-3-Clause
"""Lists the packets that uniform losses hit, so that every engine loses the same ones.

Each engine draws uniform losses from its own random numbers. Lists that the seed draws remove that
difference: a lost packet is then named by its place in the order on the link.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from westwood.scenario.links import Link, UniformLoss
from westwood.units import PS_PER_S

if TYPE_CHECKING:
    from westwood.engines.contract import Engine, Job, RunSeed
    from westwood.results.columns import Row
    from westwood.scenario import Scenario


def has_uniform_losses(scenario: Scenario) -> bool:
    """Returns whether the scenario has losses that each engine draws by itself."""
    return any(True for _ in _uniform(scenario))


def listing(engine: Engine) -> Engine:
    """Returns the engine, which now replaces uniform losses by lists that the seed draws."""

    def run(job: Job, seed: int) -> list[Row]:
        listed = replace(job, scenario=_listed(job.scenario, seed), seeds=[seed])
        return engine.prepare(listed)(seed)

    def prepare(job: Job) -> RunSeed:
        engine.prepare(replace(job, scenario=_listed(job.scenario, job.seeds[0])))
        return lambda seed: run(job, seed)

    return replace(engine, prepare=prepare)


def _uniform(scenario: Scenario) -> Iterator[tuple[int, Link, UniformLoss]]:
    """Yields the links with a loss to draw, each with its place."""
    for place, link in enumerate(scenario.link):
        if isinstance(link.loss, UniformLoss) and 0 < link.loss.rate < 1:
            yield place, link, link.loss


def _listed(scenario: Scenario, seed: int) -> Scenario:
    lists: dict[str, Any] = {}
    for place, link, loss in _uniform(scenario):
        packets = list(_drawn(loss.rate, _most_packets(scenario, link), f"{seed} {place}"))
        script = {"kind": "script", "packets": packets, "on": loss.on}
        lists[f"{link.name}.loss"] = script if packets else {"kind": "none"}
    return scenario.with_settings(lists)


def _most_packets(scenario: Scenario, link: Link) -> float:
    """Returns more packets than a direction of the link carries: small ACKs count, too."""
    bits = 8 * min(flow.packet for flow in scenario.flow) / 2
    fastest = max(link.mean_rate_bps("forward"), link.mean_rate_bps("backward"))
    return float(fastest * scenario.duration / PS_PER_S / bits)


def _drawn(rate: float, most: float, seed: str) -> Iterator[int]:
    """Yields the numbers of the lost packets: the gaps between them are geometric."""
    drawn, number = random.Random(seed), 0
    while True:
        number += 1 + int(math.log1p(-drawn.random()) / math.log1p(-rate))
        if number > most:
            return
        yield number
