# SPDX-License-Identifier: BSD-3-Clause
"""The commands that run scenarios: run, trace, compare and sweep."""

from __future__ import annotations

import contextlib
import functools
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from westwood.cli import figures
from westwood.cli.figures import FigureOption, SizeOption, TitleOption
from westwood.cli.options import (
    FIGURE,
    OUTPUT,
    SCENARIO,
    CcOption,
    DaskOption,
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
    blamed_on_options,
    refuse_idle,
    settings_of,
    swept,
    value_of,
)
from westwood.cli.path_options import (
    DelayOption,
    LinkOption,
    ListedOption,
    LossOption,
    QueueOption,
    RateOption,
    RttOption,
    doubtful_losses,
    one_way,
)
from westwood.cli.streams import say
from westwood.draw.views import VIEWS, check_view
from westwood.errors import InputError, UnavailableError
from westwood.units import PS_PER_S

EveryOption = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="Sample the trace at this interval; default: a row per change.",
        rich_help_panel=OUTPUT,
    ),
]
EventsOption = Annotated[
    bool,
    typer.Option(
        "--events",
        help="With --out: also write every segment and decision.",
        rich_help_panel=OUTPUT,
    ),
]
FromOption = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="TIME",
        help="Draw from this time on; 0s draws the whole run. Default: a few sawteeth.",
        rich_help_panel=FIGURE,
    ),
]
ToOption = Annotated[
    str | None,
    typer.Option("--to", metavar="TIME", help="Draw up to this time.", rich_help_panel=FIGURE),
]
ViewOption = Annotated[
    str,
    typer.Option(
        "--view",
        metavar="|".join(VIEWS),
        help="; ".join(f"{name}: {one.shows}" for name, one in VIEWS.items()) + ".",
        rich_help_panel=FIGURE,
    ),
]
PcapOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write the packets of a link, as its first node sees them.",
        rich_help_panel=OUTPUT,
    ),
]
AtOption = Annotated[
    str | None,
    typer.Option(metavar="LINK", help="The link of --pcap.", rich_help_panel=OUTPUT),
]
CiOption = Annotated[
    str | None,
    typer.Option(
        metavar="2%",
        help="Add seeds until every 95 % interval is this narrow.",
        rich_help_panel=SCENARIO,
    ),
]
MetricOption = Annotated[
    str,
    typer.Option(
        metavar="COLUMN", help="The column whose interval --ci narrows.", rich_help_panel=SCENARIO
    ),
]
MaxSeedsOption = Annotated[
    int,
    typer.Option(
        "--max-seeds", metavar="N", help="Most seeds that --ci adds.", rich_help_panel=SCENARIO
    ),
]


DurationOption = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Simulated time; default: 600s.", rich_help_panel=SCENARIO),
]
SeedOption = Annotated[
    int, typer.Option(metavar="N", help="Seed of the run.", rich_help_panel=SCENARIO)
]
SweepOutOption = Annotated[
    Path, typer.Option(metavar="DIR", help="Results folder.", rich_help_panel=OUTPUT)
]


def run(
    context: typer.Context,
    scenario: ScenarioArgument,
    cc: CcOption = None,
    set_: SetOption = None,
    engine: EngineOption = "sim",
    seeds: SeedsOption = None,
    workers: WorkersOption = None,
    out: OutOption = None,
    plot: PlotOption = False,
    from_: FromOption = None,
    to: ToOption = None,
    figure: FigureOption = None,
    title: TitleOption = None,
    size: SizeOption = None,
    json: JsonOption = False,
    yes: YesOption = False,
) -> None:
    """Run a scenario and print means over its seeds with 95 % intervals."""
    from westwood import engines
    from westwood.cli import deliver
    from westwood.cli.options import span_s
    from westwood.experiments import experiment
    from westwood.scenario import Scenario

    runs_it = engines.find(engine)
    loaded, settings = Scenario.load(scenario), settings_of(set_)
    planned = experiment.plan(
        loaded, cc=cc or (), settings=settings, seeds=seeds, check_resources=not yes
    )
    wanted = figures.wanted(plot, figure, title, size)
    if not wanted:
        refuse_idle(context, "from_", "to", why="without --plot")
    shown = None
    if from_ is not None or to is not None:
        length_s = planned.scenario.duration / PS_PER_S
        shown = span_s(from_, to, (0.0, length_s), length_s)
    deliver.carry_out(
        planned,
        workers,
        out,
        figure=wanted,
        json=json,
        engine=runs_it,
        yes=yes,
        over_time=True,
        shown_s=shown,
    )


def trace(
    context: typer.Context,
    scenario: ScenarioArgument,
    cc: CcOption = None,
    set_: SetOption = None,
    engine: EngineOption = "sim",
    seed: SeedOption = 1,
    out: OutOption = None,
    every: EveryOption = None,
    events: EventsOption = False,
    pcap: PcapOption = None,
    at: AtOption = None,
    plot: PlotOption = False,
    view: ViewOption = "windows",
    from_: FromOption = None,
    to: ToOption = None,
    figure: FigureOption = None,
    title: TitleOption = None,
    size: SizeOption = None,
    yes: YesOption = False,
) -> None:
    """Trace one run: windows, estimate, round trips, queues and losses."""
    from westwood.kernel.reading import is_recording

    if is_recording(scenario):
        _plot_recording(context, scenario, figures.wanted(plot, figure, title, size), (from_, to))
        return
    _check_trace(context, bool(plot or figure), out, pcap, cc or ())
    from westwood import engines, extras

    wanted = figures.wanted(plot, figure, title, size)
    if out or pcap:
        extras.need("numpy", "--out" if out else "--pcap")
    from westwood.cli import tracing

    if wanted:
        check_view(view, "--view")
    runs_it = engines.find(engine)
    chosen, request = tracing.requested(
        scenario,
        cc=cc or (),
        settings=settings_of(set_),
        seed=seed,
        every=every,
        events=events,
        start=from_,
        end=to,
        pcap_file=pcap,
        at=at,
        only_packets=not (out or wanted),
        view=view,
    )
    tracing.carry_out(chosen, request, runs_it, out, figure=wanted, yes=yes)


