# SPDX-License-Identifier: BSD-3-Clause
"""Recorded delays and listed reroutes replace the delay of a link."""

from typing import Any

import pytest
from one_link import FILE, one_link

from westwood import Scenario, simulate
from westwood.errors import InputError

MS = 10**9  # ps


def linked_scenario(**link: Any) -> Scenario:
    return one_link("reno", link={"name": "wire", "delay": None, **link}, duration="9s")


def problem(**link: Any) -> str:
    with pytest.raises(InputError) as error:
        linked_scenario(**link)
    return str(error.value)


def test_with_two_recordings_the_least_delay_is_the_links():
    scenario = linked_scenario(
        delays={"forward": [12, 10], "backward": [9, 30]}, queue={"limit": "1bdp"}
    )
    assert scenario.link[0].delay == 9 * MS
    assert scenario.link[0].queue.limit.count == 15, "10 Mb/s x 18 ms / 12 000 bit"
    assert scenario.paths["a", "b"].delay_s == pytest.approx(0.019)
    assert Scenario(**scenario.given()) == scenario


def test_a_recording_is_read_from_a_file_and_written_to_one(tmp_path):
    (tmp_path / "delay_1.txt").write_text("12\n" * 9_999 + "10\n11\n", encoding="ascii")
    given = linked_scenario(delays={"forward": [1], "backward": [1]}).given()
    delays = 'delays = { forward = "delay_1.txt", backward = "delay_1.txt" }'
    text = FILE.replace('delay = "10ms"', delays)
    (tmp_path / "leo.toml").write_text(text, encoding="ascii")
    scenario = Scenario.from_toml(tmp_path / "leo.toml")
    assert scenario.link[0].delays.forward[-3:] == (12, 10, 11)
    assert scenario.hash != Scenario(**given).hash
    for name, content in scenario.to_files("again").items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    assert (tmp_path / "again-wire-delays-forward.txt").exists()
    assert Scenario.from_toml(tmp_path / "again.toml") == scenario
    for content, expected in (
        ("12\n9.5\n", 'expected a whole number in line 2, column 2, found "9.5"'),
        ("12 ms\n", 'expected a whole number in line 1, column 4, found "12 ms"'),
        ("", "expected a whole number on each line, found none"),
        ("1\n3600001\n", "expected delays of 0 to 3600000 ms, number 2 is none"),
    ):
        (tmp_path / "delay_1.txt").write_text(content, encoding="ascii")
        with pytest.raises(InputError, match=r"leo\.toml:8: wire\.delays\.forward = ") as error:
            Scenario.from_toml(tmp_path / "leo.toml")
        assert expected in str(error.value)


def test_a_reroute_replaces_the_delay_from_its_times_on():
    reroute = {"at": ["2s", "5s"], "delay": ["60ms", "20ms"]}
    scenario = linked_scenario(delay="30ms", reroute=reroute)
    assert scenario.paths["a", "b"].delay_s == pytest.approx(0.04)
    steady = scenario.with_settings({"tcp.receive_window": "12kB", "tcp.delayed_ack": 1})
    trace = simulate(steady, trace=True).trace
    for end_s, rtt_s in ((2.0, 0.06), (5.0, 0.12), (9.0, 0.04)):
        last_rtt_s = trace.filter(trace["time_s"] < end_s)["rtt_s"][-1]
        assert last_rtt_s == pytest.approx(rtt_s, abs=0.011)


def test_a_direction_has_a_recording_or_a_reroute():
    reroute = {"at": ["1s"], "delay": ["1ms"], "on": "forward"}
    error = problem(delay="1ms", delays={"forward": [1]}, reroute=reroute)
    assert error == (
        'wire.reroute.on = "forward": expected none, since delays has the forward direction'
    )
    linked_scenario(delay="1ms", delays={"backward": [1]}, reroute=reroute)


def test_an_ack_filter_needs_a_rate():
    trace = {"backward": [1, 2, 3]}
    assert "wire.ack_filter" in problem(delay="1ms", trace=trace, ack_filter={"on": "backward"})


def test_a_recorded_rate_beyond_the_fastest_is_refused_by_its_key(tmp_path):
    """83 111 opportunities of 1504 bytes in a millisecond are just below 1 Tb/s."""
    (tmp_path / "fast.txt").write_text("1\n" * 83_112)
    fast = 'backward_rate = "1Gbps"\ntrace = { forward = "fast.txt" }'
    text = FILE.replace('rate = "1Mbps"', fast)
    (tmp_path / "s.toml").write_text(text)
    with pytest.raises(InputError, match=r"s\.toml:8: wire\.trace\.forward = .* at most 1 Tb/s"):
        Scenario.load(tmp_path / "s.toml")
    (tmp_path / "fast.txt").write_text("1\n" * 83_111)
    simulate(Scenario.load(tmp_path / "s.toml"))
