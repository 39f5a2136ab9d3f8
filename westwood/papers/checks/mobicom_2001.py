# SPDX-License-Identifier: BSD-3-Clause
"""Claims of TCP Westwood (Mascolo et al., MOBICOM 2001), as its slides state them."""

from __future__ import annotations

import math
from collections.abc import Mapping

import polars as pl

from westwood.papers.checks.common import (
    THROUGHPUT,
    Finding,
    Measured,
    by_x,
    leads,
    mbps,
    outside,
    quantity,
    shown,
)

_OVER = [("westwood", "reno")]
_ALONE_BPS = {"reno": 99_200.0, "westwood": 99_400.0}  # a flow, from the slides' table


def _udp_share(all_: Mapping[str, Measured]) -> Finding:
    rows = all_["udp-share"].rows.filter(pl.col("flow") == "tcp")
    measured, failures = {}, []
    for phase in ("alone", "beside"):
        share = float(rows[f"estimate_{phase}_share"].mean())  # type: ignore[arg-type]
        measured[f"{phase}_udp"] = share
        name = f"the estimate {phase} UDP over what is left"
        failures += outside(name, share, 0.85, 1.15)
    return Finding({"estimate_over_residual": measured}, failures)


def _fairness(all_: Mapping[str, Measured]) -> Finding:
    measured: dict[str, dict[str, float]] = {}
    failures = []
    for name in ("fairness", "fairness-rtt"):
        for cc in ("reno", "westwood"):
            # Every row of a run has the run's index.
            runs = all_[name].rows.filter(cc=cc).group_by("bottleneck.queue", "seed").first()
            index = {
                str(queue): runs.filter(pl.col("bottleneck.queue") == queue).sort("seed")["jain"]
                for queue in ("droptail", "red")
            }
            means = {queue: float(series.mean()) for queue, series in index.items()}  # type: ignore[arg-type]
            measured[f"{name}, {cc}"] = means
            change = index["red"] - index["droptail"]
            half = 2.0 * float(change.std() or 0) / math.sqrt(len(change))  # type: ignore[arg-type]
            if float(change.mean()) < -half:  # type: ignore[arg-type]
                failures.append(
                    f"{name}: RED lowers {cc}'s index from {means['droptail']:.3f} "
                    f"to {means['red']:.3f}"
                )
            if name == "fairness" and cc == "westwood":
                for queue, mean in means.items():
                    failures += outside(f"Westwood's index with {queue}", mean, 0.9, 1.0)
    return Finding({"jain": measured}, failures)


def _friendliness(all_: Mapping[str, Measured]) -> Finding:
    rows = all_["friendliness"].rows
    keys = ("reno.cc", "westwood.cc")

    def mean(one: str, two: str, cc: str) -> float:
        here = rows.filter((pl.col(keys[0]) == one) & (pl.col(keys[1]) == two), cc=cc)
        return float(here[THROUGHPUT].mean())  # type: ignore[arg-type]

    alone = {cc: mean(cc, cc, cc) for cc in _ALONE_BPS}
    reno, westwood = (mean("reno", "westwood", cc) for cc in ("reno", "westwood"))
    failures = []
    for cc, published in _ALONE_BPS.items():
        failures += outside(f"20 {cc} alone over the table", alone[cc] / published, 0.98, 1.02)
    failures += outside("Westwood over Reno together", westwood / reno, 1.0, 1.4)
    together = {"reno_bps": reno, "westwood_bps": westwood, "ratio": westwood / reno}
    return Finding({"alone_bps": alone, "together": together}, failures)


def _loss_delay_capacity(all_: Mapping[str, Measured]) -> Finding:
    found = {
        "loss": leads(all_["loss"], _OVER, lambda per: 0.001 <= per <= 0.02),
        "delay": leads(all_["delay"], _OVER, lambda delay: quantity(delay) >= 10),
        "capacity": leads(all_["capacity"], _OVER, lambda rate: True),
    }
    failures = [f"{name}: {one}" for name, finding in found.items() for one in finding.failures]
    return Finding({name: finding.measured for name, finding in found.items()}, failures)


def _not_below(measured: Measured, most: float) -> Finding:
    """Westwood is nowhere below Reno beyond the interval of their paired difference."""
    failures, gaps = [], {}
    for x in measured.table():
        if quantity(x) > most:
            continue
        gap = measured.difference(x, "westwood", "reno")
        gaps[shown(x)] = gap.entry()
        if gap.mean < -gap.bound:
            failures.append(f"at {shown(x)} Westwood is {mbps(-gap.mean)} below Reno")
    table = by_x(measured.table())
    return Finding({"westwood_minus_reno_bps": gaps, THROUGHPUT: table}, failures)


def _fading(all_: Mapping[str, Measured]) -> Finding:
    return _not_below(all_["fading"], 0.1)


def _blackout(all_: Mapping[str, Measured]) -> Finding:
    return _not_below(all_["blackout"], math.inf)


def _satellite(all_: Mapping[str, Measured]) -> Finding:
    table = all_["satellite"].table()
    ratios = {rate: row["westwood"] / row["reno"] for rate, row in table.items()}
    values = list(ratios.values())
    failures = []
    if values[-1] <= values[0]:
        failures.append(
            f"the ratio falls from {values[0]:.2f} at {next(iter(ratios))} to {values[-1]:.2f}"
            f" at {list(ratios)[-1]}"
        )
    return Finding({"westwood_over_reno": ratios, THROUGHPUT: by_x(table)}, failures)


def _traces(all_: Mapping[str, Measured]) -> Finding:
    points = all_["traces"].points
    share = dict(zip(points["cc"], points["ssthresh_over_pipe"], strict=True))
    failures = outside("Westwood's median ssthresh over the pipe", share["westwood"], 0.7, math.inf)
    failures += outside("Reno's median ssthresh over the pipe", share["reno"], 0.0, 0.5)
    return Finding({"median_ssthresh_over_pipe": share}, failures)


CHECKS = {
    "mobicom.udp_share": _udp_share,
    "mobicom.fairness": _fairness,
    "mobicom.friendliness": _friendliness,
    "mobicom.loss_delay_capacity": _loss_delay_capacity,
    "mobicom.fading": _fading,
    "mobicom.blackout": _blackout,
    "mobicom.satellite": _satellite,
    "mobicom.traces": _traces,
}
