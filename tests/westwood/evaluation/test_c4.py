# SPDX-License-Identifier: BSD-3-Clause
"""C4's trials, compared with their specifications."""

from __future__ import annotations

import pytest

from westwood.engines import simulator
from westwood.engines.contract import Job
from westwood.evaluation import c4
from westwood.judge.cases import Control

TRIALS = {one.name: one for one in c4.TRIALS}


def test_the_draft_has_31_trials_and_those_that_cannot_run_say_why() -> None:
    assert len(c4.PART.clauses) == 31
    assert all(one.criteria or one.why_not for one in c4.PART.clauses)


@pytest.mark.parametrize(("cc", "published_s"), [("cubic", 4.481), ("bbr3", 4.690)])
def test_a_transfer_alone_takes_as_long_as_in_picoquic(cc: str, published_s: float) -> None:
    scenario = TRIALS["alone"].scenario(Control(cc))
    (row,) = simulator.prepare(Job(scenario, [1]))(1)
    assert row["completed_s"] == pytest.approx(published_s, rel=0.03)


def test_rates_change_when_the_specification_says() -> None:
    """5 Mb/s for 2.5 s, then 10: 1504 bytes leave at each time in the list."""
    (link,) = TRIALS["low-and-up"].scenario(Control("cubic")).link
    times = link.opportunities("forward")
    before = [one for one in times if one <= 2500]
    after = [one for one in times if 2500 < one <= 5000]
    assert len(before) * 1504 * 8 / 2.5e6 == pytest.approx(5, rel=0.01)
    assert len(after) * 1504 * 8 / 2.5e6 == pytest.approx(10, rel=0.01)


def test_wifi_pauses_again_and_again() -> None:
    (link,) = TRIALS["wifi-suspension"].scenario(Control("cubic")).link
    times = link.opportunities("forward")
    assert times[-1] == 2000, "the list begins again after 2 s"
    assert not [one for one in times if 1800 < one < 2000]


def test_drawn_delays_have_the_mean_of_the_model() -> None:
    """1 ms - 0.32 ms of short waits, and 12 x 7.5 ms for (12 - 1) / 90 of the packets."""
    drawn = c4._wifi_ms(0.0, ((60.0, 12.0),), 0, 0)
    assert sum(drawn) / len(drawn) == pytest.approx(0.68 + 90 * 11 / 90, rel=0.05)
