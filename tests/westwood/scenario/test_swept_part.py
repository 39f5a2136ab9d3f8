# SPDX-License-Identifier: BSD-3-Clause
"""Sweeps refuse repeated values and settings inside a swept table, which they would replace."""

import pytest

from westwood.errors import InputError
from westwood.scenario import Scenario


@pytest.mark.parametrize("key", ["tcp.cc.m", "*.cc.m"])
def test_an_option_of_a_swept_protocol_is_refused(key):
    with pytest.raises(
        InputError, match=r"expected tcp\.cc to be set too, since its sweep replaces"
    ):
        Scenario.preset("blackout").with_settings({key: 0})


def test_an_option_is_accepted_if_the_protocol_is_set_too():
    chosen = Scenario.preset("blackout").with_settings({"tcp.cc": "westwood", "tcp.cc.m": 0})
    assert [point.flow[0].cc.m for _, point in chosen.points()] == [0] * 6


def test_long_values_with_the_same_beginning_stay_distinct():
    losses = [{"kind": "script", "packets": list(range(1, last))} for last in (300, 303)]
    scenario = Scenario.preset("path").with_sweep({"path.loss": losses})
    (first, second) = [columns["path.loss"] for columns, _ in scenario.points()]
    assert first != second
