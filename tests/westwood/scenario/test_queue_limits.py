# SPDX-License-Identifier: BSD-3-Clause
"""A queue of "1bdp" holds rate times round trip, and one of "5ms" rate times 5 ms, in packets."""

import copy
import pickle

import pytest

from westwood import simulate
from westwood.engines.network import build
from westwood.scenario import Scenario
from westwood.scenario.summary import summarise
from westwood.units import Amount


@pytest.mark.parametrize(
    ("preset", "link", "settings", "packets"),
    [
        ("path", "path", {}, 15),  # 2 Mb/s x 90 ms / 12 000 bit
        ("path", "path", {"path.rate": "20Mbps"}, 150),
        ("path", "path", {"tcp.packet": "750B"}, 30),
        ("path", "path", {"path.delay": "0s"}, 1),  # at least one
        ("path", "path", {"path.overhead": "500B"}, 11),  # 180 000 bit / (8 x 2000 B)
        ("path", "path", {"path.overhead": "100B", "tcp.packet": "650B"}, 30),
        # the flow's round trip over both links, 2 x 45.01 ms, with 2 bytes of framing
        ("table1", "bottleneck", {}, round(2e6 * 0.09002 / (8 * 402))),
    ],
)
def test_a_limit_of_one_product_in_packets(preset, link, settings, packets):
    scenario = Scenario.preset(preset).with_settings({f"{link}.queue.limit": "1bdp", **settings})
    (queue,) = [link_.queue for link_ in scenario.link if link_.name == link]
    assert queue.limit == Amount(packets, "p")


@pytest.mark.parametrize(
    ("limit", "settings", "packets"),
    [
        ("90ms", {}, 15),  # 2 Mb/s x 90 ms / 12 000 bit
        ("90 ms", {"path.rate": "20Mbps"}, 150),
        ("0.045s", {"tcp.packet": "750B"}, 15),
        ("45000us", {"path.delay": "1s"}, 8),  # 7.5 rounded to even
        ("1us", {}, 1),  # at least one
        ("15ms", {"path.overhead": "500B"}, 2),  # 30 000 bit / (8 x 2000 B)
    ],
)
def test_a_limit_in_time_in_packets(limit, settings, packets):
    scenario = Scenario.preset("path").with_settings({"path.queue.limit": limit, **settings})
    assert scenario.link[0].queue.limit == Amount(packets, "p")


def test_a_limit_in_time_follows_a_swept_rate():
    scenario = Scenario.preset("path").with_sweep({"path.rate": ["2Mbps", "4Mbps"]})
    scenario = scenario.with_settings({"path.queue.limit": "60ms"})
    assert limits(scenario) == [10, 20]
    assert summarise(scenario, scenario.sweep) == "45 ms one way, loss 0.5 %, queue 60ms"


def limits(scenario: Scenario) -> list[int | None]:
    return [point.link[0].queue.limit.count for _, point in scenario.points()]


def test_the_faster_of_two_directions_counts(tmp_path):
    """1504 bytes every 2 ms are 6.016 Mb/s; the other direction has 2 Mb/s."""
    (tmp_path / "fast.trace").write_text("2\n", encoding="ascii")
    scenario = Scenario.preset("path").with_settings({"path.queue.limit": "1bdp"})
    (tmp_path / "path.toml").write_text(scenario.to_toml(), encoding="utf-8")
    for side in ("forward", "backward"):
        changed = Scenario.from_toml(tmp_path / "path.toml").with_settings(
            {f"path.trace.{side}": str(tmp_path / "fast.trace"), "path.queue.limit": "1bdp"}
        )
        assert changed.link[0].queue.limit == Amount(round(6.016e6 * 0.09 / 12_000), "p"), side


def test_it_follows_the_sweep_also_after_writing(tmp_path):
    scenario = Scenario.preset("path").with_sweep({"path.rate": ["2Mbps", "4Mbps"]})
    scenario = scenario.with_settings({"path.queue.limit": "2bdp"})
    assert limits(scenario) == [30, 60]
    (tmp_path / "written.toml").write_text(scenario.to_toml(), encoding="utf-8")
    again = Scenario.from_toml(tmp_path / "written.toml")
    assert (again, limits(again)) == (scenario, [30, 60])
    assert summarise(again, again.sweep) == "45 ms one way, loss 0.5 %, queue 2bdp"


def test_without_a_sweep_it_is_written_in_packets():
    scenario = Scenario.preset("path").with_settings({"path.queue.limit": "2bdp"})
    assert 'limit = "30p"' in scenario.to_toml()
    assert summarise(scenario).endswith("queue 30 packets")


def test_a_copy_of_a_scenario_is_the_same_scenario():
    """In another process, too: plan/ reads it there again."""
    settings = {"path.queue": {"kind": "codel", "limit": "1bdp"}, "duration": "2s"}
    scenario = Scenario.preset("path").with_settings(settings)
    for again in (
        pickle.loads(pickle.dumps(scenario)),
        copy.copy(scenario),
        copy.deepcopy(scenario),
    ):
        assert again == scenario and again.hash == scenario.hash
        assert again.relative_limits == {"path": "1bdp"} and again.to_toml() == scenario.to_toml()
        assert simulate(again).rows["sent"].equals(simulate(scenario).rows["sent"])
        assert build(again).flows[0].receive_window_bytes == 2**20


def test_what_a_run_changes_of_its_network_stays_there():
    scenario = Scenario.preset("path")
    build(scenario).duration = 1
    assert build(scenario).duration == scenario.duration
