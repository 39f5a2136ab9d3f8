# SPDX-License-Identifier: BSD-3-Clause
"""Checks the claims of "TCP Westwood(+) Protocol Implementation in ns-3" (Gangadhar 2013)."""

from __future__ import annotations

import itertools
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
    Term,
    ValueRange,
    alone,
    leading,
    ratio,
)
from westwood.papers.checks.common import (
    THROUGHPUT,
    WESTWOOD,
    WESTWOOD_PLUS,
    Finding,
    Measured,
    leads,
    mbps,
    outside,
    shown,
)

_TIE = 0.03  # largest difference of Reno and NewReno that counts as a tie
_ALIKE = 0.1  # largest difference of those that "perform alike"
_ABOVE_RENO = [(WESTWOOD, WESTWOOD_PLUS), (WESTWOOD_PLUS, "reno"), (WESTWOOD_PLUS, "newreno")]
_ABOVE_TAHOE = [*_ABOVE_RENO, ("reno", "tahoe"), ("newreno", "tahoe")]
_ABOVE_ALL = [*_ABOVE_RENO, (WESTWOOD_PLUS, "tahoe")]
_PER = "bottleneck.loss.rate"
_IN_ORDER = ValueRange(_PER, 0.001, 0.02)
_PERFORM_ALIKE = ValueRange(_PER, most=0.005)
_LONG = ValueRange("bottleneck.delay", "10ms")
_FLAT = Bounds(0.9, 1.15)
_GROWTH = {  # bounds of the growth from 2 to 8 Mb/s
    WESTWOOD: Bounds(1.5),
    WESTWOOD_PLUS: Bounds(1.1),
    "tahoe": _FLAT,
    "reno": _FLAT,
    "newreno": _FLAT,
}
_HIGHER_CWND = [(WESTWOOD, WESTWOOD_PLUS), (WESTWOOD_PLUS, "reno")]
_PEAK_MBPS = Bounds(2.0)
_NEAR_500_KBPS = Bounds(250, 600)


def _order(all_: Mapping[str, Measured]) -> Finding:
    """Checks Westwood > Westwood+ > Reno, NewReno > Tahoe, with Reno within 3 % of NewReno."""
    measured = all_["fig5"]
    finding = leads(measured, _ABOVE_TAHOE, _IN_ORDER.has)
    failures = list(finding.failures)
    for per, row in measured.table().items():
        apart = abs(row["reno"] / row["newreno"] - 1)
        if _IN_ORDER.has(per) and apart > _TIE:
            failures.append(f"at {per:g} Reno and NewReno are {apart:.1%} apart")
    return Finding(finding.measured, failures)


def _reno_equals_newreno(all_: Mapping[str, Measured]) -> Finding:
    table = all_["fig5"].table()
    gaps = {
        per: abs(r["reno"] / r["newreno"] - 1)
        for per, r in table.items()
        if _PERFORM_ALIKE.has(per)
    }
    failures = [
        f"at {per:g} Reno and NewReno are {gap:.1%} apart"
        for per, gap in gaps.items()
        if gap >= _ALIKE
    ]
    worst = max(gaps, key=lambda per: gaps[per])
    return Finding({"largest_difference": {"at": worst, "relative": gaps[worst]}}, failures)


def _westwoodplus_knee(all_: Mapping[str, Measured]) -> Finding:
    measured = all_["fig5"]
    pers = sorted(per for per in measured.table() if 0.0005 <= per <= 0.005)
    gaps = {per: measured.difference(per, WESTWOOD, WESTWOOD_PLUS) for per in pers}
    failures = [
        f"from {one:g} to {two:g} the gap falls from {mbps(gaps[one].mean)}"
        f" to {mbps(gaps[two].mean)}"
        for one, two in itertools.pairwise(pers)
        if gaps[two].mean < gaps[one].mean - math.hypot(gaps[one].bound, gaps[two].bound)
    ]
    first, last = gaps[pers[0]], gaps[pers[-1]]
    if last.mean - first.mean <= math.hypot(first.bound, last.bound):
        ends = f"{pers[0]:g} to {pers[-1]:g}"
        failures.append(f"the gap does not widen from {ends} beyond its intervals")
    return Finding({"gap_bps": {f"{per:g}": gap.entry() for per, gap in gaps.items()}}, failures)


