# SPDX-License-Identifier: BSD-3-Clause
"""Tests that the criteria of misbehaving receivers tell controls apart that differ in them."""

import pytest

from westwood import simulate
from westwood.evaluation import misbehaving
from westwood.evaluation.criterion import Criterion
from westwood.experiments.control import Control
from westwood.results.columns import Row


def measured(criterion: Criterion, control: Control, point: int = 0) -> float:
    def rows(scenario: object) -> list[Row]:
        return simulate(scenario).rows.to_dicts()  # type: ignore[arg-type]

    runs = criterion.points[point].runs(control)
    return criterion.measure({name: rows(run) for name, run in runs.items()})


DIVISION, OPTIMISTIC, _ = misbehaving.CRITERIA


@pytest.mark.parametrize(
    ("settings", "is_fooled"), [({}, False), ({"byte_counting": False}, True)], ids=str
)
def test_dividing_acks_only_speeds_up_a_control_that_counts_acks(settings, is_fooled):
    gained = measured(DIVISION, Control("sack", settings))
    assert DIVISION.threshold is not None
    assert DIVISION.threshold.holds(gained) is not is_fooled


def test_optimistic_acks_make_cubic_overrun_the_queue_and_not_bbr3():
    assert measured(OPTIMISTIC, Control("cubic", {}), 1) > 0.5
    assert measured(OPTIMISTIC, Control("bbr3", {}), 1) < 0.05
