# SPDX-License-Identifier: BSD-3-Clause
"""The commands that end in a page: report, validate, reproduce."""

from __future__ import annotations

import json as writer
from pathlib import Path
from typing import Annotated

import typer

from westwood.cli import figures, inferring
from westwood.cli.figures import ByOption, FigureOption, SizeOption, TitleOption
from westwood.cli.options import (
    DaskOption,
    JsonOption,
    ResumeOption,
    SeedsOption,
    WorkersOption,
    refuse_idle,
    split_names,
)
from westwood.errors import InputError
from westwood.results.columns import check_metric


def report(
    context: typer.Context,
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder that run --out or sweep wrote.")
    ],
    metric: Annotated[
        str, typer.Option(metavar="COLUMN", help="The column that the figure shows.")
    ] = "goodput_bps",
    by: ByOption = None,
    figure: FigureOption = None,
    title: TitleOption = None,
    size: SizeOption = None,
    export: Annotated[
        bool,
        typer.Option("--export", help="Also write CSV files for gnuplot, pgfplots and others."),
    ] = False,
    row: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Only print the command that repeats row N of runs.parquet."
        ),
    ] = None,
) -> None:
    from westwood.cli.streams import say
    from westwood.experiments.readback import Results
    from westwood.experiments.summary_plots import check_by

    if row is not None:
        idle = ("metric", "export", "by", "figure", "title", "size")
        refuse_idle(context, *idle, why="with --row")
    given = bool(by or figure or title is not None or size)
    wanted = figures.wanted(given, figure, title, size)
    results = Results.read(folder, tell=say)
    if row is not None:
        try:
            print(results.command(row))
        except InputError as error:
            raise error.located(key="--row") from None
        return
    check_metric(metric)
    drawn = None
    if wanted:
        if by is not None:
            check_by(by, results.keys, "--by")
        drawn = results.plot(metric, by=by)
    if wanted and wanted.file and drawn:
        print(wanted.save(drawn, None, metric))
    else:
        print(results.write_page(metric, figure=wanted.adapt(drawn) if wanted and drawn else None))
    for file in results.export() if export else ():
        print(file)


def validate(
    engine: Annotated[
        str, typer.Option(metavar="ns3|ns2|linux|quinn|noq", help="The engine to compare with.")
    ] = "ns3",
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME,...",
            help="Only these grids: for ns3 single, lossless, dumbbell, aqm, short, bbr; for ns2 "
            "2001, 2005, 2001-own, 2005-own, 2002, 2002-varying; for linux single, lossless, "
            "dumbbell, short, upstream, westwood-cubic, short-queues, lossy, bbr, quic, "
            "quic-short; for quinn and noq cubic, short.",
            callback=split_names,
        ),
    ] = None,
    seeds: SeedsOption = None,
    resume: ResumeOption = False,
    workers: WorkersOption = None,
    duration: Annotated[
        str | None, typer.Option(metavar="TIME", help="Length of every run; default: the grid's.")
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Results folder.")] = Path("validation"),
    json: JsonOption = False,
) -> None:
    from westwood import engines, extras
    from westwood.cli import console

    extras.need("matplotlib", "validate")
    from westwood.experiments import validation
    from westwood.experiments.kept import KeptRuns
    from westwood.experiments.validation import compare, page
    from westwood.experiments.validation.grid import plan
    from westwood.results.folder import Folder
    from westwood.results.kinds import ResultKind

    grids = validation.chosen(engine, only or ())
    if not (only or resume):
        console.ask(f"all grids of --engine {engine}: {validation.TIMES[engine]} on two cores")
    other = engines.find(engine)
    planned = {name: plan(grid, seeds, duration) for name, grid in grids.items()}
    for experiment in planned.values():
        other.check(experiment.jobs)
    folder = Folder(out, kind=ResultKind.VALIDATION)
    done: list[compare.Validation] = []
    kept = KeptRuns(folder, "validation", {"engine": [other.name, other.title]})
    with kept.opened(page.about(engine, planned), resume=resume):  # checked before an hour of runs
        for name, grid_plan in grids.items():
            done.append(
                compare.run(
                    name,
                    planned[name],
                    grid_plan,
                    other,
                    workers=workers,
                    track=console.track,
                    kept=kept,
                )
            )
            page.keep(done, engine, planned, folder)
            if not json:
                print(done[-1], flush=True)
        written = page.write(done, engine, planned, folder)
        kept.finish()
    print(
        writer.dumps([entry for finished in done for entry in finished.entries()])
        if json
        else written
    )


INFERENCE = "What a paper may have run"

_ReproducedOption = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        help="Results folder; default: report, with --infer inferred/PAPER.",
    ),
]

_WhatOption = Annotated[
    str | None,
    typer.Argument(metavar="all|fig5|fading|...", help="The experiment.  [default: all]"),
]
_QuickOption = Annotated[bool, typer.Option("--quick", help="Run three seeds per point.")]
_InferOption = Annotated[
    str | None,
    typer.Option(
        metavar="PAPER",
        help="Instead search the settings that a paper leaves open: ns3-2013, mobicom-2001, "
        "plateau or linux-2003.",
        rich_help_panel=INFERENCE,
    ),
]
_SettingsOption = Annotated[
    int,
    typer.Option(metavar="N", help="Number of settings to try.", rich_help_panel=INFERENCE),
]
_SeedOption = Annotated[
    int,
    typer.Option(metavar="N", help="Seed of the proposals.", rich_help_panel=INFERENCE),
]


def reproduce(
    context: typer.Context,
    what: _WhatOption = None,
    seeds: SeedsOption = None,
    quick: _QuickOption = False,
    infer: _InferOption = None,
    settings: _SettingsOption = inferring.SETTINGS,
    seed: _SeedOption = 1,
    resume: ResumeOption = False,
    dask: DaskOption = None,
    workers: WorkersOption = None,
    out: _ReproducedOption = None,
) -> None:
    if infer is not None:
        refuse_idle(context, "what", "seeds", "quick", why="with --infer")
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
    refuse_idle(context, "settings", "seed", "dask", why="without --infer")
    from westwood import extras
    from westwood.cli import console

    extras.need("matplotlib", "reproduce")
    from westwood.papers import reproduce as reproduction
    from westwood.results.folder import Folder
    from westwood.results.kinds import ResultKind

    if what is None and not (quick or resume):
        console.ask("reproduce all: 14 000 runs, a minute on two idle cores")
    planned = reproduction.select(what or "all", seeds=seeds, quick=quick)
    folder = Folder(out or Path("report"), kind=ResultKind.REPRODUCTION)
    done = reproduction.run(planned, folder, workers=workers, track=console.track, resume=resume)
    console.print_verdicts(done.verdicts)
    print(done.page)
