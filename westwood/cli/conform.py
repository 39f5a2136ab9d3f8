# SPDX-License-Identifier: BSD-3-Clause
"""The command `conform`: runs the test cases of BBRv3's draft with any control."""

from __future__ import annotations

import json as writer
import textwrap
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from westwood.cli.options import (
    SCENARIO,
    JsonOption,
    OutOption,
    WorkersOption,
    control_arguments,
    control_setting_options,
    control_settings,
    refuse_idle,
    split_names,
    starting,
)
from westwood.errors import InputError

if TYPE_CHECKING:
    from westwood.conform.case import Case
    from westwood.conform.judging import Judged, Judgement, Subject

_WIDTH = 80


def _cases() -> list[str]:
    from westwood.conform.catalogue import CASES

    return list(CASES)


_CcArgument = Annotated[
    list[str] | None,
    control_arguments("Controls of westwood list protocols, also noq:bbr3."),
]
_CaseOption = Annotated[
    list[str] | None,
    typer.Option(
        "--case",
        metavar="NAME,...",
        help="Only these cases, by name or number, with all that was measured.",
        autocompletion=starting(_cases),
        callback=split_names,
        rich_help_panel=SCENARIO,
    ),
]
_QlogOption = Annotated[
    Path | None,
    typer.Option(
        "--qlog",
        metavar="FILE",
        help="Judge a log of any QUIC stack instead, by the cases that it can decide.",
        rich_help_panel=SCENARIO,
    ),
]
_EngineOption = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="sim|quinn|noq",
        help="Run the controls in the simulator, or inside a QUIC stack; default: sim, and a "
        "stack's own control in its stack.",
        rich_help_panel=SCENARIO,
    ),
]
_SettingOption = Annotated[
    list[str] | None,
    control_setting_options("the controls", "cc.bbr3_loss=0.1"),
]


def conform(
    context: typer.Context,
    cc: _CcArgument = None,
    case: _CaseOption = None,
    set_: _SettingOption = None,
    qlog: _QlogOption = None,
    engine: _EngineOption = None,
    workers: WorkersOption = None,
    out: OutOption = None,
    json: JsonOption = False,
) -> None:
    from westwood import extras

    extras.need("numpy", "conform")
    from westwood.conform import catalogue, page
    from westwood.engines.pool import check_workers
    from westwood.results.folder import Folder
    from westwood.results.kinds import ResultKind

    cases = catalogue.chosen(case or ())
    check_workers(workers, "--workers")
    folder = Folder(out, kind=ResultKind.CONFORMANCE) if out else None
    if qlog is not None:
        refuse_idle(context, "cc", "set_", "workers", "engine", why="with --qlog")
        judged = _log(qlog, cases)
    else:
        judged = _controls(cc, set_, engine, cases, workers)
    if json:
        print(writer.dumps(page.entries(judged)))
    else:
        print(_details(judged) if case else _table(judged))
    if folder:
        written = page.write(folder, judged, {"judged": [one.name for one in judged]})
        if not json:
            print(written)
    if any(one.verdict == "FAIL" for all_ in judged.values() for one in all_):
        raise typer.Exit(1)


def _controls(
    cc: list[str] | None,
    set_: list[str] | None,
    engine: str | None,
    cases: Sequence[Case],
    workers: int | None,
) -> Judged:
    """Runs the cases with the controls."""
    from westwood.cli import console
    from westwood.conform import judging

    if not cc:
        raise InputError("is missing, expected a control such as bbr3, or --qlog FILE", key="CC")
    names = dict.fromkeys(split_names(cc) or ())
    controls = [judging.control(name, control_settings(set_), engine) for name in names]
    judged: dict[judging.Subject, list[Judgement]] = {control: [] for control in controls}
    ran = judging.run_all(cases, controls, workers)
    for one, judgement in console.track(ran, len(cases) * len(controls)):
        judged[one].append(judgement)
    return judged


def _log(file: Path, cases: Sequence[Case]) -> Judged:
    """Judges a log by the cases."""
    from westwood.conform import judging, logs

    recording = logs.read(file)
    judged = [judging.judge_log(case, recording) for case in cases]
    if all(one.verdict == "-" for one in judged):
        ((reason, _),) = Counter(one.lacks for one in judged).most_common(1)
        problem = f"decides none of {len(cases)} cases, expected events of BBR's states and more"
        raise InputError(f"{problem}: {reason}", source=str(file))
    return {judging.Log(str(file)): judged}


def _table(judged: Judged) -> str:
    """Returns a line for each case, and below them what failed."""
    from westwood.conform import page

    widths = [max(4, len(one.name)) for one in judged]
    lines = [page.TITLE, "", _line("", "case", [one.name for one in judged], widths)]
    for ran in page.by_case(judged):
        case = ran[0][1].case
        verdicts = [one.verdict for _, one in ran]
        lines.append(_line(str(case.number), case.name, verdicts, widths))
    lines.append("")
    for verdict, what in (("pass", "pass"), ("FAIL", "FAIL"), ("-", "do not apply")):
        counts = [sum(one.verdict == verdict for one in all_) for all_ in judged.values()]
        if any(counts):
            lines.append(_line("", what, [str(count) for count in counts], widths))
    for control, all_ in judged.items():
        lines += _not_observed(control, all_)
        for one in all_:
            if one.verdict == "FAIL":
                lines += ["", *_failed(control, one)]
    return "\n".join(lines)


def _not_observed(control: Subject, judgements: Sequence[Judgement]) -> list[str]:
    """Returns why cases were not observed in a QUIC stack, and how many of each reason."""
    from westwood.conform.judging import NOT_OBSERVED

    reasons = Counter(
        judgement.lacks for judgement in judgements if judgement.lacks.startswith(NOT_OBSERVED)
    )
    said = [f"{reason} ({count})" for reason, count in reasons.most_common()]
    return ["", control.name, *(line for one in said for line in _wrapped(one, 4))] if said else []


def _line(number: str, name: str, texts: Sequence[str], widths: Sequence[int]) -> str:
    cells = [text.ljust(width) for text, width in zip(texts, widths, strict=True)]
    return f"{number:>3} {name:<20} {'  '.join(cells)}".rstrip()


def _failed(control: Subject, judgement: Judgement) -> list[str]:
    lines = [f"{control.name}, {judgement.case.name}"]
    for finding in judgement.findings:
        if finding.verdict == "FAIL":
            asked = finding.expectation
            text = f"{asked.what}: {finding.measured}; expected {asked.expected}"
            lines += _wrapped(text, 4)
    return [*lines, f"  {control.command(judgement.case)}"]


def _wrapped(text: str, indent: int = 2) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent="  ", subsequent_indent=" " * indent)


def _details(judged: Judged) -> str:
    """Returns all that was measured in each case."""
    from westwood.conform import page

    return "\n\n".join("\n".join(_case(ran)) for ran in page.by_case(judged))


def _case(ran: Sequence[tuple[Subject, Judgement]]) -> list[str]:
    case = ran[0][1].case
    lines = [f"{case.number} {case.name}: {case.title}", ""]
    lines += _wrapped(f'"{case.sentence}"')
    lines += ["", *_wrapped(f"Note: {case.note}")] if case.note else []
    for control, judgement in ran:
        lines += ["", f"{control.name}: {judgement.verdict}"]
        for finding in judgement.findings:
            said = f"{finding.verdict:<4}  {finding.expectation.what}: {finding.measured}"
            expected = finding.expectation.expected
            lines += _wrapped(said if finding.verdict == "-" else f"{said} ({expected})", 8)
    return lines
