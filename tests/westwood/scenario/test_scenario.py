# SPDX-License-Identifier: BSD-3-Clause
"""Scenarios are complete, addressable by key, and unchanged after writing and reading."""

import tomllib
from pathlib import Path

import pytest

from westwood import _engine
from westwood.control.catalogue import PROTOCOLS, Setting, settings_of, settings_of_protocol
from westwood.engines.network import build
from westwood.errors import InputError
from westwood.experiments import experiment
from westwood.scenario import Scenario, presets, profiles
from westwood.scenario.declared import to_field, written_default

LINK = {"name": "l", "between": ["a", "b"], "rate": "1Mbps", "delay": "10ms"}
FLOW = {"name": "f", "from": "a", "to": "b", "cc": "newreno"}


def test_table_1_matches_the_paper():
    scenario = Scenario.preset("table1")
    access, bottleneck = scenario.link
    (flow,) = scenario.flow
    assert (access.rate, access.delay) == (10_000_000, 45 * 10**9)
    assert (bottleneck.rate, bottleneck.delay) == (2_000_000, 10**7)
    assert (flow.packet, flow.mss, flow.delayed_ack) == (400, 360, 2)
    assert flow.delayed_ack_timeout == 200 * 10**9
    assert scenario.duration == 600 * 10**12


def test_keywords_and_toml_make_the_same_scenario(tmp_path):
    file = tmp_path / "s.toml"
    file.write_text(
        'name = "s"\nduration = "1s"\n[[link]]\nname = "l"\nbetween = ["a", "b"]\nrate = "1Mbps"\n'
        'delay = "10ms"\n[[flow]]\nname = "f"\nfrom = "a"\nto = "b"\ncc = "newreno"\n'
    )
    scenario = Scenario(name="s", duration="1s", link=[LINK], flow=[FLOW])
    assert scenario == Scenario.from_toml(file)
    assert scenario.hash == Scenario.from_toml(file).hash


@pytest.mark.parametrize("name", presets())
def test_a_written_scenario_reads_back_the_same(name, tmp_path):
    scenario = Scenario.preset(name)
    file = tmp_path / "again.toml"
    file.write_text(scenario.to_toml(), encoding="utf-8")
    again = Scenario.from_toml(file)
    assert again == scenario
    assert [p.hash for _, p in again.points()] == [p.hash for _, p in scenario.points()]


def test_settings_are_addressed_by_name_and_key(small):
    changed = small.with_settings(
        {
            "bottleneck.loss.rate": 0.01,
            "tcp.cc.filter": "none",
            "duration": "5s",
            "tcp.to": "router",
        }
    )
    assert changed.link[1].loss.rate == 0.01  # type: ignore[union-attr]
    assert (changed.flow[0].cc.name, changed.flow[0].cc.filter) == ("westwood+", "none")
    assert changed.flow[0].to == "router"
    assert small.link[1].loss.rate == 0.005  # type: ignore[union-attr]


def test_the_hash_covers_exactly_what_affects_a_run(small):
    assert small.with_settings({"name": "other", "seeds": 7}).hash == small.hash
    assert small.with_settings({"tcp.min_rto": "200ms"}).hash != small.hash


def test_a_sweep_is_the_product_of_its_values():
    points = list(Scenario.preset("fig5").points())
    assert len(points) == 14 * 5
    settings, scenario = points[-1]
    assert settings == {"bottleneck.loss.rate": 0.05, "tcp.cc": "westwood+-ns3"}
    assert scenario.flow[0].cc.name == "westwood+-ns3"
    assert scenario.link[1].loss.rate == 0.05  # type: ignore[union-attr]


def test_a_key_that_is_set_is_no_longer_swept():
    fixed = Scenario.preset("fig5").with_settings({"bottleneck.loss.rate": 0.01})
    assert list(fixed.sweep) == ["tcp.cc"]


def test_recovery_follows_the_protocol_unless_the_flow_chooses():
    def recovery(cc: str, profile: str = "rfc", **flow: str) -> str:
        scenario = Scenario(
            name="s", duration="1s", profile=profile, link=[LINK], flow=[{**FLOW, "cc": cc, **flow}]
        )
        return scenario.flow[0].recovery

    assert recovery("tahoe") == "tahoe"
    assert recovery("newreno") == "newreno"
    assert recovery("westwood+") == "prr"
    assert recovery("sack") == recovery("cubic") == "prr"
    assert recovery("sack", "ns3-2013") == recovery("cubic", "ns2-2005") == "sack"
    assert recovery("westwood+", "ns3-2013") == recovery("westwood", "ns2-2001") == "reno"
    assert recovery("westwood", "ns2-2005") == recovery("westwood+", "ns3-3.44") == "newreno"
    assert recovery("newreno", "ns3-2013") == "newreno"
    assert recovery("westwood+", recovery="sack") == "sack"


