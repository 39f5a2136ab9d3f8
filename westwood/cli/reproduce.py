# SPDX-License-Identifier: BSD-3-Clause
"""The command `reproduce`: judges the papers' claims, or with --infer searches their settings."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from westwood import extras
from westwood.cli import judging
from westwood.cli.judging import Judging, judges
from westwood.cli.options import SeedsOption, option, refuse_idle, settings_of
from westwood.errors import InputError

if TYPE_CHECKING:
    from westwood.papers.infer.report import InferenceReport

FOLDER, INFERRED = Path("report"), Path("inferred")  # by default; INFERRED has one for each paper
_SETTINGS = 2000  # tried by default
_PANEL = "What a paper may have run"

_WhatOption = Annotated[
    str | None,
    typer.Argument(metavar="all|fig5|fading|...", help="The experiment.  [default: all]"),
]
_QuickOption = Annotated[bool, option(None, None, "Run three seeds per point.", "--quick")]
_InferOption = Annotated[
    str | None,
    option(
        _PANEL,
        "PAPER",
        "Instead search the settings that a paper leaves open: ns3-2013, mobicom-2001, "
        "plateau or linux-2003.",
    ),
]
_SettingsOption = Annotated[int, option(_PANEL, "N", "Number of settings to try.")]


def _names() -> list[str]:
    from westwood.papers.studies import STUDIES, names_of

    return names_of(STUDIES)


@judges(
    set_="Change a setting of every scenario, such as duration=60s; may be repeated.",
    only="Only these experiments or claims, such as fig5,mobicom.fading.",
    names=_names,
    out=f"Results folder; default: {FOLDER}, with --infer {INFERRED}/PAPER.",
)
def reproduce(
    context: typer.Context,
    asked: Judging,
    what: _WhatOption = None,
    seeds: SeedsOption = None,
    quick: _QuickOption = False,
    infer: _InferOption = None,
    settings: _SettingsOption = _SETTINGS,
) -> None:
    from westwood.engines import NAMES

    if asked.engine != "sim" and asked.engine in NAMES:
        problem = "expected sim, whose windows the papers' figures show; a scenario alone runs with"
        problem += f" westwood run PRESET --engine {asked.engine}"
        raise InputError(problem, key="--engine", value=asked.engine)
    asked.checked(context)
    if infer is None:
        refuse_idle(context, "settings", why="without --infer")
        _reproduce(asked, what, seeds, quick=quick)
    else:
        refuse_idle(context, "what", "seeds", "quick", "set_", "only", why="with --infer")
        _infer(asked, infer, settings)


def _reproduce(asked: Judging, what: str | None, seeds: int | None, *, quick: bool) -> None:
    from westwood.cli import console

    extras.need("matplotlib", "reproduce")
    from westwood.papers import claims
    from westwood.papers import reproduce as reproduction
    from westwood.results.folder import Folder
    from westwood.results.kinds import ResultKind

    if not (what or asked.only or quick or asked.resume):
        console.ask("reproduce all: 14 000 runs, a minute on two idle cores")
    planned = reproduction.select(
        what or reproduction.ALL,
        asked.only or (),
        seeds=seeds,
        quick=quick,
        settings=settings_of(asked.set_),
        seed_set=asked.seed,
    )
    folder = Folder(asked.out or FOLDER, kind=ResultKind.REPRODUCTION)
    with judging.connected(asked.dask) as client:
        done = reproduction.run(
            planned,
            folder,
            workers=asked.workers,
            track=console.track,
            resume=asked.resume,
            client=client,
        )
    asked.tell(
        lambda: {"claims": done.entries},
        lambda: claims.markdown(done.verdicts),
        lambda: console.print_verdicts(done.verdicts),
        done.page,
    )


def _infer(asked: Judging, paper: str, settings: int) -> None:
    """Searches the settings that a paper leaves open, and prints the results for its claims."""
    extras.need("optuna", "reproduce --infer")
    from westwood.cli import console, streams
    from westwood.papers.infer import space, study
    from westwood.results.folder import Folder

    open_ = space.of(paper)
    out = asked.out or INFERRED / paper
    with judging.runner(asked.dask, asked.workers) as run:
        folder = Folder(out, tell=streams.say)
        began, busy = time.monotonic(), time.process_time()
        report, runs = study.run(
            open_,
            folder,
            settings=settings,
            seed=asked.seed,
            resume=asked.resume,
            run_jobs=run,
            track=console.track,
        )
    if runs:
        took = f"{time.monotonic() - began:.0f} s, {time.process_time() - busy:.0f} s of a core"
        streams.say(f"{runs} runs in {took}")
    page = out / "papers.md"
    asked.tell(
        lambda: report.data, lambda: page.read_text(encoding="utf-8"), lambda: _print(report), page
    )


def _print(report: InferenceReport) -> None:
    from westwood.cli import tables

    heads = ("claim", "profile", "inferred", "all settings")
    rows = tuple(
        (claim, *(verdict.claim for verdict in report.verdicts(claim)), report.elsewhere(claim))
        for claim, row in report.claims.items()
    )
    count, held = len(report.claims), report.holding("inferred")
    title = f"{report.paper}: {held} of {count} hold in one of {report.settings} settings:"
    tables.print_texts(tables.Cells(heads, rows), title)
    differs = report.open.differs(report.inferred)
    print("That setting has otherwise than the profile:" if differs else "It is the profile.")
    for key, value in differs.items():
        print(f"  {report.what(key)}: {value}")
