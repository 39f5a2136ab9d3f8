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
from westwood.papers.studies import STUDIES, PaperStudy, names_of, observer_of
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
    entries: list[dict[str, Any]]  # in claims.json


def select(
    name: str,
    only: Sequence[str] = (),
    *,
    seeds: int | None = None,
    quick: bool = False,
    settings: Mapping[str, Any] | None = None,
    seed_set: int = 1,
) -> Selection:
    """Selects one study by name, or all of them, and plans the runs.

    only: their names and claims to leave. settings: of every scenario, those that differ. seed_set:
    see `first_seed`.
    """
    if name not in (ALL, *STUDIES):
        raise InputError(f"unknown figure, {suggestion(name, [ALL, *STUDIES])}", value=name)
    experiment.check_seeds(seeds)
    chosen = _only(only, STUDIES if name == ALL else {name: STUDIES[name]})
    more_seeds = experiment.first_seed(seed_set) - 1
    experiments = {}
    for study in chosen.values():
        for scenario in study.scenarios:
            base = Scenario.preset(scenario)
            fixed = base.seeds == 1  # nothing in it is random
            count = seeds if seeds is not None else QUICK_SEEDS if quick else None
            count = None if fixed else count
            planned = experiment.plan(base, seeds=count, settings=settings)
            observer = observer_of(scenario)
            observed = observer.job_settings if observer else {}
            jobs = [
                replace(job, seeds=[seed + more_seeds for seed in job.seeds], **observed)
                for job in planned.jobs
            ]
            experiments[scenario] = replace(planned, jobs=jobs)
    return Selection(chosen, experiments)


def _only(names: Sequence[str], studies: Mapping[str, PaperStudy]) -> Mapping[str, PaperStudy]:
    """Returns each study that is named; of a named claim, its study with that claim only."""
    known = names_of(studies)
    for name in names:
        if name not in known:
            problem = f"no such experiment or claim, {suggestion(name, known)}"
            raise InputError(problem, key="--only", value=name)
    left = {
        name: [claim for claim in study.claims if name in names or claim in names]
        for name, study in studies.items()
    }
    chosen = {
        name: replace(studies[name], claims=tuple(claims))
        for name, claims in left.items()
        if claims or name in names
    }
    return chosen if names else studies


def run(
    selection: Selection,
    folder: Folder,
    *,
    workers: int | None,
    track: Tracker,
    resume: bool = False,
    client: Any = None,
) -> Reproduction:
    """Runs, draws, checks and writes everything into the folder.

    With `resume` the runs that an earlier start has kept in the folder are not repeated. `client`
    is that of a Dask cluster.
    """
    check_workers(workers, "--workers")
    kept = KeptRuns(folder, "reproduction")
    with kept.opened(_manifest(selection), resume=resume):
        by_name = experiment.collect_all(
            selection.experiments, workers=workers, track=track, kept=kept, client=client
        )
        done = _written(selection, folder, by_name)
        kept.finish()
    return done


def _written(
    selection: Selection, folder: Folder, by_name: Mapping[str, Collected]
) -> Reproduction:
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
    verdicts, sections = [], []
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
        verdicts += claim_verdicts
        sections.append(_section(selection, name, study, measured, claim_verdicts, picture))
    others = claims.tested() if len(selection.studies) == len(STUDIES) else []
    entries = list(_entries(selection, verdicts, others))
    folder.json("claims.json", {"claims": entries})
    page = report.write_last(
        folder,
        "The papers' claims, measured",
        sections,
        _manifest(selection),
        verdicts=[*verdicts, *others],
    )
    return Reproduction([*verdicts, *others], page, entries)


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
) -> Iterator[dict[str, Any]]:
    settings = {name: _settings(planned) for name, planned in selection.experiments.items()}
    figure = {claim: name for name, study in selection.studies.items() for claim in study.claims}
    for verdict in verdicts:
        name = figure[verdict.claim.id]
        used = {scenario: settings[scenario] for scenario in selection.studies[name].scenarios}
        yield {**verdict.entry(), "figure": f"{name}.svg", "settings": used}
    for verdict in others:
        yield {**verdict.entry(), "figure": None, "settings": {}}


def _settings(planned: Experiment) -> dict[str, Any]:
    scenario = planned.scenario
    profile = profiles.get(scenario.profile)
    return {
        "scenario": f"scenarios/{scenario.name}.toml",
        "hash": scenario.hash,
        "seeds": list(planned.jobs[0].seeds),
        "profile": profile.name,
        "profile_title": profile.title,
    }


def _manifest(selection: Selection) -> dict[str, Any]:
    return {
        "engine": "sim",
        "runs": selection.runs,
        "scenarios": {name: _settings(planned) for name, planned in selection.experiments.items()},
    }
