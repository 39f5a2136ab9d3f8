# SPDX-License-Identifier: BSD-3-Clause
"""Writes judgements as a page with a picture for each case."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from westwood.catalogue import OTHER_STYLE, PlotStyle
from westwood.conform.catalogue import DRAFT
from westwood.conform.judging import Judged, Judgement, Subject
from westwood.draw import report
from westwood.draw.laboratory import LabLink
from westwood.errors import InputError
from westwood.results.folder import Folder
from westwood.scenario import Scenario, fragments

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

    from westwood.conform.recording import Course
    from westwood.draw.over_time import TimePanel

TITLE = f"The test cases of BBRv3's draft ({DRAFT})"
_FIRST, _SECOND = "#000C8C", "#E13200"


def by_case(judged: Judged) -> Iterator[list[tuple[Subject, Judgement]]]:
    """Yields what the controls did in each case."""
    for column in zip(*judged.values(), strict=True):
        yield list(zip(judged, column, strict=True))


def write(folder: Folder, judged: Judged, settings: Mapping[str, Any]) -> Path:
    """Writes the page, its pictures and the scenarios; returns the page's path."""
    sections = [_overview(judged)]
    sections += [_section(folder, ran) for ran in by_case(judged)]
    folder.json("cases.json", entries(judged))
    return report.write_last(folder, TITLE, sections, [], settings)


def entries(judged: Judged) -> dict[str, list[dict[str, Any]]]:
    """Returns the judgements for JSON, by control."""
    return {
        one.name: [ran.entry() | {"command": one.command(ran.case)} for ran in judgements]
        for one, judgements in judged.items()
    }


def _overview(judged: Judged) -> report.Section:
    rows = [
        [str(ran[0][1].case.number), ran[0][1].case.title, *(one.verdict for _, one in ran)]
        for ran in by_case(judged)
    ]
    heads = ["", "case", *(one.name for one in judged)]
    grid = report.Grid("Verdicts (-: does not apply)", heads, rows)
    return report.Section("verdicts", "Verdicts", None, [], [], grids=[grid])


def _section(folder: Folder, ran: Sequence[tuple[Subject, Judgement]]) -> report.Section:
    case = ran[0][1].case
    text = [f"“{case.sentence}”", *([case.note] if case.note else [])]
    text += [f"Alone: {one.command(case)}" for one, _ in ran]
    title = f"{case.number} {case.title}: " + ", ".join(
        f"{one.name} {judgement.verdict}" for one, judgement in ran
    )
    drawn = report.figure(folder, case.name, lambda: draw(ran))
    grid = report.Grid("What was measured", _heads(ran), _measured(ran))
    opens = [
        _opens(folder, f"{case.name}-{one.name.strip('*')}", judgement.scenario)
        for one, judgement in ran
        if judgement.scenario is not None
    ]
    return report.Section(case.name, title, drawn, [], [], text=text, grids=[grid], opens=opens)


def _heads(ran: Sequence[tuple[Subject, Judgement]]) -> list[str]:
    return ["", "expected", *(one.name for one, _ in ran)]


def _measured(ran: Sequence[tuple[Subject, Judgement]]) -> list[list[str]]:
    found = zip(*(judgement.findings for _, judgement in ran), strict=True)
    return [
        [row[0].expectation.what, row[0].expectation.expected, *(one.measured for one in row)]
        for row in found
    ]


def _opens(folder: Folder, name: str, scenario: Scenario) -> LabLink:
    file = os.fspath(folder.scenario(name, scenario).name)
    try:
        return LabLink(file, fragments.of_scenario(scenario))
    except InputError:
        return LabLink(file, "")


def draw(ran: Sequence[tuple[Subject, Judgement]]) -> Figure:
    """Draws the controls in a case side by side: volumes, rates and states over time."""
    from westwood.draw import states

    connections, ends_s = [], 0.0
    for control, judgement in ran:
        seen = judgement.seen
        if seen is None or judgement.verdict == "-":
            continue
        spans = [states.StateSpan(s.state, s.start_s, s.end_s) for s in seen.recording.spells]
        ends_s = max(ends_s, seen.recording.end_s)
        mark = seen.change.time_s if seen.change else None
        name = f"{control.name}: {judgement.verdict}"
        connections.append(states.Connection(name, _panels(judgement), spans, mark))
    case = ran[0][1].case
    title = f"{case.number} {case.title}"
    if not connections:
        from westwood.draw.style import nothing

        return nothing(title, "it does not apply, or its state was not reached")
    return states.over_time(connections, title, ends_s)


def _panels(judgement: Judgement) -> list[TimePanel]:
    from westwood.draw.over_time import Line, TimePanel

    assert judgement.seen is not None
    recording = judgement.seen.recording

    def line(name: str, column: str, colour: str, unit: float) -> Line | None:
        course: Course | None = recording.courses.get(column)
        if course is None:
            return None
        value = np.where(np.isfinite(course.value), course.value / unit, np.nan)
        style = PlotStyle(**{**OTHER_STYLE.__dict__, "color": colour})
        return Line(name, pl.Series(course.time_s), pl.Series(value), style)

    mss = recording.mss_bytes
    volumes = [line("in flight", "in_flight", _FIRST, mss), line("cwnd", "cwnd", _SECOND, mss)]
    rates = [
        line("pacing rate", "pacing_bps", _SECOND, 1e6),
        line("bandwidth", "bw_bps", _FIRST, 1e6),
    ]
    path = judgement.seen.path
    levels = {"path": path.payload_bps / 1e6} if path else {}
    return [
        TimePanel("Segments", [one for one in volumes if one]),
        TimePanel("Rate (Mb/s)", [one for one in rates if one], levels),
    ]
