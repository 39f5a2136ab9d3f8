# SPDX-License-Identifier: BSD-3-Clause
"""Checks the claims of TCP Westwood (Mascolo et al., MOBICOM 2001), as its slides state them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import polars as pl

from westwood.catalogue import label
from westwood.papers.checks.bounds import (
    Bounds,
    Condition,
    Decided,
    SettingBounds,
    Swept,
    Term,
    ValueRange,
    alone,
    leading,
    not_below,
)
from westwood.papers.checks.common import (
    THROUGHPUT,
    Finding,
    Measured,
    by_x,
    leads,
    mbps,
    outside,
    shown,
)

_OVER = [("westwood", "reno")]
_ALONE_BPS = {"reno": 99_200.0, "westwood": 99_400.0}  # per flow, from the slides' table
_AS_IN_TABLE, _TOGETHER = Bounds(0.98, 1.02), Bounds(1.0, 1.4)
_OF_WHAT_IS_LEFT = Bounds(0.85, 1.15)
_EVEN = Bounds(0.9, 1.0)
_QUEUES = ("droptail", "red")  # in the order of the sweep
_SSTHRESH = {"westwood": Bounds(0.7), "reno": Bounds(0.0, 0.5)}  # bounds of ssthresh over the pipe
_LOSSES = ValueRange("bottleneck.loss.rate", 0.001, 0.02)
_DELAYS = ValueRange("bottleneck.delay", "10ms")
_RATES = ValueRange("bottleneck.rate")
_FADES = ValueRange("bottleneck.loss.bad_rate", most=0.1)
_BLACKOUTS = ValueRange("bottleneck.loss.bad")
_ESTIMATE = {
    "alone": "the estimate without UDP over the link's rate",
    "beside": "the estimate with UDP over what UDP leaves",
}


def _udp_share(all_: Mapping[str, Measured]) -> Finding:
    rows = all_["udp-share"].rows.filter(pl.col("flow") == "tcp")
    measured, failures = {}, []
    for phase in ("alone", "beside"):
        share = float(rows[f"estimate_{phase}_share"].mean())  # type: ignore[arg-type]
        measured[f"{phase}_udp"] = share
        name = _ESTIMATE[phase]
        failures += outside(name, share, *_OF_WHAT_IS_LEFT)
    return Finding({"estimate_over_residual": measured}, failures)


def _fairness(all_: Mapping[str, Measured]) -> Finding:
    measured: dict[str, dict[str, float]] = {}
    failures = []
    for name in ("fairness", "fairness-rtt"):
        for cc in ("reno", "westwood"):
            # Every row of a run has the run's index.
            runs = all_[name].rows.filter(cc=cc).group_by("bottleneck.queue", "seed").first()
            index = {
                queue: runs.filter(pl.col("bottleneck.queue") == queue).sort("seed")["jain"]
                for queue in _QUEUES
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
                    failures += outside(f"Westwood's index with {queue}", mean, *_EVEN)
    return Finding({"jain": measured}, failures)


def _friendliness(all_: Mapping[str, Measured]) -> Finding:
    rows = all_["friendliness"].rows
    keys = ("reno.cc", "westwood.cc")

    def mean(one: str, two: str, cc: str) -> float:
        here = rows.filter((pl.col(keys[0]) == one) & (pl.col(keys[1]) == two), cc=cc)
        return float(here[THROUGHPUT].mean())  # type: ignore[arg-type]

    lone = {cc: mean(cc, cc, cc) for cc in _ALONE_BPS}
    reno, westwood = (mean("reno", "westwood", cc) for cc in ("reno", "westwood"))
    failures = []
    for cc, published in _ALONE_BPS.items():
        name = f"20 {cc} alone over the table"
        failures += outside(name, lone[cc] / published, *_AS_IN_TABLE)
    failures += outside("Westwood over Reno together", westwood / reno, *_TOGETHER)
    together = {"reno_bps": reno, "westwood_bps": westwood, "ratio": westwood / reno}
    return Finding({"alone_bps": lone, "together": together}, failures)


def _loss_delay_capacity(all_: Mapping[str, Measured]) -> Finding:
    found = {
        name: leads(all_[name], _OVER, among.has)
        for name, among in (("loss", _LOSSES), ("delay", _DELAYS), ("capacity", _RATES))
    }
    failures = [f"{name}: {one}" for name, finding in found.items() for one in finding.failures]
    return Finding({name: finding.measured for name, finding in found.items()}, failures)


def _not_below(measured: Measured, among: ValueRange) -> Finding:
    """Checks that Westwood is nowhere below Reno beyond the interval of their paired difference."""
    failures, gaps = [], {}
    for x in measured.table():
        if not among.has(x):
            continue
        gap = measured.difference(x, "westwood", "reno")
        gaps[shown(x)] = gap.entry()
        if gap.mean < -gap.bound:
            failures.append(f"at {shown(x)} Westwood is {mbps(-gap.mean)} below Reno")
    table = by_x(measured.table())
    return Finding({"westwood_minus_reno_bps": gaps, THROUGHPUT: table}, failures)


def _fading(all_: Mapping[str, Measured]) -> Finding:
    return _not_below(all_["fading"], _FADES)


def _blackout(all_: Mapping[str, Measured]) -> Finding:
    return _not_below(all_["blackout"], _BLACKOUTS)


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
    failures = []
    for cc, within in _SSTHRESH.items():
        failures += outside(f"{label(cc)}'s median ssthresh over the pipe", share[cc], *within)
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


def _beside_udp(phase: str) -> Condition:
    name = f"the estimate {phase} UDP over what is left"
    of = Term("westwood", {}, f"estimate_{phase}_share")
    return Condition(name, [of], within=_OF_WHAT_IS_LEFT)


def _index(cc: str, key: str, queue: str) -> Term:
    at = {key: cc, "bottleneck.queue": Swept(_QUEUES.index(queue))}
    return Term(cc, at, "jain")


# The check takes twice the standard error, which is the interval of many runs; few have a wider
# one.
def _even(key: str) -> list[Condition]:
    pairs = [
        (label(cc), [_index(cc, key, queue) for queue in _QUEUES]) for cc in ("reno", "westwood")
    ]
    return [
        Condition(
            f"{name}'s index, RED over drop-tail", [red], [tail], within=Bounds(1.0), paired=True
        )
        for name, (tail, red) in pairs
    ]


def _of_twenty(name: str, one: str, two: str, of: str, **more: Any) -> Condition:
    return Condition(name, [Term(of, {"reno.cc": one, "westwood.cc": two})], **more)


_FRIENDLY = [
    *(
        _of_twenty(f"20 {label(cc)} alone over the table", cc, cc, cc, by=bps, within=_AS_IN_TABLE)
        for cc, bps in _ALONE_BPS.items()
    ),
    _of_twenty(
        "Westwood over Reno together",
        "reno",
        "westwood",
        "westwood",
        over=[Term("reno", {"reno.cc": "reno", "westwood.cc": "westwood"})],
        within=_TOGETHER,
    ),
]
_WIDE, _NARROW = ({"satellite.rate": Swept(place)} for place in (-1, 0))

SETTING_BOUNDS: Decided = {
    "mobicom.udp_share": {
        "udp-share": SettingBounds([_beside_udp(one) for one in ("alone", "beside")])
    },
    "mobicom.fairness": {
        "fairness": SettingBounds(
            [
                *(
                    Condition(
                        f"Westwood's index with {queue}",
                        [_index("westwood", "tcp.cc", queue)],
                        within=_EVEN,
                    )
                    for queue in _QUEUES
                ),
                *_even("tcp.cc"),
            ]
        ),
        "fairness-rtt": SettingBounds(_even("*.cc")),
    },
    "mobicom.friendliness": {"friendliness": SettingBounds(_FRIENDLY)},
    "mobicom.loss_delay_capacity": {
        "loss": SettingBounds(leading(_OVER), _LOSSES),
        "delay": SettingBounds(leading(_OVER), _DELAYS),
        "capacity": SettingBounds(leading(_OVER), _RATES),
    },
    "mobicom.fading": {"fading": SettingBounds([not_below("westwood", "reno")], _FADES)},
    "mobicom.blackout": {"blackout": SettingBounds([not_below("westwood", "reno")], _BLACKOUTS)},
    "mobicom.satellite": {
        "satellite": SettingBounds(
            [
                Condition(
                    "Westwood over Reno, at the largest rate over the same at the least",
                    [alone("westwood", _WIDE), alone("reno", _NARROW)],
                    [alone("reno", _WIDE), alone("westwood", _NARROW)],
                )
            ]
        )
    },
    "mobicom.traces": {
        "traces": SettingBounds(
            [
                Condition(
                    f"{label(cc)}'s median ssthresh over the pipe",
                    [alone(cc, column="ssthresh_over_pipe")],
                    within=within,
                )
                for cc, within in _SSTHRESH.items()
            ]
        )
    },
}
