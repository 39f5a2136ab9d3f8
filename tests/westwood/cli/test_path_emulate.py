# SPDX-License-Identifier: BSD-3-Clause
"""What `path emulate` emulates, and what it leaves out."""

import pytest

from westwood.cli import call
from westwood.engines import linux_shell, wire


def test_without_the_program_the_remedy_is_named(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("WESTWOOD_LINUX", str(tmp_path / "none"))
    assert call(["path", "emulate", "--delay", "1ms", "true"]) == 77
    assert capsys.readouterr().err.startswith("westwood: westwood path emulate needs linux/ww-path")


def test_a_scenario_gives_its_links_and_the_ends_of_its_first_flow():
    path = linux_shell.EmulatedPath.of_scenario("path", {"path.rate": "7Mbps"})
    lines = wire.passage(path.scenario).splitlines()
    assert [line for line in lines if line.startswith("flow")] == ["flow 0 1 reno"]
    assert "rate_bps 7000000" in lines


def test_the_link_of_the_options_is_the_same_both_ways():
    path = linux_shell.EmulatedPath.of_link("2Mbps", "45ms", "1%", "30p", {"path.jitter": "2ms"})
    lines = wire.passage(path.scenario).splitlines()
    forward, other = lines.index("forward"), lines.index("backward")
    assert lines[forward + 1 : other] == lines[other + 1 : -1]
    assert {"uniform.rate 0.01", "queue 30 -1", "rate_bps 2000000"} <= set(lines[forward:other])


@pytest.mark.parametrize(("name", "up", "down"), [("dsl", 384, 1500), ("starlink", 49000, 49000)])
def test_the_command_is_at_the_users_end_of_a_link_by_name(name, up, down):
    path = linux_shell.EmulatedPath.of_link(None, None, None, None, {}, name)
    assert path.about == name
    (flow,), (link,) = path.scenario.flow, path.scenario.link
    sides = ("forward", "backward") if link.between[0] == flow.from_ else ("backward", "forward")
    assert [link.mean_rate_bps(side) for side in sides] == [1000 * up, 1000 * down]


def test_options_replace_settings_of_a_link_by_name():
    path = linux_shell.EmulatedPath.of_link("9Mbps", None, None, "7p", {}, "dsl")
    (link,) = path.scenario.link
    assert (link.rate, link.backward_rate, link.queue.limit.count) == (9_000_000, 384_000, 7)


def test_a_recorded_rate_takes_the_rates_place():
    times = {"forward": [1, 2], "backward": [3]}
    path = linux_shell.EmulatedPath.of_link(None, "1ms", None, None, {"path.trace": times})
    assert "opportunities 3" in wire.passage(path.scenario)


@pytest.mark.parametrize(("outer", "seed"), [(None, 1), ("2Mbps", 2), ("2Mbps | 1% 45ms", 3)])
def test_shells_in_each_other_lose_different_packets(outer, seed, monkeypatch):
    monkeypatch.delenv("WESTWOOD_SHELL", raising=False)
    if outer:
        monkeypatch.setenv("WESTWOOD_SHELL", outer)
    assert linux_shell.default_seed() == seed


@pytest.mark.parametrize(
    ("preset", "expected"),
    [
        ("path", None),
        ("friendliness", "the route of reno, from sources to sinks; no flow is run"),
        ("delay", "the first point of its sweep (bottleneck.delay"),
    ],
)
def test_what_a_shell_does_not_run_is_told(preset, expected):
    left_out = linux_shell.EmulatedPath.of_scenario(preset, {}).left_out
    assert (left_out is None) if expected is None else expected in str(left_out)
