# SPDX-License-Identifier: BSD-3-Clause
"""Runs a grid on both engines and checks every point by the criteria.

A row combines a control's flows in one direction at a point, or the CUBIC flows beside them. It
holds means over flows, and over seeds the means or the grid's medians. `criteria` says what a row
must meet, and how many rows must.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from westwood.engines.contract import Engine
from westwood.engines.simulator import SIMULATOR
from westwood.experiments import experiment
from westwood.experiments.experiment import Experiment, Tracker
from westwood.experiments.kept import KeptRuns
from westwood.experiments.validation import exceptions
from westwood.experiments.validation.grid import BACKWARD, BESIDE, Grid
from westwood.results.verdicts import Verdict
from westwood.scenario import Scenario
from westwood.scenario.stacks import is_stack, split

OTHER = "_other"  # suffix of the other engine's columns
# Columns that are averaged over the flows of a direction; others belong to the whole run.
_OF_FLOWS = (
    *("goodput_bps", "retransmitted", "timeouts_a_minute", "mean_cwnd", "mean_queue"),
    "queue_drops",
)
_LEAST_SEGMENTS = 2.0  # tolerance of a flow's retransmissions in segments
_LEAST_PACKETS = 1.0  # tolerance of the mean queue in packets
_RUNS = "goodput_bps_runs"  # a list of the seeds' values
_LEAST, _MOST = "goodput_bps_least", "goodput_bps_most"
OUTSIDE = "outside"  # share of the other engine's runs outside the simulator's range
_QUANTILES = {"completion_median_s": 0.5, "completion_p95_s": 0.95}
METRICS = (*_OF_FLOWS, "retransmission_ratio", *_QUANTILES)


def _within(column: str, share: float, least: float = 0.0) -> pl.Expr:
    """Returns whether two values differ by at most this share or this amount."""
    ours, theirs = (pl.col(name).cast(pl.Float64) for name in (column, column + OTHER))
    return (ours - theirs).abs() <= pl.max_horizontal(theirs.abs() * share, pl.lit(least))


@dataclass(frozen=True)
class Criterion:
    """A condition that a share of the points must meet; null if a point was not measured."""

    name: str
    says: str
    share: float
    condition: pl.Expr


def criteria(grid: Grid) -> list[Criterion]:
    """Returns the criteria for a grid's points."""
    quantiles = [_within(column, 0.10) for column in _QUANTILES]
    inside = pl.col("goodput_bps" + OTHER).is_between(_LEAST, _MOST)
    says = "median goodput within the range of the simulator's"
    in_range = [Criterion("range", says, 0.90, inside)] if grid.has_range else []
    goodput, resent = _within("goodput_bps", grid.close), ("retransmitted", 0.15, _LEAST_SEGMENTS)
    timeouts, queue = ("timeouts_a_minute", 0.0, 1.0), ("mean_queue", 0.10, _LEAST_PACKETS)
    completed = "median and 95th percentile of completion within 10 %"
    return [
        *in_range,
        Criterion("goodput", f"goodput within {grid.close:.0%}", 0.95, goodput),
        Criterion("retransmissions", "retransmissions within 15 %", 0.90, _within(*resent)),
        Criterion("timeouts", "timeouts within 1 a minute", 0.90, _within(*timeouts)),
        Criterion("queueing", "mean queue within 10 %", 0.90, _within(*queue)),
        Criterion("completion", completed, 0.90, pl.all_horizontal(quantiles)),
    ]


@dataclass(frozen=True)
class Validation:
    """Holds a grid's points: both engines' values, and the criteria that they meet."""

    name: str
    grid: Grid
    points: pl.DataFrame

    @property
    def far(self) -> pl.DataFrame:
        """Points that need a reason; `reason` has it, or is empty."""
        return self.points.filter((pl.col("goodput_ratio") - 1).abs() > self.grid.far)

    @property
    def unexplained(self) -> pl.DataFrame:
        """Points that need a reason and have none."""
        return self.far.filter(pl.col("reason") == "")

    def share(self, criterion: str) -> float | None:
        """Returns the share of points that meet a criterion; None if none was measured."""
        flags = self.points[criterion].drop_nulls()
        return sum(flags) / len(flags) if len(flags) else None

    @property
    def shares(self) -> list[tuple[Criterion, float]]:
        """Returns the measured criteria of the grid, and the share of points that meet each."""
        all_shares = ((criterion, self.share(criterion.name)) for criterion in criteria(self.grid))
        return [(criterion, share) for criterion, share in all_shares if share is not None]

    def entries(self) -> list[dict[str, Any]]:
        """Returns the verdict on each criterion for JSON."""
        return [
            {
                "grid": self.name,
                "criterion": criterion.name,
                "says": criterion.says,
                "share": share,
                "asked": criterion.share,
                "verdict": Verdict.of(share < criterion.share),
            }
            for criterion, share in self.shares
        ]

    def __str__(self) -> str:
        shares = ", ".join(f"{criterion.says} {share:.0%}" for criterion, share in self.shares)
        return (
            f"{self.name}, {self.points.height} points: {shares}; {self.far.height} beyond "
            f"{self.grid.far:.0%} in goodput, {self.unexplained.height} of them without a reason"
        )


