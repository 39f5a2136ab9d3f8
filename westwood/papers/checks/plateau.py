# SPDX-License-Identifier: BSD-3-Clause
"""Checks the claims of "Improvement Congestion Avoidance over TCP Westwood" (Frikha, Chekir)."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from westwood.control.catalogue import label
from westwood.papers.checks import bounds, words
from westwood.papers.checks.common import THROUGHPUT, Finding, Measured
from westwood.papers.checks.regions import Region
from westwood.papers.checks.words import CLEARLY, EXACT, NEAR, Runs, shown
from westwood.results.intervals import Estimate

_BEFORE, _AFTER = "westwoodnr", "westwoodnr+"
_WIRED_MBPS = {_BEFORE: 4.436, _AFTER: 4.538}
_WIRED_CTE_MBPS = 4.718
_WIRELESS_MBPS = 4.510  # before the plateau
_WIRED_GAIN, _WIRELESS_GAIN, _NEWRENO_GAIN = 0.0230, 0.0894, 0.4429
_BEST_CTE = {"plateau-cte-wired": 3.6, "plateau-cte-wireless": 2.0}
_STARVED = 0.5  # of a fair half: a flow with less starves
_CTE = "tcp.cc.cte"
_PER = "bottleneck.loss.rate"
_STABLE = 1 / (1 + words.HUGELY)  # "much more stable": deviations differ hugely
_PERIODICALLY = 3  # times


def _gain(ratio_: Estimate) -> Estimate:
    """Converts a ratio to a gain in percent."""
    return Estimate(*(100 * (bound - 1) for bound in (ratio_.value, ratio_.low, ratio_.high)))


def _gained(name: str, ratio_: Estimate, published: float) -> list[str]:
    """Checks a gain that the paper gives in percent."""
    return list(words.outside(name, _gain(ratio_), 100 * published, " %"))


def _around(gain: float) -> bounds.Bounds:
    """Returns the bounds of a ratio whose gain is near a published one."""
    return bounds.Bounds(1 + (1 - NEAR) * gain, 1 + (1 + NEAR) * gain)


def _agrees(name: str, cc: str, mbps: float) -> bounds.Condition:
    """Returns the condition that a throughput is one that the paper gives."""
    term = bounds.Term(cc, {"tcp.cc": cc}, THROUGHPUT)
    return bounds.Condition(name, term, by=1e6, within=bounds.around(mbps, EXACT))


_WITH_CTE = f'{{ name = "{_AFTER}", cte = {_BEST_CTE["plateau-cte-wired"]:g} }}'
LENGTHS = Region(
    "WestwoodNR+ on the wired path",
    "plateau-lengths",
    ("duration", "bottleneck.queue.limit"),
    [
        *(_agrees(label(cc), cc, mbps) for cc, mbps in _WIRED_MBPS.items()),
        bounds.Condition(
            "the plateau's gain",
            bounds.Term(_AFTER, {"tcp.cc": _AFTER}),
            bounds.Term(_BEFORE, {"tcp.cc": _BEFORE}),
            within=_around(_WIRED_GAIN),
        ),
        _agrees("cte 3.6", _WITH_CTE, _WIRED_CTE_MBPS),
    ],
    {},
)
_FIRST_TWO = [condition.name for condition in LENGTHS.conditions[:3]]


def _wired(all_: Mapping[str, Measured]) -> Finding:
    measured = all_["plateau-wired"]
    before, after = (measured.runs({"cc": cc}) for cc in (_BEFORE, _AFTER))
    lost, lost_after = (measured.runs({"cc": cc}, "loss_ratio") for cc in (_BEFORE, _AFTER))
    failures = _gained("the gain", after.over(before), _WIRED_GAIN)
    candidate = _lengths(all_, _FIRST_TWO)
    rise = lost_after.minus(lost).mean
    if rise.low > 0:
        failures.append(
            f"the loss ratio: rises from {lost.mean.value:.4%} to {lost_after.mean.value:.4%}"
        )
    return Finding(
        {
            "before_bps": before.mean.value,
            "after_bps": after.mean.value,
            "gain": after.over(before).value - 1,
            "loss_ratio": [lost.mean.value, lost_after.mean.value],
            **candidate,
        },
        failures,
        _candidate(candidate),
    )


def _candidate(measurements: Mapping[str, Any]) -> str:
    """Says where the published numbers agree, and how likely such a place is by chance."""
    if not measurements:
        return ""
    best = measurements["over_duration_and_queue"]
    where = (
        f", as at {best['at'].replace('bottleneck.queue.limit', 'queue')}" if best["agree"] else ""
    )
    return (
        f"a candidate: {best['agree']} of {best['cells']} durations and queues have all its numbers"
        f"{where}; independent numbers would agree at {best['by_chance']:.1f}"
    )


def _lengths(all_: Mapping[str, Measured], conditions: list[str]) -> dict[str, Any]:
    """Returns where these numbers agree over duration and queue; a search leaves that out."""
    is_there = LENGTHS.scenario in all_
    return {"over_duration_and_queue": LENGTHS.of(all_).entry(conditions)} if is_there else {}


def _wired_numbers(all_: Mapping[str, Measured]) -> Finding:
    """Checks the paper's three throughputs of the wired path together."""
    runs_of = {cc: all_["plateau-wired"].runs({"cc": cc}) for cc in _WIRED_MBPS}
    rows: list[tuple[str, Runs, float]] = [
        (label(cc), runs_of[cc], published) for cc, published in _WIRED_MBPS.items()
    ]
    cte = _BEST_CTE["plateau-cte-wired"]
    rows.append((f"cte {cte:g}", all_["plateau-cte-wired"].runs({_CTE: cte}), _WIRED_CTE_MBPS))
    failures: list[str] = []
    for name, runs, published in rows:
        failures += words.outside(name, runs.mean.times(1e-6), published, " Mb/s", EXACT)
    throughputs, candidate = {name: runs.mean.value for name, runs, _ in rows}, _lengths(all_, [])
    return Finding({**throughputs, **candidate}, failures, _candidate(candidate))


