# SPDX-License-Identifier: BSD-3-Clause
"""The command `evaluate`: judges controls by published criteria, on one page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from westwood import extras
from westwood.cli import console, judging
from westwood.cli.judging import Judging, judges
from westwood.cli.options import (
    SCENARIO,
    control_arguments,
    control_options,
    disciplines,
    engines,
    option,
    protocols,
    refuse_idle,
    settings_of,
    several,
    split_names,
    starting,
    value_of,
)
from westwood.cli.streams import say
from westwood.control.catalogue import DROPTAIL, PROTOCOLS
from westwood.errors import InputError
from westwood.evaluation import suites
from westwood.units import option_seconds

if TYPE_CHECKING:
    from westwood.engines.contract import Engine
    from westwood.evaluation.criterion import Effort
    from westwood.evaluation.request import Request
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
_CcOption = Annotated[list[str] | None, control_options("Controls, as CC.")]
_AgainstOption = Annotated[
    str | None,
    option(
        SCENARIO,
        "NAME",
        "The reference of each comparison; default: cubic, with --queue droptail.",
        autocompletion=starting(protocols),
    ),
]
_QueueOption = Annotated[
    list[str] | None,
    several(
        SCENARIO,
        "NAME:KEY=VALUE,...",
        "Judge queue disciplines by RFC 7928 instead of controls; a setting may follow the name.",
        choices=disciplines,
    ),
]
_SuiteOption = Annotated[
    list[str] | None,
    several(
        SCENARIO,
        "NAME,...",
        f"Only these suites: {', '.join(suites.MODULES)}.",
        choices=lambda: suites.MODULES,
    ),
]
_QlogOption = Annotated[
    Path | None,
    option(
        SCENARIO,
        "FILE",
        "Judge a log of any QUIC stack instead, by the draft's cases that it can decide.",
    ),
]
_QuickOption = Annotated[
    bool, option(SCENARIO, None, "Fewer points, seeds and pictures.", "--quick")
]
_FullOption = Annotated[bool, option(SCENARIO, None, "All parts, and more seeds.", "--full")]
_PathsOption = Annotated[
    int | None,
    option(
        SCENARIO,
        "N",
        "Number of paths of the benchmark's largest parts; default: 60, with --full 400.",
    ),
]
_ForOption = Annotated[
    str, option(SCENARIO, "TIME", "How long --suite check calls the control in any order.", "--for")
]
_VaryOption = Annotated[
    list[str] | None,
    option(
        SCENARIO,
        "NAME:KEY=VALUE,...",
        "Also evaluate a control, such as ./mine.c, with each of these values of a setting.",
    ),
]
_AlsoOption = Annotated[
    str | None,
    option(
        SCENARIO,
        "ENGINE",
        "Also ask this engine, such as linux-um, whether it confirms verdicts of sharing.",
        autocompletion=starting(engines),
    ),
]
_FreshOption = Annotated[
    bool,
    option(
        SCENARIO, None, "Use a seed set that none of these controls was judged with.", "--fresh"
    ),
]


@judges(
    set_="Change a setting of the controls, such as cc.filter=none; may be repeated.",
    only="Only these criteria.",
    names=_criteria,
    out="Write the page into this folder; without it nothing is kept.",
)
def evaluate(
    context: typer.Context,
    asked: Judging,
    cc: _CcArgument = None,
    cc_: _CcOption = None,
    queue: _QueueOption = None,
    against: _AgainstOption = None,
    suite: _SuiteOption = None,
    qlog: _QlogOption = None,
    quick: _QuickOption = False,
    full: _FullOption = False,
    paths: _PathsOption = None,
    for_: _ForOption = "5s",
    vary: _VaryOption = None,
    also: _AlsoOption = None,
    fresh: _FreshOption = False,
) -> None:
    extras.need("numpy", "evaluate")
    from westwood.evaluation import page, text
    from westwood.evaluation.running import Evaluation
    from westwood.results.folder import Folder
    from westwood.results.store import interruptible

    _refuse_clashes(context, fresh, qlog, queue, asked.out)
    engine = asked.checked(context)
    if qlog is None:
        names = [*(split_names(cc) or []), *(cc_ or [])]
        controls = (
            [_discipline(text, "--queue") for text in dict.fromkeys(queue)]
            if queue
            else _controls(names, asked.set_, vary, engine)
        )
        reference = _reference(against, bool(queue), engine)
        effort, chosen = _effort(quick, full, paths, for_), None if fresh else asked.seed
        request = _request(
            controls, reference, (suite or (), asked.only or ()), chosen, effort, engine
        )
        request = replace(request, also=_second(also, request)) if also else request
    else:
        request = _of_log(qlog, asked.only)
    with ExitStack() as stack:
        folder = asked.out or Path(stack.enter_context(TemporaryDirectory(prefix="westwood-")))
        evaluation = Evaluation(request, Folder(folder, tell=say))
        evaluation.check()
        stack.enter_context(evaluation.opened(resume=asked.resume))
        with interruptible(evaluation.folder if asked.out else None, lambda: evaluation.kept):
            with judging.connected(asked.dask) as client:
                evaluation.run_all(asked.workers, console.track, client)
            answers = {control: evaluation.answers(control) for control in request.controls}
            with console.working(f"{evaluation.kept} are there; judging and drawing"):
                written = page.write(evaluation, answers) if asked.out else None
    try:
        asked.tell(
            lambda: page.as_json(answers, evaluation),
            lambda: text.markdown(answers, evaluation),
            lambda: print(text.table(answers, evaluation, shows_all=bool(asked.only))),
            written,
        )
    finally:  # the page is there, whatever became of the table
        if qlog is None:
            evaluation.note_look()
    if any((suite, asked.only, qlog)) and text.failed_tests(answers):
        raise typer.Exit(1)


def _second(name: str, request: Request) -> Engine:
    """Returns the engine of --also."""
    from westwood.engines import find
    from westwood.evaluation.request import is_sharing

    if request.engine.name != "sim" or name == "sim":
        raise InputError("expected another engine than the simulator's", key="--also", value=name)
    if not any(is_sharing(row) for all_ in request.criteria.values() for row in all_):
        raise InputError("has no effect without criteria of sharing", key="--also", value=name)
    return find(name, "--also")


def _of_log(file: Path, only: list[str] | None) -> Request:
    """Returns what judges a log by the draft's cases."""
    from westwood.evaluation import catalogue, criterion
    from westwood.evaluation.draft import logs
    from westwood.evaluation.draft import suite as draft
    from westwood.evaluation.request import Request
    from westwood.experiments.control import Control

    _, parts = catalogue.chosen(only or (), criterion.USUAL, [draft.NAME])
    parts = [draft.of_log(logs.read(file), part, str(file)) for part in parts]
    return Request([Control(file.name)], Control("cubic"), {}, parts, criterion.USUAL, 1)


