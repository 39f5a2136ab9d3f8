# SPDX-License-Identifier: BSD-3-Clause
"""Runs a hunt: parallel search runs, each kept when it ends, until enough environments were tried.

Its folder contains:

    hunt.json              control, metrics and seed; a resumed hunt must have the same
    journal.jsonl          a line for each finished search run, written as it ends
    findings.json          the worst finding of each kind
    findings/N-HARM.toml   its scenario
    findings.md            the findings as a page
    .lock                  held by the process that writes here

The findings depend only on the control, the metrics, the seed and the number of environments. A
hunt consists of search runs 1 to N, where N is the first with which the environments are enough.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from westwood.control import loading
from westwood.control.arguments import check_seed
from westwood.control.catalogue import is_protocol, unknown_protocol
from westwood.engines.contract import Job, RunSeed
from westwood.engines.pool import run_jobs
from westwood.errors import InputError
from westwood.results.folder import Folder
from westwood.results.kinds import ResultKind
from westwood.results.store import Store
from westwood.search.stress import attack as attacks
from westwood.search.stress.degradation import Degradation, chosen
from westwood.search.stress.scenarios import scenario as scenario_of
from westwood.search.stress.search_run import Finding, SearchRun

MOST_ENVIRONMENTS = 10**9
_MOST_SEARCH_RUNS = 10**9

Tell = Callable[[int, int], object]


@dataclass(frozen=True)
class HuntPlan:
    """States which control a hunt attacks, by which metrics, and when it ends."""

    cc: str
    metrics: tuple[Degradation, ...]
    seed: int
    environments: int | None
    for_s: float | None

    def state(self) -> dict[str, Any]:
        """Returns what decides the outcome of a search run."""
        harms = [metric.name for metric in self.metrics]
        return {**loading.identity(self.cc), "harms": harms, "seed": self.seed}


def plan(
    cc: str, harms: tuple[str, ...], seed: int, environments: int | None, for_s: float | None
) -> HuntPlan:
    """Checks the request and makes a plan of it."""
    if not is_protocol(cc):
        raise InputError(unknown_protocol(cc), key="--cc", value=cc)
    check_seed(seed)
    if environments is not None and not 1 <= environments <= MOST_ENVIRONMENTS:
        problem = f"expected a whole number from 1 to {MOST_ENVIRONMENTS}"
        raise InputError(problem, key="--environments", value=environments)
    return HuntPlan(cc, tuple(chosen(harms)), seed, environments, for_s)


@dataclass(frozen=True)
class FinishedRun:
    """The outcome of a finished search run."""

    number: int
    environments: int
    finding: Finding | None


class Hunt:
    """A hunt in progress, and the folder that keeps it."""

    def __init__(self, planned: HuntPlan, folder: Folder | None = None) -> None:
        self.plan = planned
        self._store = Store(folder, self._take) if folder else None
        self._ended: dict[int, FinishedRun] = {}
        typical = attacks.drawn((), [0.5] * attacks.genes(()), 1)
        self._anything = scenario_of(typical, planned.cc)
        self.seconds = 0.0
        self.search_runs = 0  # search runs without a gap, from the first
        self.environments = 0  # environments that these search runs tried

    @contextlib.contextmanager
    def opened(self, *, resume: bool) -> Iterator[Hunt]:
        """Locks the folder, checks that it fits the plan, and reads what it holds."""
        if self._store is None:
            yield self
            return
        state, differs = self.plan.state(), "holds another hunt, with different {keys}"
        with self._store.resumed(ResultKind.HUNT, state, resume=resume, differs=differs):
            yield self

    def run_all(self, workers: int | None, tell: Tell = lambda done, total: None) -> None:
        """Runs until enough environments were tried or time is up."""
        began = time.monotonic()
        missing = (number for number in range(_MOST_SEARCH_RUNS) if number not in self._ended)
        if self._is_over(began):
            return
        runs = run_jobs(map(self._job, missing), self._prepare, workers=workers)
        try:
            with contextlib.closing(runs):
                for _, (row,) in runs:
                    self._keep(row)
                    tell(self.environments, self.plan.environments or 0)
                    if self._is_over(began):
                        break
        finally:
            self.seconds = time.monotonic() - began

    def _job(self, number: int) -> Job:
        """Wraps a search run in a job of the pool, which ignores the job's scenario."""
        return Job(self._anything, [number])

    def _prepare(self, job: Job) -> RunSeed:
        return self._search_run

    def _search_run(self, number: int) -> list[dict[str, Any]]:
        search_run = SearchRun(self.plan.cc, self.plan.metrics, self.plan.seed, number)
        finding = search_run.find()
        environments = search_run.runner.evaluated
        data = finding.as_json() if finding else None
        return [{"number": number, "environments": environments, "finding": data}]

    def _keep(self, record: Mapping[str, Any]) -> None:
        if self._store is None:
            self._take(record)
        else:
            self._store.keep(record)

    def _take(self, record: Mapping[str, Any]) -> None:
        """Records a search run and counts the runs without a gap."""
        ended = _ended_of(record)
        self._ended[ended.number] = ended
        wanted = self.plan.environments
        while self.search_runs in self._ended and (wanted is None or self.environments < wanted):
            self.environments += self._ended[self.search_runs].environments
            self.search_runs += 1

    def _is_over(self, began: float) -> bool:
        if self.plan.for_s is not None and time.monotonic() - began >= self.plan.for_s:
            return True
        wanted = self.plan.environments
        return wanted is not None and self.environments >= wanted

    def _first(self) -> list[FinishedRun]:
        return [self._ended[number] for number in range(self.search_runs)]

    def findings(self) -> list[Finding]:
        """Returns the worst finding of each kind, the worst first."""
        worst: dict[tuple[str, ...], Finding] = {}
        for finding in self._first():
            if finding.finding and (
                finding.finding.kind not in worst
                or finding.finding.value > worst[finding.finding.kind].value
            ):
                worst[finding.finding.kind] = finding.finding
        return sorted(worst.values(), key=lambda candidate: (-candidate.value, candidate.kind))

    def counted(self) -> dict[tuple[str, ...], int]:
        """Returns the number of findings of each kind."""
        counts: dict[tuple[str, ...], int] = {}
        for finding in self._first():
            if finding.finding:
                counts[finding.finding.kind] = counts.get(finding.finding.kind, 0) + 1
        return counts


def _ended_of(record: Mapping[str, Any]) -> FinishedRun:
    finding = record["finding"]
    number, environments = int(record["number"]), int(record["environments"])
    if number < 0 or environments < 0:
        raise ValueError(number)
    return FinishedRun(number, environments, Finding.of(finding) if finding is not None else None)
