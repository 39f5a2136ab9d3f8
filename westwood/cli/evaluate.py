# SPDX-License-Identifier: BSD-3-Clause
"""The command `evaluate`: judges controls by published criteria, on one page."""

from __future__ import annotations

import json as writer
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

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
    value_of,
)
from westwood.errors import InputError, UnavailableError
from westwood.evaluation import suites

if TYPE_CHECKING:
    from westwood.engines.contract import Engine
    from westwood.evaluation.criterion import Effort
    from westwood.evaluation.running import Evaluation, Request
    from westwood.evaluation.text import Answers
    from westwood.experiments.control import Control


ALL = "all"
_LONGEST_CALLS_S = 3600


def _criteria() -> list[str]:
    from westwood.evaluation.catalogue import PARTS, names_of

    return [name for part in PARTS.values() for name in names_of(part)]


_CcArgument = Annotated[
    list[str] | None,
    control_arguments(
        "Controls of westwood list protocols, or files such as ./mine.c; all: each of that list."
    ),
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
        help=f"Only these suites: {', '.join(suites.MODULES)}.",
        autocompletion=starting(lambda: suites.MODULES),
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
_PathsOption = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Number of paths of the benchmark's largest parts; default: 60, with --full 400.",
        rich_help_panel=SCENARIO,
    ),
]
_ForOption = Annotated[
    str,
    typer.Option(
        "--for",
        metavar="TIME",
        help="How long --suite check calls the control in any order.",
        rich_help_panel=SCENARIO,
    ),
]
_VaryOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME:KEY=VALUE,...",
        help="Also evaluate a control with each of these values of a setting.",
        rich_help_panel=SCENARIO,
    ),
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
        metavar="DIR",
        help="Write the page into this folder; without it nothing is kept.",
        rich_help_panel=OUTPUT,
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
    paths: _PathsOption = None,
    for_: _ForOption = "5s",
    vary: _VaryOption = None,
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
    from westwood.results.store import interruptible

    _refuse_clashes(context, json, fresh, qlog, out)
    runs_it = _engine(engine, dask)
    if qlog is None:
        controls = _controls([*(split_names(cc) or []), *(cc_ or [])], set_, vary, runs_it)
        reference = _control(against, {}, runs_it, "--against")
        effort, chosen = _effort(quick, full, paths, for_), None if fresh else seed
        request = _request(controls, reference, (suite or (), only or ()), chosen, effort, runs_it)
    else:
        request = _of_log(qlog, only)
    check_workers(workers, "--workers")
    with ExitStack() as stack:
        folder = out or Path(stack.enter_context(TemporaryDirectory(prefix="westwood-")))
        evaluation = Evaluation(request, Folder(folder, tell=say))
        evaluation.check()
        stack.enter_context(evaluation.opened(resume=resume))
        with interruptible(evaluation.folder if out else None, lambda: evaluation.finished):
            _run_all(evaluation, workers, dask)
            answers = {control: evaluation.answers(control) for control in request.controls}
            written = page.write(evaluation, answers) if out else None
    try:
        _print(evaluation, answers, written, json=json, markdown=markdown)
    finally:  # the page is there, whatever became of the table
        if qlog is None:
            evaluation.note_look()
    if any((suite, only, qlog)) and text.failed_tests(answers):
        raise typer.Exit(1)


def _print(
    evaluation: Evaluation, answers: Answers, written: Path | None, *, json: bool, markdown: bool
) -> None:
    """Prints the answers; below a table stands where the page is."""
    from westwood.evaluation import page, text

    if json:
        print(writer.dumps(page.as_json(answers, evaluation)))
    elif markdown:
        print(text.markdown(answers, evaluation))
    else:
        table = text.table(answers, evaluation)
        print(f"{table}\n{written}" if written else table)


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


def _refuse_clashes(
    context: typer.Context, json: bool, fresh: bool, qlog: Path | None, out: Path | None
) -> None:
    if out is None:
        refuse_idle(context, "resume", why="without --out")
    if qlog is not None:
        idle = ("cc", "cc_", "set_", "suite", "against", "engine", "seed", "fresh", "resume")
        more = ("dask", "workers", "quick", "full", "paths", "vary", "for_")
        refuse_idle(context, *idle, *more, why="with --qlog")
    if json:
        refuse_idle(context, "markdown", why="with --json")
    if fresh:
        refuse_idle(context, "seed", "resume", why="with --fresh")


