# SPDX-License-Identifier: BSD-3-Clause
"""What criteria measure, on rows written by hand."""

from __future__ import annotations

import math

import pytest

from westwood.evaluation import measures
from westwood.results.columns import Row


def flow(name: str, **columns: float) -> Row:
    return {"flow": name, **columns}


def test_harm_is_the_share_of_the_solo_performance_that_is_lost() -> None:
    runs = {
        "solo": [flow("beside", goodput_bps=40e6)],
        "beside": [flow("beside", goodput_bps=10e6)],
    }
    assert measures.harm(measures.others_goodput)(runs) == pytest.approx(0.75)


def test_harm_of_a_time_has_the_longer_time_below_the_line() -> None:
    """From 1 s to 4 s, three quarters are lost, as with a rate that falls to a quarter."""
    runs = {"solo": [flow("beside", mean_srtt_s=1.0)], "beside": [flow("beside", mean_srtt_s=4.0)]}
    assert measures.harm(measures.others_rtt, more_is_better=False)(runs) == pytest.approx(0.75)


def test_transfers_of_which_none_ends_lose_everything() -> None:
    runs = {"solo": [flow("short", x=1.0)], "beside": [flow("short", x=math.inf)]}
    assert measures.harm(lambda rows: rows[0]["x"], more_is_better=False)(runs) == 1


def test_an_unfinished_transfer_takes_forever() -> None:
    of = measures.completion("tcp")
    assert of([flow("tcp", completion_s=2.0, completed=1, transfers=1)]) == 2.0
    assert of([flow("tcp", completion_s=math.nan, completed=0, transfers=1)]) == math.inf
    assert of([flow("tcp", completion_s=2.0, completed=1, transfers=2)]) == math.inf
