# SPDX-License-Identifier: BSD-3-Clause
"""Holds the simulator against another engine: the same scenarios, settings and lost packets.

ns-3's grid is of protocol, rate, delay, loss and delayed ACK, 56 points, with the profile ns3-3.44:
a point agrees if the mean goodputs lie within 5 %, and needs a reason beyond 10 %. Linux's is of
protocol and path, 42 points, with the profile linux, and the median's limits are 10 % and 15 %: it
runs in real time, on a machine that does other things as well. A seed draws which packets of the
bottleneck are lost, for both engines alike: what differs then is not luck.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from westwood.draw import report
from westwood.draw.curves import scatter
from westwood.draw.style import save
from westwood.engines.contract import Engine, Job
from westwood.engines.simulator import SIMULATOR
from westwood.experiments import experiment
from westwood.experiments.experiment import Experiment, Tracker
from westwood.results.folder import Folder
from westwood.scenario import Scenario
from westwood.units import PS_PER_S, parse_rate

METRICS = ("goodput_bps", "retransmission_ratio", "mean_cwnd")
Settings = dict[str, Any]


@dataclass(frozen=True)
class Grid:
    """Says what is run, every point with every protocol, and how near the engines are to come."""

    scenario: Settings  # changes the preset "table1" or "path" into this
    protocols: Mapping[str, Settings]  # and the settings of each one's flow
    points: Sequence[Settings]  # in the columns `keys`
    bottleneck: str
    alternate_delayed_ack: bool
    close: float
    far: float
    median: bool
    seeds: int
    duration: str
    workers: int | None

    @property
    def keys(self) -> list[str]:
        """The columns that tell its points apart."""
        extra = ["delayed_ack"] if self.alternate_delayed_ack else []
        return ["cc", *self.points[0], *extra]


def _points(names: str, *values: tuple[str | float, ...]) -> list[Settings]:
    return [dict(zip(names.split(), value, strict=True)) for value in values]


# Unlike ns-3's NewReno its CUBIC reduces cwnd, not the pipe, and counts what an ACK covers.
_CUBIC = {"flight_excludes_sacked": False, "cc": {"name": "cubic", "byte_counting": True}}
# ns-3's BBR takes minutes a run with packets this small: see bench/comparators.py.
_NS3 = Grid(
    scenario={
        "preset": "table1",
        "profile": "ns3-3.44",
        "access.queue.limit": "10000p",
        "tcp.initial_cwnd": "1p",
    },
    protocols={
        "reno": {"recovery": "reno"},
        "newreno": {"recovery": "newreno"},
        **{cc: {"recovery": "sack"} for cc in ("sack", "westwood", "westwood+", "westwood+-linux")},
        "cubic": {"recovery": "sack", **_CUBIC},
    },
    points=_points(
        "rate delay loss", *itertools.product(("2Mbps", "8Mbps"), ("0.01ms", "50ms"), (0.001, 0.01))
    ),
    bottleneck="bottleneck",
    alternate_delayed_ack=True,
    close=0.05,
    far=0.10,
    median=False,
    seeds=10,
    duration="60s",
    workers=None,
)
# Its lanes are few enough to be in time on two cores.
_LINUX = Grid(
    scenario={"preset": "path", "profile": "linux"},
    protocols={
        **{
            cc: {"recovery": "prr"}
            for cc in ("reno", "cubic", "westwood", "westwood+", "westwoodnr+")
        },
        "westwood+-linux24": {"recovery": "rate-halving"},
        "bbr": {"recovery": "sack"},
    },
    points=_points(
        "rate delay loss queue",
        ("2Mbps", "95ms", 0.005, "100p"),
        ("2Mbps", "25ms", 0.01, "100p"),
        ("5Mbps", "10ms", 0.02, "100p"),
        ("10Mbps", "45ms", 0.005, "100p"),
        ("10Mbps", "25ms", 0.001, "60p"),
        ("10Mbps", "25ms", 0.0, "40p"),
    ),
    bottleneck="path",
    alternate_delayed_ack=False,
    close=0.10,
    far=0.15,
    median=True,
    seeds=5,
    duration="30s",
    workers=8,
)
GRIDS = {"ns3": _NS3, "linux": _LINUX}
_TITLES = {"ns3": "ns-3", "linux": "Linux"}


@dataclass(frozen=True)
class Validation:
    """Holds what came of it: a row a point, with both engines' averages and their ratio."""

    grid: Grid
    points: pl.DataFrame

    @property
    def close(self) -> float:
        """The share of points that agree."""
        ratios: list[float] = self.points["goodput_ratio"].to_list()
        return sum(abs(ratio - 1) <= self.grid.close for ratio in ratios) / len(ratios)

    @property
    def far(self) -> pl.DataFrame:
        """The points that need a reason."""
        return self.points.filter((pl.col("goodput_ratio") - 1).abs() > self.grid.far)

    def __str__(self) -> str:
        grid = self.grid
        return (
            f"{self.close:.0%} of {self.points.height} points within {grid.close:.0%}, "
            f"{self.far.height} beyond {grid.far:.0%}"
        )


