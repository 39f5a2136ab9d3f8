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
    looks,
    missing_points,
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
        sections += [_section(evaluation, pairs) for pairs in of_part]
    title = (
        f"Evaluation of {', '.join(answer.text for answer in answers)} in {request.engine.title}"
    )
    return report.write_last(folder, title, sections, request.state())


def as_json(answers: Answers, evaluation: Evaluation) -> dict[str, Any]:
    """Returns the engine, and the answers by control."""
    engine = evaluation.request.engine
    return {
        "engine": {"name": engine.name, "version": engine.title},
        "answers": {
            control.text: [
                _entry(reply, reply.command or command(control, reply.criterion, evaluation))
                for reply in all_
            ]
            for control, all_ in answers.items()
        },
    }


def _entry(reply: Answer, command: str) -> dict[str, Any]:
    """Returns an answer for JSON; the worst scenarios are files of their own."""
    kept = {key: value for key, value in reply.entry().items() if key != "scenarios"}
    return kept | {"command": command}


def _by_criterion(answers: Answers, part: str) -> list[list[tuple[Control, Answer]]]:
    """Returns the answers of a part, those of all controls to one criterion together."""
    pairs_by_criterion: dict[str, list[tuple[Control, Answer]]] = {}
    for control, all_ in answers.items():
        for reply in all_:
            if reply.part == part:
                pairs_by_criterion.setdefault(reply.criterion, []).append((control, reply))
    return list(pairs_by_criterion.values())


def _has_lines(answers: Answers) -> bool:
    return any(reply.question for all_ in answers.values() for reply in all_)


def _first(answers: Answers, notes: Sequence[str]) -> Section:
    verdicts = {control: answer.lines(all_) for control, all_ in answers.items()}
    rows: list[list[str | Cell]] = [
        [says, *(_verdict(replies[question]) for replies in verdicts.values())]
        for question, says in QUESTIONS.items()
    ]
    grids = [Grid("The five lines", ["", *(answer.text for answer in answers)], rows)]
    grids += [_line_grid(control, replies) for control, replies in verdicts.items()]
    return Section("lines", "The five lines", None, text=[_HOW, *notes], grids=grids)


def _line_grid(control: Control, replies: Mapping[str, Answer | None]) -> Grid:
    heads = ["question", "verdict", "judged", "95 % interval", "threshold", "who asks for it"]
    rows: list[list[str | Cell]] = []
    for question, reply in replies.items():
        if reply is None or reply.worst is None:
            why = missing_points(reply) if reply else ""
            rows.append([QUESTIONS[question], "not run", why, "", "", ""])
            continue
        rows.append(
            [
                QUESTIONS[question],
                _verdict(reply),
                f"{judged(reply, reply.worst)}, at {reply.worst.name}",
                interval(reply.worst),
                bound(reply),
                reply.bound_source,
            ]
        )
    return Grid(control.text, heads, rows)


def _verdict(reply: Answer | None) -> str | Cell:
    if reply is None:
        return "not run"
    text = f"{reply.verdict} (tuned on it)" if reply.tuned else reply.verdict
    if reply.not_run:
        text = f"{text}, {len(reply.not_run)} of {len(reply.points)} points not run"
    if point := reply.elsewhere:
        text = f"{text}; {point.text} {point.verdict}"
    return Cell(text if reply.points else "not run", reply.criterion, reply.verdict.mark)


