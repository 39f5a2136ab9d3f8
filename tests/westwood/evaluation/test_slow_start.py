# SPDX-License-Identifier: BSD-3-Clause
"""Slow starts over a path, as their drafts describe them."""

import pytest

from westwood import Scenario, simulate
from westwood.evaluation.basics import path
from westwood.scenario.paths.environment import given

_RTT_MS = 100


def completion_rtts(control: str, slow_start: str, segments: int) -> float:
    """Returns the round trips of a transfer over 1 Gb/s, handshake and last ACK included."""
    data = given(path(1000, _RTT_MS, 1, 20), control, {"slow_start": slow_start})
    data["flow"][0] |= {"size": f"{1448 * segments}B", "initial_cwnd": "10p"}
    (row,) = simulate(Scenario(**data)).flow_rows
    assert row["retransmitted"] == 0
    return 1000 * row["completed_s"] / _RTT_MS


@pytest.mark.parametrize("control", ["reno", "cubic", "westwood+"])
def test_rapid_start_reaches_the_bdp_in_fewer_round_trips(control: str) -> None:
    """Section 1: the sender "reaches the path BDP in fewer RTTs than with 2x slow start"."""
    # 10 (2^n - 1) >= 1200 after 7 flights, and 10 (3^n - 1) / 2 after 5; the last is paced.
    assert completion_rtts(control, "standard", 1200) == pytest.approx(8, abs=0.2)
    assert completion_rtts(control, "rapid-start", 1200) == pytest.approx(7, abs=0.2)
