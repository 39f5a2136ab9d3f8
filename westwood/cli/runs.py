# SPDX-License-Identifier: BSD-3-Clause
"""The commands that run scenarios: run, compare and sweep."""

from __future__ import annotations

import functools
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from westwood.cli import figures, options, path_options
from westwood.cli.figures import ByOption, FigureOption, SizeOption, TitleOption
from westwood.cli.streams import say
from westwood.results.folder import Folder
from westwood.units import PS_PER_S

if TYPE_CHECKING:
    from westwood.engines.contract import Engine
    from westwood.experiments.experiment import Experiment

FromOption = Annotated[
    str | None,
    options.option(
        options.FIGURE,
        "TIME",
        "Draw from this time on; 0s draws the whole run. Default: a few sawteeth.",
        "--from",
    ),
]
ToOption = Annotated[
    str | None, options.option(options.FIGURE, "TIME", "Draw up to this time.", "--to")
]
CiOption = Annotated[
    str | None,
    options.option(options.SCENARIO, "2%", "Add seeds until every 95 % interval is this narrow."),
]
MetricOption = Annotated[
    str, options.option(options.SCENARIO, "COLUMN", "The column whose interval --ci narrows.")
]
MaxSeedsOption = Annotated[
    int, options.option(options.SCENARIO, "N", "Most seeds of a point with --ci.", "--max-seeds")
]


DurationOption = Annotated[
    str | None, options.option(options.SCENARIO, "TIME", "Simulated time; default: 600s.")
]
SeedOption = Annotated[int, options.option(options.SCENARIO, "N", "Seed of the run.")]
SweepOutOption = Annotated[Path, options.option(options.OUTPUT, "DIR", "Results folder.")]


def run(
    context: typer.Context,
    scenario: options.ScenarioArgument,
    cc: options.CcOption = None,
    set_: options.SetOption = None,
    engine: options.EngineOption = "sim",
    seeds: options.SeedsOption = None,
    workers: options.WorkersOption = None,
    out: options.OutOption = None,
    plot: options.PlotOption = False,
    from_: FromOption = None,
    to: ToOption = None,
    figure: FigureOption = None,
    title: TitleOption = None,
    size: SizeOption = None,
    json: options.JsonOption = False,
    yes: options.YesOption = False,
) -> None:
    from westwood.cli import deliver

    runs_it, planned = _planned(scenario, cc, set_, engine, seeds, yes=yes)
    wanted = figures.wanted(plot, figure, title, size)
    if not wanted:
        options.refuse_idle(context, "from_", "to", why="without --plot")
    shown_s = options.drawn_s(from_, to, planned.scenario.duration / PS_PER_S)
    output: dict[str, Any] = {"figure": wanted, "json": json, "over_time": True, "shown_s": shown_s}
    deliver.carry_out(planned, workers, out, engine=runs_it, yes=yes, **output)


def _planned(
    scenario: str,
    cc: list[str] | None,
    set_: list[str] | None,
    engine: str,
    seeds: int | None,
    *,
    yes: bool,
) -> tuple[Engine, Experiment]:
    """Returns the engine of `run` and `sweep`, and what it runs."""
    from westwood import engines
    from westwood.experiments import experiment
    from westwood.scenario import Scenario

    runs_it = engines.find(engine)
    loaded, settings = Scenario.load(scenario), options.settings_of(set_)
    if "profile" not in loaded.given():
        _complete(settings, runs_it)
    planned = experiment.plan(
        loaded, cc=cc or (), settings=settings, seeds=seeds, check_resources=not yes
    )
    return runs_it, planned


def _complete(settings: dict[str, Any], engine: Engine) -> None:
    """Takes the engine's profile where the user named none, and says so."""
    if engine.profile and "profile" not in settings:
        settings["profile"] = engine.profile
        problem = f"--engine {engine.name} can't run the default profile"
        say(f"{problem}: uses the profile {engine.profile}")