@pytest.mark.parametrize("profile", profiles.names())
def test_every_setting_of_a_profile_has_a_reason_and_fits(profile):
    for settings in profiles.get(profile).sections.values():
        for setting in settings.values():
            assert len(setting.reason) > 10
    scenario = Scenario(name="s", duration="1s", profile=profile, link=[LINK], flow=[FLOW])
    assert scenario.resolved()["flow"][0]["min_rto"]


@pytest.mark.parametrize("profile", [name for name in profiles.names() if name != "rfc"])
def test_a_profile_holds_only_what_differs_from_rfc(profile):
    rfc = profiles.get("rfc").sections
    for section, choices in profiles.get(profile).choices.items():
        if section == profiles.SACK:
            flow = profiles.get(profile).defaults("flow")
            assert all(choice.value != flow.get(key) for key, choice in choices.items())
            continue
        known = {**rfc[section], **(settings_of("cc") if section in ("cc", "cubic") else {})}
        known |= {profiles.OF_THE_PATH: None} if section == "flow" else {}
        for key, choice in choices.items():
            assert key in known, f"{section}.{key} is no setting"
            assert key not in rfc[section] or choice.value != rfc[section][key].value, key


def test_scenario_settings_reach_the_engine():
    """Those of a protocol follow; tests/plan has a test for each kind of quantity."""
    link = {**LINK, "overhead": "2B", "queue": {"limit": "64KiB"}, "jitter": "2ms"}
    link |= {"loss": {"packets": [3, 5], "on": "backward"}}
    flow = {**FLOW, "packet": "400B", "initial_ssthresh": "65535B", "initial_cwnd": "1p"}
    flow |= {"start": "1s", "stop": "2s", "size": "1MB", "ecn": True}
    network = build(Scenario(name="s", duration="3s", link=[link], flow=[flow]))
    (built,), (tcp,) = network.links, network.flows
    assert (built.overhead_bytes, built.forward.queue_bytes) == (2, 65536)
    assert built.forward.jitter == built.backward.jitter == 2 * 10**9
    assert (built.forward.loss_kind, built.backward.loss_kind) == ("none", "script")
    assert built.backward.loss.packets == [3, 5]
    assert (tcp.mss, tcp.initial_ssthresh, tcp.initial_cwnd, tcp.size_bytes) == (360, 182, 1, 10**6)
    assert (tcp.start, tcp.stop, tcp.ecn) == (10**12, 2 * 10**12, True)


def other_value(setting: Setting) -> object:
    """Returns a value, as a scenario writes it, that is neither the default nor near a bound."""
    default = written_default(setting)
    match setting.kind:
        case "SWITCH":
            return not default
        case "CHOICE":
            return next(word for word in setting.choices if word != default)
        case "SPAN":
            return "70ms"
        case "SHARE" | "FACTOR_OR_NONE":
            return 0.35 if setting.most <= 1000 else 3.6
    return max(setting.least, 4 if default == 3 else 3)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_setting_of_a_protocol_reaches_the_engine(protocol):
    """Every declared setting is read, checked and passed to the engine."""
    for key, setting in settings_of_protocol(protocol).items():
        flow = {**FLOW, "cc": {"name": protocol, key: other_value(setting)}}
        if key == "vegas_beta":  # at least alpha
            flow["cc"] |= {"vegas_alpha": 1}
        for needing, other, word in _engine.SETTINGS_THAT_NEED:
            flow["cc"] |= {other: word} if key == needing else {}
        scenario = Scenario(name="s", duration="3s", link=[LINK], flow=[flow])
        (built,) = build(scenario).flows
        expected = to_field(setting, getattr(scenario.flow[0].cc, key))
        expected = setting.choices.index(expected) if setting.kind == "CHOICE" else expected
        held = getattr(built.cc, setting.field)
        held = setting.choices.index(held) if setting.kind == "CHOICE" else held
        assert held == expected != setting.fallback, key


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_setting_without_effect_on_the_protocol_is_refused(protocol):
    for key, setting in settings_of("cc").items():
        if key not in settings_of_protocol(protocol):
            flow = {**FLOW, "cc": {"name": protocol, key: other_value(setting)}}
            with pytest.raises(
                InputError, match=rf"\.cc\.{key} = .*has no (such setting|settings$)"
            ):
                Scenario(name="s", duration="3s", link=[LINK], flow=[flow])


def test_an_error_names_the_setting_and_not_the_protocol_set_with_it():
    scenario = Scenario(name="s", duration="3s", link=[LINK], flow=[FLOW])
    with pytest.raises(InputError, match=r'^f\.cc\.tau = "0s": expected at least 1us'):
        scenario.with_settings({"f.cc": "westwood+", "f.cc.tau": "0s"})


