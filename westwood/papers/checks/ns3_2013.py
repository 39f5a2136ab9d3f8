# SPDX-License-Identifier: BSD-3-Clause
"""Checks the claims of "TCP Westwood(+) Protocol Implementation in ns-3" (Gangadhar 2013)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from westwood import units
from westwood.control.catalogue import label
from westwood.papers.checks import words
from westwood.papers.checks.bounds import (
    ALIKE,
    Bounds,
    Condition,
    Decided,
    SettingBounds,
    Term,
    ValueRange,
    around,
    leading,
    ratio,
)
from westwood.papers.checks.common import WESTWOOD, WESTWOOD_PLUS, Check, Finding, Measured, leads
from westwood.papers.checks.words import CLEARLY, HUGELY, Named, Runs, shown
from westwood.results.intervals import Estimate

_OTHERS = ("reno", "newreno", "tahoe")
_SECOND = [(WESTWOOD_PLUS, other, 0.0) for other in _OTHERS]
# "A huge performance improvement": the sentence explains it by the others' "static conservative
# value", which Westwood+ does not have.
_ORDER = [
    (WESTWOOD, WESTWOOD_PLUS, CLEARLY),
    *((WESTWOOD, other, HUGELY) for other in _OTHERS),
    *_SECOND,
]
_SUPERIOR = [
    (WESTWOOD, WESTWOOD_PLUS, 0.0),
    *((WESTWOOD, control, 0.0) for control in _OTHERS),
    *_SECOND,
]
_FASTER = [(WESTWOOD, WESTWOOD_PLUS, CLEARLY), *_SUPERIOR[1:]]
_HIGHER_CWND = [(WESTWOOD, WESTWOOD_PLUS), (WESTWOOD_PLUS, "reno")]
_RATES = ValueRange("bottleneck.loss.rate", 0.0001, 0.05)
_DELAYS = ValueRange("bottleneck.delay", "0.01ms", "250ms")
_KNEE = 0.001
_FIG8 = {"reno": ("about", 1.0), WESTWOOD: ("at most", 0.4)}  # Mb/s
_FIG9 = {  # Mb/s, and the error rate at which the paper sees it
    "reno": ("about", 1.4, 0.001),
    WESTWOOD: ("at most", 1.0, 0.01),
    WESTWOOD_PLUS: ("about", 1.2, 0.01),
}
_PEAK_MBPS, _RATE_KBPS, _LOW_KBPS = 8.0, 500.0, 300.0
_PERIOD = "from 8 to 14 s"


def _reno_equals_newreno(all_: Mapping[str, Measured]) -> Finding:
    reno, newreno = (all_["fig5"].curve(cc) for cc in ("reno", "newreno"))
    ratios = reno.over(newreno)
    failures = [
        f"Reno over NewReno at {shown(per)} is {words.written(ratio)}, expected within 10 % of 1"
        for per, ratio in ratios.items()
        if not words.alike(ratio)
    ]
    gaps = {per: abs(ratio.value - 1) for per, ratio in ratios.items()}
    worst = max(gaps, key=lambda per: gaps[per])
    return Finding({"largest_difference": {"at": worst, "relative": gaps[worst]}}, failures)


def _westwoodplus_knee(all_: Mapping[str, Measured]) -> Finding:
    westwood, plus = (all_["fig5"].curve(cc) for cc in (WESTWOOD, WESTWOOD_PLUS))
    name = "Westwood over Westwood+"
    failures: list[str] = []
    ratios = westwood.over(plus)
    for per, knee_ratio in ratios.items():
        if per <= _KNEE and not words.alike(knee_ratio):
            failures.append(
                f"{name} at {shown(per)} is {words.written(knee_ratio)} before the drop"
            )
        if per > _KNEE and not words.above(knee_ratio):
            failures.append(
                f"{name} at {shown(per)} is {words.written(knee_ratio)}, expected above 1"
            )
    curve = {per: runs.by(plus.curve[per]) for per, runs in westwood.curve.items() if per >= _KNEE}
    failures += words.grows(Named(name, curve))
    gaps = {per: runs.minus(plus.curve[per]).mean for per, runs in westwood.curve.items()}
    return Finding({"gap_bps": {shown(per): _entry(gap) for per, gap in gaps.items()}}, failures)


def _entry(estimate: Estimate) -> dict[str, float]:
    return {"mean": estimate.value, "half": (estimate.high - estimate.low) / 2}


def _monotone(all_: Mapping[str, Measured]) -> Finding:
    measured = all_["fig5"]
    table = measured.table()
    failures: list[str] = []
    steepest = (-1.0, "", 0.0)
    for cc in next(iter(table.values())):
        failures += words.falls(measured.curve(cc))
        for (_, before), (per, after) in itertools.pairwise(sorted(table.items())):
            if before[cc]:
                steepest = max(steepest, (after[cc] / before[cc] - 1, cc, per))
    rise, cc, per = steepest
    return Finding({"largest_rise": {"of": cc, "up_to": per, "relative": rise}}, failures)


# Figures 5 to 7 and the same sweeps with the profile of 2001.
_ORIGINAL = {"fig5": "loss", "fig6": "delay", "fig7": "capacity"}


def _original_work(all_: Mapping[str, Measured]) -> Finding:
    measured = {}
    for name, original in _ORIGINAL.items():
        ours, theirs = all_[name].curve(WESTWOOD), all_[original].curve("westwood")
        common = [x for x in ours.curve if x in theirs.curve]
        ratios = {x: ours.curve[x].over(theirs.curve[x]) for x in common}
        measured[name] = {
            "points": len(common),
            "alike": sum(words.alike(ratio) for ratio in ratios.values()),
            "ratio": {shown(x): ratio.value for x, ratio in ratios.items()},
        }
    return Finding(measured, [])


def _reno_least_delay(all_: Mapping[str, Measured]) -> Finding:
    ours, theirs = (all_[name].curve("reno").curve for name in ("fig6", _ORIGINAL["fig6"]))
    least = next(iter(ours))
    return Finding({"at": least, "ratio": ours[least].over(theirs[least]).value}, [])


def _plus_fairness(all_: Mapping[str, Measured]) -> Finding:
    """Checks what another flow gets beside each Westwood."""
    measured = {}
    failures = []
    for other in ("reno", "newreno"):
        left = {
            cc: all_["plus-fairness"].runs({"westwood.cc": cc, "other.cc": other, "flow": "other"})
            for cc in (WESTWOOD, WESTWOOD_PLUS)
        }
        ratio_ = left[WESTWOOD_PLUS].over(left[WESTWOOD])
        measured[other] = {
            **{f"beside_{cc}_bps": runs.mean.value for cc, runs in left.items()},
            "ratio": ratio_.value,
        }
        if not words.above(ratio_):
            failures.append(
                f"{label(other)} with Westwood+ over that with Westwood is {words.written(ratio_)}"
            )
    return Finding(measured, failures)


def _bandwidth(all_: Mapping[str, Measured]) -> Finding:
    measured = all_["fig7"]
    finding = leads(measured, _FASTER)
    failures = list(finding.failures)
    for cc in (WESTWOOD, WESTWOOD_PLUS):
        failures += words.grows(measured.curve(cc))
    for cc in _OTHERS:
        failures += words.stays_flat(measured.curve(cc))
    table = measured.table()
    growth = {cc: table["8Mbps"][cc] / table["2Mbps"][cc] for cc in table["8Mbps"]}
    lost = {
        link: {shown(x): row[WESTWOOD] for x, row in measured.table(f"lost_on_{link}").items()}
        for link in ("access", "bottleneck")
        if f"lost_on_{link}" in measured.points.columns
    }
    measurements = {**finding.measured, "at_8_over_2": growth, "westwood_packets_lost_on": lost}
    return Finding(measurements, failures)


def _spread(best: Named, worst: Named) -> dict[Any, Runs]:
    """Returns the difference between two curves at each point."""
    return {x: runs.minus(worst.curve[x]) for x, runs in best.curve.items()}


def _graded(measured: Measured, cc: str, key: str) -> tuple[list[Named], dict[Any, Runs]]:
    """Returns a control's curves by the key's value, ascending, and the first minus the last."""
    values = sorted(measured.rows[key].unique(), key=units.number_of)
    curves = [
        Named(f"{label(cc)} with {value}", measured.curve(cc, **{key: value}).curve)
        for value in values
    ]
    return curves, _spread(curves[0], curves[-1])


def _largest(spread: Mapping[Any, Runs]) -> dict[str, float]:
    largest_per = max(spread, key=lambda per: spread[per].mean.value)
    return {"bps": spread[largest_per].mean.value, "at": largest_per}


def _size(name: str, spread: Mapping[Any, Runs], kind: str, published: float) -> Iterator[str]:
    """Checks the size of the largest spread, in Mb/s."""
    spread_mbps = spread[_largest(spread)["at"]].mean.times(1e-6)
    check = words.over_limit if kind == "at most" else words.outside
    yield from check(f"{name}'s largest spread", spread_mbps, published, " Mb/s")


_NAMES = {"reno": "Reno", WESTWOOD: "Westwood", WESTWOOD_PLUS: "Westwood+"}


def _delayed_ack(all_: Mapping[str, Measured]) -> Finding:
    measured = all_["fig8"]
    spreads: dict[str, dict[str, float]] = {}
    failures: list[str] = []
    for cc, name in _NAMES.items():
        curves, spread = _graded(measured, cc, "tcp.delayed_ack")
        failures += words.best_curve(curves)
        spreads[cc] = _largest(spread)
        if cc in _FIG8:
            failures += _size(name, spread, *_FIG8[cc])
        if cc == WESTWOOD_PLUS:
            failures += _suffers_at_high_rates(curves[0], curves[-1])
    return Finding({"largest_spread": spreads}, failures)


def _suffers_at_high_rates(best: Named, worst: Named) -> Iterator[str]:
    """Checks that Westwood+ loses more of its throughput at error rates above 0.001."""
    kept = []
    for is_high in (False, True):
        pers = [per for per in best.curve if (per > _KNEE) == is_high]
        first, second = (words.total(named.curve[per] for per in pers) for named in (worst, best))
        kept.append(first.over(second))
    low, high = kept
    if not high.high < low.low:
        yield (
            f"Westwood+ keeps {words.written(high)} of its throughput with 8 segments an ACK above "
            f"an error rate of 0.001, and {words.written(low)} up to it"
        )


def _mtu(all_: Mapping[str, Measured]) -> Finding:
    measured = all_["fig9"]
    spreads: dict[str, dict[str, float]] = {}
    by_rate: dict[str, Named] = {}
    failures: list[str] = []
    for cc, (kind, published, peak_per) in _FIG9.items():
        smallest_first, _ = _graded(measured, cc, "tcp.packet")
        curves = smallest_first[::-1]
        spread = _spread(curves[0], curves[-1])
        failures += words.in_order(curves)
        spreads[cc] = _largest(spread)
        by_rate[cc] = Named(f"{_NAMES[cc]}'s spread", spread)
        failures += _size(_NAMES[cc], spread, kind, published)
        most = spreads[cc]["at"]
        if words.below(spread[peak_per].over(spread[most])):
            failures.append(
                f"{_NAMES[cc]}'s spread is largest at {most:g}, expected at {peak_per:g}"
            )
    failures += words.leads(by_rate["reno"], by_rate[WESTWOOD], HUGELY)
    return Finding({"largest_spread": spreads}, failures)


def _cwnd(all_: Mapping[str, Measured]) -> Finding:
    ccs = (WESTWOOD, WESTWOOD_PLUS, "reno")
    windows = {cc: all_["fig10"].runs({"cc": cc}, "sampled_cwnd") for cc in ccs}
    means = {cc: window.mean.value for cc, window in windows.items()}
    failures = [
        f"{label(lower)}'s mean, {means[lower]:.1f}, is not below {label(upper)}'s, "
        f"{means[upper]:.1f} segments"
        for upper, lower in _HIGHER_CWND
        if not words.above(windows[upper].over(windows[lower]))
    ]
    return Finding({"mean_of_200_samples": means}, failures)


def _ack_compression(all_: Mapping[str, Measured]) -> Finding:
    def estimate(cc: str, column: str, unit: float) -> Estimate:
        rows = {"cc": cc, "flow": "upload"}
        return all_["ack-compression"].runs(rows, f"estimate_{column}_bps").mean.times(unit)

    peak = estimate(WESTWOOD, "peak", 1e-6)
    mean, low, high = (estimate(WESTWOOD_PLUS, column, 1e-3) for column in ("mean", "low", "high"))
    failures = [
        *words.outside("Westwood's peak", peak, _PEAK_MBPS, " Mb/s"),
        *words.outside("Westwood+'s mean estimate", mean, _RATE_KBPS, " kb/s"),
        *words.outside(f"Westwood+'s least estimate {_PERIOD}", low, _LOW_KBPS, " kb/s"),
    ]
    if not words.slightly_above(high.times(1 / _RATE_KBPS)):
        slightly = f"expected from {_RATE_KBPS:g} to {(1 + CLEARLY) * _RATE_KBPS:g} kb/s"
        failures.append(
            f"Westwood+'s largest estimate {_PERIOD} is {words.written(high)} kb/s, {slightly}"
        )
    measurements = {
        "westwood_peak_bps": peak.value * 1e6,
        "westwood+_mean_bps": mean.value * 1e3,
        "westwood+_bps": [low.value * 1e3, high.value * 1e3],
    }
    return Finding(measurements, failures)


CHECKS: dict[str, Check] = {
    "ns3.fig5.order": lambda all_: leads(all_["fig5"], _ORDER),
    "ns3.fig5.reno_equals_newreno": _reno_equals_newreno,
    "ns3.fig5.westwoodplus_knee": _westwoodplus_knee,
    "ns3.fig5.monotone": _monotone,
    "ns3.fig6.delay": lambda all_: leads(all_["fig6"], _SUPERIOR),
    "ns3.original_work": _original_work,
    "ns3.fig6.reno_least_delay": _reno_least_delay,
    "ns3.fig7.bandwidth": _bandwidth,
    "ns3.fig8.delack": _delayed_ack,
    "ns3.fig9.mtu": _mtu,
    "ns3.fig10.cwnd": _cwnd,
    "ns3.plus_fairness": _plus_fairness,
    "ns3.fig11.ack_compression": _ack_compression,
}


def _estimate(name: str, cc: str, column: str, unit_bps: float, within: Bounds) -> Condition:
    term = Term(cc, {"upload.cc": cc}, f"estimate_{column}_bps", flow="upload")
    return Condition(name, term, by=unit_bps, within=within)


_CURVE = "It is about how a curve goes from point to point, which no single setting shows."
_GRID = "It is about the spread over the figure's whole grid: no single setting shows that."
_OF_PLUS = "Westwood+'s {}, kb/s"
_SLIGHTLY = Bounds(_RATE_KBPS, (1 + CLEARLY) * _RATE_KBPS)

SETTING_BOUNDS: Decided = {
    "ns3.fig5.order": {"fig5": SettingBounds(leading(_ORDER), _RATES)},
    "ns3.fig5.reno_equals_newreno": {
        "fig5": SettingBounds([ratio("reno", "newreno", ALIKE)], _RATES)
    },
    "ns3.fig5.westwoodplus_knee": _CURVE,
    "ns3.fig5.monotone": _CURVE,
    "ns3.fig6.delay": {"fig6": SettingBounds(leading(_SUPERIOR), _DELAYS)},
    "ns3.fig7.bandwidth": _CURVE,
    "ns3.plus_fairness": "It compares two settings, with Westwood and with Westwood+.",
    "ns3.fig8.delack": _GRID,
    "ns3.fig9.mtu": _GRID,
    "ns3.fig10.cwnd": {
        "fig10": SettingBounds([ratio(*pair, column="sampled_cwnd") for pair in _HIGHER_CWND])
    },
    "ns3.fig11.ack_compression": {
        "ack-compression": SettingBounds(
            [
                _estimate("Westwood's peak, Mb/s", WESTWOOD, "peak", 1e6, around(_PEAK_MBPS)),
                *(
                    _estimate(_OF_PLUS.format(name), WESTWOOD_PLUS, column, 1e3, within)
                    for name, column, within in (
                        ("mean estimate", "mean", around(_RATE_KBPS)),
                        (f"least estimate {_PERIOD}", "low", around(_LOW_KBPS)),
                        (f"largest estimate {_PERIOD}", "high", _SLIGHTLY),
                    )
                ),
            ]
        )
    },
}
