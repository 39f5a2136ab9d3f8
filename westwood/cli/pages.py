# SPDX-License-Identifier: BSD-3-Clause
"""The commands that end in a page: report, validate, reproduce."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from westwood.cli import inferring
from westwood.cli.options import (
    ResumeOption,
    SeedsOption,
    WorkersOption,
    refuse_idle,
)
from westwood.cli.runs import DaskOption


def report(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="What run --out or sweep wrote.")],
    metric: Annotated[str, typer.Option(metavar="COLUMN", help="Of the figure.")] = "goodput_bps",
    export: Annotated[
        bool, typer.Option("--export", help="Write CSV files for gnuplot, pgfplots and others.")
    ] = False,
    row: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Only print the command that runs row N of runs.parquet again."
        ),
    ] = None,
) -> None:
    """Make a page of a results folder, with a figure.

    Python has the same data as an array: westwood.Results.read(DIR).to_xarray().
    """
    from westwood.cli.streams import say
    from westwood.experiments.readback import Results

    if row is not None:
        refuse_idle(context, "metric", "export", without="the page, which --row does not make")
    results = Results.read(folder, tell=say)
    if row is not None:
        print(results.command(row))
        return
    print(results.write_page(metric))
    for file in results.export() if export else ():
        print(file)


def validate(
    engine: Annotated[
        str, typer.Option(metavar="ns3|ns2|linux", help="What it is held against.")
    ] = "ns3",
    grid: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this grid of the engine's; may be repeated."),
    ] = None,
    seeds: SeedsOption = None,
    workers: WorkersOption = None,
    duration: Annotated[str | None, typer.Option(metavar="TIME", help="Of every run.")] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Results folder.")] = Path("validation"),
) -> None:
    """Hold the simulator against another engine.

    Prints a table and draws a scatter plot of each grid. ns3 has the grids single, lossless,
    dumbbell, aqm and short, an hour together on two cores; ns2 has 2001 and 2005, the profiles of
    these years, and 2001-own and 2005-own with what ns-2 does beyond them, half an hour, and by
    name 2002 and 2002-varying, for an ns with UCLA's module, two minutes; linux has single,
    lossless, dumbbell, short, upstream and westwood-cubic, 33 minutes, and by name short-queues, 22
    minutes. --seeds is of points in which a seed draws something.
    """
    from westwood import engines, extras
    from westwood.cli import console
    from westwood.errors import Interrupted

    extras.need("matplotlib", "validate")
    from westwood.experiments import validation
    from westwood.experiments.validation import compare, page
    from westwood.experiments.validation.grid import plan
    from westwood.results.folder import Folder
    from westwood.results.kinds import ResultKind

    grids = validation.chosen(engine, grid or ())
    other = engines.find(engine)
    planned = {name: plan(one, seeds, duration) for name, one in grids.items()}
    for experiment in planned.values():
        other.check(experiment.jobs)
    folder = Folder(out, kind=ResultKind.VALIDATION)
    done: list[compare.Validation] = []
    with folder.locked():  # before the hour that it takes
        for name, one in grids.items():
            came = compare.run(
                name, planned[name], one, other, workers=workers, track=console.track
            )
            if came is None:
                raise Interrupted(f"interrupted; {len(done)} of {len(grids)} grids were finished")
            print(came, flush=True)
            done.append(came)
        print(page.write(done, engine, planned, folder))


_ReproducedOption = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="DIR", help="Results folder; report, or inferred/PAPER of --infer."
    ),
]


def reproduce(
    context: typer.Context,
    what: Annotated[
        str, typer.Argument(metavar="all|fig5|fading|...", help="Which experiment.")
    ] = "all",
    seeds: SeedsOption = None,
    quick: Annotated[bool, typer.Option("--quick", help="Three seeds a point.")] = False,
    infer: Annotated[
        str | None,
        typer.Option(
            metavar="PAPER",
            help="Search all that a paper leaves open instead: ns3-2013, mobicom-2001, plateau or "
            "linux-2003.",
        ),
    ] = None,
    settings: Annotated[
        int, typer.Option(metavar="N", help="Of --infer: how many are tried.")
    ] = inferring.SETTINGS,
    seed: Annotated[int, typer.Option(metavar="N", help="Of --infer: of what is proposed.")] = 1,
    resume: ResumeOption = False,
    dask: DaskOption = None,
    workers: WorkersOption = None,
    out: _ReproducedOption = None,
) -> None:
    """Reproduce published experiments and check the papers' claims.

    Writes index.html, the figures, their data, every run and claims.json; prints what holds and
    what differs. With --infer it searches the settings that a paper leaves open for those under
    which its claims hold, and writes PAPER.json and papers.md; --resume goes on after any end.
    """
    if infer is not None:
        refuse_idle(context, "what", "seeds", "quick", without="the experiments themselves")
        inferring.infer(
            infer,
            settings=settings,
            seed=seed,
            resume=resume,
            dask=dask,
            workers=workers,
            out=out,
        )
        return
    refuse_idle(context, "settings", "seed", "resume", "dask", without="--infer")
    from westwood import extras
    from westwood.cli import console, deliver, streams

    extras.need("matplotlib", "reproduce")
    from westwood.papers import reproduce as reproduction
    from westwood.results.folder import Folder
    from westwood.results.kinds import ResultKind

    planned = reproduction.select(what, seeds=seeds, quick=quick)
    folder = Folder(out or Path("report"), kind=ResultKind.REPRODUCTION)
    streams.say(f"{planned.runs} runs, here about {console.span(planned.about_s(workers))}")
    done = reproduction.run(planned, folder, workers=workers, track=console.track)
    if done is None:
        raise deliver.interrupted(folder)
    console.print_verdicts(done.verdicts)
    print(done.page)
