# SPDX-License-Identifier: BSD-3-Clause
"""C4's trials, compared with their specifications."""

import math

import pytest

from westwood.engines import simulator
from westwood.engines.contract import Job
from westwood.evaluation import c4, c4_media, c4_paths
from westwood.evaluation.c4_published import PUBLISHED
from westwood.evaluation.criterion import Published
from westwood.experiments.control import Control

TRIALS = {trial.name: trial for trial in c4.TRIALS}


def test_all_31_trials_of_the_draft_run():
    assert len(c4.PART.clauses) == 31
    assert all(clause.criteria for clause in c4.PART.clauses)


def test_the_frames_of_a_trial_fill_whole_segments():
    for trial in c4_media.TRIALS:
        (flow,) = trial.trial.scenario(Control("cubic")).flows
        assert all(size % flow.mss == 0 for size in (3750, 37500, 6250, 62500)), trial.name


def test_a_frame_waits_for_the_round_trip_and_its_transmission_alone():
    """30 ms, and of most frames 3 segments at 100 Mb/s."""
    mean, _ = [
        criterion for criterion in c4_media.CRITERIA if criterion.name.startswith("c4-media")
    ][:2]
    (scenario,) = mean.points[0].runs(Control("cubic")).values()
    rows = simulator.prepare(Job(scenario, [1]))(1)
    assert mean.measure({"alone": rows}) == pytest.approx(0.0306, abs=0.0006)


@pytest.mark.parametrize(("cc", "published_s"), [("cubic", 4.481), ("bbr3", 4.690)])
def test_a_transfer_alone_takes_as_long_as_in_picoquic(cc, published_s):
    scenario = TRIALS["alone"].scenario(Control(cc))
    (row,) = simulator.prepare(Job(scenario, [1]))(1)
    assert row["completed_s"] == pytest.approx(published_s, rel=0.03)


def test_rates_change_when_the_specification_says():
    """5 Mb/s for 2.5 s, then 10: 1504 bytes leave at each time in the list."""
    (link,) = TRIALS["low-and-up"].scenario(Control("cubic")).link
    times = link.opportunities("forward")
    before = [time for time in times if time <= 2500]
    after = [time for time in times if 2500 < time <= 5000]
    assert len(before) * 1504 * 8 / 2.5e6 == pytest.approx(5, rel=0.01)
    assert len(after) * 1504 * 8 / 2.5e6 == pytest.approx(10, rel=0.01)


def test_wifi_pauses_again_and_again():
    (link,) = TRIALS["wifi-suspension"].scenario(Control("cubic")).link
    times = link.opportunities("forward")
    assert times[-1] == 2000, "the list begins again after 2 s"
    assert not [time for time in times if 1800 < time < 2000]


def test_drawn_delays_have_the_mean_of_the_model():
    """1 ms - 0.32 ms of short waits, and 12 x 7.5 ms for (12 - 1) / 90 of the packets."""
    drawn = c4_paths.wifi_ms(0.0, ((60.0, 12.0),), 0, 0)
    assert sum(drawn) / len(drawn) == pytest.approx(0.68 + 90 * 11 / 90, rel=0.05)


def test_only_what_exceeds_a_bound_needs_a_reason():
    bound, mean = Published(5.0, "theirs", is_bound=True), Published(5.0, "theirs")
    assert bound.ours(mean=5.1, worst=5.6) == 5.6
    assert mean.ours(mean=5.1, worst=5.6) == 5.1
    assert [bound.explains(off) for off in (-0.3, 0.05, 0.2)] == ["", "", "unexplained"]
    assert [mean.explains(off) for off in (-0.3, 0.05)] == ["unexplained", ""]


def test_every_transfer_stands_beside_picoquics():
    for trial in c4.TRIALS:
        assert PUBLISHED[trial.name]["cubic"], trial.name


def test_frames_that_stop_arriving_fail_but_the_last_may_be_on_their_way():
    """The largest delay is 79 ms, in which three frames are due."""

    def delay_s(completed: int) -> float:
        row = {"flow": "tcp", "transfers": 9, "completed": completed, "completion_s": 0.03}
        return c4_media._delay(c4_media.TRIALS[0], "completion_s")([row])

    assert [delay_s(completed) for completed in (9, 6, 5, 0)] == [0.03, 0.03, math.inf, math.inf]