def _overview(
    evaluation: Evaluation,
    part: Part,
    answers: Answers,
    of_part: Sequence[Sequence[tuple[Control, Answer]]],
) -> Section:
    heads = ["criterion", *(control.text for control in answers)]
    rows: list[list[str | Cell]] = [
        [
            Cell(f"{pairs[0][1].criterion}: {pairs[0][1].says}", pairs[0][1].criterion),
            *(_verdict(reply) for _, reply in pairs),
        ]
        for pairs in of_part
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
    return Section(f"part-{part.name}", title, drawn, grids=grids)


def _is_of_worst_runs(part: Part) -> bool:
    return bool(part.criteria) and all(criterion.is_worst for criterion in part.criteria)


def draw_part(title: str, of_part: Sequence[Sequence[tuple[Control, Answer]]]) -> Figure:
    """Draws the worst run of each criterion over its threshold."""
    from westwood.draw import evaluation_plots as plots

    series = []
    for place, (control, _) in enumerate(of_part[0]):
        answers = [pairs[place][1] for pairs in of_part]
        shares = [_share(answer) for answer in answers]
        series.append(plots.Series(control.label, control.styled, shares, shares, shares))
    names = [pairs[0][1].criterion.partition("-")[2] for pairs in of_part]
    failing = {curve.name: sum(value > 1 for value in curve.values) for curve in series}
    count = min(failing.values())
    fewest = ", ".join(name for name, failed in failing.items() if failed == count)
    message = f"{title}: in their worst runs {fewest} fails {count} of {len(names)}"
    message += ", the fewest" if len(series) > 1 else ""
    return plots.shares(names, series, message, "time ÷ time asked for")


def _share(reply: Answer) -> float:
    return reply.worst.judged / reply.bound if reply.worst and reply.bound else math.nan


def _published(part: Part, answers: Answers) -> Iterator[list[str | Cell]]:
    """Yields a row for each published number: ours, theirs, and why they differ."""
    declared = {criterion.name: criterion.published for criterion in part.criteria}
    for control, all_ in answers.items():
        for reply in all_:
            if reply.worst is None or control.settings:
                continue
            for theirs in declared.get(reply.criterion, {}).get(control.cc, ()):
                ours = theirs.ours(reply.mean, reply.worst.judged)
                off = ours / theirs.value - 1
                cells = [number(ours), theirs.text, f"{off:+.1%}", theirs.explains(off)]
                yield [Cell(reply.criterion, reply.criterion), control.text, *cells, theirs.source]


def _clauses(part: Part, answers: Answers) -> Grid:
    """Returns all clauses of the part's source: the worst verdict of each, or why there is none."""
    heads = ["clause", "title", *(control.text for control in answers), "not judged"]
    rows: list[list[str | Cell]] = []
    for clause in part.clauses:
        cells = [
            _verdict(
                answer.worst_of([reply for reply in all_ if reply.criterion in clause.criteria])
            )
            if clause.criteria
            else "-"
            for all_ in answers.values()
        ]
        rows.append([clause.number, clause.title, *cells, clause.why_not])
    return Grid(f"The clauses of {part.source}", heads, rows)


def _section(evaluation: Evaluation, pairs: Sequence[tuple[Control, Answer]]) -> Section:
    first_reply = pairs[0][1]
    text = [f"{first_reply.says}. {first_reply.source}."]
    if first_reply.bound is not None:
        text.append(f"Asked for: {bound(first_reply)} ({first_reply.bound_source}).")
    text += [first_reply.note] if first_reply.note else []
    text += [f"{control.text} was tuned: {reply.tuned}" for control, reply in pairs if reply.tuned]
    text += [
        f"Alone: {reply.command or command(control, reply.criterion, evaluation)}"
        for control, reply in pairs
    ]
    verdicts = ", ".join(f"{control.text} {reply.verdict}" for control, reply in pairs)
    return Section(
        first_reply.criterion,
        f"{first_reply.criterion}: {verdicts}",
        _picture(evaluation, pairs),
        text=text,
        grids=[_measured(evaluation, pairs)],
        opens=list(_opens(evaluation, pairs)),
    )


def _picture(
    evaluation: Evaluation, pairs: Sequence[tuple[Control, Answer]]
) -> report.Drawn | None:
    first_reply, request = pairs[0][1], evaluation.request
    part = next((part for part in request.harnesses if part.name == first_reply.part), None)
    if part is not None and part.drawn and first_reply.criterion not in part.drawn:
        return None
    if part is not None and part.draw is not None:
        controls = [control for control, reply in pairs if reply.verdict is not Verdict.NOT_RUN]
        drawing = partial(part.draw, first_reply.criterion, controls, evaluation.work([]))
        return report.figure(evaluation.folder, first_reply.criterion, drawing)
    known = [point for point in first_reply.points if not math.isnan(point.judged)]
    if len(known) < 2 or (request.effort.is_quick and not first_reply.question):
        return None
    return report.figure(evaluation.folder, first_reply.criterion, lambda: draw(pairs))


def draw(pairs: Sequence[tuple[Control, Answer]]) -> Figure:
    """Draws what the controls did at the points of a criterion."""
    from westwood.draw import evaluation_plots as plots

    first_reply = pairs[0][1]
    series = [
        plots.Series(
            control.label,
            control.styled,
            [point.judged for point in reply.points],
            [point.low for point in reply.points],
            [point.high for point in reply.points],
        )
        for control, reply in pairs
    ]
    axis = _AXES[first_reply.compare].format(first_reply.unit or first_reply.criterion)
    title = _message(pairs)
    texts = (title, first_reply.axis, axis)
    names = [point.name for point in first_reply.points]
    return plots.points(names, series, first_reply.bound, texts, at_most=first_reply.at_most)


def _message(pairs: Sequence[tuple[Control, Answer]]) -> str:
    """Returns a question with its answer: which controls meet it, and which fail."""
    first_reply = pairs[0][1]
    by_verdict: dict[str, list[str]] = {}
    for control, reply in pairs:
        by_verdict.setdefault(reply.verdict, []).append(control.label)
    message = "; ".join(f"{verdict}: {', '.join(names)}" for verdict, names in by_verdict.items())
    return f"{QUESTIONS.get(first_reply.question, first_reply.criterion)} {message}"


def _measured(evaluation: Evaluation, pairs: Sequence[tuple[Control, Answer]]) -> Grid:
    if any(point.expected for _, reply in pairs for point in reply.points):
        return _measurements(pairs)
    against = evaluation.request.against
    of_harm = pairs[0][1].compare == "kept"
    measured, kept = (", better if low", ", better if high") if of_harm else ("", "")
    heads = [against.noun, "point", f"measured{measured}", "scatter of seeds", against.text]
    heads += [f"judged{kept}", "95 % interval", "runs", "verdict"]
    rows = [_measured_at(control, point) for control, reply in pairs for point in reply.points]
    if any(not math.isnan(point.paced) for _, reply in pairs for point in reply.points):
        heads.append("over what paced CUBIC leaves")
        every = (point for _, reply in pairs for point in reply.points)
        rows = [[*row, _paced(point)] for row, point in zip(rows, every, strict=True)]
    unit = f" ({pairs[0][1].unit})" if pairs[0][1].unit else ""
    return Grid(f"What was measured{unit}", heads, rows)


def _measurements(pairs: Sequence[tuple[Control, Answer]]) -> Grid:
    heads = ["control", "what", "measured", "expected", "verdict"]
    rows: list[list[str | Cell]] = [
        [control.text, point.name, point.text, point.expected, _of_point(point)]
        for control, reply in pairs
        for point in reply.points
    ]
    return Grid("What was measured", heads, rows)


def _of_point(point: At) -> Cell:
    return Cell(point.verdict, "", point.verdict.mark)


def _measured_at(control: Control, point: At) -> list[str | Cell]:
    verdict = _of_point(point)
    if point.why_not:
        return [control.text, point.name, f"not run: {point.why_not}", *"----", "0", verdict]
    return [
        control.text,
        point.name,
        with_half(point.value, point.half),
        "-" if math.isnan(point.scatter) else f"{point.scatter:.1%}",
        number(point.reference),
        number(point.judged),
        interval(point),
        str(point.runs),
        verdict,
    ]


def _paced(point: At) -> str:
    """Returns what is kept over what is kept beside paced CUBIC, with the interval."""
    if math.isnan(point.paced):
        return "-"
    return f"{number(point.paced)} ({number(point.paced_low)} to {number(point.paced_high)})"


def _worst_scenarios(evaluation: Evaluation, control: Control, reply: Answer) -> list[Scenario]:
    if reply.scenarios or reply.worst is None:
        return [Scenario(**scenario) for scenario in reply.scenarios]
    scenario = evaluation.scenario_at(reply.criterion, reply.worst.name, control)
    return [scenario] if scenario else []


def _opens(evaluation: Evaluation, pairs: Sequence[tuple[Control, Answer]]) -> Iterator[LabLink]:
    """Yields links to the laboratory with each control's worst point or paths."""
    for place, (control, reply) in enumerate(pairs, start=1):
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
        return fragments.of_scenario(scenario, _LONGEST_FRAGMENT)
    except InputError:
        return ""
