# SPDX-License-Identifier: BSD-3-Clause
"""The commands that run scenarios: run, trace, compare, sweep. They hand their options on."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Annotated

import typer

from westwood.cli.options import (
    CcOption,
    EngineOption,
    JsonOption,
    OutOption,
    PlotOption,
    ResumeOption,
    ScenarioArgument,
    SeedsOption,
    SetOption,
    WorkersOption,
    settings_of,
    value_of,
)
from westwood.errors import InputError, Interrupted, UnavailableError

EveryOption = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Sample the trace so often; else a row a change."),
]
EventsOption = Annotated[
    bool, typer.Option("--events", help="Every segment and decision, too (with --out).")
]
FromOption = Annotated[
    str | None, typer.Option("--from", metavar="TIME", help="Draw from here on.")
]
PcapOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write the packets of a link as its first node sees them."),
]
CiOption = Annotated[
    str | None, typer.Option(metavar="2%", help="Add seeds until every 95 % interval is so narrow.")
]
DaskOption = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Run on a Dask cluster: its scheduler's tcp://HOST:8786."),
]


def run(
    scenario: ScenarioArgument,
    cc: CcOption = None,
    set_: SetOption = None,
    engine: EngineOption = "sim",
    seeds: SeedsOption = None,
    workers: WorkersOption = None,
    out: OutOption = None,
    plot: PlotOption = False,
    json: JsonOption = False,
) -> None:
    """Run a scenario, with every seed and every point of its sweep.

    Prints means over the seeds with 95 % intervals. --plot draws cwnd, ssthresh, estimate and RTT
    over time, in the run with the first seed, into DIR or the current folder.
    """
    from westwood import engines
    from westwood.cli import deliver
    from westwood.experiments import experiment
    from westwood.scenario import Scenario

    runs_it = engines.find(engine)
    planned = experiment.plan(
        Scenario.load(scenario), cc=cc or (), settings=settings_of(set_), seeds=seeds
    )
    deliver.carry_out(planned, workers, out, plot=plot and "over_time", json=json, engine=runs_it)


def trace(
    scenario: ScenarioArgument,
    cc: Annotated[str | None, typer.Option(metavar="NAME", help="Protocol of every flow.")] = None,
    set_: SetOption = None,
    engine: EngineOption = "sim",
    seed: Annotated[int, typer.Option(metavar="N", help="Of the run.")] = 1,
    every: EveryOption = None,
    events: EventsOption = False,
    from_: FromOption = None,
    to: Annotated[str | None, typer.Option(metavar="TIME", help="Draw up to here.")] = None,
    pcap: PcapOption = None,
    at: Annotated[str | None, typer.Option(metavar="LINK", help="Which link.")] = None,
    out: OutOption = None,
    plot: PlotOption = False,
) -> None:
    """Trace one run: windows, estimate, round trips, queues, every loss.

    --plot draws its panel, --out writes all of it as Parquet, --pcap its packets. The sweep of a
    scenario is left out. A recording of westwood kernel record (.parquet, .csv) is drawn as it is.
    """
    from westwood.kernel.recording import is_recording

    if is_recording(scenario):
        if not plot or any((cc, set_, every, events, pcap, at, out)):
            raise InputError("a recording takes --plot, --from and --to", source=scenario)
        from westwood.cli import recording_panel

        print(recording_panel.plot(Path(scenario), from_, to))
        return
    if not (plot or out or pcap):
        raise InputError("nothing to do, expected --plot, --out DIR or --pcap FILE")
    from westwood import engines
    from westwood.cli import tracing
    from westwood.results.folder import Folder

    runs_it = engines.find(engine)
    chosen, request = tracing.requested(
        scenario,
        cc=cc,
        settings=settings_of(set_),
        seed=seed,
        every=every,
        events=events,
        start=from_,
        end=to,
        pcap_file=pcap,
        at=at,
    )
    folder = Folder(out) if out else None
    result = tracing.run(chosen, request, runs_it)
    if folder:
        tracing.write(result, request, folder, runs_it)
        print(folder.path)
    if pcap:
        print(tracing.write_pcap(result, pcap))
    if plot:
        print(tracing.plot(result, request, folder or Folder.current()))


def compare(
    cc: CcOption = None,
    rate: Annotated[str | None, typer.Option(help="Of the path; 2Mbps if not given.")] = None,
    delay: Annotated[str | None, typer.Option(help="One way; 45ms if not given.")] = None,
    loss: Annotated[str | None, typer.Option(help="Of data packets; 0.005 if not given.")] = None,
    queue: Annotated[str | None, typer.Option(help="Packets or bytes; 100p if not given.")] = None,
    duration: Annotated[str | None, typer.Option(help="Simulated; 600s if not given.")] = None,
    set_: SetOption = None,
    engine: EngineOption = "sim",
    seeds: SeedsOption = None,
    workers: WorkersOption = None,
    out: OutOption = None,
    plot: PlotOption = False,
    json: JsonOption = False,
) -> None:
    """Compare protocols on one lossy path: a table, and with --plot bars with 95 % intervals.

    Without --cc: newreno, sack, westwood and westwood+. The scenario is the preset "path".
    """
    from westwood import engines
    from westwood.cli import deliver
    from westwood.experiments import experiment
    from westwood.scenario import Scenario

    runs_it = engines.find(engine)
    given = {
        "path.rate": rate,
        "path.delay": delay,
        "path.loss.rate": loss and value_of(loss),
        "path.queue.limit": queue,
        "duration": duration,
        "profile": runs_it.profile,
    }
    settings = {key: value for key, value in given.items() if value is not None}
    planned = experiment.plan(
        Scenario.preset("path"),
        cc=cc or ("newreno", "sack", "westwood", "westwood+"),
        settings={**settings, **settings_of(set_)},
        seeds=seeds,
    )
    deliver.carry_out(planned, workers, out, plot=plot and "bars", json=json, engine=runs_it)


def sweep(
    scenario: ScenarioArgument,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Results folder.")],
    resume: ResumeOption = False,
    cc: CcOption = None,
    set_: SetOption = None,
    engine: EngineOption = "sim",
    seeds: SeedsOption = None,
    ci: CiOption = None,
    metric: Annotated[str, typer.Option(metavar="COLUMN", help="Of --ci.")] = "goodput_bps",
    most: Annotated[int, typer.Option("--max-seeds", metavar="N", help="Of --ci.")] = 1000,
    dask: DaskOption = None,
    workers: WorkersOption = None,
    json: JsonOption = False,
) -> None:
    """Run a sweep into a folder, run by run: killed at any moment, it goes on with --resume.

    Writes runs.parquet, whose bytes do not depend on workers or interruptions.
    """
    from westwood import engines
    from westwood.cli import deliver
    from westwood.experiments import experiment
    from westwood.experiments import sweep as sweeping
    from westwood.results.folder import Folder
    from westwood.scenario import Scenario

    planned = experiment.plan(
        Scenario.load(scenario), cc=cc or (), settings=settings_of(set_), seeds=seeds
    )
    precision = sweeping.precision(value_of(ci), metric, most) if ci else None
    runs_it = engines.find(engine)
    elsewhere = None
    if dask and runs_it.real_time:
        raise UnavailableError(f"--engine {engine} runs on this machine only: leave --dask out")
    if dask:
        from westwood.experiments import cluster

        elsewhere = functools.partial(cluster.run_jobs, dask, engine=runs_it)
    rows, complete = sweeping.run(
        planned,
        Folder(out),
        resume=resume,
        workers=workers,
        precision=precision,
        track=deliver.tracker(runs_it, planned, workers),
        elsewhere=elsewhere,
        engine=runs_it,
    )
    if rows.is_empty():
        raise deliver.interrupted(None)
    deliver.print_summary(planned, rows, f"{planned.scenario.name}: {out}", json=json)
    if not complete:
        raise Interrupted(f"interrupted; --resume --out {out} goes on where it stopped")
