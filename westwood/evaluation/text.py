# SPDX-License-Identifier: BSD-3-Clause
"""Writes answers as text: for a terminal, and for a pull request."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap

from westwood.evaluation import answer
from westwood.evaluation.answer import Answer, At
from westwood.evaluation.criterion import QUESTIONS
from westwood.evaluation.running import Evaluation
from westwood.judge.cases import Control

_WIDTH = 80
_INDENT = " " * 6
_WORDS = ("meets", "fails", "cannot tell")
Answers = Mapping[Control, Sequence[Answer]]


def markdown(answers: Answers, evaluation: Evaluation) -> str:
    """Returns the five lines, and what fails, as text for a pull request."""
    verdicts = {control: answer.lines(all_) for control, all_ in answers.items()}
    heads = ["", *(f"`{one.text}`" for one in answers)]
    made = [_row(heads), _row(["---"] * len(heads))]
    for question, says in QUESTIONS.items():
        made.append(_row([says, *(_in_brief(of[question]) for of in verdicts.values())]))
    made += ["", *looks(evaluation), ""]
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
        return f"not run{lacking(one)}" if one else "not run"
    if one.not_run and one.verdict == "cannot tell":
        return f"cannot tell{lacking(one)}"
    measured = f"{number(one.worst.judged)} {one.judged_unit}".strip()
    return f"{one.verdict} ({measured} at {one.worst.name}; asked for {bound(one)})"


def lacking(one: Answer) -> str:
    """Returns how many points of an answer did not run, and why the first did not."""
    if not one.not_run:
        return ""
    return f" ({len(one.not_run)} of {len(one.points)} points: {one.not_run[0].why_not})"


def table(answers: Answers) -> str:
    """Returns the five lines of each control as text."""
    made = []
    for control, all_ in answers.items():
        counts = [f"{sum(one.verdict == word for one in all_)} {word}" for word in _WORDS]
        made.append(f"{control.text}: {', '.join(counts)}")
        lines = [(question, one) for question, one in answer.lines(all_).items() if one]
        for question, one in lines:
            verdict, _, figure = _in_brief(one).partition(" (")
            made.append(f"  {QUESTIONS[question]:<32} {verdict}")
            made += wrap(
                figure.removesuffix(")"), _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT
            )
    return "\n".join(made)


def looks(evaluation: Evaluation) -> Iterator[str]:
    """Yields what the ledger says about each control."""
    seed = evaluation.request.seed
    for control, looked in evaluation.looked.items():
        if seed in looked:
            yield f"{control.text}: seed {seed}, look {looked.index(seed) + 1}, seen before."
        else:
            before = f"; seeds seen before: {', '.join(map(str, looked))}" if looked else ""
            yield f"{control.text}: seed {seed}, look {len(looked) + 1}, a fresh one{before}."


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
