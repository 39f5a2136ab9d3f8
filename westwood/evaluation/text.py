# SPDX-License-Identifier: BSD-3-Clause
"""Writes answers as text: for a terminal, and for a pull request."""

from __future__ import annotations

import itertools
import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap

from westwood import markup
from westwood.control.catalogue import DROPTAIL
from westwood.evaluation import answer, catalogue
from westwood.evaluation.answer import Answer, At
from westwood.evaluation.criterion import EFFORTS, QUESTIONS, Threshold
from westwood.evaluation.running import Evaluation
from westwood.experiments.control import Control
from westwood.results.tables import on_its_side
from westwood.results.verdicts import Verdict

_WIDTH = 80
_INDENT = " " * 6
_FEW = 3  # criteria that are printed with all that was measured
_DECIDED = (Verdict.MEETS, Verdict.FAILS, Verdict.CANNOT_TELL)
_COUNTED = (*_DECIDED, Verdict.NOT_RUN)
Answers = Mapping[Control, Sequence[Answer]]


def markdown(answers: Answers, evaluation: Evaluation) -> str:
    """Returns the five lines or each criterion, and what fails, as text for a pull request."""
    heads = ["", "asked for", *(f"`{answer.text}`" for answer in answers)]
    rows = []
    for says, of_controls in _shown_first(answers).items():
        asked_for = next((asked(reply) for reply in of_controls if reply), "")
        rows.append([says, asked_for, *map(_in_brief, of_controls)])
    request = evaluation.request
    how = f"Reference `{request.against.text}`, {request.effort.name}, {request.engine.title}."
    lines = [
        markup.markdown_table(heads, rows),
        "",
        how,
        *naming(evaluation),
        *looks(evaluation),
        "",
    ]
    for control, all_ in answers.items():
        failing = [reply for reply in all_ if reply.verdict is Verdict.FAILS]
        lines.append(f"`{control.text}` fails {len(failing)} of {len(all_)} criteria:")
        lines += [f"- {reply.says}: {'; '.join(_failures(reply))}" for reply in failing]
        lines += bursts(all_)
        lines.append("")
    return "\n".join(lines)


def _shown_first(answers: Answers) -> Mapping[str, Sequence[Answer | None]]:
    """Returns the answers by question of the five lines; without one, by criterion."""
    verdicts = [answer.lines(all_) for all_ in answers.values()]
    by_question = {
        says: [of_control[question] for of_control in verdicts]
        for question, says in QUESTIONS.items()
    }
    if answered := {says: replies for says, replies in by_question.items() if any(replies)}:
        return answered
    by_criterion: dict[str, list[Answer | None]] = {}
    for all_ in answers.values():
        for reply in all_:
            by_criterion.setdefault(reply.says, []).append(reply)
    return by_criterion


def _in_brief(reply: Answer | None) -> str:
    """Returns a verdict with what it rests on."""
    text = _judged(reply) if reply else ""
    return f"{_word(reply)}: {text}" if text else _word(reply)


def _word(reply: Answer | None) -> str:
    """Returns a verdict, or why there is none."""
    if reply is None:
        return Verdict.NOT_RUN
    says_why = reply.verdict in (Verdict.CANNOT_TELL, Verdict.NOT_RUN)
    return f"{reply.verdict}{missing_points(reply)}" if says_why else reply.verdict


def _judged(reply: Answer) -> str:
    """Returns what is judged, with the 95 % interval that decides; empty if nothing ran."""
    if reply.worst is None or (reply.not_run and reply.verdict is Verdict.CANNOT_TELL):
        return ""
    within = interval(reply.worst)
    is_mean = reply.statistic == "mean" and within != "-"
    mean_within = f" (95 %: {within})" if is_mean else ""
    text = f"{judged(reply, reply.worst)}{mean_within} at {reply.worst.name}"
    paced, point = reply.worst.paced, reply.elsewhere
    if not math.isnan(paced):
        text += f"; {number(paced)} of what is kept beside paced CUBIC"
    if point:
        why = point.why_not or f"{number(point.judged)} (95 %: {interval(point)})"
        text += f"; {point.text} {point.verdict}: {why}"
    return text


def judged(reply: Answer, point: At) -> str:
    """Returns the number that is compared with the threshold, and which statistic it is."""
    value = number(point.judged)
    if math.isinf(point.judged) and reply.compare == "value":
        return f"{reply.statistic} {value} ended".strip()
    measured = {
        "difference": f"{reply.unit} {value} above the reference's",
        "ratio": f"{value} of the reference's",
        "kept": f"{value} of what is kept beside the reference",
        "either way": f"{value} times, either way",
        "value": f"{value} {reply.unit}",
    }[reply.compare]
    return f"{reply.statistic} {measured.strip()}".strip()