def _wireless(all_: Mapping[str, Measured]) -> Finding:
    runs = all_["plateau-wireless"]
    before, after = (runs.curve(cc) for cc in (_BEFORE, _AFTER))
    ratios = after.over(before)
    failures = list(words.leads(after, before))
    measured: dict[str, Any] = {
        "gain": {shown(per): ratio_at.value - 1 for per, ratio_at in ratios.items()}
    }
    there = _where(before.curve, _WIRELESS_MBPS * 1e6)
    if there is None:
        failures.append(f"no error rate leaves {before.name} {_WIRELESS_MBPS:g} Mb/s")
    else:
        rate, (first, second), share = there
        base, gained = (
            words.total([named.curve[first].scaled(1 - share), named.curve[second].scaled(share)])
            for named in (before, after)
        )
        ratio_ = gained.over(base)
        failures += _gained(f"the gain at {rate:.2g}", ratio_, _WIRELESS_GAIN)
        measured["at_the_published_4.51_Mbps"] = {
            "per": rate,
            "before_bps": base.mean.value,
            "after_bps": gained.mean.value,
            "gain": ratio_.value - 1,
        }
    return Finding(measured, failures)


def _where(
    curve: words.Curve, published_bps: float
) -> tuple[float, tuple[float, float], float] | None:
    """Returns the error rate at which a falling curve has this value.

    Also the two error rates around it, and its place between them from 0 to 1.
    """
    for (first, upper), (second, lower) in itertools.pairwise(curve.items()):
        high, low = upper.mean.value, lower.mean.value
        if low <= published_bps <= high and low < high:
            share = (high - published_bps) / (high - low)
            return first + share * (second - first), (first, second), share
    return None


def _cte(all_: Mapping[str, Measured]) -> Finding:
    measurements: dict[str, Any] = {}
    failures: list[str] = []
    for name, published in _BEST_CTE.items():
        curve = all_[name].curve(_AFTER)
        means = {cte: runs.mean.value for cte, runs in curve.curve.items()}
        best = max(means, key=lambda cte: means[cte])
        measurements[name] = {
            "best_cte": best,
            "best_bps": means[best],
            "at_published_bps": means[published],
            "curve_bps": {shown(cte): value for cte, value in means.items()},
        }
        named = words.Named(name, curve.curve)
        measurements[name]["largest_over_least"] = words.flatness(named)
        failures += words.best_point(named, published)
    return Finding(measurements, failures)


