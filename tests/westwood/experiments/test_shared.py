# SPDX-License-Identifier: BSD-3-Clause
"""Runs that several experiments share run once, and the results don't show it."""

from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from westwood import Scenario
from westwood.engines.result import Result
from westwood.engines.simulator import SIMULATOR
from westwood.experiments import experiment
from westwood.experiments.experiment import Experiment
from westwood.results.columns import COST

BASE = Scenario.preset("table1").with_settings({"duration": "2s", "seeds": 3})
COSTS = [column.name for column in COST]


def losses(*rates: float) -> Experiment:
    return experiment.plan(BASE.with_sweep({"bottleneck.loss.rate": list(rates)}))


def observed(planned: Experiment) -> Experiment:
    def read(result: Result) -> dict[str, dict[str, float]]:
        return {"tcp": {"rows_traced": float(result.trace.height)}}

    return replace(planned, jobs=[replace(job, more_columns=read) for job in planned.jobs])


EXPERIMENTS = {
    "losses": losses(0.01, 0.02, 0.05),
    "protocols": experiment.plan(
        BASE.with_settings({"bottleneck.loss.rate": 0.02}), cc=["westwood-ns3", "reno"]
    ),
    "traced": observed(losses(0.05)),
}


def collected(engine: Any, names: list[str]) -> tuple[dict[str, pl.DataFrame], int]:
    """Collects these experiments together; returns their rows and the number of runs."""
    counts: list[int] = []

    def prepare(job: Any) -> Any:
        run = SIMULATOR.prepare(job)

        def counted(seed: int) -> Any:
            counts.append(seed)
            return run(seed)

        return counted

    experiments = experiment.collect_all(
        {name: EXPERIMENTS[name] for name in names},
        replace(engine, prepare=prepare),
        workers=2,
        track=lambda runs, total: runs,
    )
    assert all(experiment_.complete for experiment_ in experiments.values())
    return {name: experiment_.rows.drop(COSTS) for name, experiment_ in experiments.items()}, len(
        counts
    )


def test_shared_runs_run_once_and_give_the_same_rows():
    together, count = collected(SIMULATOR, list(EXPERIMENTS))
    assert count == 3 * (3 + 1)  # Westwood at three rates, Reno at one
    for name in EXPERIMENTS:
        alone, _ = collected(SIMULATOR, [name])
        assert together[name].equals(alone[name]), name


def test_runs_in_real_time_are_never_shared():
    _, count = collected(replace(SIMULATOR, real_time=True), list(EXPERIMENTS))
    assert count == 3 * (3 + 2 + 1)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_single_experiment_runs_everything(name):
    _, count = collected(SIMULATOR, [name])
    assert count == EXPERIMENTS[name].runs