def _refuse_clashes(
    context: typer.Context,
    fresh: bool,
    qlog: Path | None,
    queue: list[str] | None,
    out: Path | None,
) -> None:
    if queue:
        of_controls = ("cc", "cc_", "set_", "vary", "paths", "for_", "also", "qlog")
        refuse_idle(context, *of_controls, why="with --queue")
    if out is None:
        refuse_idle(context, "resume", why="without --out")
    if qlog is not None:
        idle = ("cc", "cc_", "set_", "suite", "against", "engine", "seed", "fresh", "resume")
        more = ("dask", "workers", "quick", "full", "paths", "vary", "for_", "also")
        refuse_idle(context, *idle, *more, why="with --qlog")
    if fresh:
        refuse_idle(context, "seed", why="with --fresh")


def _effort(quick: bool, full: bool, paths: int | None, for_: str) -> Effort:
    from westwood.evaluation import criterion
    from westwood.evaluation.paths import MOST_PATHS

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
    named = [*PROTOCOLS] if list(names) == [ALL] else dict.fromkeys(names)
    controls = [_control(name, settings_of(set_), engine) for name in named]
    for varied in vary or ():
        name, colon, setting = varied.partition(":")
        key, equals, values = setting.partition("=")
        if not (colon and equals and name and key and values):
            problem = "expected NAME:KEY=VALUE,..., such as westwood+:filter=none"
            raise InputError(problem, key="--vary", value=varied)
        for value in values.split(","):
            controls.append(_control(name, {key: value_of(value.strip())}, engine, "--vary"))
    if not controls:
        raise InputError("is missing, expected a control such as westwood+", key="CC")
    return controls


def _reference(against: str | None, of_queues: bool, engine: Engine) -> Control:
    """Returns what each control or discipline is compared with."""
    if of_queues:
        return _discipline(against or DROPTAIL, "--against")
    return _control(against or "cubic", {}, engine, "--against")


def _discipline(text: str, key: str) -> Control:
    """Reads NAME or NAME:KEY=VALUE:KEY=VALUE."""
    from westwood.evaluation.discipline import discipline

    name, *changes = text.split(":")
    settings = {}
    for change in changes:
        setting, _, value = change.partition("=")
        if not (setting and value):
            problem = "expected NAME:KEY=VALUE, such as codel:target=10ms"
            raise InputError(problem, key=key, value=text)
        settings[setting] = value_of(value)
    return discipline(name, settings, key)


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
    from westwood.evaluation.discipline import Discipline
    from westwood.evaluation.request import MOST_LOOKS, Request

    seed = ledger.fresh(controls) if seed is None else seed
    if not 1 <= seed <= MOST_LOOKS:
        raise InputError(f"expected 1 to {MOST_LOOKS}", key="--seed", value=seed)
    suites, only = names_asked
    of_queues = isinstance(reference, Discipline)
    criteria, harnesses = catalogue.chosen(only, effort, suites, of_queues=of_queues)
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
