# SPDX-License-Identifier: BSD-3-Clause
"""Declares nine criteria of how a control's first slow start ends, once for each slow start.

A point is a slow start, with which the control runs: it must have the setting `slow_start`. CCWG
asked whether an early exit is good or bad; so the exit stands next to the time of a transfer and
what it resends. Careful Resume remembers the whole path, or a flow's share of it if several start,
since RFC 9959 lets one connection use what is saved; at one point it remembers more than there is.
Thresholds are ours, since none of the drafts gives a number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from westwood.control.catalogue import settings_of
from westwood.engines.result import Result
from westwood.evaluation import measures
from westwood.evaluation.basics import path
from westwood.evaluation.benchmark.targets import of_role
from westwood.evaluation.criterion import Criterion, Part, Point, Runs, Threshold
from westwood.evaluation.measures import ALONE, BESIDE, SOLO
from westwood.experiments.control import Control
from westwood.results.columns import Row
from westwood.scenario import Scenario
from westwood.scenario.paths.environment import given

SETTING = "slow_start"
WORDS = settings_of("cc")[SETTING].choices
_SOURCE = "RFC 9406, RFC 9959, SUSS, draft-chung-ccwg-search and CCWG's questions about slow start"
_RESUME = "careful-resume"
_MBPS, _RTT_MS, _TRANSFER = 50, 50, 4_000_000
_PATH = path(_MBPS, _RTT_MS, 1, 20)
_START_S = 6  # of a transfer beside a flow that is there
_RESPONSE, _SEVERAL = 500_000, 8
_WIFI: Mapping[str, Any] = {"wifi_jitter": {"mean": "7ms", "on": "both"}}
Making = Callable[[Control], Mapping[str, Scenario]]


def _ideal_s(size: float, round_trips: int = 2) -> float:
    """Returns the time of a transfer that fills the link at once: a handshake, data and an ACK."""
    return round_trips * _RTT_MS / 1e3 + size * 8e-6 / (measures.PAYLOAD * _MBPS)


def _transfer(
    queue_bdp: float = 1, link: Mapping[str, Any] | None = None, **of_flow: Any
) -> Making:
    """Returns a function that gives the run of a transfer by itself."""

    def runs(control: Control) -> Mapping[str, Scenario]:
        environment = path(_MBPS, _RTT_MS, queue_bdp, 20)
        data = given(environment, control.cc, control.settings)
        data["link"][0] |= link or {}
        data["flow"][0] |= of_flow or {"size": f"{_TRANSFER}B"}
        return {ALONE: Scenario(**data)}

    return runs


def _beside(control: Control) -> Mapping[str, Scenario]:
    """Returns the runs of a flow of CUBIC alone, and when a transfer joins it."""

    def scenario(flows: int) -> Scenario:
        there = replace(_PATH, duration_us=12_000_000, flows=flows, beside="cubic", beside_flows=1)
        data = given(there, control.cc, control.settings)
        for flow in data["flow"]:
            flow["start_spread"] = "0s"
            if flow["name"] == "tcp":
                flow |= {"start": f"{_START_S}s", "size": f"{_TRANSFER}B"}
        return Scenario(**data)

    return {SOLO: scenario(0), BESIDE: scenario(1)}


def _mixed(control: Control) -> Mapping[str, Scenario]:
    """Returns the run of transfers that start at once, half of them with the standard."""
    data = given(_PATH, control.cc, control.settings)
    flow = data["flow"][0] | {"size": "1MB", "count": _SEVERAL // 2, "start_spread": "0s"}
    plain = flow | {"name": "standard", "cc": flow["cc"] | {SETTING: "standard"}}
    return {ALONE: Scenario(**data | {"flow": [flow, plain]})}


def _rule(word: str, path_share: float = 1) -> Mapping[str, Any]:
    """Returns the settings of a slow start; Careful Resume has saved a share of the path."""
    saved = {"resume_cwnd": int(path_share * _PATH.bdp_packets), "resume_rtt": f"{_RTT_MS}ms"}
    return {SETTING: word} | (saved if word == _RESUME else {})


def _points(
    runs: Making, name: str = "{}", in_quick: bool = True, flows: int = 1
) -> Sequence[Point]:
    """Returns a point for each slow start."""
    return [Point(name.format(word), runs, in_quick, _rule(word, 1 / flows)) for word in WORDS]


def _over_ideal(size: float, role: str = "tcp") -> Callable[[Runs], float]:
    """Returns a function that gives the time until all is acknowledged over the ideal one."""
    return lambda runs: max(map(_end_s, of_role(runs[ALONE], role))) / _ideal_s(size)


def _end_s(row: Row) -> float:
    return math.inf if math.isnan(row["completed_s"]) else float(row["completed_s"])


def _responses(runs: Runs) -> float:
    (row,) = of_role(runs[ALONE], "tcp")
    return float(row["completion_s"]) / _ideal_s(_RESPONSE, 1)


def _lost_bytes(runs: Runs) -> float:
    """Returns the payload that CUBIC carries less, over the payload of the transfer."""
    solo, beside = (measures.others_goodput(runs[name]) for name in (SOLO, BESIDE))
    return (solo - beside) * 12 / 8 / _TRANSFER


def exits(result: Result) -> Mapping[str, Mapping[str, float]]:
    """Returns the first flow's largest window in its first slow start, in BDP."""
    largest = 0.0
    for piece in result.raw.records.pieces("windows"):
        is_first = piece["connection"] == 0
        ends = is_first & (piece["ssthresh"] == piece["ssthresh"])
        before = is_first if not ends.any() else is_first & (ends.cumsum() == 0)
        largest = max(largest, float(piece["cwnd"][before].max(initial=0)))
        if ends.any():
            break
    return {result.scenario.flows[0].name: {measures.EXIT: largest / _PATH.bdp_packets}}


