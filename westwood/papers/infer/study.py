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
from westwood.papers.infer import page, propose, published, result
from westwood.papers.infer.evaluate import ClaimOutcome, ClaimPlan, ClaimTestSet, RunJobs, outcomes
from westwood.papers.infer.report import InferenceReport
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
        self.result = result.InferenceResult(open_, seed)
        self.runs = 0

    @contextmanager
    def opened(self, *, resume: bool) -> Iterator[InferenceStudy]:
        """Locks the folder, checks that it fits, and reads what it holds."""
        differs = "holds another inference, with different {keys}"
        with self._store.resumed(
            ResultKind.INFERENCE, self._state(), resume=resume, differs=differs
        ):
            yield self

    def _state(self) -> dict[str, Any]:
        test_set = self._test_set("search")
        return {
            "paper": self._open.paper,
            "seed": self.result.seed,
            "claims": list(self.result.claims()),
            "numbers": [
                key
                for key, number in published.numbers().items()
                if number.claim in self.result.claims()
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
        chosen = tuple(claims) or self.result.claims()
        seeds = self._seeds(purpose)
        return ClaimTestSet(self._open, chosen, seeds, thin=purpose == "search")

    def _seeds(self, purpose: str) -> tuple[int, ...]:
        return result.seeds_of(self._open, self.result.seed, purpose)

    def _take(self, record: Mapping[str, Any]) -> None:
        inference_result, number = self.result, int(record["setting"])
        outcome = _read(record)
        if "on" in record:
            claims = tuple(record["claims"])
            if record["on"] not in _JUDGED_ON or not set(claims) <= set(inference_result.claims()):
                raise ValueError
            inference_result.judged[record["on"], number, claims] = outcome
            return
        if "excluded" in record:
            inference_result.excluded[number, str(record["excluded"])] = outcome
            return
        if "back" in record:
            inference_result.back[number, str(record["back"])] = outcome
            return
        chosen = dict(record["values"])
        if list(chosen) != [setting.key for setting in self._open.settings]:
            raise ValueError
        if not all(setting.has(chosen[setting.key]) for setting in self._open.settings):
            raise ValueError
        if outcome.failures.keys() != set(inference_result.claims()):
            raise ValueError
        inference_result.tried[number] = result.TriedSetting(number, chosen, outcome)

    def steps(self, settings: int) -> Iterator[None]:
        """Runs the missing parts setting by setting: tries, finalists, fresh seeds, witnesses."""
        yield from self._try({result.PROFILE: self._open.profile})
        inference_result = self.result
        different = {tuple(self._open.profile.values())}
        for batch in count():
            if len(different) > settings or len(different) == self._open.count:
                break
            yield from self._batch(batch)
            tried = (inference_result.tried.get(n) for n in propose.numbers(batch))
            different |= {tuple(setting.chosen.values()) for setting in tried if setting}
        yield from self._judge("choosing", inference_result.finalists())
        yield from self._judge("fresh", [result.PROFILE, inference_result.inferred])
        yield from self._try_excluded(inference_result.inferred)
        yield from self._set_back(inference_result.inferred)
        for claim in inference_result.claims():
            yield from self._find_witness(claim)

    def _find_witness(self, claim: str) -> Iterator[None]:
        """Judges settings that have this claim until one has it on all seeds that confirm."""
        inference_result = self.result
        if inference_result.witness(claim) is not None:
            return
        for number in inference_result.candidates(claim):
            for purpose in result.CONFIRMING:
                yield from self._judge(purpose, [number], (claim,))
                if not inference_result.confirms(purpose, number, claim):
                    break
            else:
                return

    def _batch(self, batch: int) -> Iterator[None]:
        known = self.result.tried
        if all(number in known for number in propose.numbers(batch)):
            return  # proposing a shorter batch again costs little
        first = propose.numbers(batch).start
        before = {n: (known[n].chosen, known[n].outcome.cost) for n in range(first) if n in known}
        proposals = propose.propose(self._open, self.result.seed, batch, before)
        yield from self._try(dict(zip(propose.numbers(batch), proposals, strict=False)))

    def _try(self, wanted: Mapping[int, Mapping[str, str]]) -> Iterator[None]:
        different = self.result.different
        wanted = {n: choices for n, choices in wanted.items() if n not in self.result.tried}
        for number, chosen in wanted.items():
            if same := different.get(tuple(chosen.values())):
                # A refined setting may repeat in a filling batch.
                self._keep(number, chosen, same.outcome)
                yield
        wanted = {n: choices for n, choices in wanted.items() if n not in self.result.tried}
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
        which = tuple(claims) or self.result.claims()
        left = dict.fromkeys(n for n in numbers if (purpose, n, which) not in self.result.judged)
        if not left:
            return
        test_set = self._test_set(purpose, claims)
        chosen = [self.result.tried[number].chosen for number in left]
        for place, outcome in self._outcomes(test_set, chosen):
            record = {"setting": list(left)[place], "on": purpose, "claims": list(which)}
            self._store.keep({**record, **_entry(outcome)})
            yield

    def _set_back(self, number: int) -> Iterator[None]:
        """Tries a setting with each part reset to the profile, one at a time."""
        chosen, profile = self.result.tried[number].chosen, self._open.profile
        differs = self._open.differs(chosen)
        keys = [key for key in differs if (number, key) not in self.result.back]
        if not keys:
            return
        variants = [{**chosen, key: profile[key]} for key in keys]
        for place, outcome in self._outcomes(self._test_set("search"), variants):
            self._store.keep({"setting": number, "back": keys[place], **_entry(outcome)})
            yield

    def _try_excluded(self, number: int) -> Iterator[None]:
        """Judges a setting with each value that the text excludes, on the seeds of the verdicts."""
        names = [name for name in self._open.excluded if (number, name) not in self.result.excluded]
        if not names:
            return
        test_set, chosen = self._test_set("fresh"), self.result.tried[number].chosen
        plans = [test_set.plan_with(self._open.values(chosen, name)) for name in names]
        for place, outcome in self._finished(plans):
            self._store.keep({"setting": number, "excluded": names[place], **_entry(outcome)})
            yield

    def _outcomes(
        self, test_set: ClaimTestSet | None, chosen: Sequence[Mapping[str, str]]
    ) -> Iterator[tuple[int, ClaimOutcome]]:
        if test_set is not None:
            yield from self._finished([test_set.plan(choice) for choice in chosen])

    def _finished(self, plans: Sequence[ClaimPlan]) -> Iterator[tuple[int, ClaimOutcome]]:
        for place, outcome in outcomes(plans, self._run_jobs):
            self.runs += plans[place].runs
            yield place, outcome

    def finish(self, settings: int) -> InferenceReport:
        """Writes the results for this number of settings."""
        inference_result, folder = self.result, self._folder
        folder.frame("settings.parquet", _frame(inference_result))
        report = InferenceReport(inference_result.entry())
        folder.json(f"{self._open.paper}.json", report.data)
        folder.text("papers.md", page.written({report.paper: report}, self._command(settings)))
        folder.manifest({"inference": self._state(), "settings": len(inference_result.different)})
        return report

    def _command(self, settings: int) -> str:
        """Returns the command that gives the same results, even after a larger earlier request."""
        earlier = len(self.result.different) - propose.BATCH
        asked = settings if settings > earlier else len(self.result.different) - 1
        words = f"westwood reproduce --infer {self._open.paper} --settings {asked}"
        return f"{words} --seed {self.result.seed}"


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


def _frame(inference_result: result.InferenceResult) -> pl.DataFrame:
    rows = [
        {
            "setting": setting.number,
            "fills": propose.fills(setting.number),
            "cost": setting.outcome.cost,
            **setting.chosen,
            **{f"claim: {claim}": not count for claim, count in setting.outcome.failures.items()},
            **{f"number: {key}": value for key, value in setting.outcome.numbers.items()},
        }
        for _, setting in sorted(inference_result.tried.items())
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
            left = min(settings, open_.count) - len(study.result.different)
            for _ in track(study.steps(settings), left):
                pass
            return study.finish(settings), study.runs
        except KeyboardInterrupt:
            raise interrupted(folder, f"{len(study.result.different)} settings") from None
