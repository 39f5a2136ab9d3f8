# SPDX-License-Identifier: BSD-3-Clause
"""Traces one run: draws its panel, writes its frames as Parquet and its packets as pcap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from westwood.catalogue import UDP
from westwood.cli.options import span_s
from westwood.draw import panel
from westwood.draw.style import save
from westwood.engines.contract import Engine, Result
from westwood.errors import InputError
from westwood.results import pcap
from westwood.results.folder import Folder
from westwood.scenario import Scenario
from westwood.units import PS_PER_S, option_seconds

if TYPE_CHECKING:
    from westwood.scenario.links import Direction, Link

_CAPACITY_STEP_S = 0.25  # over which the rate of delivery opportunities is averaged in the panel


@dataclass(frozen=True)
class Request:
    """Holds what is asked of the run, with times in seconds."""

    seed: int = 1
    every_s: float = 0  # 0: a row whenever something changed
    events: bool = False
    start_s: float = 0  # the panel shows what lies between
    end_s: float | None = None
    pcap: Path | None = None
    at: str | None = None  # the link to capture


def requested(
    scenario: str,
    *,
    cc: str | None,
    settings: Mapping[str, Any],
    seed: int,
    every: str | None,
    events: bool,
    start: str | None,
    end: str | None,
    pcap_file: Path | None,
    at: str | None,
) -> tuple[Scenario, Request]:
    """Checks everything before anything runs."""
    from westwood.experiments.experiment import plan

    planned = plan(Scenario.load(scenario), cc=[cc] if cc else [], settings=settings)
    chosen = planned.scenario
    if not 0 <= seed < 2**64:
        raise InputError("expected a whole number from 0 to 2^64 - 1", key="--seed", value=seed)
    length_s = chosen.duration / PS_PER_S
    start_s, end_s = span_s(start, end, (0.0, length_s), length_s)
    if at is not None and pcap_file is None:
        raise InputError("expected --pcap FILE with it", key="--at", value=at)
    names = [link.name for link in chosen.link]
    if pcap_file is not None and at is None:
        if len(names) > 1:
            raise InputError("is missing, expected one of: " + ", ".join(names), key="--at")
        at = names[0]
    if at is not None and at not in names:
        raise InputError("no such link, expected one of: " + ", ".join(names), key="--at", value=at)
    every_s = option_seconds("--every", every, 0.0)
    return chosen, Request(seed, every_s, events, start_s, end_s, pcap_file, at)


def run(scenario: Scenario, request: Request, engine: Engine) -> Result:
    """Runs the scenario with everything traced."""
    return engine.simulate(
        scenario, request.seed, trace=True, events=request.events, queues=True, capture=request.at
    )


def write(result: Result, request: Request, folder: Folder, engine: Engine) -> None:
    """Writes everything into a results folder; docs/traces.md lists the files."""
    every_s = request.every_s
    trace = result.sampled(every_s) if every_s else result.trace
    scenario = result.scenario.resolved()
    folder.manifest({"engine": engine.name, "scenario": scenario, "seed": result.seed})
    folder.text("scenario.toml", result.scenario.to_toml())
    folder.frame("runs.parquet", result.rows)
    folder.frame("trace.parquet", trace)
    folder.frame("queues.parquet", result.queues)
    folder.frame("drops.parquet", result.drops)
    folder.frame("links.parquet", result.links)
    folder.frame("transfers.parquet", result.transfers)
    if request.events:
        folder.frame("events.parquet", result.events)


def write_pcap(result: Result, path: Path) -> Path:
    """Writes the captured packets; the file's path."""
    return Folder.beside(path).file(path.name, lambda part: pcap.write(result, part))


def plot(result: Result, request: Request, folder: Folder) -> Path:
    """Draws the panel into the folder; the PNG's path."""
    figure = panel.draw(panel_of(result, request))
    return save(figure, folder.file, f"{result.scenario.name}-trace")


def panel_of(result: Result, request: Request) -> panel.Panel:
    """Chooses what the panel shows: the busiest link is the one that limits the run."""
    scenario = result.scenario
    busiest = result.links.sort("utilisation", descending=True, maintain_order=True).row(
        0, named=True
    )
    link = next(one for one in scenario.link if one.name == busiest["link"])
    side: Direction = busiest["direction"]
    there = (pl.col("link") == link.name) & (pl.col("direction") == side)
    flows = [(f.name, f.cc.name) for f in scenario.flows if f.cc.name != UDP and not f.arrivals]
    packets = link.queue.limit.count if link.queue.limit.unit == "p" else None
    length_s = scenario.duration / PS_PER_S
    span = (request.start_s, length_s if request.end_s is None else request.end_s)
    return panel.Panel(
        title=f"{scenario.name}, seed {result.seed}",
        flows=flows,
        trace=result.trace,
        queue=result.queues.filter(there),
        drops=result.drops.filter(there),
        link=link.name,
        capacity=_capacity(scenario, link, side),
        queue_limit=packets,
        span_s=span,
    )


def _capacity(scenario: Scenario, link: Link, side: Direction) -> pl.DataFrame:
    """Computes how much of the first flow's payload the link can carry, over time."""
    length_s = scenario.duration / PS_PER_S
    flow = scenario.flows[0]
    share = flow.mss / (flow.packet + link.overhead)
    times = link.opportunities(side)
    if not times:
        rate = share * link.mean_rate_bps(side)
        return pl.DataFrame({"time_s": [0.0, length_s], "bps": [rate, rate]})
    from westwood.results.traces import offered_rate

    return offered_rate(times, length_s, _CAPACITY_STEP_S).with_columns(pl.col("bps") * share)
