# SPDX-License-Identifier: BSD-3-Clause
"""Runs an inference that survives interruptions: finished parts are on disk at once.

In the folder:

    inference.json         what is searched; a resumed search must be the same
    journal.jsonl          a line for each setting tried or judged, written as it ends
    settings.parquet       at the end: a row for each setting, with the claims that hold
    PAPER.json             the results, from which docs/papers.md is written
    papers.md              the page of this paper

All files but the manifest depend only on the paper, the seed and the number of settings, not on
workers, machines or interruptions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any

import polars as pl

from westwood.errors import InputError
from westwood.experiments.experiment import Tracker
from westwood.papers.infer import page, propose, published
from westwood.papers.infer.evaluate import ClaimOutcome, ClaimPlan, ClaimTestSet, RunJobs, outcomes
from westwood.papers.infer.report import InferenceReport
from westwood.papers.infer.result import (
    CONFIRMING,
    PROFILE,
    InferenceResult,
    TriedSetting,
    seeds_of,
)
from westwood.papers.infer.space import Open
from westwood.results.folder import Folder
from westwood.results.kinds import ResultKind
from westwood.results.store import Store, interrupted

LEAST_SETTINGS, MOST_SETTINGS = 2 * propose.BATCH, 100_000
_JUDGED_ON = ("choosing", "fresh", "witness")


class InferenceStudy:
    """Carries out an inference in its folder, which is locked while `opened`."""

    def __init__(self, open_: Open, seed: int, folder: Folder, run_jobs: RunJobs) -> None:
        self._open, self._folder, self._run_jobs = open_, folder, run_jobs
        self._store = Store(folder, self._take)
        self.found = InferenceResult(open_, seed)
        self.runs = 0

    @contextmanager
    def opened(self, *, resume: bool) -> Iterator[InferenceStudy]:
        """Locks the folder, checks that it fits, and reads what it holds."""
        differs = "holds another inference: paper, open settings, claims or seed differ"
        with self._store.resumed(
            ResultKind.INFERENCE, self._state(), resume=resume, differs=differs
        ):
            yield self

    def _state(self) -> dict[str, Any]:
        test_set = self._test_set("search")
        return {
            "paper": self._open.paper,
            "seed": self.found.seed,
            "claims": list(self.found.claims()),
            "numbers": [
                key for key, one in published.numbers().items() if one.claim in self.found.claims()
            ],
            "settings": {
                setting.key: {
                    value.name: [dict(value.set), value.measures]
                    for value in (*setting.values, *setting.excluded)
                }
                for setting in self._open.settings
            },
            "seeds": [list(self._seeds(purpose)) for purpose in ("search", *_JUDGED_ON)],
            "scenarios": {
                name: [point.scenario.hash for point in points]
                for name, points in test_set.points.items()
            },
        }

    def _test_set(self, purpose: str, claims: Sequence[str] = ()) -> ClaimTestSet:
        chosen = tuple(claims) or self.found.claims()
        seeds = self._seeds(purpose)
        return ClaimTestSet(self._open, chosen, seeds, thin=purpose == "search")

    def _seeds(self, purpose: str) -> tuple[int, ...]:
        return seeds_of(self._open, self.found.seed, purpose)

    def _take(self, record: Mapping[str, Any]) -> None:
        found, number = self.found, int(record["setting"])
        outcome = _read(record)
        if "on" in record:
            claims = tuple(record["claims"])
            if record["on"] not in _JUDGED_ON or not set(claims) <= set(found.claims()):
                raise ValueError
            found.judged[record["on"], number, claims] = outcome
            return
        if "excluded" in record:
            found.excluded[number, str(record["excluded"])] = outcome
            return
        if "back" in record:
            found.back[number, str(record["back"])] = outcome
            return
        chosen = dict(record["values"])
        if list(chosen) != [one.key for one in self._open.settings]:
            raise ValueError
        if not all(one.has(chosen[one.key]) for one in self._open.settings):
            raise ValueError
        if outcome.failures.keys() != set(found.claims()):
            raise ValueError
        found.tried[number] = TriedSetting(number, chosen, outcome)

    def steps(self, settings: int) -> Iterator[None]:
        """Runs the missing parts setting by setting: tries, finalists, fresh seeds, witnesses."""
        yield from self._try({PROFILE: self._open.profile})
        found = self.found
        different = {tuple(self._open.profile.values())}
        for batch in count():
            if len(different) > settings or len(different) == self._open.count:
                break
            yield from self._batch(batch)
            tried = (found.tried.get(n) for n in propose.numbers(batch))
            different |= {tuple(one.chosen.values()) for one in tried if one}
        yield from self._judge("choosing", found.finalists())
        yield from self._judge("fresh", [PROFILE, found.inferred])
        yield from self._try_excluded(found.inferred)
        yield from self._set_back(found.inferred)
        for claim in found.claims():
            yield from self._find_witness(claim)

    def _find_witness(self, claim: str) -> Iterator[None]:
        """Judges settings that have this claim until one has it on all seeds that confirm."""
        found = self.found
        if found.witness(claim) is not None:
            return
        for number in found.candidates(claim):
            for purpose in CONFIRMING:
                yield from self._judge(purpose, [number], (claim,))
                if not found.confirms(purpose, number, claim):
                    break
            else:
                return

    def _batch(self, batch: int) -> Iterator[None]:
        known = self.found.tried
        if all(number in known for number in propose.numbers(batch)):
            return  # proposing a shorter batch again costs little
        first = propose.numbers(batch).start
        before = {n: (known[n].chosen, known[n].outcome.cost) for n in range(first) if n in known}
        made = propose.propose(self._open, self.found.seed, batch, before)
        yield from self._try(dict(zip(propose.numbers(batch), made, strict=False)))

    def _try(self, wanted: Mapping[int, Mapping[str, str]]) -> Iterator[None]:
        different = self.found.different
        wanted = {n: one for n, one in wanted.items() if n not in self.found.tried}
        for number, chosen in wanted.items():
            if same := different.get(tuple(chosen.values())):
                # A refined setting may repeat in a filling batch.
                self._keep(number, chosen, same.outcome)
                yield
        wanted = {n: one for n, one in wanted.items() if n not in self.found.tried}
        test_set = self._test_set("search") if wanted else None
        numbers = list(wanted)
        for place, outcome in self._outcomes(test_set, list(wanted.values())):
            self._keep(numbers[place], wanted[numbers[place]], outcome)
            yield

    def _keep(self, number: int, chosen: Mapping[str, str], outcome: ClaimOutcome) -> None:
        self._store.keep({"setting": number, "values": dict(chosen), **_entry(outcome)})

    def _judge(
        self, purpose: str, numbers: Sequence[int], claims: Sequence[str] = ()
    ) -> Iterator[None]:
        which = tuple(claims) or self.found.claims()
        left = dict.fromkeys(n for n in numbers if (purpose, n, which) not in self.found.judged)
        if not left:
            return
        test_set = self._test_set(purpose, claims)
        chosen = [self.found.tried[number].chosen for number in left]
        for place, outcome in self._outcomes(test_set, chosen):
            record = {"setting": list(left)[place], "on": purpose, "claims": list(which)}
            self._store.keep({**record, **_entry(outcome)})
            yield

    def _set_back(self, number: int) -> Iterator[None]:
        """Tries a setting with each part reset to the profile, one at a time."""
        chosen, profile = self.found.tried[number].chosen, self._open.profile
        differs = self._open.differs(chosen)
        keys = [key for key in differs if (number, key) not in self.found.back]
        if not keys:
            return
        variants = [{**chosen, key: profile[key]} for key in keys]
        for place, outcome in self._outcomes(self._test_set("search"), variants):
            self._store.keep({"setting": number, "back": keys[place], **_entry(outcome)})
            yield

    def _try_excluded(self, number: int) -> Iterator[None]:
        """Judges a setting with each value that the text excludes, on the seeds of the verdicts."""
        names = [one for one in self._open.excluded if (number, one) not in self.found.excluded]
        if not names:
            return
        test_set, chosen = self._test_set("fresh"), self.found.tried[number].chosen
        plans = [test_set.plan_with(self._open.values(chosen, one)) for one in names]
        for place, outcome in self._finished(plans):
            self._store.keep({"setting": number, "excluded": names[place], **_entry(outcome)})
            yield

    def _outcomes(
        self, test_set: ClaimTestSet | None, chosen: Sequence[Mapping[str, str]]
    ) -> Iterator[tuple[int, ClaimOutcome]]:
        if test_set is not None:
            yield from self._finished([test_set.plan(one) for one in chosen])

    def _finished(self, plans: Sequence[ClaimPlan]) -> Iterator[tuple[int, ClaimOutcome]]:
        for place, outcome in outcomes(plans, self._run_jobs):
            self.runs += plans[place].runs
            yield place, outcome

    def finish(self, settings: int) -> InferenceReport:
        """Writes the results for this number of settings."""
        found, folder = self.found, self._folder
        folder.frame("settings.parquet", _frame(found))
        report = InferenceReport(found.entry())
        folder.json(f"{self._open.paper}.json", report.data)
        folder.text("papers.md", page.written({report.paper: report}, self._command(settings)))
        folder.manifest({"inference": self._state(), "settings": len(found.different)})
        return report

    def _command(self, settings: int) -> str:
        """Returns the command that gives the same results, even after a larger earlier request."""
        earlier = len(self.found.different) - propose.BATCH
        asked = settings if settings > earlier else len(self.found.different) - 1
        words = f"westwood reproduce --infer {self._open.paper} --settings {asked}"
        return f"{words} --seed {self.found.seed}"


def _entry(outcome: ClaimOutcome) -> dict[str, Any]:
    return {
        "failures": dict(outcome.failures),
        "numbers": dict(outcome.numbers),
        "explanations": dict(outcome.explanations),
    }


def _read(record: Mapping[str, Any]) -> ClaimOutcome:
    failures = {str(claim): int(count) for claim, count in record["failures"].items()}
    numbers = {
        str(key): None if value is None else float(value)
        for key, value in record["numbers"].items()
    }
    if not numbers.keys() <= published.numbers().keys():
        raise ValueError
    return ClaimOutcome(failures, numbers, dict(record["explanations"]))


def _frame(found: InferenceResult) -> pl.DataFrame:
    rows = [
        {
            "setting": one.number,
            "fills": propose.fills(one.number),
            "cost": one.outcome.cost,
            **one.chosen,
            **{f"claim: {claim}": not count for claim, count in one.outcome.failures.items()},
            **{f"number: {key}": value for key, value in one.outcome.numbers.items()},
        }
        for _, one in sorted(found.tried.items())
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def run(
    open_: Open,
    folder: Folder,
    *,
    settings: int,
    seed: int,
    resume: bool,
    run_jobs: RunJobs,
    track: Tracker,
) -> tuple[InferenceReport, int]:
    """Runs the missing parts of an inference; returns its report and the number of runs.

    Interrupted says what exists and how to resume.
    """
    for key, value, least, most in (
        ("--settings", settings, LEAST_SETTINGS, MOST_SETTINGS),
        ("--seed", seed, 0, 2**63 - 1),
    ):
        if not least <= value <= most:
            raise InputError(f"expected from {least} to {most}", key=key, value=value)
    with InferenceStudy(open_, seed, folder, run_jobs).opened(resume=resume) as study:
        try:
            left = min(settings, open_.count) - len(study.found.different)
            for _ in track(study.steps(settings), left):
                pass
            return study.finish(settings), study.runs
        except KeyboardInterrupt:
            raise interrupted(folder, f"{len(study.found.different)} settings") from None
