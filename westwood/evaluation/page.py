# SPDX-License-Identifier: BSD-3-Clause
"""Writes an evaluation as a page and as JSON."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from westwood.draw import report
from westwood.draw.laboratory import LabLink
from westwood.draw.report import Cell, Grid, Section
from westwood.errors import InputError
from westwood.evaluation import answer, catalogue
from westwood.evaluation.answer import Answer, At
from westwood.evaluation.criterion import QUESTIONS, Part
from westwood.evaluation.running import Evaluation
from westwood.evaluation.text import (
    Answers,
    bound,
    command,
    interval,
    judged,
    lacking,
    looks,
    naming,
    number,
    with_half,
)
from westwood.experiments.control import Control
from westwood.results.rows import rows_frame
from westwood.results.verdicts import Verdict
from westwood.scenario import Scenario, fragments
from westwood.scenario.stacks import split

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LONGEST_FRAGMENT = 20_000  # characters
_AXES = {
    "value": "{}",
    "difference": "{} less the reference's",
    "ratio": "{} ÷ the reference's",
    "kept": "throughput next to the control ÷ next to the reference",
    "either way": "ratio or its inverse",
}
_HOW = (
    "A verdict is meets or fails if the whole 95 % interval is on one side of the threshold, else "
    "cannot tell. An interval is Student's t over seeds, of logarithms for ratios; the reference "
    "runs with the same seeds. "
    "The worst point of a line decides it. The scatter of seeds is their standard deviation over "
    "their mean. What is kept beside a control measures pacing, too: paced CUBIC can leave CUBIC "
    "much less than CUBIC does. So tables of what is kept compare with both."
)


def write(evaluation: Evaluation, answers: Answers) -> Path:
    """Writes the page, its pictures, the answers and the worst scenarios; returns the page."""
    folder, request = evaluation.folder, evaluation.request
    folder.json("answers.json", as_json(answers, evaluation))
    if rows := evaluation.path_rows():
        folder.frame("runs.parquet", rows_frame(rows))
    notes = [*naming(evaluation), *looks(evaluation)]
    sections = [_first(answers, notes)] if _has_lines(answers) else []
    for part in catalogue.PARTS.values():
        of_part = _by_criterion(answers, part.name)
        if not of_part:
            continue
        sections.append(_overview(evaluation, part, answers, of_part))
        sections += [_section(evaluation, found) for found in of_part]
    title = f"Evaluation of {', '.join(one.text for one in answers)} in {request.engine.title}"
    return report.write_last(folder, title, sections, [], request.state())


def as_json(answers: Answers, evaluation: Evaluation) -> dict[str, Any]:
    """Returns the engine, and the answers by control."""
    engine = evaluation.request.engine
    return {
        "engine": {"name": engine.name, "version": engine.title},
        "answers": {
            control.text: [
                _entry(one, one.command or command(control, one.criterion, evaluation))
                for one in all_
            ]
            for control, all_ in answers.items()
        },
    }


def _entry(one: Answer, command: str) -> dict[str, Any]:
    """Returns an answer for JSON; the worst scenarios are files of their own."""
    kept = {key: value for key, value in one.entry().items() if key != "scenarios"}
    return kept | {"command": command}


def _by_criterion(answers: Answers, part: str) -> list[list[tuple[Control, Answer]]]:
    """Returns the answers of a part, those of all controls to one criterion together."""
    found: dict[str, list[tuple[Control, Answer]]] = {}
    for control, all_ in answers.items():
        for one in all_:
            if one.part == part:
                found.setdefault(one.criterion, []).append((control, one))
    return list(found.values())


def _has_lines(answers: Answers) -> bool:
    return any(one.question for all_ in answers.values() for one in all_)


def _first(answers: Answers, notes: Sequence[str]) -> Section:
    verdicts = {control: answer.lines(all_) for control, all_ in answers.items()}
    rows: list[list[str | Cell]] = [
        [says, *(_verdict(of[question]) for of in verdicts.values())]
        for question, says in QUESTIONS.items()
    ]
    grids = [Grid("The five lines", ["", *(one.text for one in answers)], rows)]
    grids += [_line_grid(control, of) for control, of in verdicts.items()]
    return Section("lines", "The five lines", None, [], [], text=[_HOW, *notes], grids=grids)


def _line_grid(control: Control, of: Mapping[str, Answer | None]) -> Grid:
    heads = ["question", "verdict", "judged", "95 % interval", "threshold", "who asks for it"]
    rows: list[list[str | Cell]] = []
    for question, one in of.items():
        if one is None or one.worst is None:
            why = lacking(one) if one else ""
            rows.append([QUESTIONS[question], "not run", why, "", "", ""])
            continue
        rows.append(
            [
                QUESTIONS[question],
                _verdict(one),
                f"{judged(one, one.worst)}, at {one.worst.name}",
                interval(one.worst),
                bound(one),
                one.bound_source,
            ]
        )
    return Grid(control.text, heads, rows)


def _verdict(one: Answer | None) -> str | Cell:
    if one is None:
        return "not run"
    text = f"{one.verdict} (tuned on it)" if one.tuned else one.verdict
    if one.not_run:
        text = f"{text}, {len(one.not_run)} of {len(one.points)} points not run"
    return Cell(text if one.points else "not run", one.criterion, one.verdict.mark)


def _overview(
    evaluation: Evaluation,
    part: Part,
    answers: Answers,
    of_part: Sequence[Sequence[tuple[Control, Answer]]],
) -> Section:
    heads = ["criterion", *(control.text for control in answers)]
    rows: list[list[str | Cell]] = [
        [found[0][1].says, *(_verdict(one) for _, one in found)] for found in of_part
    ]
    grids = [Grid("Verdicts", heads, rows)]
    if part.clauses:
        grids.append(_clauses(part, answers))
    if published := list(_published(part, answers)):
        heads = ["criterion", "control", "ours", "published", "difference", "why", "source"]
        grids.append(Grid("Published numbers beside ours", heads, published))
    title = f"{part.title} ({part.source})"
    drawn = None
    if part.picture is not None:
        by_name = {
            control: {reply.criterion: reply for reply in all_} for control, all_ in answers.items()
        }
        if (figure := part.picture(by_name)) is not None:
            drawn = report.figure(evaluation.folder, part.name, lambda: figure)
    if _is_of_worst_runs(part):
        drawn = report.figure(evaluation.folder, part.name, lambda: draw_part(part.title, of_part))
    return Section(f"part-{part.name}", title, drawn, [], [], grids=grids)


def _is_of_worst_runs(part: Part) -> bool:
    return bool(part.criteria) and all(one.is_worst for one in part.criteria)


def draw_part(title: str, of_part: Sequence[Sequence[tuple[Control, Answer]]]) -> Figure:
    """Draws the worst run of each criterion over its threshold."""
    from westwood.draw import evaluation_plots as plots

    series = []
    for place, (control, _) in enumerate(of_part[0]):
        answers = [found[place][1] for found in of_part]
        shares = [_share(one) for one in answers]
        series.append(plots.Series(control.label, control.cc, shares, shares, shares))
    names = [found[0][1].criterion.partition("-")[2] for found in of_part]
    return plots.shares(names, series, f"{title}: the worst run", "time ÷ time asked for")


def _share(one: Answer) -> float:
    return one.worst.judged / one.bound if one.worst and one.bound else math.nan


def _published(part: Part, answers: Answers) -> Iterator[list[str | Cell]]:
    """Yields a row for each published number: ours, theirs, and why they differ."""
    declared = {one.name: one.published for one in part.criteria}
    for control, all_ in answers.items():
        for one in all_:
            if one.worst is None or control.settings:
                continue
            for theirs in declared.get(one.criterion, {}).get(control.cc, ()):
                ours = theirs.ours(one.mean, one.worst.judged)
                off = ours / theirs.value - 1
                cells = [number(ours), theirs.text, f"{off:+.1%}", theirs.explains(off)]
                yield [Cell(one.criterion, one.criterion), control.text, *cells, theirs.source]


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
    text += [f"{control.text} was tuned: {one.tuned}" for control, one in found if one.tuned]
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
    one, request = found[0][1], evaluation.request
    part = next((part for part in request.harnesses if part.name == one.part), None)
    if part is not None and part.drawn and one.criterion not in part.drawn:
        return None
    if part is not None and part.draw is not None:
        controls = [control for control, reply in found if reply.verdict is not Verdict.NOT_RUN]
        drawing = partial(part.draw, one.criterion, controls, request.engine.name)
        return report.figure(evaluation.folder, one.criterion, drawing)
    known = [at for at in one.points if not math.isnan(at.judged)]
    if len(known) < 2 or (request.effort.is_quick and not one.question):
        return None
    return report.figure(evaluation.folder, one.criterion, lambda: draw(found))


def draw(found: Sequence[tuple[Control, Answer]]) -> Figure:
    """Draws what the controls did at the points of a criterion."""
    from westwood.draw import evaluation_plots as plots

    one = found[0][1]
    series = [
        plots.Series(
            control.label,
            control.cc,
            [at.judged for at in found_by.points],
            [at.low for at in found_by.points],
            [at.high for at in found_by.points],
        )
        for control, found_by in found
    ]
    axis = _AXES[one.compare].format(one.unit or one.criterion)
    title = _message(found)
    texts = (title, one.axis, axis)
    names = [at.name for at in one.points]
    return plots.points(names, series, one.bound, texts, at_most=one.at_most)


def _message(found: Sequence[tuple[Control, Answer]]) -> str:
    """Returns a question with its answer: which controls meet it, and which fail."""
    one = found[0][1]
    by_verdict: dict[str, list[str]] = {}
    for control, reply in found:
        by_verdict.setdefault(reply.verdict, []).append(control.label)
    said = "; ".join(f"{verdict}: {', '.join(names)}" for verdict, names in by_verdict.items())
    return f"{QUESTIONS.get(one.question, one.criterion)} {said}"


def _measured(evaluation: Evaluation, found: Sequence[tuple[Control, Answer]]) -> Grid:
    if any(at.expected for _, reply in found for at in reply.points):
        return _measurements(found)
    against = evaluation.request.against.cc
    heads = ["control", "point", "measured", "scatter of seeds", against]
    heads += ["judged", "95 % interval", "runs", "verdict"]
    rows = [_measured_at(control, at) for control, one in found for at in one.points]
    if any(not math.isnan(at.paced) for _, one in found for at in one.points):
        heads.append("over what paced CUBIC leaves")
        every = (at for _, one in found for at in one.points)
        rows = [[*row, _paced(at)] for row, at in zip(rows, every, strict=True)]
    unit = f" ({found[0][1].unit})" if found[0][1].unit else ""
    return Grid(f"What was measured{unit}", heads, rows)


def _measurements(found: Sequence[tuple[Control, Answer]]) -> Grid:
    heads = ["control", "what", "measured", "expected", "verdict"]
    rows: list[list[str | Cell]] = [
        [control.text, at.name, at.text, at.expected, Cell(at.verdict, "", at.verdict.mark)]
        for control, reply in found
        for at in reply.points
    ]
    return Grid("What was measured", heads, rows)


def _measured_at(control: Control, at: At) -> list[str | Cell]:
    if at.why_not:
        verdict = Cell(at.verdict, "", at.verdict.mark)
        return [control.text, at.name, f"not run: {at.why_not}", "-", "-", "-", "-", "0", verdict]
    return [
        control.text,
        at.name,
        with_half(at.value, at.half),
        "-" if math.isnan(at.scatter) else f"{at.scatter:.1%}",
        number(at.reference),
        number(at.judged),
        interval(at),
        str(at.runs),
        Cell(at.verdict, "", at.verdict.mark),
    ]


def _paced(at: At) -> str:
    """Returns what is kept over what is kept beside paced CUBIC, with the interval."""
    if math.isnan(at.paced):
        return "-"
    return f"{number(at.paced)} ({number(at.paced_low)} to {number(at.paced_high)})"


def _worst_scenarios(evaluation: Evaluation, control: Control, reply: Answer) -> list[Scenario]:
    if reply.scenarios or reply.worst is None:
        return [Scenario(**scenario) for scenario in reply.scenarios]
    scenario = evaluation.scenario_at(reply.criterion, reply.worst.name, control)
    return [scenario] if scenario else []


def _opens(evaluation: Evaluation, found: Sequence[tuple[Control, Answer]]) -> Iterator[LabLink]:
    """Yields links to the laboratory with each control's worst point or paths."""
    for place, (control, reply) in enumerate(found, start=1):
        if split(control.cc)[0]:  # the laboratory has no stacks
            continue
        for rank, scenario in enumerate(_worst_scenarios(evaluation, control, reply), start=1):
            name = f"scenarios/{place}-{reply.criterion}{f'-{rank}' if rank > 1 else ''}"
            file = evaluation.folder.scenario(name, scenario)
            argument = os.fspath(file.relative_to(evaluation.folder.path))
            yield LabLink(argument, _fragment(scenario))


def _fragment(scenario: Scenario) -> str:
    """Returns a link's fragment; none for long lists, with which a page had 10 MB."""
    try:
        made = fragments.of_scenario(scenario)
    except InputError:
        return ""
    return made if len(made) <= _LONGEST_FRAGMENT else ""
