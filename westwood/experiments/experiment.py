# SPDX-License-Identifier: BSD-3-Clause
"""Plans, runs and summarises experiments for `run`, `compare` and `reproduce`."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from westwood.control import loading
from westwood.control.catalogue import UDP, is_protocol, label, unknown_protocol
from westwood.engines import resources
from westwood.engines.contract import Engine, Job
from westwood.engines.pool import check_workers, run_jobs, sorted_rows
from westwood.engines.resources import ResourceEstimate
from westwood.engines.simulator import MOST_SEEDS, SIMULATOR
from westwood.errors import InputError
from westwood.experiments import shared
from westwood.experiments.kept import KeptRuns
from westwood.results.columns import COST, Row, averaged
from westwood.results.metrics import means, summarise
from westwood.results.rows import rows_frame, uniform_rows
from westwood.scenario import Scenario, controls, presets
from westwood.scenario.controls import OF_EACH_CONTROL, has_setting
from westwood.scenario.stacks import is_stack, split

if TYPE_CHECKING:
    import polars as pl

FACTS = "controls.json"
LISTED = "listed"  # folder of the scenarios whose losses are listed, one for each run
MOST_FLOWS = 8  # more flows share a row in a summary
_MOST_SETS = 2000  # of seeds, so that every engine takes each seed
_MOST_TRACES = 12  # lines that a figure over time can show distinctly

T = TypeVar("T")


class Tracker(Protocol):
    """Passes runs on and shows the progress."""

    def __call__(self, runs: Iterable[T], total: int, /) -> Iterable[T]:
        """Takes the runs and their number, as `console.track` does."""


@dataclass(frozen=True)
class Experiment:
    """Holds everything that will run, checked before the first run starts."""

    scenario: Scenario
    jobs: list[Job]
    varied: list[str]  # swept keys, in the order of the rows' columns

    @property
    def runs(self) -> int:
        """Number of runs."""
        return sum(len(job.seeds) for job in self.jobs)

    @property
    def files(self) -> dict[str, str]:
        """What was run, for the results folder: texts by name, scenario.toml last."""
        return files_of(self.scenario, [job.scenario for job in self.jobs])

    def _stacks(self, engine: str) -> dict[str, Any]:
        if not is_stack(engine):
            return {}
        from westwood.engines import quic

        return {"stacks": quic.versions(engine, [job.scenario for job in self.jobs])}

    def manifest(self, engine: str) -> dict[str, Any]:
        """Describes the runs for the manifest of the results folder."""
        return {
            "engine": engine,
            **self._stacks(engine),
            "scenario": self.scenario.resolved(),
            "hashes": [job.scenario.hash for job in self.jobs],
            "seeds": self.scenario.seeds,
        }


@dataclass(frozen=True)
class Collected:
    """Holds the finished runs of an experiment with their indices."""

    runs: list[tuple[int, list[Row]]]
    planned: int  # number of runs

    @property
    def complete(self) -> bool:
        """Returns whether all runs were finished."""
        return len(self.runs) == self.planned

    @cached_property
    def rows(self) -> pl.DataFrame:
        """Rows in order, one for each flow and run."""
        return rows_frame(sorted_rows(self.runs))

    @cached_property
    def even_rows(self) -> list[Row]:
        """The same rows as a list, without polars."""
        return uniform_rows(sorted_rows(self.runs))


def files_of(scenario: Scenario, points: Sequence[Scenario]) -> dict[str, str]:
    """Returns a scenario and the controls in files of its points, as texts by name.

    FACTS has what the controls declare, so that reading the folder compiles nothing.
    """
    ccs = [flow.cc for point in (scenario, *points) for flow in point.flow]
    named = {cc.name: cc.source for cc in ccs if loading.is_file(cc.name)}
    files = controls.files(scenario.given()) | named
    used = controls.of_files(files)
    facts = (
        {FACTS: json.dumps([control.facts for control in used], indent=2) + "\n"} if used else {}
    )
    return {**controls.texts(used), **facts, **scenario.to_files("scenario")}


def plan(
    scenario: Scenario,
    *,
    cc: Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
    seeds: int | None = None,
    check_resources: bool = True,
) -> Experiment:
    """Plans the scenario's points for each protocol in `cc` (for all flows) with `settings`.

    Raises InputError if they need more memory than there is, unless `check_resources` is false.
    """
    settings = dict(settings or {})
    if seeds is not None:
        settings["seeds"] = seeds
    for name in cc:
        if not is_protocol(split(name)[1]):
            problem = unknown_protocol(name)
            raise InputError(problem, key="--cc", value=name)
    if clash := [key for key in settings if cc and key.endswith(".cc")]:
        raise InputError("can't be set together with --cc", key=clash[0], value=settings[clash[0]])
    tcp = [flow.name for flow in scenario._parts.flow if flow.cc.name != UDP]
    variants = [{f"{flow}.cc": name for flow in tcp} for name in dict.fromkeys(cc)]
    given = [_obeyed(settings, name, cc) for name in dict.fromkeys(cc)] or [settings]
    pairs = zip(variants or [{}], given, strict=True)
    bases = [scenario.with_settings({**variant, **pair}) for variant, pair in pairs]
    if check_resources:
        resources.check_sweep(bases, bases[0].seeds)
    base = bases[0]
    protocol_column = protocol_key(base) if len(variants) > 1 else None
    shown = [
        {protocol_column: variant[protocol_column]} if protocol_column else {}
        for variant in variants or [{}]
    ]
    numbers = range(1, base.seeds + 1)
    jobs = [
        Job(point, numbers, {**variant, **columns})
        for variant, base_ in zip(shown, bases, strict=True)
        for columns, point in base_.points()
    ]
    return Experiment(base, jobs, [*([protocol_column] if protocol_column else []), *base.sweep])


def _obeyed(settings: Mapping[str, Any], name: str, cc: Sequence[str]) -> dict[str, Any]:
    """Leaves out each `cc.KEY` that another of the protocols in `cc` has, and `name` lacks."""
    return {
        key: value
        for key, value in settings.items()
        if not key.startswith(OF_EACH_CONTROL)
        or has_setting(name, key)
        or not any(has_setting(other, key) for other in cc)
    }


def protocol_key(scenario: Scenario) -> str | None:
    """Returns the column that records --cc in the rows of flows without congestion control.

    None if every flow has congestion control: the column `cc` then records it.
    """
    tcp = [flow.name for flow in scenario._parts.flow if flow.cc.name != UDP]
    return f"{tcp[0]}.cc" if 0 < len(tcp) < len(scenario._parts.flow) else None


def estimate_resources(
    experiment: Experiment, engine: Engine, workers: int | None, *, check_resources: bool = True
) -> ResourceEstimate:
    """Returns what the runs take; raises InputError for too much memory if `check_resources`."""
    check_workers(workers, "--workers")
    points = [job.scenario for job in experiment.jobs]
    seeds = experiment.scenario.seeds
    return resources.check_many(
        points, seeds, workers, engine.name, check_resources=check_resources
    )


def collect(experiment: Experiment, engine: Engine = SIMULATOR, **options: Any) -> Collected:
    """Runs everything with the options of `collect_all`; an interrupt keeps finished runs."""
    return collect_all({"": experiment}, engine, **options)[""]


def collect_all(
    experiments: Mapping[str, Experiment],
    engine: Engine = SIMULATOR,
    *,
    workers: int | None,
    track: Tracker,
    kept: KeptRuns | None = None,
    client: Any = None,
) -> dict[str, Collected]:
    """Runs several experiments with one progress bar, except for runs that are kept.

    A run that several experiments share is executed once, if it can be reproduced. `client` is that
    of a Dask cluster, which then runs them.
    """
    check_workers(workers, "--workers")
    planned = shared.plan(
        [
            (name, replace(job, counts_links=True))
            for name, experiment in experiments.items()
            for job in experiment.jobs
        ],
        alone=engine.real_time,
    )
    rows_of: dict[str, list[tuple[int, list[Row]]]] = {name: [] for name in experiments}
    places = [(job, seed) for job in planned.jobs for seed in job.seeds]

    def add(place: int, rows: list[Row]) -> None:
        for name, number, experiment_rows in planned.of(place, rows):
            rows_of[name].append((number, experiment_rows))

    missing = []
    for place, (job, seed) in enumerate(places):
        if kept and (rows := kept.of(engine.name, job, seed)) is not None:
            add(place, rows)
        else:
            missing.append(place)
    left = [replace(job, seeds=[seed]) for job, seed in (places[place] for place in missing)]
    jobs = planned.jobs if len(left) == len(places) else left
    if client is None:
        runs: Generator[tuple[int, list[Row]]] = run_jobs(
            jobs, engine.prepare, workers=workers, engine=engine.name
        )
    else:
        from westwood.experiments import cluster

        runs = cluster.run_jobs(client, jobs, engine)
    with contextlib.suppress(KeyboardInterrupt), contextlib.closing(runs):
        for number, rows in track(runs, len(missing)):
            if kept:
                kept.keep(engine.name, *places[missing[number]], rows)
            add(missing[number], rows)
    return {name: Collected(runs, experiments[name].runs) for name, runs in rows_of.items()}


def check_seeds(seeds: int | None) -> None:
    """Raises InputError unless it is a valid number of runs."""
    if seeds is not None and not 1 <= seeds <= MOST_SEEDS:
        raise InputError(f"expected from 1 to {MOST_SEEDS}", key="--seeds", value=seeds)


def first_seed(seed_set: int) -> int:
    """Returns the first seed of a set of `--seed`; those of two sets differ."""
    if not 1 <= seed_set <= _MOST_SETS:
        raise InputError(f"expected 1 to {_MOST_SETS}", key="--seed", value=seed_set)
    return 1 + (seed_set - 1) * MOST_SEEDS


def summary(experiment: Experiment, rows: pl.DataFrame) -> pl.DataFrame:
    """Returns a row for each point and flow: means over the seeds with intervals.

    With more than MOST_FLOWS flows, a row is the mean over the flows of a protocol.
    """
    return _summarised(experiment, rows, varied_keys(experiment, rows))


def table(experiment: Experiment, rows: Sequence[Row]) -> list[Row]:
    """Returns the rows of `summary` for rows in a list, without polars."""
    keys, columns = unshown_keys(experiment, rows), _averaged(list(rows[0]))
    return means(per_protocol(experiment, rows, columns), [*keys, "flow", "cc"], columns)


def per_protocol(experiment: Experiment, rows: Sequence[Row], columns: Sequence[str]) -> list[Row]:
    """Averages these columns over a run's flows of one protocol, if there are many flows."""
    if len(experiment.scenario._parts.flows) <= MOST_FLOWS:
        return list(rows)
    runs = means(rows, [*unshown_keys(experiment, rows), "cc", "seed"], columns)
    return [{**run, "flow": f"{run['runs']} flows"} for run in runs]