def _monotone(all_: Mapping[str, Measured]) -> Finding:
    measured = all_["fig5"]
    failures, steepest = [], (-1.0, "", 0.0)
    for (one, before), (two, after) in itertools.pairwise(sorted(measured.table().items())):
        for cc, value in after.items():
            rise = value - before[cc]
            steepest = max(steepest, (rise / before[cc], cc, two))
            if rise > measured.half(one, cc) + measured.half(two, cc):
                failures.append(
                    f"{label(cc)} rises by {rise / 1e6:.3f} Mb/s from {one:g} to {two:g}"
                )
    rise, cc, per = steepest
    return Finding({"largest_rise": {"of": cc, "up_to": per, "relative": rise}}, failures)


def _delay(all_: Mapping[str, Measured]) -> Finding:
    return leads(all_["fig6"], _ABOVE_ALL, _LONG.has)


def _bandwidth(all_: Mapping[str, Measured]) -> Finding:
    table = all_["fig7"].table()
    growth = {cc: table["8Mbps"][cc] / table["2Mbps"][cc] for cc in table["8Mbps"]}
    named = {WESTWOOD: "Westwood", WESTWOOD_PLUS: "Westwood+"}
    failures = []
    for cc, (least, most) in _GROWTH.items():
        failures += outside(f"{named.get(cc, label(cc))} at 8 over 2 Mb/s", growth[cc], least, most)
    return Finding({"at_8_over_2": growth}, failures)


def _spreads(
    measured: Measured, key: str, best: Any, worst: Any
) -> tuple[dict[str, dict[str, float]], list[str]]:
    """Returns each protocol's largest difference between best and worst, and the failures."""
    spreads: dict[str, dict[str, float]] = {}
    failures = []
    for (cc,), mine in measured.points.group_by("cc", maintain_order=True):
        largest = {"bps": -math.inf, "at": math.nan}
        for (per,), here in mine.group_by(measured.x, maintain_order=True):
            values = {row[key]: row for row in here.iter_rows(named=True)}
            gap = values[best][THROUGHPUT] - values[worst][THROUGHPUT]
            if gap > largest["bps"]:
                largest = {"bps": gap, "at": float(str(per))}
            for value, row in values.items():
                over = row[THROUGHPUT] - values[best][THROUGHPUT]
                under = values[worst][THROUGHPUT] - row[THROUGHPUT]
                width = _half(row) + _half(values[best])
                if over > width:
                    failures.append(f"{label(str(cc))} at {shown(per)}: {value} is above {best}")
                if under > _half(row) + _half(values[worst]):
                    failures.append(f"{label(str(cc))} at {shown(per)}: {value} is below {worst}")
        spreads[str(cc)] = largest
    return spreads, failures


def _half(row: dict[str, Any]) -> float:
    half = float(row[f"{THROUGHPUT}_half"])
    return 0.0 if math.isnan(half) else half


def _delayed_ack(all_: Mapping[str, Measured]) -> Finding:
    spreads, failures = _spreads(all_["fig8"], "tcp.delayed_ack", 1, 8)
    reno, westwood = (spreads[cc]["bps"] / 1e6 for cc in ("reno", WESTWOOD))
    failures += outside("Reno's largest spread", reno, 0.8, 1.2, " Mb/s")
    failures += outside("Westwood's largest spread", westwood, 0.0, 0.4, " Mb/s")
    return Finding({"largest_spread": spreads}, failures)


def _mtu(all_: Mapping[str, Measured]) -> Finding:
    spreads, failures = _spreads(all_["fig9"], "tcp.packet", "1500B", "41B")
    reno, westwood, plus = (spreads[cc]["bps"] / 1e6 for cc in ("reno", WESTWOOD, WESTWOOD_PLUS))
    failures += outside("Reno's largest spread", reno, 1.2, 1.6, " Mb/s")
    failures += outside("Westwood's largest spread", westwood, 0.0, 1.0, " Mb/s")
    failures += outside("Westwood+'s largest spread", plus, 1.0, 1.4, " Mb/s")
    return Finding({"largest_spread": spreads}, failures)


def _cwnd(all_: Mapping[str, Measured]) -> Finding:
    points = all_["fig10"].points
    means = dict(zip(points["cc"], points["sampled_cwnd"], strict=True))
    failures = [
        f"{label(lower)}'s mean, {means[lower]:.1f}, is not below {label(upper)}'s, "
        f"{means[upper]:.1f} segments"
        for upper, lower in _HIGHER_CWND
        if means[upper] <= means[lower]
    ]
    return Finding({"mean_of_200_samples": means}, failures)


