# SPDX-License-Identifier: BSD-3-Clause
"""Reproduces published experiments: runs them, draws them, holds the claims against them.

Writes a results folder: index.html, claims.json, NAME.png and NAME.svg of each experiment, and of
each scenario data/NAME.csv, runs/NAME.parquet, scenarios/NAME.toml.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from westwood.draw import report
from westwood.draw.style import save
from westwood.errors import InputError, suggestion
from westwood.experiments import experiment
from westwood.experiments.experiment import Experiment, Outcome, Tracker
from westwood.papers import claims
from westwood.papers.checks.common import Measured
from westwood.papers.targets import TARGETS, Target
from westwood.results.store import Folder
from westwood.scenario import Scenario, profiles

QUICK_SEEDS = 3
ALL = "all"


@dataclass(frozen=True)
class Plan:
    """What will be run: targets by name, and every scenario once."""

    targets: Mapping[str, Target]
    experiments: Mapping[str, Experiment]

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return sum(one.runs for one in self.experiments.values())


@dataclass(frozen=True)
class Reproduction:
    """What came of it."""

    verdicts: list[claims.Verdict]
    page: Path
    figures: list[Path]


def plan(name: str, *, seeds: int | None = None, quick: bool = False) -> Plan:
    """The target of this name, or all of them, and its runs."""
    if name not in (ALL, *TARGETS):
        raise InputError(f"unknown figure, {suggestion(name, [ALL, *TARGETS])}", value=name)
    chosen = TARGETS if name == ALL else {name: TARGETS[name]}
    experiments = {}
    for target in chosen.values():
        for scenario in target.scenarios:
            base = Scenario.preset(scenario)
            fixed = base.seeds == 1  # nothing in it is random
            count = seeds if seeds is not None else QUICK_SEEDS if quick else None
            count = None if fixed else count
            planned = experiment.plan(base, seeds=count)
            if target.observer:
                observed = target.observer.job_settings
                planned = replace(planned, jobs=[replace(j, **observed) for j in planned.jobs])
            experiments[scenario] = planned
    return Plan(chosen, experiments)


def run(
    planned: Plan, folder: Folder, *, workers: int | None, track: Tracker
) -> Reproduction | None:
    """Runs, draws, checks and writes it all into the folder; None if interrupted."""
    manifest = _manifest(planned)
    folder.manifest(manifest, complete=False)
    outcomes = experiment.collect_all(planned.experiments, workers=workers, track=track)
    for name, outcome in outcomes.items():
        folder.text(f"scenarios/{name}.toml", planned.experiments[name].scenario.to_toml())
        if not outcome.rows.is_empty():
            folder.frame(f"runs/{name}.parquet", outcome.rows)
    if not all(outcome.complete for outcome in outcomes.values()):
        return None
    measured = {name: _measured(planned, name, outcome) for name, outcome in outcomes.items()}
    for name, one in measured.items():
        folder.frame(f"data/{name}.csv", one.points)
    drawn, verdicts, parts = [], [], []
    for name, target in planned.targets.items():
        found = claims.check(target.claims, measured)
        figure = target.draw(measured, target.title)
        drawn.append(save(figure, folder.file, name))
        verdicts += found
        parts.append(_part(planned, name, target, measured, found, folder))
    others = claims.tested() if len(planned.targets) == len(TARGETS) else []
    settings = {name: _settings(one.scenario) for name, one in planned.experiments.items()}
    folder.json("claims.json", {"claims": list(_entries(planned, verdicts, others, settings))})
    manifest_file = folder.manifest(manifest)
    page = report.write(
        folder, "The papers' claims, measured", parts, [*verdicts, *others],
        manifest_file.read_text(encoding="utf-8"),
    )  # fmt: skip
    return Reproduction([*verdicts, *others], page, drawn)


def _measured(planned: Plan, name: str, outcome: Outcome) -> Measured:
    x = next(t.scenarios[name] for t in planned.targets.values() if name in t.scenarios)
    points = experiment.points(planned.experiments[name], outcome.rows)
    return Measured(outcome.rows, points, x)


def _part(
    planned: Plan, name: str, target: Target, measured: Mapping[str, Measured],
    verdicts: Sequence[claims.Verdict], folder: Folder,
) -> report.Part:  # fmt: skip
    tables = []
    for scenario in target.scenarios:
        one = planned.experiments[scenario]
        keys = experiment.varied_keys(one, measured[scenario].rows)
        frame = measured[scenario].points
        columns = [c for c in target.shown if c in frame.columns]
        tables.append(report.Table(scenario, one.scenario.seeds, frame, keys, columns))
    svg = (folder.path / f"{name}.svg").read_bytes()
    profile = profiles.get(
        next(iter(planned.experiments[s] for s in target.scenarios)).scenario.profile
    )
    return report.Part(name, target.title, svg, tables, list(verdicts), profile.name, profile.title)


def _entries(
    planned: Plan, verdicts: Sequence[claims.Verdict], others: Sequence[claims.Verdict],
    settings: Mapping[str, Any],
) -> Iterator[dict[str, Any]]:  # fmt: skip
    figure = {one: name for name, target in planned.targets.items() for one in target.claims}
    for verdict in verdicts:
        name = figure[verdict.claim.id]
        used = {scenario: settings[scenario] for scenario in planned.targets[name].scenarios}
        yield {**verdict.entry(), "figure": f"{name}.svg", "settings": used}
    for verdict in others:
        yield {**verdict.entry(), "figure": None, "settings": {}}


def _settings(scenario: Scenario) -> dict[str, Any]:
    profile = profiles.get(scenario.profile)
    return {
        "scenario": f"scenarios/{scenario.name}.toml",
        "hash": scenario.hash,
        "seeds": list(range(1, scenario.seeds + 1)),
        "profile": profile.name,
        "profile_title": profile.title,
    }


def _manifest(planned: Plan) -> dict[str, Any]:
    return {
        "engine": "sim",
        "runs": planned.runs,
        "scenarios": {name: _settings(one.scenario) for name, one in planned.experiments.items()},
    }
