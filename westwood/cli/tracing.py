# SPDX-License-Identifier: BSD-3-Clause
"""Traces one run: draws its panel, writes its frames as Parquet and its packets as pcap."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from westwood.catalogue import UDP
from westwood.cli import console, streams
from westwood.cli.options import span_s
from westwood.draw import panel
from westwood.draw.style import save
from westwood.engines import needs
from westwood.engines.contract import Engine, Result
from westwood.errors import InputError
from westwood.results import pcap, traces
from westwood.results.folder import Folder
from westwood.results.records import Spool, write_parquet
from westwood.results.traces import check_every
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
    only_packets: bool = False  # nothing else is asked for


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
    only_packets: bool,
) -> tuple[Scenario, Request]:
    """Checks everything before anything runs."""
    from westwood.experiments.experiment import plan

    planned = plan(Scenario.load(scenario), cc=[] if cc is None else [cc], settings=settings)
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
    if pcap_file is not None:
        _check_capture_file(pcap_file, scenario)
    every_s = option_seconds("--every", every, 0.0)
    if every is not None:
        try:
            check_every(every_s, length_s)
        except InputError as error:
            raise InputError(error.problem, key="--every", value=every) from None
    return chosen, Request(seed, every_s, events, start_s, end_s, pcap_file, at, only_packets)


def carry_out(
    scenario: Scenario, request: Request, engine: Engine, out: Path | None, *, plot: bool, yes: bool
) -> None:
    """Runs it; writes and draws what was asked for, and prints where that is."""
    folder = Folder(out) if out else None
    place = folder.path if folder else request.pcap.parent if request.pcap else Path()
    check_needs(scenario, request, engine, place, yes=yes)
    with Spool(place) as spool:
        result = run(scenario, request, engine, spool)
        if folder:
            write(result, request, folder, engine)
            print(folder.path)
        if request.pcap:
            print(write_pcap(result, request.pcap))
        if plot:
            print(plot_panel(result, request, folder or Folder.current()))


def _check_capture_file(file: Path, scenario: str) -> None:
    """Raises InputError where a file of this name would replace what is none of its own."""
    if not file.parent.is_dir():
        raise InputError("expected a file in a folder that is there", key="--pcap", value=file)
    if file.exists() and os.path.exists(scenario) and file.samefile(scenario):
        raise InputError("is the scenario, expected another file", key="--pcap", value=file)
    try:
        Folder.beside(file)
    except InputError as error:
        raise error.located(key="--pcap") from None


def check_needs(
    scenario: Scenario, request: Request, engine: Engine, place: Path, *, yes: bool
) -> None:
    """InputError if the run takes more memory or disk space than there is, unless `yes`.

    On a terminal it says what a long run will about take.
    """
    traced = not request.only_packets
    on_disk = engine.name == "sim"
    recorded = needs.Recorded(traced, traced and request.events, traced, request.at, on_disk)
    needed = needs.of_run(scenario, recorded, engine.name)
    if not yes:
        needs.check(needed, scenario, place)
    about = console.announce(needed.seconds, f"{needs.format_bytes(needed.disk_bytes)} on disk")
    if about and sys.stderr.isatty():
        streams.say(f"running{about}")


def run(scenario: Scenario, request: Request, engine: Engine, spool: Spool) -> Result:
    """Runs the scenario with everything traced that is asked for; a long trace is in the spool."""
    traced = not request.only_packets
    return engine.simulate(
        scenario,
        request.seed,
        trace=traced,
        events=traced and request.events,
        queues=traced,
        capture=request.at,
        spool=spool,
        yes=True,  # it was asked before
    )


def write(result: Result, request: Request, folder: Folder, engine: Engine) -> None:
    """Writes everything into a results folder; docs/traces.md lists the files."""
    scenario, raw = result.scenario, result.raw
    trace = traces.windows(scenario, raw)
    if request.every_s:
        trace = traces.sampled(trace, request.every_s, scenario.duration / PS_PER_S)
    tables = {
        "trace": trace,
        "queues": traces.queues(scenario, raw),
        "drops": traces.drops(scenario, raw),
        "links": iter([result.links]),
        "transfers": traces.transfers(scenario, raw),
    }
    if request.events:
        tables["events"] = traces.events(scenario, raw)
    settings = {"engine": engine.name, "scenario": scenario.resolved(), "seed": result.seed}
    folder.manifest(settings, complete=False)
    folder.scenario("scenario", scenario)
    folder.frame("runs.parquet", result.rows)
    for name, frames in tables.items():
        folder.file(f"{name}.parquet", partial(write_parquet, frames))
    folder.manifest(settings)


def write_pcap(result: Result, path: Path) -> Path:
    """Writes the captured packets; the file's path."""
    return Folder.beside(path).file(path.name, lambda part: pcap.write(result, part))


def plot_panel(result: Result, request: Request, folder: Folder) -> Path:
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
    shown = pl.col("flow").is_in([name for name, _ in flows[: panel.MOST_FLOWS]])
    packets = link.queue.limit.count if link.queue.limit.unit == "p" else None
    length_s = scenario.duration / PS_PER_S
    span = (request.start_s, length_s if request.end_s is None else request.end_s)
    raw = result.raw
    return panel.Panel(
        title=f"{scenario.name}, seed {result.seed}",
        flows=flows,
        trace=traces.seen(traces.windows(scenario, raw), shown, span),
        queue=traces.seen(traces.queues(scenario, raw), there, span),
        drops=pl.concat(frame.filter(there) for frame in traces.drops(scenario, raw)),
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
    return traces.offered_rate(times, length_s, _CAPACITY_STEP_S).with_columns(
        pl.col("bps") * share
    )
