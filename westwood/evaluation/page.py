# SPDX-License-Identifier: BSD-3-Clause
"""Writes an evaluation as a page, as JSON, and as text for a pull request."""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from westwood.catalogue import label
from westwood.draw import report
from westwood.draw.laboratory import LabLink
from westwood.draw.report import Cell, Grid, Section
from westwood.errors import InputError
from westwood.evaluation import answer, catalogue
from westwood.evaluation.answer import Answer, At
from westwood.evaluation.criterion import QUESTIONS, Part
from westwood.evaluation.running import Evaluation
from westwood.judge.cases import Control
from westwood.scenario import fragments

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MARKS: Mapping[str, str] = {"meets": "HOLDS", "fails": "DIFFERS", "cannot tell": "TESTED"}
_COMPARED = {"value": "", "difference": " less the reference's", "ratio": " over the reference's"}
_HOW = (
    "A verdict is meets or fails if the whole 95 % interval is on one side of the threshold, else "
    "cannot tell. An interval is Student's t over seeds; the reference runs with the same seeds. "
    "The worst point of a line decides it."
)
Answers = Mapping[Control, Sequence[Answer]]


def write(evaluation: Evaluation, answers: Answers) -> Path:
    """Writes the page, its pictures, the answers and the worst scenarios; returns the page."""
    folder, request = evaluation.folder, evaluation.request
    folder.json("answers.json", entries(answers, evaluation))
    sections = [_first(answers)]
    for part in catalogue.PARTS.values():
        of_part = _by_criterion(answers, part.name)
        if not of_part:
            continue
        sections.append(_overview(part, answers, of_part))
        sections += [_section(evaluation, found) for found in of_part]
    title = f"Evaluation of {', '.join(one.text for one in answers)}"
    return report.write_last(folder, title, sections, [], request.state())


def entries(answers: Answers, evaluation: Evaluation) -> dict[str, list[dict[str, Any]]]:
    """Returns the answers for JSON, by control."""
    return {
        control.text: [
            one.entry() | {"command": one.command or command(control, one.criterion, evaluation)}
            for one in all_
        ]
        for control, all_ in answers.items()
    }


def command(control: Control, name: str, evaluation: Evaluation) -> str:
    """Returns the command line that runs one criterion alone."""
    request = evaluation.request
    settings = [
        f" --set {shlex.quote(f'cc.{key}={value}')}" for key, value in control.settings.items()
    ]
    against = "" if request.against.cc == "cubic" else f" --against {request.against.cc}"
    effort = "" if request.effort.name == "usual" else f" --{request.effort.name}"
    seed = "" if request.seed == 1 else f" --seed {request.seed}"
    options = f"{''.join(settings)}{against}{effort}{seed}"
    return f"westwood evaluate {shlex.quote(control.cc)}{options} --only {name} --out {name}"


def _by_criterion(answers: Answers, part: str) -> list[list[tuple[Control, Answer]]]:
    """Returns the answers of a part, those of all controls to one criterion together."""
    found: dict[str, list[tuple[Control, Answer]]] = {}
    for control, all_ in answers.items():
        for one in all_:
            if one.part == part:
                found.setdefault(one.criterion, []).append((control, one))
    return list(found.values())


def _first(answers: Answers) -> Section:
    verdicts = {control: answer.lines(all_) for control, all_ in answers.items()}
    rows: list[list[str | Cell]] = [
        [says, *(_verdict(of[question]) for of in verdicts.values())]
        for question, says in QUESTIONS.items()
    ]
    grids = [Grid("The five lines", ["", *(one.text for one in answers)], rows)]
    grids += [_line_grid(control, of) for control, of in verdicts.items()]
    return Section("lines", "The five lines", None, [], [], text=[_HOW], grids=grids)


def _line_grid(control: Control, of: Mapping[str, Answer | None]) -> Grid:
    heads = ["question", "verdict", "measured", "95 % interval", "threshold", "who asks for it"]
    rows: list[list[str | Cell]] = []
    for question, one in of.items():
        if one is None or one.worst is None:
            rows.append([QUESTIONS[question], "not run", "", "", "", ""])
            continue
        measured = f"{number(one.worst.judged)} {one.judged_unit}".strip()
        rows.append(
            [
                QUESTIONS[question],
                _verdict(one),
                f"{measured}, at {one.worst.name}",
                interval(one.worst),
                bound(one),
                one.bound_source,
            ]
        )
    return Grid(control.text, heads, rows)


def _verdict(one: Answer | None) -> str | Cell:
    if one is None:
        return "not run"
    return Cell(one.verdict, one.criterion, _MARKS[one.verdict])


def _overview(
    part: Part, answers: Answers, of_part: Sequence[Sequence[tuple[Control, Answer]]]
) -> Section:
    heads = ["criterion", *(control.text for control in answers)]
    rows: list[list[str | Cell]] = [
        [found[0][1].says, *(_verdict(one) for _, one in found)] for found in of_part
    ]
    grids = [Grid("Verdicts", heads, rows)]
    if part.clauses:
        grids.append(_clauses(part, answers))
    title = f"{part.title} ({part.source})"
    return Section(f"part-{part.name}", title, None, [], [], grids=grids)


def _clauses(part: Part, answers: Answers) -> Grid:
    """Returns all clauses of the part's source: the worst verdict of each, or why there is none."""
    heads = ["clause", "title", *(control.text for control in answers), "not judged"]
    rows: list[list[str | Cell]] = []
    for clause in part.clauses:
        cells = [
            _verdict(answer.worst_of([one for one in all_ if one.criterion in clause.criteria]))
            if clause.criteria
            else "-"
            for all_ in answers.values()
        ]
        rows.append([clause.number, clause.title, *cells, clause.why_not])
    return Grid(f"The clauses of {part.source}", heads, rows)


