# SPDX-License-Identifier: BSD-3-Clause
"""Declares nsperf: the five experiments by which BBR's authors judge their own releases.

Rates, round trips, queues, flows, durations and starts are those of run_tests.sh in
gtests/net/tcp/bbr/nsperf of google/bbr, branch v3, and what is measured is what graph_tests.sh
draws. The scripts draw and do not judge, so the thresholds are ours and each names its reason.
Deviations: the mean of the smoothed round trips, where nsperf takes the median of ss's samples; a
jitter of one packet's time, against phase effects; flows start at random within the same span.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from westwood.evaluation import measures
from westwood.evaluation.basics import path
from westwood.evaluation.benchmark.targets import mean, of_role
from westwood.evaluation.criterion import Criterion, Making, Part, Point, Runs, Threshold
from westwood.evaluation.measures import ALONE, BESIDE
from westwood.experiments.control import Control
from westwood.scenario import Scenario
from westwood.scenario.paths.environment import Environment, given
from westwood.search import bounds

_SOURCE = "google/bbr, branch v3, gtests/net/tcp/bbr/nsperf/run_tests.sh"
_MOST_RUNS = 3  # of each point; nsperf has ten where loss is random and where CoDel marks, else one
_SHALLOW_RUNS = 2  # 25 million packets each
_LOSS_SHARE = 0.02  # LossThresh: draft-ietf-ccwg-bbr, 2.8
_QUEUES_BDP = (0.1, 1, 2, 4, 8, 16)
_LOSSES = (1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.03, 0.1, 0.15, 0.2)
_CODEL: Mapping[str, Any] = {
    "kind": "codel",
    "limit": "1000p",
    "target": "100ms",
    "ce_threshold": "242us",
}


def _staggered(
    environment: Environment,
    every_s: float,
    name: str = ALONE,
    marks: Mapping[str, Any] | None = None,
) -> Making:
    """Returns a function that gives a run whose flows start within `every_s` for each flow.

    marks: a queue that marks packets, instead of the environment's; the flows then ask for ECN.
    """
    flows = environment.flows + environment.beside_flows
    spread = f"{every_s * (flows - 1):.3f}s"

    def runs(control: Control) -> Mapping[str, Scenario]:
        data = given(environment, control.cc, control.settings)
        more: dict[str, Any] = {"start_spread": spread}
        if marks:
            data["link"][0]["queue"] = marks
            more["ecn"] = True
        data["flow"] = [flow | more for flow in data["flow"]]
        return {name: Scenario(**data)}

    return runs


def _resent(runs: Runs) -> float:
    """Returns the percentage of its packets that the control sends again."""
    return 100 * measures.resent_share(runs[ALONE])


def _srtt_ms(runs: Runs) -> float:
    """Returns the mean over the flows that have an RTT: one that loses its SYNs has none."""
    srtts_s = [row["mean_srtt_s"] for row in of_role(runs[ALONE], "tcp")]
    return 1e3 * mean([srtt_s for srtt_s in srtts_s if not math.isnan(srtt_s)])


def _flows(
    counts: Sequence[int], quick: int, runs: Callable[[int], Callable[[Control], Any]]
) -> Sequence[Point]:
    return [Point(f"{count}", runs(count), count == quick) for count in counts]


def _lossy(rates: Sequence[float], quick: float) -> Sequence[Point]:
    return [
        Point(
            f"{100 * rate:g} %",
            _staggered(path(1000, 100, 1, 60, loss="uniform", loss_rate=rate), 0),
            rate == quick,
        )
        for rate in rates
    ]


_criterion = partial(Criterion, most_runs=_MOST_RUNS)
_ECN_BULK = _flows(
    (1, 4, 10, 40, 100),
    10,
    lambda count: _staggered(path(1000, 1, 12, 10, flows=count), 0.005, marks=_CODEL),
)

PART = Part(
    "nsperf",
    "nsperf, the experiments of BBR's authors",
    _SOURCE,
    (
        _criterion(
            "nsperf-coexist",
            "Throughput of a flow beside one of CUBIC for three minutes",
            _SOURCE,
            [
                Point(
                    f"{queue:g} BDP",
                    _staggered(path(50, 30, queue, 180, beside="cubic", beside_flows=1), 2, BESIDE),
                    queue == 1,
                )
                for queue in _QUEUES_BDP
            ],
            lambda runs: measures.own_goodput(runs[BESIDE]) / 1e6,
            Threshold(
                25 * (2 - bounds.KEEPS_TENTH),
                f"CUBIC keeps {bounds.KEEPS_TENTH:g} of its even share; ours",
                at_most=True,
            ),
            "Mb/s",
            axis="queue at 50 Mb/s and 30 ms",
        ),
        _criterion(
            "nsperf-random-loss",
            "Throughput of a flow on a link that loses packets, up to BBR's design parameter",
            _SOURCE,
            _lossy([rate for rate in _LOSSES if rate <= _LOSS_SHARE], 1e-3),
            measures.own_mbps,
            Threshold(500, "half of the link; ours"),
            "Mb/s",
            axis="loss rate at 1 Gb/s, 100 ms and 1 BDP",
        ),
        _criterion(
            "nsperf-random-loss-beyond",
            "The same beyond the design parameter, over the reference's",
            _SOURCE,
            _lossy([rate for rate in _LOSSES if rate > _LOSS_SHARE], 0.03),
            measures.own_mbps,
            Threshold(1, "the reference's; ours"),
            compare="ratio",
            axis="loss rate at 1 Gb/s, 100 ms and 1 BDP",
        ),
        _criterion(
            "nsperf-shallow",
            "Share of the packets that flows send again in a queue of 2 ms",
            _SOURCE,
            _flows(
                (1, 10, 30, 60, 100),
                10,
                lambda count: _staggered(path(1000, 100, 0.02, 300, flows=count), 0.139),
            ),
            _resent,
            Threshold(100 * _LOSS_SHARE, "LossThresh: draft-ietf-ccwg-bbr, 2.8", at_most=True),
            "%",
            axis="flows at 1 Gb/s, 100 ms and 0.02 BDP",
            most_runs=_SHALLOW_RUNS,
        ),
        _criterion(
            "nsperf-bufferbloat",
            "Mean round trip of two flows in deep queues",
            _SOURCE,
            [
                Point(f"{queue} BDP", _staggered(path(50, 30, queue, 120, flows=2), 2), queue == 10)
                for queue in (1, 10, 50, 100)
            ],
            _srtt_ms,
            Threshold(90, "three times the path's; ours", at_most=True),
            "ms",
            axis="queue at 50 Mb/s and 30 ms",
        ),
        _criterion(
            "nsperf-ecn",
            "Mean round trip of flows whose packets CoDel marks after waiting for 242 us",
            _SOURCE,
            _ECN_BULK,
            _srtt_ms,
            Threshold(3, "three times the path's; ours", at_most=True),
            "ms",
            axis="flows at 1 Gb/s and 1 ms",
        ),
        _criterion(
            "nsperf-ecn-resent",
            "Share of the packets that these flows send again",
            _SOURCE,
            _ECN_BULK,
            _resent,
            Threshold(100 * _LOSS_SHARE, "LossThresh: draft-ietf-ccwg-bbr, 2.8", at_most=True),
            "%",
            axis="flows at 1 Gb/s and 1 ms",
        ),
    ),
    only_asked=True,
)
