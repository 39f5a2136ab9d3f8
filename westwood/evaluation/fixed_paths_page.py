# SPDX-License-Identifier: BSD-3-Clause
"""Writes the page of `westwood control check`: checks, paths, the share with CUBIC."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from westwood.control.catalogue import label
from westwood.control.checking import Check, Outcome
from westwood.draw import report
from westwood.draw.report import Cell, Grid, Section
from westwood.engines.simulator import SIMULATOR
from westwood.evaluation.fixed_paths import ONE_SEGMENT, OTHERS, RIVAL, OnPath, PathRuns, Share
from westwood.results.folder import Folder
from westwood.units import PS_PER_S

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MARKS = {Outcome.PASSED: "HOLDS", Outcome.FAILED: "DIFFERS"}
_LEVELS = ("goodput (Mb/s)", "of the link's rate", "RTT (ms)", "resent (%)")


def write(
    folder: Folder, runs: PathRuns, checks: Sequence[Check], settings: dict[str, object]
) -> Path:
    """Writes the page, its pictures and check.json; returns the page."""
    folder.json(
        "check.json",
        [{"check": one.name, "outcome": str(one.outcome), "note": one.note} for one in checks],
    )
    name = label(runs.judged)
    sections = [_checks(checks)]
    if runs.paths:
        sections.append(_paths(folder, runs, name))
    if any(one.path is ONE_SEGMENT for one in runs.paths):
        sections.append(_one_segment(folder, runs, name))
    if runs.shares:
        sections.append(_shares(folder, runs, name))
    return report.write_last(folder, f"Check of {name}", sections, [], settings)


def _checks(checks: Sequence[Check]) -> Section:
    rows: list[list[str | Cell]] = [
        [Cell(str(one.outcome), "", _MARKS.get(one.outcome, "TESTED")), one.name, one.note]
        for one in checks
    ]
    heads = ["outcome", "check", "what it found"]
    return Section("checks", "Checks", None, [], [], grids=[Grid("Checks", heads, rows)])


def _paths(folder: Folder, runs: PathRuns, name: str) -> Section:
    title = f"{name}, {', '.join(map(label, OTHERS))}: one flow on each path"
    rows: list[list[str | Cell]] = []
    for one in runs.paths:
        rows += [[one.path.name, label(cc), *_cells(one, cc)] for cc in one.rows]
    commands: list[list[str | Cell]] = [
        [one.path.name, one.path.command(runs.judged)] for one in runs.paths
    ]
    return Section(
        "paths",
        title,
        report.figure(folder, "paths", lambda: _draw_paths(runs, title)),
        [],
        [],
        text=["The queue holds one bandwidth-delay product unless the name says otherwise."],
        grids=[
            Grid("What each control got", ["path", "control", *_LEVELS], rows),
            Grid("How to run a path alone", ["path", "command"], commands),
        ],
    )


def _cells(one: OnPath, cc: str) -> list[str]:
    goodput_bps = one.mean(cc, "goodput_bps")
    return [
        f"{goodput_bps / 1e6:.4g}",
        f"{goodput_bps / one.path.rate_bps:.0%}",
        f"{one.mean(cc, 'mean_srtt_s') * 1e3:.1f}",
        f"{one.mean(cc, 'retransmission_ratio') * 100:.2f}",
    ]


def _draw_paths(runs: PathRuns, title: str) -> Figure:
    from westwood.draw.dots import DotPanel, dots

    def of(value: str, per: str) -> dict[str, list[float]]:
        return {
            cc: [one.mean(cc, value) / _unit(one, per) for one in runs.paths]
            for cc in (*OTHERS, runs.judged)
        }

    panels = [
        DotPanel("Goodput over the link's rate", of("goodput_bps", "rate")),
        DotPanel("Mean smoothed RTT over the least", of("mean_srtt_s", "rtt"), log=True),
    ]
    return dots([one.path.name for one in runs.paths], panels, title)


def _unit(one: OnPath, per: str) -> float:
    if per == "rate":
        return one.path.rate_bps
    return min(one.mean(cc, "min_rtt_s") for cc in one.rows)


def _one_segment(folder: Folder, runs: PathRuns, name: str) -> Section:
    title = f"{name}'s windows where one segment fills the path"
    text = [f"{ONE_SEGMENT.name}, and a queue of two packets. A window of one must not be a trap."]
    drawn = report.figure(folder, "one-segment", lambda: _draw_windows(runs, title))
    return Section("one-segment", title, drawn, [], [], text=text)


def _draw_windows(runs: PathRuns, title: str) -> Figure:
    from westwood.draw.over_time import TracedRun, over_time

    traced = []
    for cc in (*OTHERS, runs.judged):
        result = SIMULATOR.simulate(ONE_SEGMENT.with_control(cc), trace=True)
        traced.append(TracedRun(cc, label(cc), result.trace, dashed=cc == runs.judged))
    whole_s = (0.0, ONE_SEGMENT.preset.duration / PS_PER_S)
    return over_time(traced, title, whole_s)


def _shares(folder: Folder, runs: PathRuns, name: str) -> Section:
    title = f"{name} and {label(RIVAL)} on one link of 20 Mb/s, 40 ms"
    rows: list[list[str | Cell]] = [
        [one.queue, *(f"{row['goodput_bps'] / 1e6:.3f}" for row in one.rows.values())]
        for one in runs.shares
    ]
    for one in runs.shares:
        folder.scenario(f"shared-{one.queue}", one.scenario)
    heads = ["queue", *(f"{label(cc)} (Mb/s)" for cc in (runs.judged, RIVAL))]
    text = ["Means of ten runs of 60 s with random starts. shared-*.toml are the scenarios."]
    drawn = report.figure(folder, "shares", lambda: _draw_shares(runs.shares, title))
    grids = [Grid("Goodput on the same link", heads, rows)]
    return Section("shares", title, drawn, [], [], text=text, grids=grids)


def _draw_shares(shares: Sequence[Share], title: str) -> Figure:
    from westwood.draw.bars import grouped_bars

    groups = [
        (
            one.queue,
            [
                (cc, row["goodput_bps"] / 1e6, row["goodput_bps_ci95"] / 1e6)
                for cc, row in one.rows.items()
            ],
        )
        for one in shares
    ]
    return grouped_bars(groups, "Goodput (Mb/s)", title)
