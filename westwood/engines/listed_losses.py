# SPDX-License-Identifier: BSD-3-Clause
"""Lists the packets that random losses hit, so that every engine loses the same ones.

Each engine draws losses from its own random numbers. Lists that the seed draws remove that
difference: a lost packet is then named by its place in the order on the link. Losses that depend on
the time can't be listed.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from westwood import _engine
from westwood.control.catalogue import LOSSES, NO_LOSS, SCRIPT
from westwood.engines import network
from westwood.units import PS_PER_S

if TYPE_CHECKING:
    from westwood.engines.contract import Engine, Job, RunSeed
    from westwood.results.columns import Row
    from westwood.scenario import Scenario
    from westwood.scenario.links import Link


def has_random_losses(scenario: Scenario) -> bool:
    """Returns whether the scenario has losses that each engine draws by itself."""
    return any(True for _ in _random(scenario))


def listing(engine: Engine) -> Engine:
    """Returns the engine, which now replaces random losses by lists that the seed draws."""

    def run(job: Job, seed: int) -> list[Row]:
        listed = replace(job, scenario=_listed(job.scenario, seed), seeds=[seed])
        return engine.prepare(listed)(seed)

    def prepare(job: Job) -> RunSeed:
        engine.prepare(replace(job, scenario=_listed(job.scenario, job.seeds[0])))
        return lambda seed: run(job, seed)

    return replace(engine, prepare=prepare)


def listed_scenarios(jobs: Iterable[Job]) -> Iterator[Scenario]:
    """Yields the scenario of each run with its lists, as the engine gets it."""
    for job in jobs:
        for seed in job.seeds:
            yield _listed(job.scenario, seed)


def _random(scenario: Scenario) -> Iterator[tuple[int, Link]]:
    """Yields the links with losses to draw by number, each with its place."""
    for place, link in enumerate(scenario.link):
        loss: Any = link.loss
        is_sure = loss.kind == "uniform" and loss.rate in (0, 1)
        if loss.kind in LOSSES and LOSSES[loss.kind].counts and not is_sure:
            yield place, link


def _listed(scenario: Scenario, seed: int) -> Scenario:
    lists: dict[str, Any] = {}
    for place, link in _random(scenario):
        packets = _packets(scenario, place, link, seed)
        script = {"kind": SCRIPT, "packets": packets, "on": link.loss.on}
        lists[f"{link.name}.loss"] = script if packets else {"kind": NO_LOSS}
    return scenario.with_settings(lists)


def _packets(scenario: Scenario, place: int, link: Link, seed: int) -> list[int]:
    loss: Any = link.loss
    most = _most_packets(scenario, link)
    if loss.kind == "uniform":
        return list(_drawn(loss.rate, most, f"{seed} {place}"))
    built = network.build(scenario).links[place]
    loss_model = built.backward.loss if loss.on == "backward" else built.forward.loss
    return _engine.lost_among(int(most), loss_model, seed)


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
