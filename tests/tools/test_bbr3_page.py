# SPDX-License-Identifier: BSD-3-Clause
"""The numbers of docs/bbr3.md agree with today's simulator."""

from __future__ import annotations

import pytest

from tools import bbr3_page

CURE = "run: python -m tools.bbr3_page"
STORED = bbr3_page.PAGE.read()


def test_the_page_agrees_with_its_file() -> None:
    assert bbr3_page.PAGE.is_written(STORED), CURE


@pytest.mark.parametrize("queue", [0.05, 16.0])
def test_the_shares_are_of_todays_simulator(queue: float) -> None:
    place = bbr3_page.QUEUES.index(queue)
    for cc in bbr3_page.CONTROLS:
        beside, _ = bbr3_page.shares(queue, cc, "cubic")
        assert beside == pytest.approx(STORED["with_cubic"][cc][place], rel=1e-5), CURE
        smaller = min(bbr3_page.shares(queue, cc, cc))
        assert smaller == pytest.approx(STORED["with_itself"][cc][place], rel=1e-5), CURE


@pytest.mark.parametrize("loss", [0.5, 1.0, 1.5])
def test_random_loss_costs_what_the_draft_predicts(loss: float) -> None:
    """5.3.3.8.3: each round trip of cruising multiplies the rate by (1 - loss rate)."""
    found = bbr3_page.utilised("bbr3", loss)
    place = bbr3_page.LOSSES.index(loss)
    assert found == pytest.approx(STORED["loss"]["bbr3"][place], rel=1e-5), CURE
    assert found == pytest.approx(bbr3_page.predicted(loss), abs=0.06)
