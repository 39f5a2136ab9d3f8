# SPDX-License-Identifier: BSD-3-Clause
"""Receive windows that no one sets: plan/routes.hpp chooses them, tests/plan tests the numbers."""

import pytest

from westwood import InputError, Scenario
from westwood.scenario.links import Link

LINK = {"name": "l", "between": ["a", "b"], "rate": "1Gbps", "delay": "100ms"}
FLOW = {"name": "f", "from": "a", "to": "b", "cc": "newreno"}


def test_a_window_that_is_not_given_suffices_for_path_and_queue():
    """200 Mb/s over 160 ms are 4 MB, and a queue of one product holds as much."""
    big = {"path.rate": "200Mbps", "path.delay": "80ms", "path.queue.limit": "1bdp"}
    path = Scenario.preset("path")
    assert path.flow[0].receive_window == 2**20
    assert path.with_settings(big).flow[0].receive_window == 2**24
    assert path.with_settings({**big, "tcp.receive_window": "1MiB"}).flow[0].receive_window == 2**20
    assert path.with_settings({**big, "profile": "linux"}).flow[0].receive_window == 3 * 2**20
    back = path.with_settings(big).with_settings({"path.rate": "2Mbps"})
    assert back.flow[0].receive_window == 2**20, "it follows the path"
    word = path.with_settings({**big, "tcp.app": "bulk"})
    assert word.hash == path.with_settings(big).hash, "the default application by its word"


def test_the_windows_of_a_sweep_follow_each_point():
    swept = Scenario.preset("path").with_sweep({"path.rate": ["2Mbps", "1Gbps"]})
    assert [point.flow[0].receive_window for _, point in swept.points()] == [2**20, 2**25]
    assert "receive_window" not in swept.resolved()["flow"][0]
    again = Scenario(**swept.resolved())
    assert [point.flow[0].receive_window for _, point in again.points()] == [2**20, 2**25]


def test_a_link_made_alone_has_its_limit_in_packets_or_bytes():
    other = Scenario.preset("path")
    link = Link.model_validate({**LINK, "between": ["source", "sink"],
                                "queue": {"limit": "1bdp"}})  # fmt: skip
    with pytest.raises(InputError, match=r"l\.queue\.limit: depends on a path that a part alone"):
        Scenario(name="again", duration="4s", link=[link], flow=other.flow)
    again = Scenario(name="path", duration="600s", link=other.link, flow=other.flow)
    assert again.link == other.link


def test_a_limit_in_products_works_beside_flows_of_another_scenario():
    other = Scenario.preset("path")
    link = {**other.link[0].model_dump(), "queue": {"limit": "1bdp"}}
    mixed = Scenario(name="mixed", duration="60s", link=[link], flow=other.flow)
    alone = other.with_settings({"path.queue.limit": "1bdp"})
    assert mixed.link[0].queue.limit == alone.link[0].queue.limit
