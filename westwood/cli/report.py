# SPDX-License-Identifier: BSD-3-Clause
"""The command `report`: makes a page of a results folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from westwood.cli import figures
from westwood.cli.figures import ByOption, FigureOption, SizeOption, TitleOption
from westwood.cli.options import option, refuse_idle
from westwood.cli.streams import say
from westwood.errors import InputError
from westwood.results.columns import check_metric


def report(
    context: typer.Context,
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder that run --out or sweep wrote.")
    ],
    metric: Annotated[
        str, option(None, "COLUMN", "The column that the figure shows.")
    ] = "goodput_bps",
    by: ByOption = None,
    figure: FigureOption = None,
    title: TitleOption = None,
    size: SizeOption = None,
    export: Annotated[
        bool,
        option(None, None, "Also write CSV files for gnuplot, pgfplots and others.", "--export"),
    ] = False,
    row: Annotated[
        int | None, option(None, "N", "Only print the command that repeats row N of runs.parquet.")
    ] = None,
) -> None:
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