def bursts(answers: Sequence[Answer]) -> Iterator[str]:
    """Yields how many segments a control sends back to back, if that was measured."""
    worst = {answer.criterion: answer.worst for answer in answers}
    usual, largest = worst.get("bursts"), worst.get("largest-burst")
    if usual and largest:
        sizes = f"at most {number(usual.judged)}; the largest has {number(largest.judged)}"
        yield f"It sends 95 % of its segments in bursts of {sizes}."


def asked(reply: Answer) -> str:
    """Returns the threshold with its sense and its source."""
    return f"{bound(reply)} ({reply.bound_source})" if reply.bound_source else bound(reply)


def missing_points(reply: Answer) -> str:
    """Returns how many points of an answer did not run, and why the first did not."""
    if not reply.not_run:
        return ""
    return f" ({len(reply.not_run)} of {len(reply.points)} points: {reply.not_run[0].why_not})"


def table(answers: Answers, evaluation: Evaluation, *, shows_all: bool) -> str:
    """Returns the five lines of each control as text; `shows_all`: and all other criteria."""
    lines = []
    for control, all_ in answers.items():
        counted = [(sum(reply.verdict is word for reply in all_), word) for word in _COUNTED]
        counts = [f"{count} {word}" for count, word in counted if count or word in _DECIDED]
        lines += wrap(f"{control.text}: {', '.join(counts)}", _WIDTH)
        shown = answer.lines(all_)
        for question, worst_reply in shown.items():
            if worst_reply:
                lines += _line(QUESTIONS[question], worst_reply)
        if any(shown.values()):
            others = [reply for reply in all_ if reply not in shown.values()]
            lines += _numbers(others) if shows_all and others else ()
            lines += _names_of_failing(all_)
        lines += (f"  {line}" for line in bursts(all_))
    if not any(reply.question for all_ in answers.values() for reply in all_):
        lines += _criteria(answers, evaluation)
    lines += (line for sentence in naming(evaluation) for line in wrap(sentence, _WIDTH))
    return "\n".join(lines)


def _names_of_failing(replies: Sequence[Answer]) -> Iterator[str]:
    """Yields the names of all criteria that fail, as --only takes them."""
    names = [reply.criterion for reply in replies if reply.verdict is Verdict.FAILS]
    if names:
        text = f"fails: {', '.join(names)}"
        yield from wrap(
            text, _WIDTH, initial_indent="  ", subsequent_indent=_INDENT, break_on_hyphens=False
        )


def _criteria(answers: Answers, evaluation: Evaluation) -> Iterator[str]:
    """Yields a line for each criterion, then what failed; all measurements of a few criteria."""
    widths = [max(len(control.text), len(Verdict.CANNOT_TELL)) for control in answers]
    rows = [*zip(*answers.values(), strict=True)]
    first = max(len(row[0].criterion) for row in rows)
    if len(answers) == 1 and any(reply.bound is not None for (reply,) in rows):
        yield from _numbers([reply for (reply,) in rows])
        ((control, _),) = answers.items()
        yield from ("", "A criterion alone:", f"  {command(control, 'NAME', evaluation)}")
        return
    number = itertools.count()
    lines = [(row[0].criterion, [str(reply.verdict) for reply in row]) for row in rows]
    for name, cells in [("", [control.text for control in answers]), *lines]:
        columns = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
        yield f"  {name:<{first}}  {'  '.join(columns)}".rstrip()
        if len(answers) == 1 and name and (why := _why(rows[next(number)][0])):
            indent = " " * (first + 6)
            yield from wrap(why, _WIDTH, initial_indent=indent, subsequent_indent=indent)
    for row in rows:
        for control, reply in zip(answers, row, strict=True):
            details = _details(reply) if len(rows) <= _FEW else _failures(reply)
            if reply.verdict is Verdict.NOT_RUN and reply.bound is not None:
                details = [reply.not_run[0].why_not]
            if details or reply.verdict is Verdict.FAILS:
                yield from ("", f"{control.text}, {reply.criterion}: {reply.verdict}")
                for line in details:
                    yield from wrap(line, _WIDTH, initial_indent="  ", subsequent_indent=_INDENT)
                yield f"  {reply.command or command(control, reply.criterion, evaluation)}"


def _numbers(replies: Sequence[Answer]) -> Iterator[str]:
    """Yields what is judged of each criterion, with the interval, the threshold and the place."""
    heads = ("", "judged", "95 % interval", "asked for", "")
    cells = [
        (reply.criterion, _judged_number(reply), _interval(reply), bound(reply), reply.verdict)
        for reply in replies
    ]
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    for place, texts in enumerate((heads, *cells)):
        yield "  " + "  ".join(map(str.ljust, texts, widths)).rstrip()
        worst = replies[place - 1].worst if place else None
        indent = " " * (widths[0] + 6)
        if worst and worst.name != "all paths":
            yield f"{indent}{worst.name}"
        elif place and worst is None and replies[place - 1].not_run:
            why = replies[place - 1].not_run[0].why_not
            yield from wrap(why, _WIDTH, initial_indent=indent, subsequent_indent=indent)


