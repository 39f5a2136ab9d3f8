# SPDX-License-Identifier: BSD-3-Clause
"""The command `evaluate`: judges controls by published criteria, on one page."""

from __future__ import annotations

import json as writer
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from westwood.cli.options import (
    OUTPUT,
    SCENARIO,
    DaskOption,
    EngineOption,
    JsonOption,
    ResumeOption,
    WorkersOption,
    control_arguments,
    control_options,
    control_setting_options,
    protocols,
    refuse_idle,
    settings_of,
    split_names,
    starting,
)
from westwood.errors import InputError, UnavailableError

if TYPE_CHECKING:
    from westwood.engines.contract import Engine
    from westwood.evaluation.criterion import Effort
    from westwood.evaluation.running import Evaluation, Request
    from westwood.experiments.control import Control


def _parts() -> list[str]:
    from westwood.evaluation.catalogue import PARTS

    return list(PARTS)


def _criteria() -> list[str]:
    from westwood.evaluation.catalogue import PARTS, names_of

    return [name for part in PARTS.values() for name in names_of(part)]


_CcArgument = Annotated[
    list[str] | None,
    control_arguments("Controls of westwood list protocols, or files such as ./mine.c."),
]
_CcOption = Annotated[
    list[str] | None,
    control_options("Controls, as CC."),
]
_AgainstOption = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="The reference, with which each control is compared.",
        autocompletion=starting(protocols),
        rich_help_panel=SCENARIO,
    ),
]
_SettingOption = Annotated[
    list[str] | None,
    control_setting_options("the controls", "cc.filter=none"),
]
_SuiteOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME,...",
        help="Only these suites: basics, rfc9743, c4, prudentia, regressions, population, tcpeval, "
        "draft.",
        autocompletion=starting(_parts),
        callback=split_names,
        rich_help_panel=SCENARIO,
    ),
]
_QlogOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Judge a log of any QUIC stack instead, by the draft's cases that it can decide.",
        rich_help_panel=SCENARIO,
    ),
]
_OnlyOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME,...",
        help="Only these criteria.",
        autocompletion=starting(_criteria),
        callback=split_names,
        rich_help_panel=SCENARIO,
    ),
]
_QuickOption = Annotated[
    bool,
    typer.Option("--quick", help="Fewer points, seeds and pictures.", rich_help_panel=SCENARIO),
]
_FullOption = Annotated[
    bool,
    typer.Option("--full", help="All parts, and more seeds.", rich_help_panel=SCENARIO),
]
_SeedOption = Annotated[
    int,
    typer.Option(metavar="N", help="Seed set to use.", rich_help_panel=SCENARIO),
]
_FreshOption = Annotated[
    bool,
    typer.Option(
        "--fresh",
        help="Use a seed set that none of these controls was judged with.",
        rich_help_panel=SCENARIO,
    ),
]
_OutOption = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="Write the page into this folder.  [required]", rich_help_panel=OUTPUT
    ),
]
_MarkdownOption = Annotated[
    bool,
    typer.Option(
        "--markdown", help="Print text for a pull request instead.", rich_help_panel=OUTPUT
    ),
]


def evaluate(
    context: typer.Context,
    cc: _CcArgument = None,
    cc_: _CcOption = None,
    set_: _SettingOption = None,
    against: _AgainstOption = "cubic",
    suite: _SuiteOption = None,
    only: _OnlyOption = None,
    qlog: _QlogOption = None,
    quick: _QuickOption = False,
    full: _FullOption = False,
    seed: _SeedOption = 1,
    fresh: _FreshOption = False,
    engine: EngineOption = "sim",
    resume: ResumeOption = False,
    dask: DaskOption = None,
    workers: WorkersOption = None,
    out: _OutOption = None,
    markdown: _MarkdownOption = False,
    json: JsonOption = False,
) -> None:
    from westwood import extras

    extras.need("numpy", "evaluate")
    from westwood.cli.streams import say
    from westwood.engines.pool import check_workers
    from westwood.evaluation import page, text
    from westwood.evaluation.running import Evaluation
    from westwood.results.folder import Folder
    from westwood.results.store import interrupted

    if out is None:
        raise InputError("is missing, expected a folder for the page", key="--out")
    _refuse_clashes(context, json, fresh, qlog)
    names = [*(split_names(cc) or []), *(cc_ or [])]
    chosen = None if fresh else seed
    runs_it, asked = _engine(engine, dask), (suite or (), only or ())
    request = (
        _request(names, set_, against, asked, chosen, _effort(quick, full), runs_it)
        if qlog is None
        else _of_log(qlog, only)
    )
    check_workers(workers, "--workers")
    evaluation = Evaluation(request, Folder(out, tell=say))
    evaluation.check()
    with evaluation.opened(resume=resume):
        try:
            _go(evaluation, workers, dask)
            answers = {one: evaluation.answers(one) for one in request.controls}
            written = page.write(evaluation, answers)
        except KeyboardInterrupt:
            raise interrupted(evaluation.folder, f"{evaluation.finished} results") from None
    write = text.markdown if markdown else text.table
    shown = writer.dumps(page.as_json(answers, evaluation)) if json else write(answers, evaluation)
    try:
        print(shown if json or markdown else f"{shown}\n{written}")
    finally:  # the page is there, whatever became of the table
        if qlog is None:
            evaluation.note_look()
    if any((suite, only, qlog)) and text.failed_tests(answers):
        raise typer.Exit(1)