def _beside(all_: Mapping[str, Measured], other: str) -> tuple[Estimate, Estimate]:
    """Returns S1's throughput over S2's, and S2's share of its fair half; S2 runs `other`."""
    first, second = (
        all_["plateau-friendly"].runs({"S2-tcp.cc": other, "flow": flow})
        for flow in ("S1-tcp", "S2-tcp")
    )
    return first.over(second), second.over(words.total([first, second])).times(2)


def _friendly_newreno(all_: Mapping[str, Measured]) -> Finding:
    over, share = _beside(all_, "newreno")
    failures = _gained("the gain over NewReno", over, _NEWRENO_GAIN)
    if not share.low >= _STARVED:
        failures.append(f"NewReno's share of its fair half is {words.written(share)}")
    return Finding({"ratio": over.value, "newreno_share_of_fair": share.value}, failures)


def _friendly_westwood(all_: Mapping[str, Measured]) -> Finding:
    over, share = _beside(all_, _BEFORE)
    is_alike = words.slightly_above(over)
    failures = [] if is_alike else [f"the ratio is {words.written(over)}, expected from 1 to 1.1"]
    return Finding({"ratio": over.value, "westwoodnr_share_of_fair": share.value}, failures)


def like_published(all_: Mapping[str, Measured]) -> float:
    """Returns the error rate whose throughput is nearest to the paper's, which names no rate."""
    before = all_["plateau-wireless"].curve(_BEFORE).curve
    means = {per: runs.mean.value * 1e-6 for per, runs in before.items()}
    return float(min(means, key=lambda per: abs(means[per] - _WIRELESS_MBPS)))


def _over_time(all_: Mapping[str, Measured], column: str) -> tuple[Runs, Runs]:
    """Returns a column of WestwoodNR+ on the wired path, and on the wireless one as published."""
    per = like_published(all_)
    wireless = {"cc": _AFTER, _PER: per}
    return (
        all_["plateau-wired"].runs({"cc": _AFTER}, column),
        all_["plateau-wireless"].runs(wireless, column),
    )


def _stages(all_: Mapping[str, Measured]) -> Finding:
    counts = [runs.mean for runs in _over_time(all_, "stages")]
    ratio_ = _over_time(all_, "stage_ratio")[1].mean
    failures = [
        f"the {path} path has {words.written(count)} stages, expected at least one"
        for path, count in zip(("wired", "wireless"), counts, strict=True)
        if not count.low >= 1
    ]
    if not words.above(ratio_, CLEARLY):
        failures.append(f"the longest stage is {words.written(ratio_)} times the shortest")
    swing = _over_time(all_, "cwnd_swing")[0].over(
        all_["plateau-wired"].runs({"cc": _BEFORE}, "cwnd_swing")
    )
    if not words.below(swing):
        failures.append(f"the window swings {words.written(swing)} times as far as without stages")
    return Finding(
        {
            "stages": [count.value for count in counts],
            "longest_over_shortest": ratio_.value,
            "swing_over_westwoodnrs": swing.value,
        },
        failures,
    )


def _ssthresh(all_: Mapping[str, Measured]) -> Finding:
    mean = _over_time(all_, "ssthresh_range")[1].mean
    return Finding(
        {"error_rate": like_published(all_), "range_over_median": mean.value},
        list(words.over_limit("ssthresh's range over its median from 7 s on", mean, words.ALIKE)),
    )