def test_the_longest_run_is_the_engines_limit():
    """Scenario and engine have the same limit, 26 days."""
    longest = Scenario(name="s", duration="624h", link=[LINK], flow=[FLOW])
    assert build(longest).duration == _engine.LONGEST_PS
    with pytest.raises(InputError, match="at most 2246400s"):
        longest.with_settings({"duration": "625h"})


def test_red_reaches_the_engine():
    red = {"kind": "red", "limit": "50p", "min": 5, "max": 15, "gentle": True, "ecn": True}
    red |= {"max_p": 0.02, "weight": 0.004, "mean_packet": "1kB"}
    link = {**LINK, "queue": red}
    forward = build(Scenario(name="s", duration="3s", link=[link], flow=[FLOW])).links[0].forward
    assert forward.queue_kind == "red" and forward.red.gentle and forward.red.ecn
    assert (forward.red.min_packets, forward.red.max_packets) == (5, 15)
    assert (forward.red.max_p, forward.red.weight) == (0.02, 0.004)
    assert (forward.red.mean_packet_bytes, forward.queue_packets) == (1000, 50)


def test_numbers_are_read_from_files_next_to_the_scenario(tmp_path):
    (tmp_path / "down.trace").write_text("1\n2\n4\n", encoding="ascii")
    (tmp_path / "lost.txt").write_text("# seen on Monday\n3\n\n7 # twice\n", encoding="ascii")
    text = Path(__file__).parents[1].joinpath("small.toml").read_text(encoding="utf-8")
    text = text.replace('{ kind = "uniform", rate = 0.005 }', '{ packets = "lost.txt" }')
    text = text.replace('rate = "2Mbps"', 'rate = "2Mbps"\ntrace = { forward = "down.trace" }')
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    scenario = Scenario.from_toml(tmp_path / "mine.toml")
    link = next(link for link in scenario.link if link.name == "bottleneck")
    assert link.opportunities("forward") == (1, 2, 4) and link.opportunities("backward") == ()
    assert link.mean_rate_bps("forward") == 8 * 1504 * 3 / 0.004
    built = build(scenario).links[1].forward
    assert (built.loss.packets, built.opportunities_ms) == ([3, 7], [1, 2, 4])
    (tmp_path / "copy.toml").write_text(scenario.to_toml(), encoding="utf-8")
    (tmp_path / "down.trace").write_text("5\n", encoding="ascii")
    assert Scenario.from_toml(tmp_path / "copy.toml").hash == scenario.hash
    assert Scenario.from_toml(tmp_path / "mine.toml").hash != scenario.hash
    changed = scenario.with_settings({"bottleneck.trace.forward": "down.trace"})
    assert changed.link[1].opportunities("forward") == (5,)


def test_a_udp_flow_needs_no_protocol_and_is_not_compared():
    udp = {"name": "udp", "from": "a", "to": "b", "app": {"kind": "udp", "rate": "1Mbps"}}
    scenario = Scenario(name="s", duration="3s", link=[LINK], flow=[FLOW, udp])
    assert scenario.flow[1].cc.name == "udp"
    assert Scenario(**tomllib.loads(scenario.to_toml())) == scenario
    planned = experiment.plan(scenario, cc=["cubic", "reno"])
    names = [[flow.cc.name for flow in job.scenario.flow] for job in planned.jobs]
    assert names == [["cubic", "udp"], ["reno", "udp"]]


def test_a_preset_precedes_a_file_of_the_same_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table1").mkdir()
    assert Scenario.load("table1") == Scenario.preset("table1")
    (tmp_path / "mine.toml").write_text(Scenario.preset("path").to_toml())
    assert Scenario.load("mine.toml").name == "path"
    with pytest.raises(InputError, match='did you mean "table1"'):
        Scenario.load("tabel1")


def test_a_group_is_many_flows_under_one_address():
    flow = {**FLOW, "name": "web", "count": 3, "start_spread": "2s"}
    scenario = Scenario(name="s", duration="3s", link=[LINK], flow=[FLOW, flow])
    assert [member.name for member in scenario.flows] == ["f", "web-1", "web-2", "web-3"]
    assert [built.start_spread for built in build(scenario).flows] == [0] + [2 * 10**12] * 3
    changed = scenario.with_settings({"web.cc": "cubic", "web.count": 2})
    assert [member.cc.name for member in changed.flows] == ["newreno", "cubic", "cubic"]
    assert Scenario(**tomllib.loads(scenario.to_toml())) == scenario
    with pytest.raises(InputError, match="expected a name that no other link or flow has"):
        Scenario(name="s", duration="3s", link=[LINK], flow=[{**FLOW, "name": "web-1"}, flow])
