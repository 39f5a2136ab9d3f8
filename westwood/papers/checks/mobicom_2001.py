# SPDX-License-Identifier: BSD-3-Clause
"""Checks the claims of TCP Westwood (Mascolo et al., MOBICOM 2001), as its slides state them.

The slides show most figures without sentences; such claims are measured and not decided.
"""

from __future__ import annotations

from collections.abc import Mapping

from westwood.control.catalogue import label
from westwood.papers.checks import bounds, words
from westwood.papers.checks.common import THROUGHPUT, Check, Finding, Measured, by_x, leads
from westwood.papers.checks.words import CLEARLY, EXACT, Runs, shown

_OVER = [("westwood", "reno", 0.0)]
_FAR_OVER = [("westwood", "reno", CLEARLY)]
_ALONE_BPS = {"reno": 99_200.0, "westwood": 99_400.0}  # per flow, from the slides' table
_TOGETHER_BPS = {"reno": 91_300.0, "westwood": 107_800.0}
_EVEN = 0.9  # least index of Jain of an even share
_QUEUES = ("droptail", "red")  # in the order of the sweep
_PHASES = {
    "alone": "the estimate without UDP over the link's rate",
    "beside": "the estimate with UDP over what UDP leaves",
}
_CUT = 0.5  # of the pipe: a Reno that halves its window at each loss stays below it
_LOSSES = bounds.ValueRange("bottleneck.loss.rate", 0.0001, 0.05)
_DELAYS = bounds.ValueRange("bottleneck.delay", "0.01ms", "250ms")
_RATES = bounds.ValueRange("bottleneck.rate", "1Mbps", "8Mbps")
_FADES = bounds.ValueRange("bottleneck.loss.bad_rate", 0.0, 0.3)
_BLACKOUTS = bounds.ValueRange("bottleneck.loss.bad", "0s", "0.5s")


def _udp_share(all_: Mapping[str, Measured]) -> Finding:
    measured: dict[str, float] = {}
    failures: list[str] = []
    for phase, name in _PHASES.items():
        share = all_["udp-share"].runs({"flow": "tcp"}, f"estimate_{phase}_share").mean
        measured[f"{phase}_udp"] = share.value
        failures += words.outside(name, share, 1.0)
    return Finding({"estimate_over_residual": measured}, failures)


def _fairness(all_: Mapping[str, Measured]) -> Finding:
    fairness = _jain(all_, "fairness")
    failures = [
        f"{cc}'s index with {queue} is {words.written(runs.mean)}"
        for cc, by_queue in fairness.items()
        for queue, runs in by_queue.items()
        if not runs.mean.low >= _EVEN
    ]
    return Finding({"jain": _means("fairness", fairness)}, failures)


def _fairness_red(all_: Mapping[str, Measured]) -> Finding:
    measured: dict[str, dict[str, float]] = {}
    failures: list[str] = []
    for name in ("fairness", "fairness-rtt"):
        fairness = _jain(all_, name)
        measured |= _means(name, fairness)
        for cc, index in fairness.items():
            if not words.improves(index["red"], index["droptail"]):
                failures.append(
                    f"{name}: RED does not raise {cc}'s index, {index['droptail'].mean.value:.3f} "
                    f"with drop-tail and {index['red'].mean.value:.3f} with RED"
                )
    return Finding({"jain": measured}, failures)


def _jain(all_: Mapping[str, Measured], name: str) -> dict[str, dict[str, Runs]]:
    """Returns the index of each control's flows by queue; every row of a run has the run's."""
    return {
        cc: {
            queue: all_[name].runs({"cc": cc, "bottleneck.queue": queue}, "jain")
            for queue in _QUEUES
        }
        for cc in ("reno", "westwood")
    }


def _means(name: str, runs_of: Mapping[str, Mapping[str, Runs]]) -> dict[str, dict[str, float]]:
    return {
        f"{name}, {cc}": {queue: runs.mean.value for queue, runs in by_queue.items()}
        for cc, by_queue in runs_of.items()
    }


def _friendliness(all_: Mapping[str, Measured]) -> Finding:
    def per_flow(first: str, second: str, cc: str) -> Runs:
        settings = {"reno.cc": first, "westwood.cc": second, "cc": cc}
        return all_["friendliness"].runs(settings)

    lone = {cc: per_flow(cc, cc, cc) for cc in _ALONE_BPS}
    together = {cc: per_flow("reno", "westwood", cc) for cc in _TOGETHER_BPS}
    failures: list[str] = []
    for flows, table, name in ((lone, _ALONE_BPS, "alone"), (together, _TOGETHER_BPS, "together")):
        for cc, published in table.items():
            share = flows[cc].mean.times(1 / published)
            failures += words.outside(f"{cc} {name} over the table", share, 1.0, within=EXACT)
    means = {f"{cc}_bps": runs.mean.value for cc, runs in together.items()}
    ratio = together["westwood"].over(together["reno"]).value
    return Finding(
        {
            "alone_bps": {cc: runs.mean.value for cc, runs in lone.items()},
            "together": {**means, "ratio": ratio},
        },
        failures,
    )


