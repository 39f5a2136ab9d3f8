# SPDX-License-Identifier: BSD-3-Clause
"""A part of what is swept can't be set alone: each value of the sweep would replace it unseen."""

from __future__ import annotations

import pytest

from westwood.errors import InputError
from westwood.scenario import Scenario


@pytest.mark.parametrize("key", ["tcp.cc.m", "*.cc.m"])
def test_an_option_of_a_protocol_that_is_swept_is_refused(key: str) -> None:
    with pytest.raises(InputError, match=r"expected tcp\.cc set as well, for its sweep replaces"):
        Scenario.preset("blackout").with_settings({key: 0})


def test_an_option_of_a_protocol_that_is_set_is_taken() -> None:
    chosen = Scenario.preset("blackout").with_settings({"tcp.cc": "westwood", "tcp.cc.m": 0})
    assert [point.flow[0].cc.m for _, point in chosen.points()] == [0] * 6