def points(experiment: Experiment, rows: pl.DataFrame) -> pl.DataFrame:
    """Returns a summary with all swept keys, including those that repeat the protocol."""
    return _summarised(experiment, rows, experiment.varied)


def _averaged(columns: list[str]) -> list[str]:
    """Returns the columns that a summary averages, including observed ones."""
    observed = columns[columns.index("simulated_s") + 1 :]
    cost = {column.name for column in COST}
    return [*averaged(), *(name for name in observed if name not in cost)]


def _summarised(experiment: Experiment, rows: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    columns = _averaged(rows.columns)
    if len(experiment.scenario._parts.flows) > MOST_FLOWS:
        rows = mean_over_flows(rows, keys, columns)
    return summarise(rows, [*keys, "flow", "cc"], columns)


def mean_over_flows(
    rows: pl.DataFrame, keys: Sequence[str], columns: Sequence[str]
) -> pl.DataFrame:
    """Averages these columns over the flows of one protocol in a run."""
    import polars as pl

    return rows.group_by(*keys, "cc", "seed", maintain_order=True).agg(
        (pl.len().cast(pl.String) + " flows").alias("flow"),
        *(pl.col(name).fill_nan(None).mean() for name in columns),
    )


def varied_keys(experiment: Experiment, rows: pl.DataFrame) -> list[str]:
    """Returns the swept keys that the column `cc` does not show already."""
    protocols = [key for key in experiment.varied if key.endswith(".cc")]
    return unshown_keys(experiment, rows.select("cc", *protocols).unique().to_dicts())


def unshown_keys(experiment: Experiment, rows: Sequence[Row]) -> list[str]:
    """Returns what `varied_keys` returns, for rows in a list.

    Means per protocol (`per_protocol`) lack the keys that `cc` shows.
    """
    return [
        key
        for key in experiment.varied
        if not (key.endswith(".cc") and all(row.get(key, row["cc"]) == row["cc"] for row in rows))
    ]


def point_name(row: Mapping[str, Any], keys: Sequence[str], flows: int) -> str:
    """Names a row in a figure by protocol, and by flow and settings if they vary."""
    parts = [label(row["cc"])]
    parts += [row["flow"]] if flows > 1 else []
    cc_key = f"{row['flow']}.cc"
    parts += [f"{key} {row[key]}" for key in keys if key != cc_key or row[key] != row["cc"]]
    return ", ".join(parts)


def check_traces(experiment: Experiment, option: str) -> None:
    """Raises InputError, which names the option and the way out, if a figure has too many flows."""
    flows, points = len(experiment.scenario._parts.flows), len(experiment.jobs)
    if flows * points <= _MOST_TRACES:
        return
    name = experiment.scenario.name if experiment.scenario.name in presets() else "FILE"
    of_each = f" with {flows} flows each" if flows > 1 else ""
    there = f"{points} points{of_each}" if points > 1 else f"{flows} flows"
    problem = f"draws at most {_MOST_TRACES} flows over time, and there are {there}; "
    if points == 1:
        problem += f"westwood trace {name} --plot draws the first ones"
    else:
        most = max(
            experiment.varied, key=lambda k: len({str(j.settings[k]) for j in experiment.jobs})
        )
        fixed = "--cc with one name" if most.endswith(".cc") else f"--set {most}=VALUE"
        problem += (
            f"for means of all points: westwood sweep {name} --out DIR, then westwood report DIR; "
            f"for some: {fixed}"
        )
    raise InputError(problem, key=option)


def traces(
    experiment: Experiment,
    engine: Engine = SIMULATOR,
    track: Tracker | None = None,
    *,
    check_resources: bool = True,
) -> list[tuple[str, str, pl.DataFrame]]:
    """Traces each point with the first seed: (protocol, name, trace) of every flow."""
    import polars as pl

    flows = len(experiment.scenario._parts.flows)

    traced_runs = []
    jobs = experiment.jobs
    for job in track(jobs, len(jobs)) if track else jobs:
        if check_resources:
            resources.check_run(job.scenario, resources.Recorded(windows=True), engine.name)
        result = engine.simulate(job.scenario, 1, trace=True)
        for flow in job.scenario._parts.flows:
            row = {"cc": flow.cc.written, "flow": flow.name, **job.settings}
            keys = [key for key in experiment.varied if job.settings[key] != flow.cc.written]
            trace = result.trace.filter(pl.col("flow") == flow.name)
            traced_runs.append((flow.cc.written, point_name(row, keys, flows), trace))
    return traced_runs