def _loss_delay_capacity(all_: Mapping[str, Measured]) -> Finding:
    findings = {name: leads(all_[name], _OVER) for name in ("loss", "delay", "capacity")}
    failures = []
    for name in findings:
        westwood, reno = (all_[name].curve(cc) for cc in ("westwood", "reno"))
        failures += [f"{name}: {failure}" for failure in words.mostly_above(westwood, reno)]
    return Finding({name: finding.measured for name, finding in findings.items()}, failures)


def _over_reno(measured: Measured) -> Finding:
    """Checks that Westwood leads Reno, and measures its lead in bits per second."""
    westwood, reno = (measured.curve(cc) for cc in ("westwood", "reno"))
    gaps = {x: runs.minus(reno.curve[x]).mean for x, runs in westwood.curve.items()}
    entries = {
        shown(x): {"mean": gap.value, "half": gap.high - gap.value} for x, gap in gaps.items()
    }
    table = by_x(measured.table())
    return Finding(
        {"westwood_minus_reno_bps": entries, THROUGHPUT: table}, list(words.leads(westwood, reno))
    )


def _satellite(all_: Mapping[str, Measured]) -> Finding:
    measured = all_["satellite"]
    finding = leads(measured, _FAR_OVER)
    table = measured.table()
    ratios = {rate: row["westwood"] / row["reno"] for rate, row in table.items()}
    failures = [*words.grows(measured.curve("westwood")), *finding.failures]
    return Finding({"westwood_over_reno": ratios, THROUGHPUT: by_x(table)}, failures)


def _traces(all_: Mapping[str, Measured]) -> Finding:
    share = {
        cc: all_["traces"].runs({"cc": cc}, "ssthresh_over_pipe").mean
        for cc in ("westwood", "reno")
    }
    name = "{}'s median ssthresh over the pipe"
    failures = [
        *words.outside(name.format("Westwood"), share["westwood"], 1.0),
        *words.over_limit(name.format("Reno"), share["reno"], _CUT),
    ]
    return Finding(
        {"median_ssthresh_over_pipe": {cc: estimate.value for cc, estimate in share.items()}},
        failures,
    )


CHECKS: dict[str, Check] = {
    "mobicom.udp_share": _udp_share,
    "mobicom.fairness": _fairness,
    "mobicom.fairness_red": _fairness_red,
    "mobicom.friendliness": _friendliness,
    "mobicom.loss_delay_capacity": _loss_delay_capacity,
    "mobicom.fading": lambda all_: _over_reno(all_["fading"]),
    "mobicom.blackout": lambda all_: _over_reno(all_["blackout"]),
    "mobicom.satellite": _satellite,
    "mobicom.traces": _traces,
}


def _index(cc: str, key: str, queue: str) -> bounds.Term:
    settings = {key: cc, "bottleneck.queue": bounds.Swept(_QUEUES.index(queue))}
    return bounds.Term(cc, settings, "jain")


def _of_twenty(
    cc: str, first: str, second: str, published_bps: float, name: str
) -> bounds.Condition:
    return bounds.Condition(
        f"{label(cc)} {name} over the table",
        bounds.Term(cc, {"reno.cc": first, "westwood.cc": second}),
        by=published_bps,
        within=bounds.around(within=EXACT),
    )


_FRIENDLY = [
    *(_of_twenty(cc, cc, cc, bps, "alone") for cc, bps in _ALONE_BPS.items()),
    *(_of_twenty(cc, "reno", "westwood", bps, "together") for cc, bps in _TOGETHER_BPS.items()),
]

SETTING_BOUNDS: bounds.Decided = {
    "mobicom.fairness": {
        "fairness": bounds.SettingBounds(
            [
                *(
                    bounds.Condition(
                        f"{label(cc)}'s index with {queue}",
                        _index(cc, "tcp.cc", queue),
                        within=bounds.Bounds(_EVEN),
                    )
                    for cc in ("reno", "westwood")
                    for queue in _QUEUES
                )
            ]
        ),
        "fairness-rtt": "The slide names one round trip, so the claim is about equal ones.",
    },
    "mobicom.friendliness": {"friendliness": bounds.SettingBounds(_FRIENDLY)},
    "mobicom.loss_delay_capacity": {
        "loss": bounds.SettingBounds(bounds.leading(_OVER), _LOSSES),
        "delay": bounds.SettingBounds(bounds.leading(_OVER), _DELAYS),
        "capacity": bounds.SettingBounds(bounds.leading(_OVER), _RATES),
    },
    "mobicom.fading": {"fading": bounds.SettingBounds(bounds.leading(_OVER), _FADES)},
    "mobicom.blackout": {"blackout": bounds.SettingBounds(bounds.leading(_OVER), _BLACKOUTS)},
}
