# SPDX-License-Identifier: BSD-3-Clause
"""Decides a paper's claims under given settings: plans, shares and evaluates the runs.

A run that several scenarios need happens once. For example, Figures 5 to 10 of the 2013 paper share
runs where path, loss and protocol agree.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from westwood.engines.contract import Job
from westwood.engines.result import Result
from westwood.papers.checks import CHECKS
from westwood.papers.checks.common import THROUGHPUT, Finding, Measured
from westwood.papers.infer import published
from westwood.papers.infer.apply import applied
from westwood.papers.infer.space import Chosen, Open, Value
from westwood.papers.studies import STUDIES, PaperStudy, observer_of
from westwood.results.columns import Row
from westwood.results.metrics import summarise
from westwood.results.rows import rows_frame
from westwood.scenario import Scenario

RunJobs = Callable[[Iterable[Job]], Generator[tuple[int, list[Row]]]]
_SUMMED = (THROUGHPUT, "loss_ratio")  # columns that checks read from points
_UNDECIDED = "can't be decided: a flow delivers nothing"


@dataclass(frozen=True)
class ClaimOutcome:
    """In how many places each claim fails, and the measured values of the published numbers."""

    failures: Mapping[str, int]
    numbers: Mapping[str, float | None]
    explanations: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def held(self) -> list[str]:
        """Claims that hold."""
        return [claim for claim, count in self.failures.items() if count == 0]

    @property
    def cost(self) -> float:
        """Number of failing claims, plus the distance to the published numbers, which is below 1.

        A claim that fails in many places costs a little more than one that fails in one.
        """
        failing = [count for count in self.failures.values() if count]
        places = sum(count / (1 + count) for count in failing) / max(1, len(self.failures))
        return len(failing) + (places + published.distance(self.numbers)) / 2


@dataclass(frozen=True)
class _Point:
    columns: Mapping[str, Any]
    scenario: Scenario
    fixed: frozenset[str]


@dataclass(frozen=True)
class ClaimTestSet:
    """The scenarios and points that decide claims of a paper, and the seeds of their runs."""

    open: Open
    claims: tuple[str, ...]
    seeds: tuple[int, ...]
    thin: bool  # uses the sparse sweeps of the search

    @cached_property
    def studies(self) -> list[PaperStudy]:
        """Experiments that these claims rest on."""
        return [study for study in STUDIES.values() if set(study.claims) & set(self.claims)]

    @cached_property
    def bases(self) -> dict[str, tuple[Scenario, PaperStudy]]:
        """Scenarios by name, with their sweeps and studies."""
        scenarios = {}
        for study in self.studies:
            for name in study.scenarios:
                base = Scenario.preset(name)
                if self.thin:
                    base = base.with_sweep(self.open.grid.get(name, {}))
                scenarios[name] = (base, study)
        return scenarios

    @property
    def _longest(self) -> str | None:
        """Returns the longest duration of a run in the search."""
        return self.open.longest if self.thin else None

    @cached_property
    def points(self) -> dict[str, list[_Point]]:
        """Every point of every scenario."""
        return {
            name: [
                _Point(columns, point, frozenset((*base.sweep, *self.open.keys_of.get(name, ()))))
                for columns, point in base.points()
            ]
            for name, (base, _) in self.bases.items()
        }

    def plan(self, chosen: Chosen) -> ClaimPlan:
        """Plans the runs under these settings."""
        return self.plan_with(self.open.values(chosen))

    def plan_with(self, values: Sequence[Value]) -> ClaimPlan:
        """Plans the runs under the profile's settings with these values."""
        plan = ClaimPlan(
            self, next((value.measures for value in values if value.measures), THROUGHPUT)
        )
        for name, points in self.points.items():
            observer = observer_of(name)
            for point in points:
                scenario = applied(point.scenario, point.fixed, values, self._longest)
                plan.add(name, point.columns, scenario, observer.job_settings if observer else {})
        return plan