def _check_trace(
    context: typer.Context,
    drawn: bool,
    out: Path | None,
    pcap: Path | None,
    cc: Sequence[str],
) -> None:
    if not (drawn or out or pcap):
        raise InputError("nothing to do, expected --plot, --out DIR or --pcap FILE")
    if not out:
        refuse_idle(context, "every", "events", why="without --out")
    if not drawn:
        refuse_idle(context, "from_", "to", "view", why="without --plot")
    if len(cc) > 1 and (out or pcap):
        raise InputError("expected one protocol with --out or --pcap", key="--cc", value=list(cc))


def _plot_recording(
    context: typer.Context,
    file: str,
    wanted: figures.Wanted | None,
    span: tuple[str | None, str | None],
) -> None:
    others = ("cc", "set_", "engine", "seed", "every", "events", "pcap", "at", "out", "view")
    if not wanted:
        raise InputError("a recording takes --plot, --from and --to", source=file)
    refuse_idle(context, *others, why="on a recording")
    from westwood.cli import recording_panel

    print(recording_panel.plot(Path(file), *span, wanted))


def compare(
    cc: CcOption = None,
    link: LinkOption = None,
    rate: RateOption = None,
    delay: DelayOption = None,
    rtt: RttOption = None,
    loss: LossOption = None,
    listed: ListedOption = False,
    queue: QueueOption = None,
    duration: DurationOption = None,
    set_: SetOption = None,
    engine: EngineOption = "sim",
    seeds: SeedsOption = None,
    workers: WorkersOption = None,
    out: OutOption = None,
    plot: PlotOption = False,
    figure: FigureOption = None,
    title: TitleOption = None,
    size: SizeOption = None,
    json: JsonOption = False,
    yes: YesOption = False,
) -> None:
    """Compare protocols on one lossy path."""
    from westwood import engines
    from westwood.cli import deliver
    from westwood.engines import listed_losses
    from westwood.experiments import experiment
    from westwood.scenario import named_path

    runs_it = engines.find(engine)
    given = {
        "path.kind": link,
        "path.rate": rate,
        "path.delay": one_way(delay, rtt),
        "path.loss.rate": loss,
        "path.queue.limit": queue,
    }
    settings = settings_of(set_)
    if runs_it.profile and "profile" not in settings:
        settings["profile"] = runs_it.profile
        say(f"--engine {engine} can't run the default profile: uses the profile {runs_it.profile}")
    if duration:
        settings.setdefault("duration", duration)
    for value in doubtful_losses(loss):
        say(f"--loss {value} is {100 * float(value):g} %: for {value} % write {value}%")
    with blamed_on_options(settings_of(set_)):
        planned = experiment.plan(
            swept(named_path.path(link), given),
            cc=cc or ("newreno", "sack", "westwood", "westwood+"),
            settings=settings,
            seeds=seeds,
            check_resources=not yes,
        )
    if listed:
        runs_it = listed_losses.listing(runs_it)
    elif engine != "sim" and listed_losses.has_random_losses(planned.scenario):
        say("each engine loses other packets; --listed-losses makes all lose the same ones")
    wanted = figures.wanted(plot, figure, title, size)
    deliver.carry_out(
        planned, workers, out, figure=wanted, json=json, engine=runs_it, yes=yes, listed=listed
    )


def sweep(
    context: typer.Context,
    scenario: ScenarioArgument,
    out: SweepOutOption,
    resume: ResumeOption = False,
    cc: CcOption = None,
    set_: SetOption = None,
    engine: EngineOption = "sim",
    seeds: SeedsOption = None,
    ci: CiOption = None,
    metric: MetricOption = "goodput_bps",
    most: MaxSeedsOption = 1000,
    dask: DaskOption = None,
    workers: WorkersOption = None,
    json: JsonOption = False,
    yes: YesOption = False,
) -> None:
    """Run every point of a scenario's sweep, and write each run as it ends."""
    from westwood import engines
    from westwood.cli import deliver, streams
    from westwood.experiments import experiment
    from westwood.experiments import sweep as sweeping
    from westwood.experiments.pairs import pairs_of_frame
    from westwood.results.folder import Folder
    from westwood.scenario import Scenario

    if ci is None:
        refuse_idle(context, "metric", "most", why="without --ci")
    loaded, settings = Scenario.load(scenario), settings_of(set_)
    planned = experiment.plan(
        loaded, cc=cc or (), settings=settings, seeds=seeds, check_resources=not yes
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
    means = experiment.summary(planned, rows).to_dicts()
    title = f"{planned.scenario.name}: {out}"
    compared = pairs_of_frame(planned, rows)
    deliver.print_summary(planned, rows.iter_rows(named=True), means, compared, title, json=json)
    if not json:
        streams.next_step(f"westwood report {shlex.quote(str(out))}")
