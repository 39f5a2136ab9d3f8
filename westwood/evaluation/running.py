# SPDX-License-Identifier: BSD-3-Clause
"""Runs an evaluation: each distinct run once, kept when it ends, then the answers.

Its folder contains:

    evaluation.json    controls, reference, parts, effort, seed and version; --resume wants the same
    journal.jsonl      a line for each run and for each answer of a part with its own harness
    answers.json       the answers
    scenarios/         the worst point of each criterion
    index.html         the page
"""

from __future__ import annotations

import contextlib
import os
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from westwood.control import loading
from westwood.engines.contract import Job, Prepare, RunSeed
from westwood.engines.pool import run_jobs
from westwood.engines.simulator import SIMULATOR
from westwood.errors import InputError, RunError, UnavailableError, WestwoodError
from westwood.evaluation import answer, catalogue, ledger, measures, paths
from westwood.evaluation.answer import Answer, NotRun, Sides
from westwood.evaluation.benchmark.cases import CUBIC
from westwood.evaluation.benchmark.targets import Target
from westwood.evaluation.criterion import Criterion, Part, Point, RunKey, Work
from westwood.evaluation.paths import SectionRuns
from westwood.evaluation.request import PointRuns, Request, Side, is_sharing
from westwood.experiments import cluster
from westwood.experiments.control import Control
from westwood.experiments.experiment import Tracker
from westwood.results.columns import Row
from westwood.results.folder import Folder
from westwood.results.journal import finite_or_none, from_json
from westwood.results.kinds import ResultKind
from westwood.results.store import Store
from westwood.results.verdicts import Verdict
from westwood.scenario import Scenario
from westwood.scenario.paths.environment import PROFILE
from westwood.scenario.paths.population import seed_of

PACED = Path(__file__).with_name("cubic_paced.c")
_A_LOOK = 10_000  # seeds between two looks
_DIFFERS = "holds another evaluation, with different {keys}"
_AGAIN = 5_000  # where the seeds of a reference begin that is the control itself


