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
    found = trial.causes()
    reason = found.reason() if found else ""
    return [one.entry(reason) for one in trial.verdicts()]


def write_data(trial: Trial, folder: Folder, about: Mapping[str, Any]) -> None:
    """Writes uploads.parquet, losses.csv and verdict.json."""
    if trial.rows:
        folder.frame("uploads.parquet", trial.frame)
    folder.frame("losses.csv", trial.losses)
    folder.json("verdict.json", {"verdicts": entries(trial), **about})


def write_page(trial: Trial, folder: Folder, about: Mapping[str, Any]) -> Path:
    """Writes the figures and the page; returns the page's path."""
    from westwood.draw import report

    plan, said = trial.plan, entries(trial)
    rows = trial.frame

    def draw_pairs() -> Figure:
        from westwood.draw import trial_plots

        return trial_plots.pairs(rows, _courses(trial), plan.controls[0], plan.worth)

    pairs = report.Section(
        "verdict",
        "The pairs",
        report.figure(folder, "pairs", draw_pairs),
        [],
        [],
        text=[one["sentence"] for one in said],
        grids=[_means(rows, plan.controls), _pairs(rows, plan.controls), *_facts(trial, about)],
    )
    sections = [pairs]
    shown = _typical(trial)
    found = dict(trying.traces(trial, folder, shown))
    traces = {cc: found[cc] for cc in plan.controls if cc in found}
    if traces and extras.has("matplotlib"):
        from westwood.draw import trial_plots

        title = f"pair {shown}, the middle one by its gain"
        picture = report.figure(folder, "traces", lambda: trial_plots.side_by_side(traces, title))
        sections.append(report.Section("traces", f"Side by side: {title}", picture, [], []))
    title = f"{said[0]['verdict'].capitalize()}: {plan.controls[1]} against {plan.controls[0]}"
    if len(said) > 1:
        title = f"Does it pay? {len(said)} controls against {plan.controls[0]}"
    complete = not trial.problem
    return report.write_last(folder, title, sections, [], about, complete=complete)


def _courses(trial: Trial) -> list[Any]:
    """Returns how each interval narrowed, pair by pair."""
    from westwood.draw.trial_plots import GainCourse

    made = []
    for one in trial.verdicts():
        found = [
            sequential.estimate(one.gains[:count], one.level)
            for count in range(1, len(one.gains) + 1)
        ]
        ends = [(_gain(each.mean), _gain(each.low), _gain(each.high)) for each in found]
        if ends:
            made.append(GainCourse(one.cc, *(list(values) for values in zip(*ends, strict=True))))
    return made


def _gain(logarithm: float) -> float:
    """Converts a mean logarithm to a gain; NaN without a bound."""
    return math.expm1(logarithm) if abs(logarithm) < 50 else math.nan


def _typical(trial: Trial) -> int:
    """Returns the pair with the median gain of the first candidate."""
    one = trial.verdicts()[0]
    order = sorted(range(len(one.gains)), key=lambda place: one.gains[place])
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

    found = trial.causes()
    path = (
        {}
        if found is None
        else {
            "server": f"{trial.plan.host}, port {trial.plan.port}",
            "smallest RTT, ms": 1e3 * found.min_rtt_s,
            "what a full queue adds, ms": 1e3 * found.queue_s,
            "losses": found.losses,
            "of them at minimum RTT": found.at_minimum,
            "timeouts": found.timeouts,
            "of the time the receiver's window limits, %": 100 * found.rwnd_limited,
            "of the time the send buffer limits, %": 100 * found.sndbuf_limited,
        }
    )
    named = {"The path": path, "This machine": about["machine"]}
    return [Grid(title, ("", ""), list(facts(what))) for title, what in named.items()]


def _number(value: Any, unit: float) -> str:
    known = isinstance(value, (int, float)) and math.isfinite(value)
    return f"{value * unit:.4g}" if known else "-"
