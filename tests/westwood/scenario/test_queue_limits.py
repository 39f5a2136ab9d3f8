# SPDX-License-Identifier: BSD-3-Clause
"""A limit of "1bdp" or "5ms" follows a sweep, files and copies; tests/plan tests the numbers."""

import copy
import pickle

from westwood import simulate
from westwood.engines.network import build
from westwood.scenario import Scenario
from westwood.scenario.summary import summarise


def test_a_limit_in_time_follows_a_swept_rate():
    scenario = Scenario.preset("path").with_sweep({"path.rate": ["2Mbps", "4Mbps"]})
    scenario = scenario.with_settings({"path.queue.limit": "60ms"})
    assert limits(scenario) == [10, 20]
    assert summarise(scenario, scenario.sweep) == "45 ms one way, loss 0.5 %, queue 60ms"


def limits(scenario: Scenario) -> list[int | None]:
    return [point.link[0].queue.limit.count for _, point in scenario.points()]


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