def _judged_number(reply: Answer) -> str:
    """Returns the number that is judged; rounding never makes it seem to meet the threshold."""
    worst = reply.worst
    if worst is None or not math.isfinite(worst.judged):
        return number(worst.judged) if worst else "-"
    digits = 4 if worst.judged < 0.1 else 3 if worst.judged < 10 else 1
    if reply.bound is None:
        return f"{worst.judged:.{digits}f}"
    holds = Threshold(reply.bound, "", reply.at_most).holds
    return on_its_side(worst.judged, digits, holds)


def _interval(reply: Answer) -> str:
    ends = (reply.worst.low, reply.worst.high) if reply.worst else ()
    shown = [number(end) if math.isfinite(end) else "-" for end in ends]
    return " to ".join(shown) if set(shown) != {"-"} else "-"


def _why(reply: Answer) -> str:
    """Returns why a harness has not decided, with the first point that shows it."""
    if reply.verdict not in (Verdict.CANNOT_TELL, Verdict.NOT_RUN):
        return ""
    undecided = [point for point in reply.points if point.verdict is not Verdict.MEETS]
    return next((point.why_not or point.text for point in undecided), "")


def _details(reply: Answer) -> list[str]:
    """Returns all that was measured, and for what it was."""
    points = [
        f"{point.verdict}: {point.name}: {point.text}"
        + (f" ({point.expected})" if not point.why_not else "")
        for point in reply.points
        if point.expected
    ]
    return [reply.says, *filter(None, [reply.note]), *points] if points else _failures(reply)


def _failures(reply: Answer) -> list[str]:
    """Returns what fails, with what was expected."""
    if reply.verdict is not Verdict.FAILS:
        return []
    failing = [point for point in reply.points if point.expected and point.verdict is Verdict.FAILS]
    points = [f"{point.name}: {point.text}; expected {point.expected}" for point in failing]
    return points or [f"{_judged(reply)}; asked for {asked(reply)}"]


def command(control: Control, name: str, evaluation: Evaluation) -> str:
    """Returns the command line that runs one criterion alone."""
    request = evaluation.request
    usual_paths = EFFORTS[request.effort.name].paths
    options = {
        f"--against {shlex.quote(request.against.text)}": request.against.text
        not in ("cubic", DROPTAIL),
        f"--{request.effort.name}": request.effort.name != "usual",
        f"--paths {request.effort.paths}": request.effort.paths != usual_paths,
        f"--seed {request.seed}": request.seed != 1,
        f"--engine {request.engine.name}": request.engine.name != "sim",
    }
    given = [option for option, differs in options.items() if differs]
    return control.command("evaluate", *given, f"--only {name} --out {name}")


def _line(question: str, reply: Answer) -> Iterator[str]:
    """Yields a question's verdict, and below it what was found and what is asked for."""
    verdict, _, why = _word(reply).partition(" (")
    yield f"  {question:<32} {verdict}"
    for text in (why.removesuffix(")"), _judged(reply), f"asked for {asked(reply)}"):
        yield from wrap(text, _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT)


def failed_tests(answers: Answers) -> bool:
    """Returns whether a criterion of a part fails that is a test, and no comparison."""
    return any(
        reply.verdict is Verdict.FAILS and catalogue.PARTS[reply.part].is_test
        for all_ in answers.values()
        for reply in all_
    )


def naming(evaluation: Evaluation) -> Iterator[str]:
    """Yields which Reno has SACK, if one is evaluated or the reference."""
    request = evaluation.request
    if {"reno", "newreno", "sack"} & {
        control.cc for control in (*request.controls, request.against)
    }:
        yield "reno and newreno have no SACK, as in their RFCs; sack is Reno as hosts run it."


def looks(evaluation: Evaluation) -> Iterator[str]:
    """Yields what the ledger says about each control."""
    seed = evaluation.request.seed
    for control, looked in evaluation.looked.items():
        if seed in looked:
            yield f"{control.text}: seed {seed}, look {looked.index(seed) + 1}, seen before."
        else:
            before = f"; seeds seen before: {', '.join(map(str, looked))}" if looked else ""
            yield f"{control.text}: seed {seed}, look {len(looked) + 1}, a fresh one{before}."


def bound(reply: Answer) -> str:
    """Returns the threshold with its sense."""
    if reply.bound is None:
        return "-"
    return f"{'at most' if reply.at_most else 'at least'} {reply.bound:g}"


def number(value: float) -> str:
    """Writes a number with three digits."""
    if math.isnan(value):
        return "-"
    return "never" if math.isinf(value) else f"{value:.3g}"


def with_half(value: float, half: float) -> str:
    """Writes a mean with half its interval."""
    known = math.isfinite(half) and math.isfinite(value)
    return f"{number(value)} ± {half:.2g}" if known else number(value)


def interval(point: At) -> str:
    """Writes an interval."""
    if not (math.isfinite(point.low) and math.isfinite(point.high)):
        return "-"
    return f"{number(point.low)} to {number(point.high)}"
