# SPDX-License-Identifier: BSD-3-Clause
"""Traces one run: draws its panel, writes frames as Parquet and packets as pcap."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from westwood.cli import console, figures, streams
from westwood.cli.options import check_file, drawn_s
from westwood.control.arguments import check_seed
from westwood.draw.views import VIEWS
from westwood.engines import resources
from westwood.engines.contract import Engine
from westwood.engines.result import Result
from westwood.errors import InputError
from westwood.experiments.experiment import files_of, plan
from westwood.results import pcap, qlog, queues, traces
from westwood.results.folder import Folder
from westwood.results.kinds import ResultKind
from westwood.results.parquet import write_parquet
from westwood.results.spool import Spool
from westwood.results.traces import check_every
from westwood.scenario import Scenario
from westwood.scenario.topology import check_link
from westwood.units import PS_PER_S, option_seconds


@dataclass(frozen=True)
class Request:
    """Holds the options of a traced run, with times in seconds."""

    seed: int = 1
    every_s: float = 0  # 0: a row per change
    events: bool = False
    span_s: tuple[float, float] | None = None  # of the figure; None: chosen automatically
    pcap: Path | None = None
    at: str | None = None  # the link that the user chose
    qlog: Path | None = None
    only_packets: bool = False  # nothing else is requested
    view: str = "windows"  # what is drawn: one of westwood.draw.views.VIEWS

    @property
    def capture(self) -> str | None:
        """Returns the link to capture."""
        return self.at if self.pcap else None

    @property
    def all_events(self) -> bool:
        """Returns whether events are recorded, for a file or a figure."""
        return self.events or self.qlog is not None or VIEWS[self.view].needs == "events"


def requested(
    scenario: str,
    cc: Sequence[str],
    settings: Mapping[str, Any],
    request: Request,
    every: str | None,
    span: tuple[str | None, str | None],
) -> tuple[list[Scenario], Request]:
    """Checks all options; returns a scenario per protocol, and the request with its times."""
    if len(set(cc)) < len(cc):
        raise InputError("expected each protocol once", key="--cc", value=list(cc))
    base = Scenario.load(scenario)
    scenarios = [
        plan(base, cc=protocols, settings=settings).scenario
        for protocols in ([[c] for c in cc] or [[]])
    ]
    chosen = scenarios[0]
    check_seed(request.seed)
    length_s = chosen.duration / PS_PER_S
    shown = drawn_s(*span, length_s)
    names = [link.name for link in chosen.link]
    at = request.at
    if request.pcap is not None and at is None:
        if len(names) > 1:
            raise InputError("is missing, expected one of: " + ", ".join(names), key="--at")
        at = names[0]
    if at is not None:
        check_link(chosen.link, at, "--at")
    _check_files(scenario, request.pcap, request.qlog)
    every_s = option_seconds("--every", every, 0.0)
    if every is not None:
        try:
            check_every(every_s, length_s)
        except InputError as error:
            raise InputError(error.problem, key="--every", value=every) from None
    return scenarios, replace(request, every_s=every_s, span_s=shown, at=at)


def carry_out(
    scenarios: Sequence[Scenario],
    request: Request,
    engine: Engine,
    out: Path | None,
    *,
    figure: figures.Wanted | None,
    yes: bool,
) -> None:
    """Runs the scenarios, writes and draws what was requested, and prints the paths."""
    folder = Folder(out, kind=ResultKind.RUN) if out else None
    alone = request.pcap or request.qlog
    place = folder.path if folder else alone.parent if alone else Path()
    for scenario in scenarios:
        check_resources(scenario, request, engine, place, yes=yes)
    with contextlib.ExitStack() as stack:
        results = []
        for scenario in scenarios:
            spool = stack.enter_context(Spool(place))
            results.append(run(scenario, request, engine, spool))
        if folder:
            write(results[0], request, folder, engine)
            print(folder.path)
        if request.pcap:
            print(write_pcap(results[0], request.pcap))
        if request.qlog:
            print(write_qlog(results[0], request.qlog))
        if figure:
            print(draw(results, request, folder, figure))


def draw(
    results: Sequence[Result], request: Request, folder: Folder | None, figure: figures.Wanted
) -> Path:
    """Draws the figure and returns the path of its first file."""
    from westwood.engines import run_figures

    drawn_figure = run_figures.draw(results, request.view, request.span_s, request.at)
    kind = "trace" if request.view == "windows" else request.view
    return figure.save(drawn_figure, folder, f"{results[0].scenario.name}-{kind}")


def _check_files(scenario: str, pcap_file: Path | None, qlog_file: Path | None) -> None:
    for key, file in (("--pcap", pcap_file), ("--qlog", qlog_file)):
        if file is not None:
            check_file(file, key, scenario)
    if pcap_file and qlog_file and pcap_file.resolve() == qlog_file.resolve():
        raise InputError("is the file of --pcap, expected another", key="--qlog", value=qlog_file)


def check_resources(
    scenario: Scenario, request: Request, engine: Engine, place: Path, *, yes: bool
) -> None:
    """Raises InputError if the run needs more memory or disk than there is, unless `yes`.

    On a terminal it prints an estimate for a long run.
    """
    traced = not request.only_packets
    on_disk = engine.name == "sim"
    recorded = resources.Recorded(
        traced, traced and request.all_events, traced, request.capture, on_disk
    )
    needed = resources.estimate_run(scenario, recorded, engine.name)
    if not yes:
        resources.check(needed, scenario, place)
    about = console.announce(needed.seconds, f"{resources.format_bytes(needed.disk_bytes)} on disk")
    if about and (sys.stderr.isatty() or needed.seconds >= console.VERY_LONG_S):
        streams.say(f"running{about}")


def run(scenario: Scenario, request: Request, engine: Engine, spool: Spool) -> Result:
    """Runs the scenario and records what was requested; a long trace goes to the spool."""
    traced = not request.only_packets
    return engine.simulate(
        scenario,
        request.seed,
        trace=traced,
        events=traced and request.all_events,
        queues=traced,
        capture=request.capture,
        spool=spool,
    )


def write(result: Result, request: Request, folder: Folder, engine: Engine) -> None:
    """Writes everything into a results folder; docs/traces.md lists the files."""
    scenario, raw = result.scenario, result.raw
    trace = traces.windows(scenario, raw)
    if request.every_s:
        trace = traces.sampled(trace, request.every_s, scenario.duration / PS_PER_S)
    tables = {
        "trace": trace,
        "queues": queues.lengths(scenario, raw),
        "drops": traces.drops(scenario, raw),
        "links": iter([result.links]),
        "transfers": traces.transfers(scenario, raw),
    }
    if any(traces.columns_of_queue(link.queue.kind) for link in scenario.link):
        tables["queue_states"] = traces.queue_states(scenario, raw)
    if result.raw.messages.get("number"):
        tables["messages"] = iter([result.messages])
    if request.events:
        tables["events"] = traces.events(scenario, raw)
    settings = {"engine": engine.name, "scenario": scenario.resolved(), "seed": result.seed}
    folder.manifest(settings, complete=False)
    folder.texts(files_of(scenario, ()))
    folder.frame("runs.parquet", result.rows)
    for name, frames in tables.items():
        folder.file(f"{name}.parquet", partial(write_parquet, frames))
    folder.manifest(settings)


def write_pcap(result: Result, path: Path) -> Path:
    """Writes the captured packets and returns the file's path."""
    return Folder.containing(path).file(path.name, lambda part: pcap.write(result, part))


def write_qlog(result: Result, path: Path) -> Path:
    """Writes the first flow's log and returns the file's path."""
    return Folder.containing(path).file(path.name, lambda part: qlog.write(result, part))
