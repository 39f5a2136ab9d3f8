# SPDX-License-Identifier: BSD-3-Clause
"""A flow that its receiver limits for over a tenth of the run says so in the rows."""

import math

import pytest

from westwood import Scenario, simulate

BIG = {
    "path.rate": "200Mbps",
    "path.delay": "80ms",
    "path.loss.rate": 0,
    "path.queue.limit": "1bdp",
    "duration": "10s",
}


def limited(cc: str, **changed: object) -> float:
    scenario = Scenario.preset("path").with_settings({**BIG, "tcp.cc": cc, **changed})
    (share,) = simulate(scenario).rows["receiver_limited"]
    return float("nan") if share is None else float(share)


@pytest.mark.parametrize("cc", ["cubic", "bbr", "newreno"])
def test_a_small_window_limits_and_one_that_is_not_given_does_not(cc):
    assert 0.7 < limited(cc, **{"tcp.receive_window": "1MiB"}) <= 1
    assert math.isnan(limited(cc))


def test_a_tenth_of_the_run_is_not_reported():
    """The window of 15 segments holds the flow back once 15 segments are in flight."""
    slow = {"path.rate": "100kbps", "path.delay": "10ms", "path.queue.limit": "100p"}
    assert math.isnan(limited("newreno", **slow, **{"tcp.receive_window": "1MiB"}))
    assert limited("newreno", **slow, **{"tcp.receive_window": "15kB"}) > 0.5
