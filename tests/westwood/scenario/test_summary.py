# SPDX-License-Identifier: BSD-3-Clause
"""A scenario's line for titles tells its bottleneck as people write it."""

from typing import Any

import pytest
from one_link import one_link

from westwood import Scenario
from westwood.scenario import summary


def words(**link: Any) -> str:
    return summary.summarise(one_link(link={"rate": "2Mbps", "delay": "45ms", **link}))


@pytest.mark.parametrize(
    ("limit", "text"),
    [
        ("1p", "queue 1 packet"),
        ("2p", "queue 2 packets"),
        ("64kB", "queue 64000B"),
        ("unlimited", "queue unlimited"),
    ],
)
def test_a_queue_is_told_in_its_own_unit(limit, text):
    assert words(queue={"limit": limit}).endswith(text)


@pytest.mark.parametrize(
    ("rate", "text"),
    [("1Gbps", "1 Gb/s"), ("999Mbps", "999 Mb/s"), ("999kbps", "999 kb/s"), ("1kbps", "1 kb/s")],
)
def test_a_rate_is_told_in_the_largest_unit(rate, text):
    assert words(rate=rate).startswith(f"{text}, 45 ms one way, ")


def test_losses_are_told_in_percent():
    assert "loss 0.5 %" in words(loss={"rate": 0.005})
    assert "no loss" in words()


def test_what_varies_is_left_out():
    scenario = Scenario.preset("table1")
    name = min(scenario.link, key=lambda link: link.mean_rate_bps("forward")).name
    whole = summary.summarise(scenario).split(", ")
    left = summary.summarise(scenario, [f"{name}.rate", f"{name}.delay"]).split(", ")
    assert whole[2:] == left
    assert summary.summarise(scenario, [f"{name}.kind"]) == "links by name"


def test_a_slower_way_back_is_told():
    told = words(backward_rate="384kbps")
    assert told.startswith("2 Mb/s, 384 kb/s backward, 45 ms one way, ")