def _use(all_: Mapping[str, Measured]) -> Finding:
    first, second = (_over_time(all_, f"{half}_use_spread")[0] for half in ("first", "second"))
    ratio_ = second.over(first)
    least, last = (_over_time(all_, f"{name}_use")[1] for name in ("least", "last"))
    swing = _over_time(all_, "largest_use")[1].over(least)
    failures = list(
        words.over_limit("the use's deviation in the second half over the first", ratio_, _STABLE)
    )
    if not words.alike(swing):
        failures.append(f"the use's largest over its least is {words.written(swing)}")
    failures += words.outside("the use at the end", last.mean, 1.0)
    measured = {"deviation_second_over_first": ratio_.value, "largest_over_least": swing.value}
    return Finding({**measured, "use_at_the_end": last.mean.value}, failures)


def _windows(all_: Mapping[str, Measured], other: str) -> tuple[Estimate, Estimate, Estimate]:
    """Returns S1's window over S2's, their distance, and how often S2's window gets large."""

    def runs(flow: str, column: str) -> Runs:
        return all_["plateau-friendly"].runs({"S2-tcp.cc": other, "flow": flow}, column)

    ratio_ = runs("S1-tcp", "late_cwnd").over(runs("S2-tcp", "late_cwnd"))
    rises = runs("S2-tcp", "window_rises").mean
    return ratio_, runs("S1-tcp", "windows_apart").mean, rises


def _windows_newreno(all_: Mapping[str, Measured]) -> Finding:
    ratio_, _, rises = _windows(all_, "newreno")
    failures = []
    if not words.above(ratio_):
        failures.append(f"the window over NewReno's is {words.written(ratio_)}")
    if not rises.low >= _PERIODICALLY:
        failures.append(f"NewReno's window gets large {words.written(rises)} times")
    return Finding({"window_ratio": ratio_.value, "newreno_rises": rises.value}, failures)


def _windows_westwood(all_: Mapping[str, Measured]) -> Finding:
    ratio_, apart, _ = _windows(all_, _BEFORE)
    name = "from 10 s on the windows' distance over the window"
    return Finding(
        {"window_ratio": ratio_.value, "apart": apart.value},
        list(words.over_limit(name, apart, words.ALIKE)),
    )


CHECKS = {
    "plateau.wired": _wired,
    "plateau.wired_numbers": _wired_numbers,
    "plateau.wireless": _wireless,
    "plateau.cte": _cte,
    "plateau.friendly_newreno": _friendly_newreno,
    "plateau.friendly_westwood": _friendly_westwood,
    "plateau.stages": _stages,
    "plateau.ssthresh": _ssthresh,
    "plateau.use": _use,
    "plateau.windows_newreno": _windows_newreno,
    "plateau.windows_westwood": _windows_westwood,
}


def _over(other: str, within: bounds.Bounds) -> bounds.Condition:
    """Returns the condition on the ratio of the first source's throughput to the second's."""
    first, second = (bounds.Term(cc, {"S2-tcp.cc": other}) for cc in (_AFTER, other))
    return bounds.Condition(
        f"{label(_AFTER)} over a competing {label(other)}", first, second, within=within
    )


_TIME = "It is about windows over time, which no mean of a single setting shows."

SETTING_BOUNDS: bounds.Decided = {
    **dict.fromkeys(
        ("plateau.stages", "plateau.use", "plateau.windows_newreno", "plateau.windows_westwood"),
        _TIME,
    ),
    "plateau.wired": {
        "plateau-wired": bounds.SettingBounds(
            [
                bounds.ratio(_AFTER, _BEFORE, _around(_WIRED_GAIN)),
                bounds.ratio(_AFTER, _BEFORE, bounds.NOT_MORE, "loss_ratio"),
            ]
        )
    },
    "plateau.wired_numbers": "It is about three runs, so no single setting shows it.",
    "plateau.wireless": (
        "It is about the error rate at which the throughput is the paper's, so no single setting "
        "shows it."
    ),
    "plateau.cte": "It is about the best of many values of cte, and no single setting shows that.",
    "plateau.friendly_newreno": {
        "plateau-friendly": bounds.SettingBounds([_over("newreno", _around(_NEWRENO_GAIN))])
    },
    "plateau.friendly_westwood": {
        "plateau-friendly": bounds.SettingBounds([_over(_BEFORE, bounds.Bounds(1.0, 1 + CLEARLY))])
    },
}