class Evaluation:
    """An evaluation in progress, and the folder that keeps it."""

    def __init__(self, request: Request, folder: Folder) -> None:
        self.request, self.folder = request, folder
        self.looked = {control: ledger.looked(control) for control in request.controls}
        self._store = Store(folder, self._take)
        self._kept_by: defaultdict[str, dict[RunKey, list[Row]]] = defaultdict(dict)
        self._found = self._kept_by[""]  # this engine's; others stand under their names
        self._of_second: Mapping[str, str] = {}  # what a record of the second engine says
        self._made: dict[tuple[str, str, str], Mapping[str, Scenario]] = {}
        self._drawn: dict[tuple[str, str], SectionRuns] = {}  # by section and control
        # The answers of harnesses by part and control, then by criterion.
        self._of_harness: dict[tuple[str, str], dict[str, Answer]] = {}
        # By a scenario's hash, and whether its run is traced.
        self._refused: dict[tuple[str, bool], WestwoodError | None] = {}
        self._failed: dict[RunKey, str] = {}  # runs without a result, and why

    @contextlib.contextmanager
    def opened(self, *, resume: bool) -> Iterator[Evaluation]:
        """Locks the folder, checks that it fits, and reads what it holds."""
        state = self.request.state()
        with self._store.resumed(ResultKind.EVALUATION, state, resume=resume, differs=_DIFFERS):
            yield self

    @property
    def kept(self) -> str:
        """Returns how many runs are kept, and answers of harnesses."""
        answers = sum(map(len, self._of_harness.values()))
        return f"{sum(map(len, self._kept_by.values()))} runs" + (
            f" and {answers} answers" if answers else ""
        )

    @cached_property
    def _missing(self) -> list[Job]:
        """Returns what has yet to run, a job for each scenario."""
        seeds: dict[str, dict[int, None]] = {}
        jobs: dict[str, Job] = {}
        for asked in self._asked():
            if self._refusal(asked) is not None:
                continue
            for (name, seed), scenario in asked.each():
                if (name, seed) not in self._found:
                    seeds.setdefault(name, {})[seed] = None
                    if name not in jobs or asked.more_columns:
                        jobs[name] = _job(scenario, asked, [])
        return [replace(job, seeds=list(seeds[name])) for name, job in jobs.items()]

    def _asked(self) -> Iterator[PointRuns | SectionRuns]:
        for control in self.request.controls:
            for all_ in self.request.criteria.values():
                for criterion in all_:
                    if isinstance(criterion, Target):
                        yield self._on_paths(criterion, control)
                        continue
                    for point in criterion.chosen(self.request.effort):
                        yield self._both(criterion, point, control)

    def _on_paths(self, target: Target, control: Control) -> SectionRuns:
        """Returns what a row runs, drawn once for all rows of its section."""
        key = target.section, control.text
        if key not in self._drawn:
            section, request = paths.SECTIONS[target.section], self.request
            self._drawn[key] = SectionRuns.drawn(
                section, control, request.seed, request.effort.paths, self._of_engine
            )
        return self._drawn[key]

    def _refusal(self, asked: PointRuns | SectionRuns) -> WestwoodError | None:
        """Returns why not all scenarios of a point can run; None if they can."""
        if isinstance(asked, PointRuns) and asked.lacks is not None:
            return asked.lacks
        if self.request.engine.runs_everything:
            return None
        scenarios = {name: scenario for (name, _), scenario in asked.each()}.values()
        jobs = (_job(scenario, asked, [1]) for scenario in scenarios)
        return next(filter(None, map(self._refusal_of, jobs)), None)

    def _refusal_of(self, job: Job) -> WestwoodError | None:
        key = job.scenario.hash, job.needs_events
        if key not in self._refused:
            try:
                self.request.engine.check([job])
                self._refused[key] = None
            except (InputError, UnavailableError) as error:
                self._refused[key] = error
        return self._refused[key]

    def check(self) -> None:
        """Raises the first refusal if not a single point can run."""
        refusals = [self._refusal(job) for job in self._asked()]
        if refusals and refusals[0] and None not in refusals:
            raise refusals[0]

    def _both(self, criterion: Criterion, point: Point, control: Control) -> PointRuns:
        """Returns what the point runs with the control, and with the reference."""
        against = self.request.against
        try:
            if point.settings:
                control.check(point.settings)
            scenarios = [self._scenarios(criterion, point, side) for side in (control, against)]
        except InputError as refusal:
            nothing = Side({}, ())
            return PointRuns(nothing, nothing, nothing, criterion.more_columns, refusal)
        count = criterion.seeds(self.request.effort)
        seeds = [seed_of("evaluate", self.request.seed * _A_LOOK + n) for n in range(count)]
        first = self.request.seed * _A_LOOK + _AGAIN
        again = [seed_of("evaluate", first + n) for n in range(count)]
        others = again if control == against else seeds
        paced = self._paced if criterion.has_paced(self.request.effort) else None
        return PointRuns(
            Side(scenarios[0], seeds),
            Side(scenarios[1], others),
            Side(self._scenarios(criterion, point, paced), seeds) if paced else Side({}, ()),
            criterion.more_columns,
        )

    @cached_property
    def _paced(self) -> Control | None:
        """Returns CUBIC with pacing, if the reference is CUBIC and it can be compiled."""
        if self.request.engine.name != SIMULATOR.name or self.request.against != CUBIC:
            return None
        try:
            return Control(loading.load(os.fspath(PACED)).name)
        except WestwoodError:  # there is no compiler
            return None

    def _scenarios(
        self, criterion: Criterion, point: Point, control: Control
    ) -> Mapping[str, Scenario]:
        """Returns what a point runs, made once; a reference without its settings runs as it is."""
        key = criterion.name, point.name, control.text
        if key not in self._made:
            more = point.settings if _has(control, point.settings) else {}
            runs = point.runs(replace(control, settings={**control.settings, **more}))
            self._made[key] = {
                name: scenario.with_settings(self._of_engine) for name, scenario in runs.items()
            }
        return self._made[key]

    @cached_property
    def _of_engine(self) -> Mapping[str, Any]:
        """Returns the settings of scenarios for the engine."""
        profile = self.request.engine.profile or PROFILE
        return {} if profile == PROFILE else {"profile": profile}

    def run_all(self, workers: int | None, track: Tracker, client: Any = None) -> None:
        """Runs what is missing; `client` is that of a Dask cluster."""
        jobs = self._missing
        keys = [(job.scenario.hash, seed) for job in jobs for seed in job.seeds]
        with closing(self._runs(jobs, workers, client)) as runs:
            for place, rows in track(runs, len(keys)):
                if keys[place] not in self._failed:
                    self._keep(keys[place], rows)
        for part in self.request.harnesses:
            for control in self.request.controls:
                self._measure(part, control, workers, track)
        for second in self._elsewhere.values():
            second.run_all(workers, track, client)

    @cached_property
    def _elsewhere(self) -> Mapping[Control, Evaluation]:
        """Returns each control's evaluation by the second engine, of points that decided here."""
        engine, effort = self.request.also, self.request.effort
        if engine is None:
            return {}
        effort = effort.in_real_time() if engine.real_time else effort
        seconds = {}
        for control in self.request.controls:
            worst = {reply.criterion: reply.worst for reply in self._here(control)}
            criteria = {
                part: [
                    replace(
                        row, points=[point for point in row.points if point.name == decided.name]
                    )
                    for row in all_
                    if is_sharing(row) and (decided := worst[row.name])
                ]
                for part, all_ in self.request.criteria.items()
            }
            asked = replace(
                self.request, controls=[control], criteria=criteria, harnesses=[], effort=effort,
                engine=engine, also=None,
            )  # fmt: skip
            second = seconds[control] = Evaluation(asked, self.folder)
            second._store, second._found = self._store, self._kept_by[engine.name]
            second._of_second = {"engine": engine.name}
        return seconds

    def _runs(
        self, jobs: Iterable[Job], workers: int | None, client: Any
    ) -> Generator[tuple[int, list[Row]]]:
        engine = self.request.engine
        if client is not None:
            return cluster.run_jobs(client, jobs, engine)
        prepare = engine.prepare if engine.runs_everything else self._surviving(engine.prepare)
        count = engine.workers if workers is None else workers
        return run_jobs(jobs, prepare, workers=count, engine=engine.name)

    def _surviving(self, prepare: Prepare) -> Prepare:
        """Returns a function whose runs note their failure: a machine stalls, a stack panics."""

        def prepared(job: Job) -> RunSeed:
            run = prepare(job)

            def run_seed(seed: int) -> list[Row]:
                try:
                    return run(seed)
                except (RunError, UnavailableError) as error:
                    self._failed[job.scenario.hash, seed] = str(error)
                    return []

            return run_seed

        return prepared

    def _measure(self, part: Part, control: Control, workers: int | None, track: Tracker) -> None:
        """Asks a harness for the answers that an earlier start has not kept."""
        assert part.harness is not None
        if self.request.engine.name not in part.engines:
            return
        kept = self._of_harness.get((part.name, control.text), {})
        names = [name for name in part.names if name not in kept]
        has_failed = any(reply.verdict is Verdict.FAILS for reply in kept.values())
        work = replace(self.work(names, workers), has_failed=has_failed)
        for entry in track(part.harness(control, work), len(names)) if names else ():
            self._store.keep({"part": part.name, "control": control.text, "answer": entry})

    def work(self, names: Sequence[str], workers: int | None = None) -> Work:
        """Returns what a harness is asked for these criteria."""

        def rows_of(scenario: Scenario, seeds: Sequence[int]) -> list[Row]:
            missing = [seed for seed in seeds if (scenario.hash, seed) not in self._found]
            if missing:
                with closing(self._runs([Job(scenario, missing)], workers, None)) as runs:
                    for place, rows in runs:
                        self._keep((scenario.hash, missing[place]), rows)
            return [row for seed in seeds for row in self._found[scenario.hash, seed]]

        request = self.request
        return Work(names, request.effort, request.seed, request.engine.name, rows_of, workers)

    def _keep(self, key: RunKey, rows: Sequence[Row]) -> None:
        flows = [[finite_or_none(row.get(column)) for column in measures.KEPT] for row in rows]
        record = {"scenario": key[0], "seed": key[1], "flows": flows}
        self._store.keep({**record, **self._of_second})

    def _take(self, record: Mapping[str, Any]) -> None:
        if "part" in record:
            kept = self._of_harness.setdefault((record["part"], record["control"]), {})
            reply = Answer.of(record["answer"])
            kept[reply.criterion] = reply
            return
        rows = [from_json(dict(zip(measures.KEPT, flow, strict=True))) for flow in record["flows"]]
        runs = self._kept_by[record.get("engine", "")]
        runs[str(record["scenario"]), int(record["seed"])] = rows

    def note_look(self) -> None:
        """Notes in the ledger that the controls were looked at with this seed."""
        for control in self.request.controls:
            ledger.add(control, self.request.seed)

    def answers(self, control: Control) -> list[Answer]:
        """Returns the answers about a control, part by part, with the second engine's verdicts."""
        if self.request.also is None:
            return self._here(control)
        seconds = self._elsewhere[control].answers(control)
        points = {reply.criterion: reply.points[0] for reply in seconds}
        title = self.request.also.title
        return [
            replace(reply, elsewhere=replace(points[reply.criterion], text=title))
            if reply.criterion in points
            else reply
            for reply in self._here(control)
        ]

    def _here(self, control: Control) -> list[Answer]:
        replies = [
            self._answer(criterion, part, control)
            for part, all_ in self.request.criteria.items()
            for criterion in all_
        ]
        for part in self.request.harnesses:
            kept = self._of_harness.get((part.name, control.text), {})
            replies += [kept.get(name) or answer.not_run(part, name) for name in part.names]
        order = list(catalogue.PARTS)
        return sorted(replies, key=lambda reply: order.index(reply.part))

    def _answer(self, criterion: Criterion | Target, part: str, control: Control) -> Answer:
        effort = self.request.effort
        if not isinstance(criterion, Target):
            points = criterion.chosen(effort)
            runs = {point.name: self._runs_of(criterion, point, control) for point in points}
            return answer.of_runs(criterion, part, runs)
        asked = self._on_paths(criterion, control)
        if why := self._why_not(asked):
            return paths.not_run(criterion, control, why)
        return paths.answer_of(criterion, control, asked.seen(control, self._found), effort.paths)

    def path_rows(self) -> list[Row]:
        """Returns a row for each flow on the benchmark's paths, with the path's properties."""
        drawn = [section for section in self._drawn.values() if not self._why_not(section)]
        return list(paths.flat(drawn, self._found))

    def _why_not(self, asked: PointRuns | SectionRuns) -> str:
        """Returns why something did not run; empty if it did."""
        if refusal := self._refusal(asked):
            return str(refusal)
        return next((self._failed[key] for key, _ in asked.each() if key in self._failed), "")

    def _runs_of(self, criterion: Criterion, point: Point, control: Control) -> Sides | NotRun:
        asked = self._both(criterion, point, control)
        if why := self._why_not(asked):
            return NotRun(why)
        sides = (asked.control, asked.reference, asked.paced)
        return Sides(*(side.of(self._found) for side in sides))

    def scenario_at(self, name: str, point: str, control: Control) -> Scenario | None:
        """Returns the last scenario of a point, the one with the control beside others."""
        for all_ in self.request.criteria.values():
            for criterion in all_:
                if isinstance(criterion, Target) or criterion.name != name:
                    continue
                for known in criterion.points:
                    if known.name == point:
                        return list(self._scenarios(criterion, known, control).values())[-1]
        return None


def _has(control: Control, settings: Mapping[str, Any]) -> bool:
    """Returns whether a control has the settings of a point."""
    try:
        if settings:
            control.check(settings)
    except InputError:
        return False
    return True


def _job(scenario: Scenario, asked: PointRuns | SectionRuns, seeds: Sequence[int]) -> Job:
    more = asked.more_columns
    return Job(scenario, seeds, more_columns=more, needs_events=more is not None)