def _exit_bdp(runs: Runs) -> float:
    return float(of_role(runs[ALONE], "tcp")[0][measures.EXIT])


_ALONE = [
    *_points(_transfer()),
    *_points(_transfer(8), "{}, 8 BDP", in_quick=False),
    Point(f"{_RESUME} of a path four times as fast", _transfer(), True, _rule(_RESUME, 4)),
]
_criterion = partial(Criterion, source=_SOURCE, axis="slow start, with a queue of 1 BDP or 8")
_exit = partial(_criterion, measure=_exit_bdp, unit="BDP", more_columns=exits)
_time = partial(
    _criterion,
    unit="of a full link's",
    threshold=Threshold(2, "ours: a link that is full at once takes half as long", at_most=True),
)

PART = Part(
    "slow-start",
    "Slow starts",
    _SOURCE,
    (
        _time(
            "start-time",
            "Time of a transfer of 4 MB alone, over that of a link that it fills at once",
            points=_ALONE,
            measure=_over_ideal(_TRANSFER),
        ),
        _criterion(
            "start-resent",
            "Share of its packets that this transfer sends again",
            points=_ALONE,
            measure=lambda runs: 100 * measures.resent_share(runs[ALONE]),
            threshold=Threshold(2, "LossThresh: draft-ietf-ccwg-bbr, 2.8", at_most=True),
            unit="%",
        ),
        _exit(
            "start-early",
            "Largest window of the first slow start: below 1 BDP it ends early",
            points=_ALONE,
            threshold=Threshold(1, "ours: the pipe is full"),
        ),
        _exit(
            "start-late",
            "The same: beyond what the path and a queue of 1 BDP hold it ends late",
            points=_ALONE,
            threshold=Threshold(2, "ours: the queue is full", at_most=True),
        ),
        _criterion(
            "start-harm",
            "Bytes that a flow of CUBIC carries less for each byte of a transfer that joins it",
            points=_points(_beside),
            measure=_lost_bytes,
            threshold=Threshold(2, "ours: as much as it brings, and once more", at_most=True),
            unit="bytes",
        ),
        _time(
            "start-limited",
            "Mean time of responses of 500 kB, asked for one by one, over that of a full link",
            points=_points(
                _transfer(app={"kind": "request", "size": f"{_RESPONSE}B", "think": "200ms"})
            ),
            measure=_responses,
        ),
        _time(
            "start-wifi",
            "The same with the jitter of Wi-Fi (7 ms by C4's model)",
            points=_points(_transfer(link=_WIFI)),
            measure=_over_ideal(_TRANSFER),
        ),
        _time(
            "start-several",
            "Time of the last of eight transfers of 1 MB at once, over that of a full link",
            points=_points(
                _transfer(size="1MB", count=_SEVERAL, start_spread="0s"), flows=_SEVERAL
            ),
            measure=_over_ideal(_SEVERAL * 1e6),
        ),
        _time(
            "start-mixed",
            "Time of the last of four such transfers with the standard, at once with four of this",
            points=_points(_mixed, flows=_SEVERAL),
            measure=_over_ideal(_SEVERAL * 1e6, "standard"),
        ),
    ),
    only_asked=True,
)