def _section(evaluation: Evaluation, found: Sequence[tuple[Control, Answer]]) -> Section:
    one = found[0][1]
    text = [f"{one.says}. {one.source}."]
    if one.bound is not None:
        text.append(f"Asked for: {bound(one)} ({one.bound_source}).")
    text += [one.note] if one.note else []
    text += [
        f"Alone: {one.command or command(control, one.criterion, evaluation)}"
        for control, one in found
    ]
    verdicts = ", ".join(f"{control.text} {one.verdict}" for control, one in found)
    return Section(
        one.criterion,
        f"{one.criterion}: {verdicts}",
        _picture(evaluation, found),
        [],
        [],
        text=text,
        grids=[_measured(evaluation, found)],
        opens=list(_opens(evaluation, found)),
    )


def _picture(
    evaluation: Evaluation, found: Sequence[tuple[Control, Answer]]
) -> report.Drawn | None:
    one = found[0][1]
    if len(one.points) < 2 or (evaluation.request.effort.is_quick and not one.question):
        return None
    return report.figure(evaluation.folder, one.criterion, lambda: draw(found))


def draw(found: Sequence[tuple[Control, Answer]]) -> Figure:
    """Draws what the controls did at the points of a criterion."""
    from westwood.draw import evaluation_plots as plots

    one = found[0][1]
    series = [
        plots.Series(
            label(control.cc) + ("*" if control.settings else ""),
            control.cc,
            [at.judged for at in found_by.points],
            [at.low for at in found_by.points],
            [at.high for at in found_by.points],
        )
        for control, found_by in found
    ]
    axis = f"{one.unit or one.criterion}{_COMPARED[one.compare]}"
    texts = (one.criterion, one.axis, axis)
    names = [at.name for at in one.points]
    return plots.points(names, series, one.bound, texts, at_most=one.at_most)


def _measured(evaluation: Evaluation, found: Sequence[tuple[Control, Answer]]) -> Grid:
    against = evaluation.request.against.cc
    heads = ["control", "point", "measured", against, "judged", "95 % interval", "runs", "verdict"]
    rows: list[list[str | Cell]] = [
        [
            control.text,
            at.name,
            with_half(at.value, at.half),
            number(at.reference),
            number(at.judged),
            interval(at),
            str(at.runs),
            Cell(at.verdict, "", _MARKS[at.verdict]),
        ]
        for control, one in found
        for at in one.points
    ]
    unit = f" ({found[0][1].unit})" if found[0][1].unit else ""
    return Grid(f"What was measured{unit}", heads, rows)


def _opens(evaluation: Evaluation, found: Sequence[tuple[Control, Answer]]) -> Iterator[LabLink]:
    """Yields links to the laboratory with each control's worst point."""
    for place, (control, one) in enumerate(found, start=1):
        worst = one.worst
        if worst is None:
            continue
        scenario = evaluation.scenario_at(one.criterion, worst.name, control)
        if scenario is None:
            continue
        name = f"scenarios/{place}-{one.criterion}"
        file = evaluation.folder.scenario(name, scenario)
        argument = os.fspath(file.relative_to(evaluation.folder.path))
        try:
            yield LabLink(argument, fragments.of_scenario(scenario))
        except InputError:
            yield LabLink(argument, "")


def markdown(answers: Answers, evaluation: Evaluation) -> str:
    """Returns the five lines, and what fails, as text for a pull request."""
    verdicts = {control: answer.lines(all_) for control, all_ in answers.items()}
    heads = ["", *(f"`{one.text}`" for one in answers)]
    made = [_row(heads), _row(["---"] * len(heads))]
    for question, says in QUESTIONS.items():
        made.append(_row([says, *(_in_brief(of[question]) for of in verdicts.values())]))
    made.append("")
    for control, all_ in answers.items():
        failing = [one for one in all_ if one.verdict == "fails" and one.worst]
        made.append(f"`{control.text}` fails {len(failing)} of {len(all_)} criteria:")
        made += [f"- {one.says}: {_in_brief(one)}" for one in failing]
        made.append("")
    return "\n".join(made)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _in_brief(one: Answer | None) -> str:
    if one is None or one.worst is None:
        return "not run"
    measured = f"{number(one.worst.judged)} {one.judged_unit}".strip()
    return f"{one.verdict} ({measured} at {one.worst.name}; asked for {bound(one)})"


def table(answers: Answers) -> str:
    """Returns the five lines of each control as text."""
    made = []
    for control, all_ in answers.items():
        made.append(control.text)
        for question, one in answer.lines(all_).items():
            made.append(f"  {QUESTIONS[question]:<32} {_in_brief(one)}")
    return "\n".join(made)


def bound(one: Answer) -> str:
    """Returns the threshold with its sense."""
    if one.bound is None:
        return "-"
    return f"{'at most' if one.at_most else 'at least'} {one.bound:g}"


def number(value: float) -> str:
    """Writes a number with three digits."""
    if math.isnan(value):
        return "-"
    return "never" if math.isinf(value) else f"{value:.3g}"


def with_half(value: float, half: float) -> str:
    """Writes a mean with half its interval."""
    known = math.isfinite(half) and math.isfinite(value)
    return f"{number(value)} ± {half:.2g}" if known else number(value)


def interval(at: At) -> str:
    """Writes an interval."""
    if not (math.isfinite(at.low) and math.isfinite(at.high)):
        return "-"
    return f"{number(at.low)} to {number(at.high)}"
