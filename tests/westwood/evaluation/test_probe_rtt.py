# SPDX-License-Identifier: BSD-3-Clause
"""The suite of ProbeRTT: its schedules, what it measures, and whom it judges."""

import pytest

from westwood import simulate
from westwood.evaluation.criterion import USUAL
from westwood.evaluation.probe_rtt import PART, SCHEDULES
from westwood.experiments.control import Control

CRITERIA = {criterion.name: criterion for criterion in PART.criteria}


def rows(criterion, schedule, where, seconds=30):
    """The rows of a point's runs, shortened."""
    (point,) = [
        point for point in CRITERIA[criterion].points if point.name == f"{schedule}; {where}"
    ]
    scenarios = point.runs(Control("bbr3", dict(point.settings)))
    return {
        name: simulate(scenario.with_settings({"duration": f"{seconds}s"})).rows.to_dicts()
        for name, scenario in scenarios.items()
    }


def test_each_path_has_each_schedule():
    for criterion in PART.criteria:
        places = {point.name.split("; ")[1] for point in criterion.points}
        assert len(criterion.points) == len(places) * len(SCHEDULES)
        assert criterion.seeds(USUAL) == 8


def test_a_flow_alone_loses_what_the_draft_says_and_half_of_it_with_half_the_probes():
    """5.3.4.2: throughput = 0.98 of the bandwidth with a ProbeRTT of 200 ms every 5 s."""
    lost = {
        schedule: CRITERIA["probe-rtt-lost"].measure(rows("probe-rtt-lost", schedule, "40 ms", 60))
        for schedule in ("5 s (draft)", "10 s, prior RTT")
    }
    assert 0.5 < lost["10 s, prior RTT"] < lost["5 s (draft)"] < 2.5


def test_beside_cubic_an_rtt_that_expires_with_the_interval_takes_more():
    """Issue 109: ProbeRTT takes half of an inflated BDP, and sees CUBIC's queue again."""
    mbps = {
        schedule: CRITERIA["probe-rtt-victim"].measure(
            rows("probe-rtt-victim", schedule, "CUBIC", 120)
        )
        for schedule in SCHEDULES
    }
    assert mbps["10 s"] < min(mbps["5 s (draft)"], mbps["10 s, filter 20 s"])


def test_measures():
    flows = [
        {"flow": f"tcp-{n}", "mean_srtt_s": srtt_s, "min_rtt_s": 0.04, "goodput_bps": bps}
        for n, srtt_s, bps in ((1, 0.06, 1e6), (2, 0.1, 3e6))
    ]
    runs = {"alone": flows, "solo": [flows[1] | {"goodput_bps": 5e6}]}
    measured = {name: CRITERIA[f"probe-rtt-{name}"].measure(runs) for name in ("queue", "fair")}
    assert measured == pytest.approx({"queue": 2, "fair": 0.8})
    assert CRITERIA["probe-rtt-lost"].measure(runs) == pytest.approx(20)


def test_a_control_without_probe_rtt_is_refused(westwood):
    ended = westwood("evaluate", "cubic", "--suite", "probe-rtt-interval", "--quick")
    assert (ended.code, 'cc.bbr3_probe_rtt = "5s": CUBIC has no such setting' in ended.err) == (
        2,
        True,
    )
