# SPDX-License-Identifier: BSD-3-Clause
"""nsperf's experiments: paths and flows of its run_tests.sh, and what is known of each control."""

import math

import pytest

from westwood import simulate
from westwood.evaluation.criterion import FULL, USUAL
from westwood.evaluation.nsperf import PART
from westwood.experiments.control import Control
from westwood.units import PS_PER_S, parse_time

CRITERIA = {criterion.name: criterion for criterion in PART.criteria}


def scenarios(name, control="bbr3"):
    for point in CRITERIA[name].points:
        (scenario,) = point.runs(Control(control)).values()
        yield point.name, scenario


@pytest.mark.parametrize(
    ("name", "rate_bps", "delay_ms", "seconds", "queues"),
    [
        ("coexist", 50e6, 15, 180, [12, 125, 250, 500, 1000, 2000]),
        ("random-loss", 1e9, 50, 60, [8333] * 9),
        ("random-loss-beyond", 1e9, 50, 60, [8333] * 4),
        ("shallow", 1e9, 50, 300, [167] * 5),
        ("bufferbloat", 50e6, 15, 120, [125, 1250, 6250, 12500]),
        ("ecn", 1e9, 0.5, 10, [1000] * 5),
    ],
)
def test_paths_are_those_of_run_tests(name, rate_bps, delay_ms, seconds, queues):
    """get_buf_pkts counts frames of 1514 bytes, so its queues are 1 % shorter."""
    runs = [scenario for _, scenario in scenarios(f"nsperf-{name}")]
    for scenario, queue in zip(runs, queues, strict=True):
        link = scenario.link[0]
        assert link.mean_rate_bps("forward") == rate_bps
        assert (scenario.duration, link.delay) == (seconds * PS_PER_S, delay_ms * PS_PER_S // 1000)
        assert (link.queue.limit.count, link.queue.limit.unit) == (queue, "p")


@pytest.mark.parametrize(
    ("name", "counts"), [("shallow", [1, 10, 30, 60, 100]), ("ecn", [1, 4, 10, 40, 100])]
)
def test_flows_start_one_after_another(name, counts):
    every_s = {"shallow": 0.139, "ecn": 0.005}[name]
    for count, (point, scenario) in zip(counts, scenarios(f"nsperf-{name}"), strict=True):
        (flow,) = scenario.flow
        assert (point, flow.count) == (str(count), count)
        assert flow.start_spread == round(every_s * (count - 1) * PS_PER_S)


def measured(name, point, control):
    """What a criterion measures of one run."""
    scenario = dict(scenarios(name, control))[point]
    return CRITERIA[name].measure({"alone": simulate(scenario).rows.to_dicts()})


def test_marks_come_from_ce_threshold():
    """CoDel's own target of 100 ms is above what 1000 packets can wait."""
    for _, scenario in scenarios("nsperf-ecn"):
        queue = scenario.link[0].queue
        assert (queue.kind, queue.ce_threshold, queue.target) == (
            "codel",
            parse_time("242us"),
            parse_time("100ms"),
        )
        assert all(flow.ecn for flow in scenario.flow)


def test_a_control_that_answers_marks_keeps_the_queue_of_four_flows_low():
    """BBRv1 ignores marks; its four flows let the queue grow."""
    waits_ms = {cc: measured("nsperf-ecn", "4", cc) for cc in ("bbr3", "bbr")}
    assert waits_ms["bbr3"] < 2 < waits_ms["bbr"]


def test_random_loss_stops_cubic_and_not_bbr():
    """At 1 Gb/s and 0.1 % CUBIC has a hundredth of the link, BBR nearly all (Cardwell 2016)."""
    mbps = {cc: measured("nsperf-random-loss", "0.1 %", cc) for cc in ("cubic", "bbr")}
    assert mbps["bbr"] > 800 > 50 > mbps["cubic"]


def test_flows_without_an_answer_have_no_round_trip_and_resend_nothing():
    """A flow whose SYNs are all lost sends nothing: its row has no round trip and no packets."""
    silent = {"flow": "tcp-1", "mean_srtt_s": math.nan, "sent": 0, "retransmitted": 0}
    answered = {"flow": "tcp-2", "mean_srtt_s": 0.002, "sent": 50, "retransmitted": 1}
    wait_ms, resent = CRITERIA["nsperf-ecn"].measure, CRITERIA["nsperf-ecn-resent"].measure
    assert (wait_ms({"alone": [silent, answered]}), resent({"alone": [silent, answered]})) == (2, 2)
    assert math.isnan(wait_ms({"alone": [silent]})) and resent({"alone": [silent]}) == 0


def test_each_point_runs_two_or_three_times():
    for criterion in PART.criteria:
        runs = 2 if criterion.name == "nsperf-shallow" else 3
        assert [criterion.seeds(effort) for effort in (USUAL, FULL)] == [runs, runs]
