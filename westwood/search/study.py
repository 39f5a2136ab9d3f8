# SPDX-License-Identifier: BSD-3-Clause
"""Runs a search that survives interruptions: finished parts are on disk at once.

In the folder:

    search.json            what is searched; a resumed search must be the same
    journal.jsonl          a line for each reference, trial and ablation, written as it ends
    trials.parquet         at the end: a row for each trial, in order
    ablation.parquet       the cost of resetting each setting
    best.json              the best settings, and every target before and after

Trials are proposed in batches, each from the batches before it. trials.parquet therefore depends
only on the search, not on workers, machines or interruptions. A finished search can be resumed with
more trials.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import polars as pl

from westwood.errors import InputError
from westwood.experiments.control import Control
from westwood.experiments.experiment import Tracker
from westwood.experiments.optimiser import BATCH, Values, propose
from westwood.results import journal
from westwood.results.folder import Folder
from westwood.results.kinds import ResultKind
from westwood.results.store import Store, interrupted
from westwood.search import evaluation, objective, result, space
from westwood.search.evaluation import PathTestSet, RunJobs
from westwood.search.objective import REFERENCES, TARGETS
from westwood.search.outcome import Outcome, PathOutcomes

MOST_TRIALS = 100_000


class SearchStudy:
    """Carries out a search in its folder, which is locked while `opened`."""

    def __init__(self, search: result.Search, folder: Folder, run_jobs: RunJobs) -> None:
        self._search, self._folder, self._run_jobs = search, folder, run_jobs
        self._test_set = PathTestSet.drawn("search", search.seed, search.paths, search.packets)
        self._fallback = space.defaults(search.protocol, search.held)
        self._store = Store(folder, self._take)
        self.result = result.SearchResult(search)

    @contextmanager
    def opened(self, *, resume: bool) -> Iterator[SearchStudy]:
        """Locks the folder, checks that it fits, and reads what it holds."""
        differs = "holds another search, with different {keys}"
        with self._store.resumed(
            ResultKind.SEARCH, self._search.state(), resume=resume, differs=differs
        ):
            yield self

    def _take(self, record: Mapping[str, Any]) -> None:
        search_result = self.result
        if "reference" in record:
            outcomes = [Outcome.read(outcome) for outcome in record["outcomes"]]
            if record["reference"] not in REFERENCES or len(outcomes) != len(self._test_set.paths):
                raise ValueError
            search_result.references[record["reference"]] = outcomes
        elif "ablated" in record:
            ablation = result.Ablation(
                tuple(record["keys"]), *(_finite(record[k]) for k in result.NUMBERS)
            )
            search_result.ablations[_trial_number(record), str(record["ablated"])] = ablation
        else:
            values = dict(record["values"])
            known = {target.name: record["targets"][target.name] for target in TARGETS}
            targets = {
                k: math.nan if target is None else _finite(target) for k, target in known.items()
            }
            self._search.control(values)
            if values.keys() != {parameter.key for parameter in self._search.parameters}:
                raise ValueError
            trial = result.Trial(_trial_number(record), values, targets, _finite(record["cost"]))
            search_result.trials[trial.number] = trial

    def steps(self, trials: int, *, ends: bool = False) -> Iterator[None]:
        """Runs the missing parts step by step: references, trials, ablation, ends of ranges."""
        yield from self._references()
        for batch in range(-(-trials // BATCH)):
            yield from self._batch(batch, trials)
        yield from self._ablations()
        if ends:
            yield from self._ends()

    def missing(self, trials: int, *, ends: bool = False) -> int:
        """Returns the most steps that are missing: how many variants follow depends on the best."""
        done = sum(number < trials for number in self.result.trials)
        parameters = self._search.parameters
        variants = len(parameters) + 1  # each change by itself, and those without effect together
        if ends:
            variants += sum(len(parameter.ends()) for parameter in parameters)
        return len(REFERENCES) - len(self.result.references) + trials - done + variants

    def _outcomes(self, controls: Sequence[Control]) -> Iterator[tuple[int, list[Outcome]]]:
        for place, outcomes in evaluation.outcomes(controls, self._test_set, self._run_jobs):
            self.result.runs += len(self._test_set.runs)
            yield place, outcomes

    def _references(self) -> Iterator[None]:
        names = [name for name in REFERENCES if name not in self.result.references]
        for place, outcomes in self._outcomes([Control(name, {}) for name in names]):
            entries = [outcome.entry() for outcome in outcomes]
            self._store.keep({"reference": names[place], "outcomes": entries})
            yield

    def _batch(self, batch: int, trials: int) -> Iterator[None]:
        first, known = batch * BATCH, self.result.trials
        numbers = [n for n in range(first, min(first + BATCH, trials)) if n not in known]
        if not numbers:
            return
        before = [known[n] for n in range(first)]
        tried = [(earlier.values, earlier.cost) for earlier in before]
        proposed = [
            space.in_order(values, self._search.parameters, self._fallback)
            for values in propose(self._search.parameters, tried, self._search.seed, batch)
        ]
        same = {
            n: earlier
            for n in numbers
            for earlier in before
            if earlier.values == proposed[n - first]
        }
        for number, trial in same.items():
            self._keep_trial(number, trial.values, trial.targets)
            yield
        numbers = [n for n in numbers if n not in same]
        controls = [self._search.control(proposed[n - first]) for n in numbers]
        for place, outcomes in self._outcomes(controls):
            targets = objective.values(self._test_set.seen(outcomes, self.result.references))
            self._keep_trial(numbers[place], proposed[numbers[place] - first], targets)
            yield

    def _keep_trial(self, number: int, values: Values, targets: Mapping[str, float]) -> None:
        known, cost = journal.json_ready(targets), objective.cost(targets)
        self._store.keep({"trial": number, "values": values, "targets": known, "cost": cost})

    def _ablations(self) -> Iterator[None]:
        """Resets each change of the best trial by itself, then all that have no proven effect."""
        values, fallback = self.result.best.values, self._fallback
        yield from self._compare(
            {
                parameter.key: space.without(values, [parameter.key], fallback)
                for parameter in self.result.changed()
            }
        )
        if idle := self.result.idle():
            yield from self._compare({result.TOGETHER: space.without(values, idle, fallback)})

    def _ends(self) -> Iterator[None]:
        """Moves each setting of the best trial to either end of its range, or to other words."""
        values = self.result.best.values
        yield from self._compare(
            {
                result.end_name(parameter, end): (
                    space.in_order({**values, parameter.key: end}, [parameter], self._fallback),
                    (parameter.key,),
                )
                for parameter in self._search.parameters
                for end in parameter.ends()
                if end != values[parameter.key]
            }
        )

    def _compare(self, wanted: Mapping[str, tuple[Values, Sequence[str]]]) -> Iterator[None]:
        """Runs variants of the best trial and the trial itself; keeps the differences in cost."""
        search_result, best = self.result, self.result.best
        left = {k: v for k, v in wanted.items() if (best.number, k) not in search_result.ablations}
        if not left:
            return
        controls = [self._search.control(best.values)]
        controls += [self._search.control(values) for values, _ in left.values()]
        names, waiting = ["", *left], dict[int, dict[str, list[PathOutcomes]]]()
        whole: dict[str, list[PathOutcomes]] = {}
        for place, outcomes in self._outcomes(controls):
            waiting[place] = self._test_set.seen(outcomes, search_result.references)
            whole = waiting.pop(0, whole)
            for ended in list(waiting) if whole else ():
                name, seen = names[ended], waiting.pop(ended)
                effect = objective.cost(objective.values(seen))
                effect -= objective.cost(objective.values(whole))
                low, high = evaluation.effect_interval(whole, seen)
                record = {"ablated": name, "trial": best.number, "keys": list(left[name][1])}
                self._store.keep({**record, "effect": effect, "low": low, "high": high})
                yield

    def finish(self) -> None:
        """Writes the results."""
        search_result, folder = self.result, self._folder
        folder.frame("trials.parquet", _trials_frame(search_result))
        schema: dict[str, Any] = {"setting": pl.String, "back": pl.List(pl.String)}
        schema |= dict.fromkeys(result.NUMBERS, pl.Float64)
        folder.frame("ablation.parquet", pl.DataFrame(search_result.ablation_rows(), schema))
        folder.json("best.json", search_result.entry())
        folder.manifest({"search": self._search.state(), "trials": len(search_result.trials)})


def _finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(value)
    return number


def _trial_number(record: Mapping[str, Any]) -> int:
    number = int(record["trial"])
    if not 0 <= number < MOST_TRIALS:
        raise ValueError(number)
    return number


def _trials_frame(search_result: result.SearchResult) -> pl.DataFrame:
    rows = [
        {
            "trial": trial.number,
            "cost": trial.cost,
            **{k.key: k.written(trial.values[k.key]) for k in search_result.search.parameters},
            **{f"target: {name}": value for name, value in trial.targets.items()},
        }
        for _, trial in sorted(search_result.trials.items())
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def run(
    search: result.Search,
    folder: Folder,
    trials: int,
    *,
    resume: bool,
    run_jobs: RunJobs,
    track: Tracker,
    ends: bool = False,
) -> result.SearchResult:
    """Runs the missing parts of a search; Interrupted says what exists and how to resume."""
    if not 1 <= trials <= MOST_TRIALS:
        raise InputError(f"expected from 1 to {MOST_TRIALS}", key="--trials", value=trials)
    with SearchStudy(search, folder, run_jobs).opened(resume=resume) as study:
        try:
            for _ in track(study.steps(trials, ends=ends), study.missing(trials, ends=ends)):
                pass
            study.finish()
        except KeyboardInterrupt:
            done = min(len(study.result.trials), trials)
            raise interrupted(folder, f"{done} of {trials} trials") from None
        return study.result
