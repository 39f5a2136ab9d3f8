# SPDX-License-Identifier: BSD-3-Clause
"""Declares five criteria of BBRv3's ProbeRTT, its cost and its use, once for each schedule.

The draft has a ProbeRTT every 5 s and a filter of the least round trip of 10 s. CCWG wants one
every 10 s; both then expire together, and ProbeRTT takes half of an inflated BDP for its window
(issue 109 of ietf-wg-ccwg/draft-ietf-ccwg-bbr). Two mitigations: a filter of two intervals, as
section 5.3.4 argues for, and the window from before the filter expires, as issue 109 proposes. A
point is a schedule on a path. The drafts give no thresholds: what is ours says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from westwood.evaluation import measures
from westwood.evaluation.basics import path
from westwood.evaluation.benchmark.targets import mean, of_role
from westwood.evaluation.criterion import Criterion, Part, Point, Runs, Threshold
from westwood.evaluation.measures import ALONE, BESIDE, SOLO
from westwood.experiments.control import Control
from westwood.results.metrics import jain
from westwood.scenario import Scenario
from westwood.scenario.paths.environment import Environment, given
from westwood.search import bounds

_SOURCE = "draft-ietf-ccwg-bbr, 5.3.4, and its issues 17 and 109"
_INTERVAL = "bbr3_probe_rtt"
SCHEDULES: Mapping[str, Mapping[str, Any]] = {
    "5 s (draft)": {_INTERVAL: "5s"},
    "10 s": {_INTERVAL: "10s"},
    "10 s, filter 20 s": {_INTERVAL: "10s", "bbr3_min_rtt": "20s"},
    "10 s, prior RTT": {_INTERVAL: "10s", "bbr3_prior_rtt": True},
}
_SECONDS = 120
_SEVERAL = 4
_MOST_RUNS = 8  # of each point, which takes two minutes of a link of 50 Mb/s
_PATHS = {  # the queue is 4 BDP, so that a standing one has room
    "40 ms": path(50, 40, 4, _SECONDS),
    "200 ms": path(50, 200, 4, _SECONDS),
    "40 ms, jitter": replace(path(50, 40, 4, _SECONDS), jitter_us=5000),
}
_SHORT = _PATHS["40 ms"]
Making = Callable[[Control], Mapping[str, Scenario]]


def _scenario(environment: Environment, control: Control) -> Scenario:
    """Returns the scenario, in which all flows start at once: none has the empty path to itself."""
    data = given(environment, control.cc, control.settings)
    for flow in data["flow"]:
        flow["start_spread"] = "100ms"
    return Scenario(**data)


def _alone(environment: Environment) -> Making:
    """Returns a function that gives the run, and the same without ProbeRTT."""

    def runs(control: Control) -> Mapping[str, Scenario]:
        never = {_INTERVAL: "1h"} if _INTERVAL in control.settings else {}
        return {
            SOLO: _scenario(environment, replace(control, settings={**control.settings, **never})),
            ALONE: _scenario(environment, control),
        }

    return runs


def _several(environment: Environment) -> Making:
    several = replace(environment, flows=_SEVERAL)
    return lambda control: {ALONE: _scenario(several, control)}


def _beside(victim: str) -> Making:
    together = replace(_SHORT, beside=victim, beside_flows=1)
    return lambda control: {BESIDE: _scenario(together, control)}


def _points(making: Mapping[str, Making], quick: str) -> Sequence[Point]:
    """Returns a point for each schedule on each path."""
    return [
        Point(f"{schedule}; {where}", runs, where == quick, settings)
        for where, runs in making.items()
        for schedule, settings in SCHEDULES.items()
    ]


def _lost(runs: Runs) -> float:
    """Returns the percentage of its goodput that a flow loses to ProbeRTT."""
    return 100 * (1 - measures.own_goodput(runs[ALONE]) / measures.own_goodput(runs[SOLO]))


def _excess(runs: Runs) -> float:
    """Returns the mean round trip over the least, of all flows of the control."""
    flows = of_role(runs[ALONE], "tcp")
    least_s = float(min(flow["min_rtt_s"] for flow in flows))
    return mean([flow["mean_srtt_s"] for flow in flows]) / least_s


def _jain(runs: Runs) -> float:
    """Returns Jain's index of the goodput of the control's flows."""
    return float(jain([flow["goodput_bps"] for flow in of_role(runs[ALONE], "tcp")]))


_criterion = partial(
    Criterion,
    source=_SOURCE,
    axis="schedule, and path at 50 Mb/s and 4 BDP",
    most_runs=_MOST_RUNS,
)
_BESIDE = {victim: _beside(cc) for victim, cc in (("CUBIC", "cubic"), ("Reno", "sack"))}
_shared = partial(
    _criterion,
    points=_points(_BESIDE, "CUBIC"),
    threshold=Threshold(25 * bounds.KEEPS_TENTH, "that share of an even one; ours"),
    unit="Mb/s",
)
_TOGETHER = _points({name: _several(where) for name, where in _PATHS.items()}, "40 ms")

PART = Part(
    "probe-rtt-interval",
    "ProbeRTT and the filter of the least round trip",
    _SOURCE,
    (
        _criterion(
            "probe-rtt-lost",
            "Goodput that a flow alone loses to ProbeRTT",
            points=_points({name: _alone(where) for name, where in _PATHS.items()}, "40 ms"),
            measure=_lost,
            threshold=Threshold(
                2, "draft-ietf-ccwg-bbr, 5.3.4.2: no more than roughly 2 %", at_most=True
            ),
            unit="%",
        ),
        _criterion(
            "probe-rtt-queue",
            "Mean round trip of four of its flows that start at once, over the empty path's",
            points=_TOGETHER,
            measure=_excess,
            threshold=Threshold(1.5, "ours: a queue of half a BDP", at_most=True),
            unit="of the least",
        ),
        _criterion(
            "probe-rtt-fair",
            "Jain's index of these flows over two minutes",
            points=_TOGETHER,
            measure=_jain,
            threshold=Threshold(0.9, "ours"),
        ),
        _shared(
            "probe-rtt-beside",
            "Goodput of a flow beside one of another control",
            measure=lambda runs: measures.own_goodput(runs[BESIDE]) / 1e6,
        ),
        _shared(
            "probe-rtt-victim",
            "Goodput of that other flow",
            measure=lambda runs: measures.others_goodput(runs[BESIDE]) / 1e6,
        ),
    ),
    only_asked=True,
)