def _ack_compression(all_: Mapping[str, Measured]) -> Finding:
    rows = all_["ack-compression"].rows.filter(pl.col("flow") == "upload")
    seen = {row["cc"]: row for row in rows.iter_rows(named=True)}
    peak = seen[WESTWOOD]["estimate_peak_bps"] / 1e6
    low, high = (seen[WESTWOOD_PLUS][f"estimate_{end}_bps"] / 1e3 for end in ("low", "high"))
    failures = outside("Westwood's peak", peak, _PEAK_MBPS.least, _PEAK_MBPS.most, " Mb/s")
    for name, value in (("least", low), ("largest", high)):
        name = f"Westwood+'s {name} estimate after 5 s"
        failures += outside(name, value, _NEAR_500_KBPS.least, _NEAR_500_KBPS.most, " kb/s")
    return Finding(
        {"westwood_peak_bps": peak * 1e6, "westwood+_bps": [low * 1e3, high * 1e3]}, failures
    )


CHECKS = {
    "ns3.fig5.order": _order,
    "ns3.fig5.reno_equals_newreno": _reno_equals_newreno,
    "ns3.fig5.westwoodplus_knee": _westwoodplus_knee,
    "ns3.fig5.monotone": _monotone,
    "ns3.fig6.delay": _delay,
    "ns3.fig7.bandwidth": _bandwidth,
    "ns3.fig8.delack": _delayed_ack,
    "ns3.fig9.mtu": _mtu,
    "ns3.fig10.cwnd": _cwnd,
    "ns3.fig11.ack_compression": _ack_compression,
}


def _grows(cc: str, within: Bounds) -> Condition:
    fast, slow = (alone(cc, {"bottleneck.rate": f"{rate}Mbps"}) for rate in (8, 2))
    return Condition(f"{label(cc)} at 8 over 2 Mb/s", [fast], [slow], within=within)


def _estimate(name: str, cc: str, column: str, unit_bps: float, within: Bounds) -> Condition:
    of = Term(cc, {"upload.cc": cc}, column, flow="upload")
    return Condition(name, [of], by=unit_bps, within=within)


_CURVE = (
    "It is about how a curve goes from one error rate to the next, which no single setting shows."
)
_GRID = "It is about the spread over the figure's whole grid: no single setting shows that."

SETTING_BOUNDS: Decided = {
    "ns3.fig5.order": {
        "fig5": SettingBounds(
            [*leading(_ABOVE_TAHOE), ratio("reno", "newreno", Bounds(1 - _TIE, 1 + _TIE))],
            _IN_ORDER,
        )
    },
    "ns3.fig5.reno_equals_newreno": {
        "fig5": SettingBounds(
            [ratio("reno", "newreno", Bounds(1 - _ALIKE, 1 + _ALIKE, strict=True))], _PERFORM_ALIKE
        )
    },
    "ns3.fig5.westwoodplus_knee": _CURVE,
    "ns3.fig5.monotone": _CURVE,
    "ns3.fig6.delay": {"fig6": SettingBounds(leading(_ABOVE_ALL), _LONG)},
    "ns3.fig7.bandwidth": {"fig7": SettingBounds([_grows(cc, one) for cc, one in _GROWTH.items()])},
    "ns3.fig8.delack": _GRID,
    "ns3.fig9.mtu": _GRID,
    "ns3.fig10.cwnd": {
        "fig10": SettingBounds([ratio(*pair, column="sampled_cwnd") for pair in _HIGHER_CWND])
    },
    "ns3.fig11.ack_compression": {
        "ack-compression": SettingBounds(
            [
                _estimate("Westwood's peak, Mb/s", WESTWOOD, "estimate_peak_bps", 1e6, _PEAK_MBPS),
                *(
                    _estimate(
                        f"Westwood+'s {name} estimate after 5 s, kb/s",
                        WESTWOOD_PLUS,
                        f"estimate_{end}_bps",
                        1e3,
                        _NEAR_500_KBPS,
                    )
                    for name, end in (("least", "low"), ("largest", "high"))
                ),
            ]
        )
    },
}