@dataclass
class ClaimPlan:
    """The runs under one choice of settings, without duplicates."""

    test_set: ClaimTestSet
    measures: str
    jobs: dict[str, Job] = field(default_factory=dict)  # by the scenario's hash
    wanted: dict[str, list[tuple[Mapping[str, Any], str]]] = field(default_factory=dict)

    def add(
        self, name: str, columns: Mapping[str, Any], scenario: Scenario, observed: Mapping[str, Any]
    ) -> None:
        """Adds a point of the scenario `name`; its job records what `observed` requests."""
        key = scenario.hash
        seeds = (
            self.test_set.seeds
            if self.test_set.bases[name][0].seeds > 1
            else self.test_set.seeds[:1]
        )
        if key not in self.jobs:
            self.jobs[key] = Job(scenario, seeds, {}, **observed)
        elif observed:
            self.jobs[key] = _observed_too(self.jobs[key], observed)
        self.wanted.setdefault(name, []).append((columns, key))

    @property
    def runs(self) -> int:
        """Number of runs."""
        return sum(len(job.seeds) for job in self.jobs.values())

    def outcome(self, rows: Mapping[int, list[Row]]) -> ClaimOutcome:
        """Decides the claims from the rows of all runs, by their index in `jobs`."""
        findings = self.findings(rows)
        return ClaimOutcome(
            {claim: len(finding.failures) for claim, finding in findings.items()},
            published.read({claim: finding.measured for claim, finding in findings.items()}),
            {claim: "; ".join(finding.failures) for claim, finding in findings.items()},
        )

    def findings(self, rows: Mapping[int, list[Row]]) -> dict[str, Finding]:
        """Returns what the checks of the claims found in these rows."""
        by_job: dict[str, list[Row]] = {}
        place = 0
        for key, job in self.jobs.items():
            by_job[key] = [row for n in range(len(job.seeds)) for row in rows[place + n]]
            place += len(job.seeds)
        measured = {name: self._measured(name, by_job) for name in self.wanted}
        return {claim: _checked(claim, measured) for claim in self.test_set.claims}

    def _measured(self, name: str, by_job: Mapping[str, list[Row]]) -> Measured:
        rows = [
            {**columns, **row, THROUGHPUT: row[self.measures]}
            for columns, key in self.wanted[name]
            for row in by_job[key]
        ]
        base, study = self.test_set.bases[name]
        frame = rows_frame(rows)
        shown = [
            column
            for shown_study in STUDIES.values()
            if name in shown_study.scenarios
            for column in shown_study.shown
        ]
        observed = [column for column in shown if column in frame.columns]
        averaged = list(dict.fromkeys((*_SUMMED, *observed)))
        points = summarise(frame, [*base.sweep, "flow", "cc"], averaged)
        x = study.scenarios[name]
        return Measured(frame, points, x, with_interval=not self.test_set.thin)


def _observed_too(job: Job, observed: Mapping[str, Any]) -> Job:
    first, second = job.more_columns, observed["more_columns"]
    if first is None:
        return Job(job.scenario, job.seeds, {}, **observed)
    if first is second:
        return job

    def both(result: Result) -> dict[str, Mapping[str, float]]:
        first_row, two = first(result), second(result)
        return {
            name: {**first_row.get(name, {}), **two.get(name, {})} for name in {**first_row, **two}
        }

    return Job(job.scenario, job.seeds, {}, both, job.needs_events or observed["needs_events"])


def _checked(claim: str, measured: Mapping[str, Measured]) -> Finding:
    try:
        return CHECKS[claim](measured)
    except ZeroDivisionError:  # division by a throughput of 0
        return Finding({}, [_UNDECIDED])


def outcomes(plans: Sequence[ClaimPlan], run_jobs: RunJobs) -> Iterator[tuple[int, ClaimOutcome]]:
    """Runs all plans with shared workers; yields each plan's index and outcome as it finishes."""
    place_of = [(n, index) for n, plan in enumerate(plans) for index in range(plan.runs)]
    rows_of: list[dict[int, list[Row]]] = [{} for _ in plans]
    with closing(run_jobs(job for plan in plans for job in plan.jobs.values())) as runs:
        for place, rows in runs:
            number, run = place_of[place]
            rows_of[number][run] = rows
            if len(rows_of[number]) == plans[number].runs:
                yield number, plans[number].outcome(rows_of[number])
                rows_of[number] = {}
