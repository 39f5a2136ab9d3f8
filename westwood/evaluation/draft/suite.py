# SPDX-License-Identifier: BSD-3-Clause
"""Declares the part of BBRv3's draft: each test case of its appendix is a criterion."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from westwood.control.catalogue import OTHER_STYLE, PlotStyle
from westwood.engines.simulator import ENGINE
from westwood.errors import InputError
from westwood.evaluation.answer import Answer, At, of_measurements, text_at
from westwood.evaluation.criterion import Part, Work
from westwood.evaluation.draft import catalogue, judging
from westwood.evaluation.draft.judging import Finding, Judgement
from westwood.evaluation.draft.recording import Recording
from westwood.experiments.control import Control
from westwood.results.verdicts import Verdict
from westwood.scenario import fragments
from westwood.scenario.stacks import STACKS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from westwood.draw.over_time import Line, TimePanel

NAME = "draft"
_FIRST, _SECOND = "#000C8C", "#E13200"


def judged(control: Control, work: Work) -> Iterator[Mapping[str, Any]]:
    """Yields the answer to each case, in order."""
    cases = [catalogue.CASES[name] for name in work.names]
    pool = ThreadPoolExecutor(work.workers)
    try:
        for judgement in pool.map(lambda case: judging.run(case, control, work.engine), cases):
            yield answer_of(judgement).entry()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def of_log(recording: Recording, part: Part, source: str) -> Part:
    """Returns the part that judges somebody else's log; InputError if it decides no case."""
    cases = [catalogue.CASES[name] for name in part.names]
    judgements = [judging.judge_log(case, recording) for case in cases]
    if all(judgement.verdict is Verdict.NOT_RUN for judgement in judgements):
        ((reason, _),) = Counter(judgement.lacks for judgement in judgements).most_common(1)
        problem = f"decides none of {len(cases)} cases, expected events of BBR's states and more"
        raise InputError(f"{problem}: {reason}", source=source)

    def harness(control: Control, work: Work) -> Iterator[Mapping[str, Any]]:
        command = f"westwood evaluate --qlog {shlex.quote(source)} --only"
        for judgement in judgements:
            name = judgement.case.name
            reply = replace(answer_of(judgement), command=f"{command} {name} --out {name}")
            yield reply.entry()

    def drawn(name: str, controls: Sequence[Control], work: Work) -> Figure:
        judgement = next(known for known in judgements if known.case.name == name)
        return _drawn(name, [(source, judgement)])

    return replace(part, harness=harness, draw=drawn)


def answer_of(judgement: Judgement) -> Answer:
    """Returns a case's answer, whose points are what was measured."""
    case = judgement.case
    return of_measurements(
        PART,
        case.name,
        f"{case.number} {case.title}",
        [*map(_point, judgement.findings)],
        " ".join(filter(None, (f"“{case.sentence}”", case.note))),
        scenarios=(fragments.plain(judgement.scenario),) if judgement.scenario else (),
        settled=judgement.verdict,
    )


def _point(finding: Finding) -> At:
    value = finding.value if isinstance(finding.value, float) else math.nan
    expectation = finding.expectation
    point = text_at(
        expectation.what, finding.measured, expectation.expected, finding.verdict, value
    )
    return replace(point, runs=0, why_not=finding.lacks) if finding.lacks else point


def draw(name: str, controls: Sequence[Control], work: Work) -> Figure:
    """Runs a case again, and draws the controls side by side: volumes, rates, states over time."""
    case = catalogue.CASES[name]
    return _drawn(
        name, [(control.text, judging.run(case, control, work.engine)) for control in controls]
    )


def _drawn(name: str, judgements: Sequence[tuple[str, Judgement]]) -> Figure:
    from westwood.draw import states, style

    connections, ends_s = [], 0.0
    for control, judgement in judgements:
        if judgement.seen is None or judgement.verdict is Verdict.NOT_RUN:
            continue
        recording, change = judgement.seen.recording, judgement.seen.change
        spans = [states.StateSpan(s.state, s.start_s, s.end_s) for s in recording.spells]
        ends_s = max(ends_s, recording.end_s)
        mark = change.time_s if change else None
        title = f"{control}: {judgement.verdict}"
        connections.append(states.Connection(title, _panels(judgement), spans, mark))
    case = catalogue.CASES[name]
    title = f"{case.number} {case.title}"
    if not connections:
        return style.nothing(title, "it does not apply, or its state was not reached")
    return states.over_time(connections, title, ends_s)


def _panels(judgement: Judgement) -> list[TimePanel]:
    from westwood.draw.over_time import TimePanel

    assert judgement.seen is not None
    recording, path = judgement.seen.recording, judgement.seen.path
    mss = recording.mss_bytes
    volumes = [
        _line(recording, "in flight", "in_flight", _FIRST, mss),
        _line(recording, "cwnd", "cwnd", _SECOND, mss),
    ]
    rates = [
        _line(recording, "pacing rate", "pacing_bps", _SECOND, 1e6),
        _line(recording, "bandwidth", "bw_bps", _FIRST, 1e6),
    ]
    levels = {"path": path.payload_bps / 1e6} if path else {}
    return [
        TimePanel("Segments", [line for line in volumes if line]),
        TimePanel("Rate (Mb/s)", [line for line in rates if line], levels),
    ]


def _line(recording: Recording, name: str, column: str, colour: str, unit: float) -> Line | None:
    from westwood.draw.over_time import Line

    course = recording.courses.get(column)
    if course is None:
        return None
    value = np.where(np.isfinite(course.value), course.value / unit, np.nan)
    style = PlotStyle(**{**OTHER_STYLE.__dict__, "color": colour})
    return Line(name, pl.Series(course.time_s), pl.Series(value), style)


PART = Part(
    NAME,
    "The test cases of BBRv3's draft",
    catalogue.DRAFT,
    harness=judged,
    names=tuple(catalogue.CASES),
    in_quick=False,
    engines=(ENGINE, *STACKS),
    draw=draw,
    is_test=True,
)