def run(
    name: str,
    planned: Experiment,
    grid: Grid,
    other: Engine,
    *,
    workers: int | None,
    track: Tracker,
    kept: KeptRuns | None = None,
    client: Any = None,
) -> Validation:
    """Runs both engines over the grid, except for the runs that are kept."""
    other.check(planned.jobs)
    both = []
    for engine, runs in ((SIMULATOR, in_simulator(planned)), (other, planned)):
        count = workers or (grid.workers if engine.real_time else None)
        collected = experiment.collect(
            runs, engine, workers=count, track=track, kept=kept, client=client
        )
        if not collected.complete:
            raise KeyboardInterrupt
        both.append(averaged(grid, collected.rows))
    ours = _by_protocol(grid, both[0])
    points = ours.join(both[1], on=_keys(grid), suffix=OTHER, maintain_order="left")
    return judged(name, grid, other.name, points)


def in_simulator(planned: Experiment) -> Experiment:
    """Returns what the simulator runs: for a QUIC stack's control, ours of the same name."""
    jobs = [replace(job, scenario=_with_ours(job.scenario)) for job in planned.jobs]
    different = {(job.scenario.hash, *job.seeds): job for job in jobs}
    return replace(planned, jobs=list(different.values()))


def _with_ours(scenario: Scenario) -> Scenario:
    named = {f"{flow.name}.cc": flow.cc.name for flow in scenario.flow if is_stack(flow.cc.stack)}
    return scenario.with_settings(named) if named else scenario


def _by_protocol(grid: Grid, ours: pl.DataFrame) -> pl.DataFrame:
    """Returns the simulator's points for each of the grid's protocols."""
    ran = pl.DataFrame({"cc": list(grid.protocols), "ran": [split(cc)[1] for cc in grid.protocols]})
    return ran.join(ours.rename({"cc": "ran"}), on="ran", maintain_order="left_right").drop("ran")


def averaged(grid: Grid, rows: pl.DataFrame) -> pl.DataFrame:
    """Returns a row for each point and direction of one engine's runs."""
    average = pl.Expr.median if grid.median else pl.Expr.mean
    minutes = pl.col("simulated_s") / 60
    completed = pl.col("completion_s").fill_nan(None)
    flow = pl.col("flow").str
    backward = pl.when(flow.starts_with(BACKWARD)).then(pl.lit("backward"))
    is_beside = flow.starts_with(BESIDE)
    direction = backward.when(is_beside).then(pl.lit("beside"))
    control = pl.col("cc").filter(~is_beside).first().over("scenario", "seed")
    runs = (
        rows.with_columns(
            direction.otherwise(pl.lit("forward")).alias("way"),
            control.alias("cc"),
            (pl.col("timeouts") / minutes).alias("timeouts_a_minute"),
        )
        .group_by([*_keys(grid), "seed"], maintain_order=True)
        .agg(
            *(pl.col(column).cast(pl.Float64).fill_nan(None).mean() for column in _OF_FLOWS),
            completed.mean().alias("completion_s"),
            (pl.col("retransmitted").sum() / pl.col("sent").sum()).alias("retransmission_ratio"),
        )
    )
    several = [average(pl.col(column)) for column in (*_OF_FLOWS, "retransmission_ratio")]
    quantiles = [
        pl.col("completion_s").quantile(quantile, "linear").alias(column)
        for column, quantile in _QUANTILES.items()
    ]
    goodput = pl.col("goodput_bps")
    several += [goodput.std().alias("goodput_bps_sd")]
    if grid.has_range:
        several += [goodput.min().alias(_LEAST), goodput.max().alias(_MOST), goodput.alias(_RUNS)]
    return runs.group_by(_keys(grid), maintain_order=True).agg(*several, *quantiles)


def judged(name: str, grid: Grid, engine: str, points: pl.DataFrame) -> Validation:
    """Adds the goodput ratio, the criteria that each point meets, and reasons for outliers."""
    ratio = (pl.col("goodput_bps") / pl.col(f"goodput_bps{OTHER}")).alias("goodput_ratio")
    conditions = [criterion.condition.alias(criterion.name) for criterion in criteria(grid)]
    points = points.with_columns(ratio, *conditions)
    if grid.has_range:
        points = points.with_columns(
            pl.Series(OUTSIDE, list(map(_outside, points.iter_rows(named=True))))
        )
        points = points.drop(_RUNS, _RUNS + OTHER)
    reasons = [exceptions.reason(engine, name, row) for row in points.iter_rows(named=True)]
    points = points.with_columns(pl.Series("reason", reasons, dtype=pl.String))
    return Validation(name, grid, points)


def _outside(row: dict[str, Any]) -> float:
    """Returns the share of the other engine's runs outside the range of the simulator's."""
    runs = row[_RUNS + OTHER]
    return sum(not row[_LEAST] <= run <= row[_MOST] for run in runs) / len(runs)


def _keys(grid: Grid) -> Sequence[str]:
    """Returns the columns that identify a row of the points."""
    return [*grid.keys, "way"]
