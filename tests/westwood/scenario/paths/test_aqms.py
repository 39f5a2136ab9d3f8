# SPDX-License-Identifier: BSD-3-Clause
"""Thresholds of drawn queues agree with values computed by hand."""

from dataclasses import replace

import pytest

from westwood.scenario.paths import aqms
from westwood.scenario.paths.environment import Environment

PATH = Environment(12_000_000, 40_000, 33, 10_000_000, 8, aqm="red")  # a packet per millisecond


@pytest.mark.parametrize(
    ("aqm_us", "queue_packets", "least"),
    [
        (0, 33, 5.5),  # a sixth of the queue
        (0, 3, 1.0),  # at least one packet
        (12_340, 33, 12.3),
        (300, 33, 1.0),
        (90_000, 33, 33.0),  # at most the queue
    ],
)
def test_reds_lower_threshold_is_a_sixth_of_the_queue_or_as_drawn(aqm_us, queue_packets, least):
    environment = replace(PATH, aqm_us=aqm_us, queue_packets=queue_packets)
    assert aqms.red_least(environment) == least


def test_the_upper_threshold_is_the_span_over_the_lower_one():
    environment = replace(PATH, aqm_us=10_000, aqm_span=2.5)
    red = {"kind": "red", "limit": "33p", "min": 10.0, "max": 25.0, "gentle": True}
    assert aqms.AQMS["red"].queue(environment) == red
    assert aqms.AQMS["red-ecn"].queue(environment) == red | {"ecn": True}
    assert aqms.AQMS["droptail"].queue(environment) == {"kind": "droptail", "limit": "33p"}
