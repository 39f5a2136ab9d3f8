# SPDX-License-Identifier: BSD-3-Clause
"""Writes the results of `path compare`: rows, verdict.json, and a page with pairs and traces."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from westwood import extras
from westwood.campaign import trying, verdict
from westwood.campaign.trying import Trial
from westwood.results import sequential
from westwood.results.folder import Folder

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FIGURES = {
    "goodput_bps": ("goodput, Mb/s", 1e-6),
    "retransmission_ratio": ("retransmitted, %", 100.0),
    "losses": ("losses", 1.0),
    "timeouts": ("timeouts", 1.0),
    "mean_cwnd": ("mean cwnd", 1.0),
    "mean_srtt_s": ("mean RTT, ms", 1e3),
    "min_rtt_s": ("smallest RTT, ms", 1e3),
}


def entries(trial: Trial) -> list[dict[str, Any]]:
    """Returns the verdicts for JSON."""
    causes = trial.causes()
    reason = causes.reason() if causes else ""
    return [verdict.entry(reason) for verdict in trial.verdicts()]


def write_data(trial: Trial, folder: Folder, about: Mapping[str, Any]) -> None:
    """Writes uploads.parquet, losses.csv and verdict.json."""
    if trial.rows:
        folder.frame("uploads.parquet", trial.frame)
    folder.frame("losses.csv", trial.losses)
    folder.json("verdict.json", {"verdicts": entries(trial), **about})


def write_page(trial: Trial, folder: Folder, about: Mapping[str, Any]) -> Path:
    """Writes the figures and the page; returns the page's path."""
    from westwood.draw import report

    plan, verdicts = trial.plan, entries(trial)
    rows = trial.frame

    def draw_pairs() -> Figure:
        from westwood.draw import trial_plots

        return trial_plots.pairs(rows, _courses(trial), plan.controls[0], plan.worth)

    pairs = report.Section(
        "verdict",
        "The pairs",
        report.figure(folder, "pairs", draw_pairs),
        text=[entry["sentence"] for entry in verdicts],
        grids=[_means(rows, plan.controls), _pairs(rows, plan.controls), *_facts(trial, about)],
    )
    sections = [pairs]
    shown = _typical(trial)
    trace_of_control = dict(trying.traces(trial, folder, shown))
    traces = {cc: trace_of_control[cc] for cc in plan.controls if cc in trace_of_control}
    if traces and extras.has("matplotlib"):
        from westwood.draw import trial_plots

        title = f"pair {shown}, the middle one by its gain"
        picture = report.figure(folder, "traces", lambda: trial_plots.side_by_side(traces, title))
        sections.append(report.Section("traces", f"Side by side: {title}", picture))
    title = f"{verdicts[0]['verdict'].capitalize()}: {plan.controls[1]} against {plan.controls[0]}"
    if len(verdicts) > 1:
        title = f"Does it pay? {len(verdicts)} controls against {plan.controls[0]}"
    complete = not trial.problem
    return report.write_last(folder, title, sections, about, complete=complete)


def _courses(trial: Trial) -> list[Any]:
    """Returns how each interval narrowed, pair by pair."""
    from westwood.draw.trial_plots import GainCourse

    courses = []
    for trial_verdict in trial.verdicts():
        traces_of_control = [
            sequential.estimate(trial_verdict.gains[:count], trial_verdict.level)
            for count in range(1, len(trial_verdict.gains) + 1)
        ]
        ends = [(_gain(each.mean), _gain(each.low), _gain(each.high)) for each in traces_of_control]
        if ends:
            courses.append(
                GainCourse(trial_verdict.cc, *(list(values) for values in zip(*ends, strict=True)))
            )
    return courses


def _gain(logarithm: float) -> float:
    """Converts a mean logarithm to a gain; NaN without a bound."""
    return math.expm1(logarithm) if abs(logarithm) < 50 else math.nan


def _typical(trial: Trial) -> int:
    """Returns the pair with the median gain of the first candidate."""
    first_verdict = trial.verdicts()[0]
    order = sorted(range(len(first_verdict.gains)), key=lambda place: first_verdict.gains[place])
    return order[len(order) // 2] + 1 if order else 1


def _means(rows: pl.DataFrame, controls: Sequence[str]) -> Any:
    """Returns each control's means, without intervals, since the pairs decide."""
    from westwood.draw.report import Grid

    heads = ["control", "uploads", *(head for head, _ in _FIGURES.values())]
    cells = []
    for cc in controls:
        mine = rows.filter(cc=cc)
        means = [_number(mine[name].mean(), unit) for name, (_, unit) in _FIGURES.items()]
        cells.append([cc, str(mine.height), *means])
    return Grid("Means", heads, cells)


def _pairs(rows: pl.DataFrame, controls: Sequence[str]) -> Any:
    from westwood.draw.report import Grid

    baseline, *others = controls
    heads = ["pair", *(f"{cc}, Mb/s" for cc in controls), *(f"{cc}: gain" for cc in others)]
    cells = []
    for (pair,), mine in rows.group_by("pair", maintain_order=True):
        rates = {row["cc"]: row["goodput_bps"] for row in mine.iter_rows(named=True)}
        if len(rates) == len(controls):
            gains = [math.expm1(*verdict.gains(mine, cc, baseline)) for cc in others]
            shown = [verdict.percent(gain) for gain in gains]
            cells.append([str(pair), *(_number(rates[cc], 1e-6) for cc in controls), *shown])
    return Grid("Every pair", heads, cells)


def _facts(trial: Trial, about: Mapping[str, Any]) -> list[Any]:
    from westwood.draw.report import Grid, facts

    causes = trial.causes()
    path = (
        {}
        if causes is None
        else {
            "server": f"{trial.plan.host}, port {trial.plan.port}",
            "smallest RTT, ms": 1e3 * causes.min_rtt_s,
            "what a full queue adds, ms": 1e3 * causes.queue_s,
            "losses": causes.losses,
            "of them at minimum RTT": causes.at_minimum,
            "timeouts": causes.timeouts,
            "of the time the receiver's window limits, %": 100 * causes.rwnd_limited,
            "of the time the send buffer limits, %": 100 * causes.sndbuf_limited,
        }
    )
    named = {"The path": path, "This machine": about["machine"]}
    return [Grid(title, ("", ""), list(facts(what))) for title, what in named.items()]


def _number(value: Any, unit: float) -> str:
    known = isinstance(value, (int, float)) and math.isfinite(value)
    return f"{value * unit:.4g}" if known else "-"
