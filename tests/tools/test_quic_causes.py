# SPDX-License-Identifier: BSD-3-Clause
"""Experiments name the clause by which a QUIC stack's CUBIC differs from ours."""

import pytest

from bench.quic_causes import GOODPUT, MEDIAN, OTHER, cause


@pytest.mark.parametrize(
    ("place", "figure", "theirs", "expected"),
    [
        ({"rate": "5Mbps", "delay": "10ms", "queue": "0.5BDP"}, GOODPUT, 4.75e6, "pacing"),
        ({"rate": "50Mbps", "delay": "50ms", "queue": "2BDP"}, MEDIAN, 0.505, "initial window"),
    ],
)
def test_the_fewest_clauses_that_come_within_a_tenth_are_the_cause(place, figure, theirs, expected):
    row = {**place, "cc": "quinn:cubic", "loss": 0.0, figure + OTHER: theirs}
    assert cause("quinn", row, figure) == expected