def _of_log(file: Path, only: list[str] | None) -> Request:
    """Returns what judges a log by the draft's cases."""
    from westwood.evaluation import catalogue, criterion
    from westwood.evaluation.draft import logs
    from westwood.evaluation.draft import suite as draft
    from westwood.evaluation.running import Request
    from westwood.experiments.control import Control

    _, parts = catalogue.chosen(only or (), criterion.USUAL, [draft.NAME])
    parts = [draft.of_log(logs.read(file), part, str(file)) for part in parts]
    return Request([Control(file.name)], Control("cubic"), {}, parts, criterion.USUAL, 1)


def _refuse_clashes(context: typer.Context, json: bool, fresh: bool, qlog: Path | None) -> None:
    if qlog is not None:
        idle = ("cc", "cc_", "set_", "suite", "against", "engine", "seed", "fresh", "resume")
        refuse_idle(context, *idle, "dask", "workers", "quick", "full", why="with --qlog")
    if json:
        refuse_idle(context, "markdown", why="with --json")
    if fresh:
        refuse_idle(context, "seed", "resume", why="with --fresh")


def _engine(name: str, dask: str | None) -> Engine:
    from westwood import engines

    found = engines.find(name)
    if dask and found.real_time:
        raise UnavailableError(f"--engine {name} runs on this machine only: leave --dask out")
    return found


def _effort(quick: bool, full: bool) -> Effort:
    from westwood.evaluation import criterion

    if quick and full:
        raise InputError("can't be set together with --quick", key="--full")
    return criterion.QUICK if quick else criterion.FULL if full else criterion.USUAL


def _request(
    names: Sequence[str],
    set_: list[str] | None,
    against: str,
    names_asked: tuple[Sequence[str], Sequence[str]],
    seed: int | None,
    effort: Effort,
    engine: Engine,
) -> Request:
    """Checks the options; without a seed it takes a fresh one."""
    from westwood.evaluation import catalogue, ledger
    from westwood.evaluation.running import MOST_LOOKS, Request

    if not names:
        raise InputError("is missing, expected a control such as westwood+", key="CC")
    controls = [_control(name, set_, engine) for name in dict.fromkeys(names)]
    seed = ledger.fresh(controls) if seed is None else seed
    if not 1 <= seed <= MOST_LOOKS:
        raise InputError(f"expected 1 to {MOST_LOOKS}", key="--seed", value=seed)
    reference = _control(against, None, engine, "--against")
    suites, only = names_asked
    criteria, harnesses = catalogue.chosen(only, effort, suites)
    if not criteria and not any(engine.name in part.engines for part in harnesses):
        problem = f"runs on {', '.join(harnesses[0].engines)} only, leave --engine out"
        given = "--suite" if suites else "--only"
        raise InputError(problem, key=given, value=",".join(suites or only))
    effort = effort.in_real_time() if engine.real_time else effort
    return Request(controls, reference, criteria, harnesses, effort, seed, engine)


def _control(name: str, set_: list[str] | None, engine: Engine, key: str = "CC") -> Control:
    from westwood.experiments.control import control
    from westwood.scenario.stacks import is_stack, split

    asked = control(name, settings_of(set_), key=key)
    if split(name)[0] and not is_stack(engine.name):
        problem = "is a control of a QUIC stack, expected --engine quinn or noq"
        raise InputError(problem, key=key, value=name)
    return asked


def _go(evaluation: Evaluation, workers: int | None, dask: str | None) -> None:
    """Runs what is missing."""
    from westwood.cli import console
    from westwood.experiments import cluster

    with ExitStack() as stack:
        client = stack.enter_context(cluster.connected(dask)) if dask else None
        evaluation.go(workers, console.track, client)