def _engine(name: str, dask: str | None) -> Engine:
    from westwood import engines

    engine = engines.find(name)
    if dask and engine.real_time:
        raise UnavailableError(f"--engine {name} runs on this machine only: leave --dask out")
    return engine


def _effort(quick: bool, full: bool, paths: int | None, for_: str) -> Effort:
    from westwood.evaluation import criterion
    from westwood.evaluation.paths import MOST_PATHS
    from westwood.units import option_seconds

    calls_s = option_seconds("--for", for_, 0.0)
    if calls_s > _LONGEST_CALLS_S:
        raise InputError("expected at most an hour", key="--for", value=for_)
    if quick and full:
        raise InputError("can't be set together with --quick", key="--full")
    if paths is not None and not 1 <= paths <= MOST_PATHS:
        raise InputError(f"expected 1 to {MOST_PATHS}", key="--paths", value=paths)
    effort = criterion.QUICK if quick else criterion.FULL if full else criterion.USUAL
    return replace(effort, paths=paths or effort.paths, calls_s=calls_s)


def _controls(
    names: Sequence[str], set_: list[str] | None, vary: list[str] | None, engine: Engine
) -> list[Control]:
    """Returns the named controls, then one for each value of --vary."""
    from westwood.control.catalogue import PROTOCOLS

    named = [*PROTOCOLS] if list(names) == [ALL] else dict.fromkeys(names)
    controls = [_control(name, settings_of(set_), engine) for name in named]
    for option in vary or ():
        name, colon, setting = option.partition(":")
        key, equals, values = setting.partition("=")
        if not (colon and equals and name and key and values):
            problem = "expected NAME:KEY=VALUE,..., such as westwood+:filter=none"
            raise InputError(problem, key="--vary", value=option)
        for value in values.split(","):
            controls.append(_control(name, {key: value_of(value.strip())}, engine, "--vary"))
    if not controls:
        raise InputError("is missing, expected a control such as westwood+", key="CC")
    return controls


def _request(
    controls: list[Control],
    reference: Control,
    names_asked: tuple[Sequence[str], Sequence[str]],
    seed: int | None,
    effort: Effort,
    engine: Engine,
) -> Request:
    """Checks the options; without a seed it takes a fresh one."""
    from westwood.evaluation import catalogue, ledger
    from westwood.evaluation import paths as benchmark
    from westwood.evaluation.benchmark.targets import Target
    from westwood.evaluation.criterion import EFFORTS
    from westwood.evaluation.running import MOST_LOOKS, Request

    seed = ledger.fresh(controls) if seed is None else seed
    if not 1 <= seed <= MOST_LOOKS:
        raise InputError(f"expected 1 to {MOST_LOOKS}", key="--seed", value=seed)
    suites, only = names_asked
    criteria, harnesses = catalogue.chosen(only, effort, suites)
    if not criteria and not any(engine.name in part.engines for part in harnesses):
        problem = f"runs on {', '.join(harnesses[0].engines)} only, leave --engine out"
        given = "--suite" if suites else "--only"
        raise InputError(problem, key=given, value=",".join(suites or only))
    if effort.paths != EFFORTS[effort.name].paths and benchmark.NAME not in criteria:
        raise InputError("has no effect without rows of the benchmark", key="--paths")
    rows = [row for row in criteria.get(benchmark.NAME, ()) if isinstance(row, Target)]
    benchmark.check_memory(rows, len(controls), effort.paths)
    effort = effort.in_real_time() if engine.real_time else effort
    return Request(controls, reference, criteria, harnesses, effort, seed, engine)


def _control(name: str, settings: Mapping[str, Any], engine: Engine, key: str = "CC") -> Control:
    from westwood.experiments.control import control
    from westwood.scenario.stacks import is_stack, split

    asked = control(name, settings, key=key)
    if split(name)[0] and not is_stack(engine.name):
        problem = "is a control of a QUIC stack, expected --engine quinn or noq"
        raise InputError(problem, key=key, value=name)
    return asked


def _run_all(evaluation: Evaluation, workers: int | None, dask: str | None) -> None:
    """Runs what is missing."""
    from westwood.cli import console
    from westwood.experiments import cluster

    with ExitStack() as stack:
        client = stack.enter_context(cluster.connected(dask)) if dask else None
        evaluation.run_all(workers, console.track, client)
