# SPDX-License-Identifier: BSD-3-Clause
"""The simulator and another engine side by side: the same scenarios, settings and lost packets.

The grid is of protocol, rate, delay, loss and delayed ACK, 56 points, with the profile ns3-3.44. A
seed draws which packets of the bottleneck are lost, for both engines alike: what differs then is
not luck. A point agrees if the mean goodputs lie within 5 %, and needs a reason beyond 10 %.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from westwood import experiment, figures, plots, report
from westwood.engines import Engine
from westwood.experiment import Experiment, Tracker
from westwood.scenario import Scenario
from westwood.sim import Job
from westwood.store import Folder
from westwood.units import PS_PER_S

CLOSE, FAR = 0.05, 0.10
METRICS = ("goodput_bps", "retransmission_ratio", "mean_cwnd")
KEYS = ("cc", "rate", "delay", "loss", "delayed_ack")
# ns-3's BBR takes minutes a run with packets this small: see bench/comparators.py.
_PROTOCOLS = ("reno", "newreno", "sack", "westwood", "westwood+", "westwood+-linux", "cubic")
_RATES_BPS = {"2Mbps": 2e6, "8Mbps": 8e6}
_GRID = list(itertools.product(_RATES_BPS, ("0.01ms", "50ms"), (0.001, 0.01)))


@dataclass(frozen=True)
class Validation:
    """What came of it: a row a point, with both engines' means and their ratio."""

    points: pl.DataFrame

    @property
    def close(self) -> float:
        """The share of points within 5 %."""
        ratios: list[float] = self.points["goodput_ratio"].to_list()
        return sum(abs(ratio - 1) <= CLOSE for ratio in ratios) / len(ratios)

    @property
    def far(self) -> pl.DataFrame:
        """The points beyond 10 %."""
        return self.points.filter((pl.col("goodput_ratio") - 1).abs() > FAR)


def plan(seeds: int, duration: str) -> Experiment:
    """The grid: half of it with an ACK a segment, half with every second."""
    base = Scenario.preset("table1").with_settings(
        {"profile": "ns3-3.44", "duration": duration, "seeds": seeds,
         "access.queue.limit": "10000p", "tcp.initial_cwnd": "1p"}
    )  # fmt: skip
    jobs = []
    numbers = range(1, seeds + 1)
    for cc, (place, (rate, delay, loss)) in itertools.product(_PROTOCOLS, enumerate(_GRID)):
        delayed_ack = 1 + (place + _PROTOCOLS.index(cc)) % 2
        recovery = cc if cc in ("reno", "newreno") else "sack"
        point = base.with_settings(
            {"tcp.cc": cc, "bottleneck.rate": rate, "bottleneck.delay": delay,
             "tcp.delayed_ack": delayed_ack, "tcp.recovery": recovery}
        )  # fmt: skip
        settings = {"rate": rate, "delay": delay, "loss": loss, "delayed_ack": delayed_ack}
        frames = _RATES_BPS[rate] * base.duration / PS_PER_S / (8 * base.flows[0].packet)
        for seed in numbers:
            lost = {"kind": "script", "packets": _lost(seed, loss, frames), "on": "forward"}
            jobs.append(Job(point.with_settings({"bottleneck.loss": lost}), [seed], settings))
    return Experiment(base, jobs, [])


def _lost(seed: int, rate: float, most: float) -> list[int]:
    """The packets that are lost, of at most so many."""
    gaps = np.random.default_rng(seed).geometric(rate, size=int(1.2 * most * rate) + 100)
    packets: list[int] = gaps.cumsum().tolist()
    return packets


def run(
    planned: Experiment, other: Engine, *, workers: int | None, track: Tracker
) -> Validation | None:
    """Both engines over the grid; None if interrupted."""
    other.check(planned.jobs)
    both = {}
    for name, how in (("sim", None), ("other", other.prepare)):
        outcome = experiment.collect(replace(planned), workers=workers, track=track, prepare=how)
        if not outcome.complete:
            return None
        means = [pl.col(metric).fill_nan(None).mean() for metric in METRICS]
        spread = pl.col("goodput_bps").std().alias("goodput_bps_sd")
        both[name] = outcome.rows.group_by(KEYS, maintain_order=True).agg(*means, spread)
    points = both["sim"].join(both["other"], on=KEYS, suffix="_other", maintain_order="left")
    ratio = (pl.col("goodput_bps") / pl.col("goodput_bps_other")).alias("goodput_ratio")
    return Validation(points.with_columns(ratio))


def write(done: Validation, engine: str, planned: Experiment, folder: Folder) -> Path:
    """The page with its table and scatter plot, and validation.csv."""
    manifest = {"engine": f"sim and {engine}", "scenario": planned.scenario.resolved(),
                "seeds": planned.scenario.seeds}  # fmt: skip
    file = folder.manifest(manifest)
    folder.frame("validation.csv", done.points)
    title = f"The simulator against {engine}"
    figures.save(plots.scatter(done.points, METRICS, title, engine), folder.file, "validation")
    svg = (folder.path / "validation.svg").read_bytes()
    columns = ["goodput_bps", "goodput_bps_other", "goodput_ratio"]
    seeds, summary = planned.scenario.seeds, _summary(done.points)
    table = report.Table("validation", seeds, summary, KEYS[1:], columns)
    heading = (f"{title}: {done.close:.0%} of {done.points.height} points within 5 %, "
               f"{done.far.height} beyond 10 %")  # fmt: skip
    part = report.Part("validation", heading, svg, [table], [])
    return report.write(folder, title, [part], [], file.read_text(encoding="utf-8"))


def _summary(points: pl.DataFrame) -> pl.DataFrame:
    """As a report's table reads it: a half beside each mean."""
    nothing: Sequence[Any] = [math.nan] * points.height
    return points.with_columns(
        pl.lit("").alias("flow"),
        *(pl.Series(f"{name}_half", nothing, dtype=pl.Float64)
          for name in ("goodput_bps", "goodput_bps_other", "goodput_ratio")),
    )  # fmt: skip
