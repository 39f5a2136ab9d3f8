# SPDX-License-Identifier: BSD-3-Clause
"""Reproduces published experiments: runs them, draws them, and decides the claims.

Writes a results folder: index.html, claims.json, NAME.png and NAME.svg for each experiment. For
each scenario it writes data/NAME.csv, runs/NAME.parquet and scenarios/NAME.toml.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from westwood import stopping
from westwood.draw import report
from westwood.draw.laboratory import LabLink
from westwood.engines.pool import check_workers
from westwood.errors import InputError, suggestion
from westwood.experiments import experiment
from westwood.experiments.experiment import Collected, Experiment, Tracker
from westwood.experiments.kept import KeptRuns
from westwood.papers import claims
from westwood.papers.checks.common import Measured
from westwood.papers.infer import published
from westwood.papers.infer import report as inference
from westwood.papers.studies import STUDIES, PaperStudy, observer_of
from westwood.results.folder import Folder
from westwood.results.rows import losing_links
from westwood.scenario import Scenario, fragments, profiles

QUICK_SEEDS = 3
ALL = "all"


@dataclass(frozen=True)
class Selection:
    """The studies to run by name, and each of their scenarios once."""

    studies: Mapping[str, PaperStudy]
    experiments: Mapping[str, Experiment]

    @property
    def runs(self) -> int:
        """Number of runs."""
        return sum(experiment.runs for experiment in self.experiments.values())


@dataclass(frozen=True)
class Reproduction:
    """The results: verdicts, page and figures."""

    verdicts: list[claims.ClaimVerdict]
    page: Path
    figures: list[Path]


def select(name: str, *, seeds: int | None = None, quick: bool = False) -> Selection:
    """Selects one study by name, or all of them, and plans the runs."""
    if name not in (ALL, *STUDIES):
        raise InputError(f"unknown figure, {suggestion(name, [ALL, *STUDIES])}", value=name)
    experiment.check_seeds(seeds)
    chosen = STUDIES if name == ALL else {name: STUDIES[name]}
    experiments = {}
    for study in chosen.values():
        for scenario in study.scenarios:
            base = Scenario.preset(scenario)
            fixed = base.seeds == 1  # nothing in it is random
            count = seeds if seeds is not None else QUICK_SEEDS if quick else None
            count = None if fixed else count
            planned = experiment.plan(base, seeds=count)
            if observer := observer_of(scenario):
                observed = observer.job_settings
                planned = replace(planned, jobs=[replace(j, **observed) for j in planned.jobs])
            experiments[scenario] = planned
    return Selection(chosen, experiments)


def run(
    selection: Selection,
    folder: Folder,
    *,
    workers: int | None,
    track: Tracker,
    resume: bool = False,
) -> Reproduction:
    """Runs, draws, checks and writes everything into the folder.

    With `resume` the runs that an earlier start has kept in the folder are not repeated.
    """
    check_workers(workers, "--workers")
    kept = KeptRuns(folder, "reproduction")
    with kept.opened(_manifest(selection), resume=resume):
        done = _reproduced(selection, folder, kept, workers, track)
        kept.finish()
    return done


def _reproduced(
    selection: Selection, folder: Folder, kept: KeptRuns, workers: int | None, track: Tracker
) -> Reproduction:
    by_name = experiment.collect_all(selection.experiments, workers=workers, track=track, kept=kept)
    with stopping.keeping():
        for name, collected in by_name.items():
            folder.scenario(f"scenarios/{name}", selection.experiments[name].scenario)
            if collected.runs:
                folder.frame(f"runs/{name}.parquet", collected.rows)
    if not all(collected.complete for collected in by_name.values()):
        raise KeyboardInterrupt
    measured = {name: _measured(selection, name, collected) for name, collected in by_name.items()}
    for name, rows in measured.items():
        folder.frame(f"data/{name}.csv", rows.points)
    drawn, verdicts, sections = [], [], []
    for name, study in selection.studies.items():
        claim_verdicts = [
            replace(
                verdict,
                elsewhere=inference.elsewhere(verdict.claim.paper.key, verdict.claim.id),
                numbers=published.beside(verdict.claim.id, verdict.measured),
            )
            for verdict in claims.check(study.claims, measured)
        ]
        picture = report.figure(folder, name, partial(study.draw, measured, study.title))
        drawn.append(folder.path / f"{name}.png")
        verdicts += claim_verdicts
        sections.append(_section(selection, name, study, measured, claim_verdicts, picture))
    others = claims.tested() if len(selection.studies) == len(STUDIES) else []
    settings = {
        name: _settings(experiment.scenario) for name, experiment in selection.experiments.items()
    }
    folder.json("claims.json", {"claims": list(_entries(selection, verdicts, others, settings))})
    page = report.write_last(
        folder,
        "The papers' claims, measured",
        sections,
        [*verdicts, *others],
        _manifest(selection),
    )
    return Reproduction([*verdicts, *others], page, drawn)


def _measured(selection: Selection, name: str, collected: Collected) -> Measured:
    x = next(t.scenarios[name] for t in selection.studies.values() if name in t.scenarios)
    points = experiment.points(selection.experiments[name], collected.rows)
    return Measured(collected.rows, points, x)


def _section(
    selection: Selection,
    name: str,
    study: PaperStudy,
    measured: Mapping[str, Measured],
    verdicts: Sequence[claims.ClaimVerdict],
    picture: report.Drawn | None,
) -> report.Section:
    tables = []
    for scenario in study.scenarios:
        planned = selection.experiments[scenario]
        keys = experiment.varied_keys(planned, measured[scenario].rows)
        frame = measured[scenario].points
        losses = losing_links(planned.scenario, frame.iter_rows(named=True))
        columns = [c for c in (*study.shown, *losses) if c in frame.columns]
        tables.append(report.Table(scenario, planned.scenario.seeds, frame, keys, columns))
    profile = profiles.get(
        next(iter(selection.experiments[s] for s in study.scenarios)).scenario.profile
    )
    return report.Section(
        name,
        study.title,
        picture,
        tables,
        list(verdicts),
        profile.name,
        profile.title,
        opens=[LabLink(preset, fragments.of_preset(preset)) for preset in study.scenarios],
    )


def _entries(
    selection: Selection,
    verdicts: Sequence[claims.ClaimVerdict],
    others: Sequence[claims.ClaimVerdict],
    settings: Mapping[str, Any],
) -> Iterator[dict[str, Any]]:
    figure = {claim: name for name, study in selection.studies.items() for claim in study.claims}
    for verdict in verdicts:
        name = figure[verdict.claim.id]
        used = {scenario: settings[scenario] for scenario in selection.studies[name].scenarios}
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


def _manifest(selection: Selection) -> dict[str, Any]:
    return {
        "engine": "sim",
        "runs": selection.runs,
        "scenarios": {
            name: _settings(experiment.scenario)
            for name, experiment in selection.experiments.items()
        },
    }