def plan(grid: Grid, seeds: int | None, duration: str | None) -> Experiment:
    """Plans the grid's runs; where delayed ACK alternates, half have an ACK a segment."""
    named = {"duration": duration or grid.duration, "seeds": seeds or grid.seeds}
    settings = {key: value for key, value in grid.scenario.items() if key != "preset"}
    base = Scenario.preset(grid.scenario["preset"]).with_settings({**settings, **named})
    jobs: list[Job] = []
    order = enumerate(grid.protocols.items())
    for (number, (cc, options)), (place, point) in itertools.product(order, enumerate(grid.points)):
        flow: Settings = {"cc": cc, **options}
        shown = dict(point)
        if grid.alternate_delayed_ack:
            flow["delayed_ack"] = shown["delayed_ack"] = 1 + (place + number) % 2
        jobs += _jobs(base, grid.bottleneck, flow, shown)
    return Experiment(base, jobs, [])


def _jobs(base: Scenario, link: str, flow: Settings, point: Settings) -> Iterator[Job]:
    """Makes a job a seed, which draws the losses."""
    settings = {f"tcp.{key}": value for key, value in flow.items()}
    settings |= {f"{link}.rate": point["rate"], f"{link}.delay": point["delay"]}
    if "queue" in point:
        settings[f"{link}.queue.limit"] = point["queue"]
    scenario = base.with_settings(settings)
    rate_bps = parse_rate(point["rate"])
    frames = rate_bps * base.duration / PS_PER_S / (8 * scenario.flows[0].packet)
    for seed in range(1, base.seeds + 1):
        lost = {"kind": "script", "packets": _lost(seed, point["loss"], frames), "on": "forward"}
        chosen = lost if point["loss"] else {"kind": "none"}
        yield Job(scenario.with_settings({f"{link}.loss": chosen}), [seed], point)


def _lost(seed: int, rate: float, most: float) -> list[int]:
    """Draws the numbers of the packets that are lost, among at most so many."""
    if rate == 0:
        return []
    gaps = np.random.default_rng(seed).geometric(rate, size=int(1.2 * most * rate) + 100)
    packets: list[int] = gaps.cumsum().tolist()
    return packets


def run(
    planned: Experiment, grid: Grid, other: Engine, *, workers: int | None, track: Tracker
) -> Validation | None:
    """Runs both engines over the grid; None if interrupted."""
    other.check(planned.jobs)
    both = {}
    average = pl.Expr.median if grid.median else pl.Expr.mean
    for name, engine in (("sim", SIMULATOR), ("other", other)):
        count = workers or (grid.workers if engine.real_time else None)
        collected = experiment.collect(planned, engine, workers=count, track=track)
        if not collected.complete:
            return None
        averages = [average(pl.col(metric).fill_nan(None)) for metric in METRICS]
        spread = pl.col("goodput_bps").std().alias("goodput_bps_sd")
        both[name] = collected.rows.group_by(grid.keys, maintain_order=True).agg(*averages, spread)
    points = both["sim"].join(both["other"], on=grid.keys, suffix="_other", maintain_order="left")
    ratio = (pl.col("goodput_bps") / pl.col("goodput_bps_other")).alias("goodput_ratio")
    return Validation(grid, points.with_columns(ratio))


def write(done: Validation, engine: str, planned: Experiment, folder: Folder) -> Path:
    """Writes the page with its table and scatter plot, and validation.csv."""
    manifest = {
        "engine": f"sim and {engine}",
        "scenario": planned.scenario.resolved(),
        "seeds": planned.scenario.seeds,
    }
    file = folder.manifest(manifest)
    folder.frame("validation.csv", done.points)
    other = _TITLES[engine]
    title = f"The simulator against {other}"
    limits = (done.grid.close, done.grid.far)
    save(scatter(done.points, METRICS, title, other, limits), folder.file, "validation")
    svg = (folder.path / "validation.svg").read_bytes()
    columns = ["goodput_bps", "goodput_bps_other", "goodput_ratio"]
    seeds, summary = planned.scenario.seeds, _summary(done.points)
    table = report.Table("validation", seeds, summary, done.grid.keys[1:], columns)
    heading = f"{title}: {done}"
    section = report.Section("validation", heading, svg, [table], [])
    return report.write(folder, title, [section], [], file.read_text(encoding="utf-8"))


def _summary(points: pl.DataFrame) -> pl.DataFrame:
    """Adds the half beside each mean that a report's table reads."""
    nothing: Sequence[Any] = [math.nan] * points.height
    return points.with_columns(
        pl.lit("").alias("flow"),
        *(
            pl.Series(f"{name}_half", nothing, dtype=pl.Float64)
            for name in ("goodput_bps", "goodput_bps_other", "goodput_ratio")
        ),
    )
