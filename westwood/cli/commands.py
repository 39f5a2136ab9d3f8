# SPDX-License-Identifier: BSD-3-Clause
"""The command line: reads options, hands them on, prints what comes back. No arithmetic here.

Exit codes: 0 done, 1 a run failed, 2 bad usage or input, 77 something is lacking, 130 interrupted.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer

from westwood import __version__
from westwood.cli import kernel as kernel_cli
from westwood.cli.options import (
    CcOption,
    EngineOption,
    JsonOption,
    OutOption,
    PlotOption,
    SeedsOption,
    SetOption,
    WorkersOption,
)
from westwood.errors import (
    InputError,
    Interrupted,
    RunError,
    UnavailableError,
    WestwoodError,
    one_line,
)

# click.ClickException, wherever this version of typer keeps its click
_UsageError: Any = typer.BadParameter.__mro__[2]

app = typer.Typer(
    no_args_is_help=True, add_completion=False, rich_markup_mode=None,
    help="TCP Westwood and its family, simulated.",
    epilog="Example: westwood run table1 --cc newreno --cc westwood+ --plot",
)  # fmt: skip

app.add_typer(kernel_cli.app, name="kernel")


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        print(f"westwood {__version__}")
        raise typer.Exit


@app.command(epilog="Example: westwood run table1 --cc newreno --cc westwood+ --seeds 10 --plot")
def run(
    scenario: Annotated[str, typer.Argument(metavar="FILE|PRESET",
                                            help="A TOML file, or a scenario's name.")],
    cc: CcOption = None, set_: SetOption = None, engine: EngineOption = "sim",
    seeds: SeedsOption = None, workers: WorkersOption = None, out: OutOption = None,
    plot: PlotOption = False, json: JsonOption = False,
) -> None:  # fmt: skip
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
        Scenario.load(scenario), cc=cc or (), settings=_settings(set_), seeds=seeds
    )
    deliver.carry_out(planned, workers, out, plot=plot and "over_time", json=json, engine=runs_it)


@app.command(epilog="Example: westwood trace table1 --cc westwood+ --set duration=60s --plot")
def trace(
    scenario: Annotated[str, typer.Argument(metavar="FILE|PRESET",
                                            help="A TOML file, or a scenario's name.")],
    cc: Annotated[str | None, typer.Option(metavar="NAME", help="Protocol of every flow.")] = None,
    set_: SetOption = None, engine: EngineOption = "sim",
    seed: Annotated[int, typer.Option(metavar="N", help="Of the run.")] = 1,
    every: Annotated[str | None, typer.Option(
        metavar="TIME", help="Sample the trace so often; else a row a change.")] = None,
    events: Annotated[bool, typer.Option(
        "--events", help="Every segment and decision, too (with --out).")] = False,
    from_: Annotated[str | None, typer.Option("--from", metavar="TIME",
                                              help="Draw from here on.")] = None,
    to: Annotated[str | None, typer.Option(metavar="TIME", help="Draw up to here.")] = None,
    pcap: Annotated[Path | None, typer.Option(
        metavar="FILE", help="Write the packets of a link as its first node sees them.")] = None,
    at: Annotated[str | None, typer.Option(metavar="LINK", help="Which link.")] = None,
    out: OutOption = None, plot: PlotOption = False,
) -> None:  # fmt: skip
    """Trace one run: windows, estimate, round trips, queues, every loss.

    --plot draws its panel, --out writes all of it as Parquet, --pcap its packets. The sweep of a
    scenario is left out. A recording of westwood kernel record (.parquet, .csv) is drawn as it is.
    """
    from westwood.kernel.recording import is_recording

    if is_recording(scenario):
        if not plot or any((cc, set_, every, events, pcap, at, out)):
            raise InputError("a recording takes --plot, --from and --to", source=scenario)
        from westwood.cli import recorded_panel

        print(recorded_panel.plot(Path(scenario), from_, to))
        return
    if not (plot or out or pcap):
        raise InputError("nothing to do, expected --plot, --out DIR or --pcap FILE")
    from westwood import engines
    from westwood.cli import tracing
    from westwood.results.store import Folder

    runs_it = engines.find(engine)
    chosen, request = tracing.prepare(
        scenario, cc=cc, settings=_settings(set_), seed=seed, every=every, events=events,
        start=from_, end=to, pcap_file=pcap, at=at,
    )  # fmt: skip
    folder = Folder(out) if out else None
    result = tracing.run(chosen, request, runs_it)
    if folder:
        tracing.write(result, request, folder, runs_it)
        print(folder.path)
    if pcap:
        print(tracing.write_pcap(result, pcap))
    if plot:
        print(tracing.plot(result, request, folder or Folder.current()))


@app.command(epilog="Example: westwood compare --loss 1% --cc newreno --cc westwood+ --plot")
def compare(
    cc: CcOption = None,
    rate: Annotated[str | None, typer.Option(help="Of the path; 2Mbps if not given.")] = None,
    delay: Annotated[str | None, typer.Option(help="One way; 45ms if not given.")] = None,
    loss: Annotated[str | None, typer.Option(help="Of data packets; 0.005 if not given.")] = None,
    queue: Annotated[str | None, typer.Option(help="Packets or bytes; 100p if not given.")] = None,
    duration: Annotated[str | None, typer.Option(help="Simulated; 600s if not given.")] = None,
    set_: SetOption = None, engine: EngineOption = "sim", seeds: SeedsOption = None,
    workers: WorkersOption = None,
    out: OutOption = None, plot: PlotOption = False, json: JsonOption = False,
) -> None:  # fmt: skip
    """Compare protocols on one lossy path: a table, and with --plot bars with 95 % intervals.

    Without --cc: newreno, sack, westwood and westwood+. The scenario is the preset "path".
    """
    from westwood import engines
    from westwood.cli import deliver
    from westwood.experiments import experiment
    from westwood.scenario import Scenario

    runs_it = engines.find(engine)
    given = {
        "path.rate": rate, "path.delay": delay, "path.loss.rate": loss and _value(loss),
        "path.queue.limit": queue, "duration": duration, "profile": runs_it.profile,
    }  # fmt: skip
    settings = {key: value for key, value in given.items() if value is not None}
    planned = experiment.plan(
        Scenario.preset("path"), cc=cc or ("newreno", "sack", "westwood", "westwood+"),
        settings={**settings, **_settings(set_)}, seeds=seeds,
    )  # fmt: skip
    deliver.carry_out(planned, workers, out, plot=plot and "bars", json=json, engine=runs_it)


@app.command(epilog="Example: westwood sweep fading --seeds 5 --out fading")
def sweep(
    scenario: Annotated[str, typer.Argument(metavar="FILE|PRESET",
                                            help="A TOML file, or a scenario's name.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Results folder.")],
    resume: Annotated[bool, typer.Option("--resume", help="Go on with what is in DIR.")] = False,
    cc: CcOption = None, set_: SetOption = None, engine: EngineOption = "sim",
    seeds: SeedsOption = None,
    ci: Annotated[str | None, typer.Option(
        metavar="2%", help="Add seeds until every 95 % interval is so narrow.")] = None,
    metric: Annotated[str, typer.Option(metavar="COLUMN", help="Of --ci.")] = "goodput_bps",
    most: Annotated[int, typer.Option("--max-seeds", metavar="N", help="Of --ci.")] = 1000,
    dask: Annotated[str | None, typer.Option(
        metavar="ADDRESS", help="Run on a Dask cluster: its scheduler's tcp://HOST:8786.")] = None,
    workers: WorkersOption = None, json: JsonOption = False,
) -> None:  # fmt: skip
    """Run a sweep into a folder, run by run: killed at any moment, it goes on with --resume.

    Writes runs.parquet, whose bytes do not depend on workers or interruptions.
    """
    from westwood import engines
    from westwood.cli import console, deliver
    from westwood.experiments import experiment
    from westwood.experiments import sweep as sweeping
    from westwood.results.store import Folder
    from westwood.scenario import Scenario

    planned = experiment.plan(
        Scenario.load(scenario), cc=cc or (), settings=_settings(set_), seeds=seeds
    )
    precision = sweeping.precision(ci, metric, most) if ci else None
    runs_it = engines.find(engine)
    runner = None
    if dask and runs_it.real_time:
        raise UnavailableError(f"--engine {engine} runs on this machine only: leave --dask out")
    if dask:
        from westwood.experiments import cluster

        runner = functools.partial(cluster.runner, dask, engine=runs_it)
    rows, complete = sweeping.run(
        planned, Folder(out), resume=resume, workers=workers, precision=precision,
        track=deliver.tracker(runs_it, planned, workers), runner=runner, engine=runs_it,
    )  # fmt: skip
    if rows.is_empty():
        raise deliver.interrupted(None)
    summary = experiment.summary(planned, rows)
    if json:
        console.print_json(rows, summary)
    else:
        keys = [key for key in planned.varied if key in summary.columns]
        console.print_summary(summary, keys, f"{planned.scenario.name}: {out}")
    if not complete:
        raise Interrupted(f"interrupted; --resume --out {out} goes on where it stopped")


@app.command(epilog="Example: westwood measure bari --uploads 3 --out bari")
def measure(
    plan: Annotated[str, typer.Argument(metavar="FILE|PRESET",
                                        help="A plan in TOML, or a plan's name: bari.")],
    uploads: Annotated[int | None, typer.Option(
        metavar="N", help="Of each protocol and session, instead of the plan's.")] = None,
    target: Annotated[list[str] | None, typer.Option(
        metavar="NAME", help="Only this one of the plan's; may be repeated.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with what is in DIR.")] = False,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Results folder.")] = Path("measurement"),
    json: JsonOption = False,
) -> None:  # fmt: skip
    """Upload files in turn under two or more protocols: to iperf3 servers or over emulated paths.

    Prints the gain over the last protocol, pipe sizes and retransmissions of every path, and
    writes every upload, its trace, figures and a page.
    """
    from westwood.campaign import measure
    from westwood.campaign.plan import Plan
    from westwood.cli import campaign, console
    from westwood.results.store import Folder

    chosen = Plan.load(plan)
    todo = measure.turns(chosen, target, uploads)
    outcome = measure.run(chosen, todo, Folder(out), resume=resume, track=console.track)
    page = campaign.deliver(chosen, outcome, Folder(out), json=json)
    print(page, file=sys.stderr if json else sys.stdout)
    campaign.check_complete(chosen, outcome, out)


@app.command(epilog="Example: westwood report fading --metric goodput_bps --export")
def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="What run --out or sweep wrote.")],
    metric: Annotated[str, typer.Option(metavar="COLUMN", help="Of the figure.")] = "goodput_bps",
    export: Annotated[bool, typer.Option(
        "--export", help="Write CSV files for gnuplot, pgfplots and others.")] = False,
    row: Annotated[int | None, typer.Option(
        metavar="N", help="Only print the command that runs row N of runs.parquet again.")] = None,
) -> None:  # fmt: skip
    """Make a page of a results folder: index.html with a figure over what was swept.

    Python has the same data as an array: westwood.Results.read(DIR).to_xarray().
    """
    from westwood.experiments.readback import Results

    results = Results.read(folder)
    if row is not None:
        print(results.command(row))
        return
    print(results.write_page(metric))
    for file in results.export() if export else ():
        print(file)


@app.command(epilog="Example: westwood validate --engine ns3 --seeds 10 --out validation")
def validate(
    engine: EngineOption = "ns3", seeds: SeedsOption = None, workers: WorkersOption = None,
    duration: Annotated[str | None, typer.Option(metavar="TIME", help="Of every run.")] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Results folder.")] = Path("validation"),
) -> None:  # fmt: skip
    """Hold the simulator against another engine: a grid, a table and a scatter plot.

    Against ns3 56 points, 10 seeds of 60 s; against linux 42 points, 5 seeds of 30 s.
    """
    if engine == "sim":
        raise InputError("expected another engine than the simulator", key="--engine", value=engine)
    from westwood import engines
    from westwood.cli import console, deliver
    from westwood.experiments import validation
    from westwood.results.store import Folder

    other = engines.find(engine)
    grid = validation.GRIDS[engine]
    planned = validation.plan(grid, seeds, duration)
    folder = Folder(out)
    done = validation.run(planned, grid, other, workers=workers, track=console.track)
    if done is None:
        raise deliver.interrupted(None)
    page = validation.write(done, engine, planned, folder)
    print(done)
    print(page)


@app.command(epilog="Example: westwood reproduce fig5 --quick")
def reproduce(
    what: Annotated[str, typer.Argument(metavar="all|fig5|fading|...",
                                        help="Which experiment.")] = "all",
    seeds: SeedsOption = None,
    quick: Annotated[bool, typer.Option("--quick", help="Three seeds a point.")] = False,
    workers: WorkersOption = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Results folder.")] = Path("report"),
) -> None:  # fmt: skip
    """Reproduce published experiments and check the papers' claims about them.

    Writes index.html, the figures, their data, every run and claims.json; prints what holds and
    what differs.
    """
    from westwood.cli import console, deliver
    from westwood.papers import reproduce as reproduction
    from westwood.results.store import Folder

    planned = reproduction.plan(what, seeds=seeds, quick=quick)
    folder = Folder(out)
    done = reproduction.run(planned, folder, workers=workers, track=console.track)
    if done is None:
        raise deliver.interrupted(folder)
    console.print_verdicts(done.verdicts)
    print(done.page)


def _settings(options: list[str] | None) -> dict[str, Any]:
    """`--set KEY=VALUE`, the value read as TOML where it is TOML and as text where it isn't."""
    settings = {}
    for option in options or ():
        key, equals, value = option.partition("=")
        if not equals or not key.strip():
            raise InputError("expected KEY=VALUE, such as duration=200s", key="--set", value=option)
        settings[key.strip()] = _value(value.strip())
    return settings


def _value(text: str) -> Any:
    try:
        parsed = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    return parsed["value"] if list(parsed) == ["value"] else text


def call(arguments: list[str]) -> int:
    """Runs a command line; its exit code. Errors that we foresaw are one line on standard error."""
    from westwood.cli.console import say

    try:
        code = app(args=arguments, prog_name="westwood", standalone_mode=False)
    except WestwoodError as error:
        say(str(error))
        return error.exit_code
    except _UsageError as error:
        say(one_line(error.format_message()))
        return 2
    except (KeyboardInterrupt, typer.Abort):
        return Interrupted.exit_code
    return code if isinstance(code, int) else 0


def main() -> None:
    """Entry point of `westwood`."""
    try:
        code = call(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of our output is gone, as with `| head`
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    if code in (RunError.exit_code, Interrupted.exit_code):
        sys.stderr.flush()
        os._exit(code)  # runs in progress can't be stopped, and leaving would wait for them
    sys.exit(code)
