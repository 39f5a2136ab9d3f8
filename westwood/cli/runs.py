# SPDX-License-Identifier: BSD-3-Clause
"""The commands that run scenarios: run, trace, compare, sweep. They hand their options on."""

from __future__ import annotations

import contextlib
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
    YesOption,
    refuse_idle,
    settings_of,
    value_of,
)
from westwood.errors import InputError, UnavailableError

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
    yes: YesOption = False,
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
        Scenario.load(scenario), cc=cc or (), settings=settings_of(set_), seeds=seeds, yes=yes
    )
    deliver.carry_out(
        planned, workers, out, plot=plot and "over_time", json=json, engine=runs_it, yes=yes
    )


def trace(
    context: typer.Context,
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
    yes: YesOption = False,
) -> None:
    """Trace one run: windows, estimate, round trips, queues, every loss.

    --plot draws its panel, --out writes all of it as Parquet, --pcap its packets. The sweep of a
    scenario is left out. A recording of westwood kernel record (.parquet, .csv) is drawn as it is.
    """
    from westwood.kernel.reading import is_recording

    if is_recording(scenario):
        _plot_recording(context, scenario, plot, (from_, to))
        return
    if not (plot or out or pcap):
        raise InputError("nothing to do, expected --plot, --out DIR or --pcap FILE")
    if not out:
        refuse_idle(context, "every", "events", without="--out")
    if not plot:
        refuse_idle(context, "from_", "to", without="--plot")
    from westwood import engines
    from westwood.cli import tracing

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
        only_packets=not (out or plot),
    )
    tracing.carry_out(chosen, request, runs_it, out, plot=plot, yes=yes)


def _plot_recording(
    context: typer.Context, file: str, plot: bool, span: tuple[str | None, str | None]
) -> None:
    from westwood.cli import recording_panel

    others = ("cc", "set_", "engine", "seed", "every", "events", "pcap", "at", "out")
    if not plot:
        raise InputError("a recording takes --plot, --from and --to", source=file)
    refuse_idle(context, *others, without="a scenario: this is a recording")
    print(recording_panel.plot(Path(file), *span))


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
    yes: YesOption = False,
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
        yes=yes,
    )
    deliver.carry_out(
        planned, workers, out, plot=plot and "bars", json=json, engine=runs_it, yes=yes
    )


def sweep(
    context: typer.Context,
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
    yes: YesOption = False,
) -> None:
    """Run a sweep into a folder, run by run: killed at any moment, it goes on with --resume.

    Writes runs.parquet, whose bytes do not depend on workers or interruptions.
    """
    from westwood import engines
    from westwood.cli import deliver, streams
    from westwood.experiments import experiment
    from westwood.experiments import sweep as sweeping
    from westwood.results.folder import Folder
    from westwood.scenario import Scenario

    if ci is None:
        refuse_idle(context, "metric", "most", without="--ci")
    planned = experiment.plan(
        Scenario.load(scenario), cc=cc or (), settings=settings_of(set_), seeds=seeds, yes=yes
    )
    precision = None if ci is None else sweeping.precision(value_of(ci), metric, most)
    runs_it = engines.find(engine)
    if dask and runs_it.real_time:
        raise UnavailableError(f"--engine {engine} runs on this machine only: leave --dask out")
    with contextlib.ExitStack() as stack:
        elsewhere = None
        if dask:
            from westwood.experiments import cluster

            client = stack.enter_context(cluster.connected(dask))
            elsewhere = functools.partial(cluster.run_jobs, client, engine=runs_it)
        rows = sweeping.run(
            planned,
            Folder(out, tell=streams.say),
            resume=resume,
            workers=workers,
            precision=precision,
            track=deliver.tracker(runs_it, planned, workers, yes=yes or dask is not None),
            elsewhere=elsewhere,
            engine=runs_it,
        )
    deliver.print_summary(planned, rows, f"{planned.scenario.name}: {out}", json=json)
