# SPDX-License-Identifier: BSD-3-Clause
"""Reproduces a paper's figure and holds its claims against what comes out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from westwood import claims, experiment, figures, profiles
from westwood.errors import InputError, suggestion
from westwood.experiment import Experiment, Outcome, Tracker
from westwood.metrics import summarise
from westwood.scenario import Scenario
from westwood.store import Folder

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUICK_SEEDS = 5


@dataclass(frozen=True)
class Target:
    """A figure: the scenario behind it, the claims about it, how its points are made and drawn."""

    scenario: str
    claims: tuple[str, ...]
    points: Callable[[pl.DataFrame], pl.DataFrame]
    draw: Callable[[pl.DataFrame, str], Figure]
    title: str


@dataclass(frozen=True)
class Reproduction:
    """What came of it."""

    verdicts: list[claims.Verdict]
    figure: Path
    complete: bool


def _over_error_rate(rows: pl.DataFrame) -> pl.DataFrame:
    named = rows.rename({"bottleneck.loss.rate": "per"})
    return summarise(named, ["per", "cc"], ["throughput_bps", "goodput_bps", "timeouts"])


TARGETS = {
    "fig5": Target(
        "fig5",
        tuple(claim for claim in claims.CHECKS if claim.startswith("ns3.fig5.")),
        _over_error_rate,
        figures.throughput_over_error_rate,
        "Figure 5 of the 2013 ns-3 paper, mean of {seeds} runs a point, 95 % intervals",
    ),
}


def plan(name: str, *, seeds: int | None, quick: bool) -> tuple[Target, Experiment]:
    """The target of this name and its runs."""
    if name not in TARGETS:
        raise InputError(f"unknown figure, {suggestion(name, TARGETS)}", value=name)
    target = TARGETS[name]
    chosen = seeds if seeds is not None else QUICK_SEEDS if quick else None
    return target, experiment.plan(Scenario.preset(target.scenario), seeds=chosen)


def run(
    target: Target, planned: Experiment, folder: Folder, *, workers: int | None, track: Tracker
) -> Reproduction | None:
    """Runs, draws, checks and writes it all into the folder; None if interrupted."""
    settings = _settings(planned.scenario)
    folder.manifest(settings, complete=False)
    outcome: Outcome = experiment.collect(planned, workers=workers, track=track)
    folder.text("scenario.toml", planned.scenario.to_toml())
    folder.frame("runs.parquet", outcome.rows)
    if not outcome.complete:
        return None
    points = target.points(outcome.rows)
    verdicts = claims.check(target.claims, points)
    folder.frame(f"{target.scenario}.csv", points)
    entries = [{**verdict.entry(), "settings": settings} for verdict in verdicts]
    folder.json("claims.json", {"claims": entries})
    title = target.title.format(seeds=planned.scenario.seeds)
    figure = figures.save(target.draw(points, title), folder.file, target.scenario)
    folder.manifest(settings)
    return Reproduction(verdicts, figure, complete=True)


def _settings(scenario: Scenario) -> dict[str, Any]:
    profile = profiles.get(scenario.profile)
    return {
        "engine": "sim",
        "scenario": scenario.resolved(),
        "hash": scenario.hash,
        "seeds": list(range(1, scenario.seeds + 1)),
        "profile": profile.name,
        "profile_title": profile.title,
    }