def compare(
    cc: options.CcOption = None,
    link: path_options.LinkOption = None,
    rate: path_options.RateOption = None,
    delay: path_options.DelayOption = None,
    rtt: path_options.RttOption = None,
    loss: path_options.LossOption = None,
    listed: path_options.ListedOption = False,
    queue: path_options.QueueOption = None,
    duration: DurationOption = None,
    set_: options.SetOption = None,
    engine: options.EngineOption = "sim",
    seeds: options.SeedsOption = None,
    workers: options.WorkersOption = None,
    out: options.OutOption = None,
    plot: options.PlotOption = False,
    by: ByOption = None,
    figure: FigureOption = None,
    title: TitleOption = None,
    size: SizeOption = None,
    json: options.JsonOption = False,
    yes: options.YesOption = False,
) -> None:
    from westwood import engines
    from westwood.cli import deliver
    from westwood.engines import listed_losses
    from westwood.experiments import experiment
    from westwood.scenario import named_path

    runs_it = engines.find(engine)
    given = {
        "path.kind": link,
        "path.rate": rate,
        "path.delay": path_options.one_way(delay, rtt),
        "path.loss.rate": loss,
        "path.queue.limit": queue,
    }
    settings = options.settings_of(set_)
    _complete(settings, runs_it)
    if duration:
        settings.setdefault("duration", duration)
    for value in path_options.doubtful_losses(loss):
        say(f"--loss {value} is {100 * float(value):g} %: for {value} % write {value}%")
    with options.blamed_on_options(options.settings_of(set_)):
        planned = experiment.plan(
            options.swept(named_path.path(link), given),
            cc=cc or ("newreno", "sack", "westwood", "westwood+"),
            settings=settings,
            seeds=seeds,
            check_resources=not yes,
        )
    if listed:
        runs_it = listed_losses.listing(runs_it)
    elif engine != "sim" and listed_losses.has_random_losses(planned.scenario):
        say("each engine loses other packets; --listed-losses makes all lose the same ones")
    wanted = figures.wanted(plot, figure, title, size, by)
    if by is not None:
        from westwood.experiments.summary_plots import check_by

        check_by(by, [key for key in planned.varied if not key.endswith(".cc")], "--by")
    deliver.carry_out(
        planned, workers, out, figure=wanted, json=json, engine=runs_it, yes=yes, listed=listed
    )


def sweep(
    context: typer.Context,
    scenario: options.ScenarioArgument,
    out: SweepOutOption,
    resume: options.ResumeOption = False,
    cc: options.CcOption = None,
    set_: options.SetOption = None,
    engine: options.EngineOption = "sim",
    seeds: options.SeedsOption = None,
    ci: CiOption = None,
    metric: MetricOption = "goodput_bps",
    most: MaxSeedsOption = 1000,
    dask: options.DaskOption = None,
    workers: options.WorkersOption = None,
    json: options.JsonOption = False,
    yes: options.YesOption = False,
) -> None:
    from westwood.cli import deliver, judging, streams
    from westwood.experiments import cluster, experiment
    from westwood.experiments import sweep as sweeping
    from westwood.experiments.pairs import pairs_of_frame

    if ci is None:
        options.refuse_idle(context, "metric", "most", why="without --ci")
    runs_it, planned = _planned(scenario, cc, set_, engine, seeds, yes=yes)
    precision = (
        None
        if ci is None
        else sweeping.precision(options.value_of(ci), metric, most, planned.scenario.seeds)
    )
    if dask:
        judging.check_elsewhere(runs_it)
    with judging.connected(dask) as client:
        rows = sweeping.run(
            planned,
            Folder(out, tell=streams.say),
            resume=resume,
            workers=workers,
            precision=precision,
            track=deliver.tracker(runs_it, planned, workers, yes=yes or dask is not None),
            elsewhere=client and functools.partial(cluster.run_jobs, client, engine=runs_it),
            engine=runs_it,
        )
    means = experiment.summary(planned, rows).to_dicts()
    title = f"{planned.scenario.name}: {out}"
    compared = pairs_of_frame(planned, rows)
    deliver.print_summary(planned, rows.iter_rows(named=True), means, compared, title, json=json)
    if not json:
        streams.next_step(f"westwood report {shlex.quote(str(out))}")
