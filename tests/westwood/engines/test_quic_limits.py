# SPDX-License-Identifier: BSD-3-Clause
"""Scenarios that a QUIC stack can't run are refused by key; a stack's name is part of `cc`."""

import copy

import pytest
from one_link import FILE, one_link

from westwood import Scenario
from westwood.control.catalogue import settings_of
from westwood.engines import linux_limits, ns3_limits, quic_limits, simulator
from westwood.engines.contract import Job
from westwood.engines.quic import Stack
from westwood.errors import InputError
from westwood.units import Amount


def scenario(**flow: object) -> Scenario:
    return one_link({"name": "one", "cc": "cubic", **flow}, duration="2s", profile="rfc")


@pytest.mark.parametrize("key", sorted(settings_of("flow").keys() - {*quic_limits.OBEYED}))
def test_no_setting_of_tcp_is_ignored(key):
    quic_scenario = scenario()
    (flow,) = quic_scenario.flow
    usual = getattr(flow, key)
    if isinstance(usual, bool):
        other: object = not usual
    else:
        other = usual + 1 if isinstance(usual, int) else Amount(3, "p")
    different = copy.copy(quic_scenario)
    vars(different)["flow"] = (flow.model_copy(update={key: other}),)
    with pytest.raises(InputError, match="a stack has its own rules") as caught:
        quic_limits.check(different, "quinn")
    assert caught.value.key == f"one.{key}"


def test_an_ack_filter_may_read_the_acks_of_a_tcp_flow():
    filtered = scenario(cc="tcp:cubic").with_settings({"path.ack_filter": {"on": "backward"}})
    quic_limits.check(filtered, "noq")


@pytest.mark.parametrize("profile", ["rfc", "linux"])
def test_a_profile_does_not_stand_in_the_way(profile):
    quic_scenario = scenario().with_settings({"profile": profile})
    quic_limits.check(quic_scenario, "noq")


def test_flows_of_the_simulator_and_datagrams_may_have_any_settings():
    quic_limits.check(scenario(cc="tcp:cubic", timestamps=True), "quinn")
    udp = {"kind": "udp", "rate": "1Mbps"}
    quic_limits.check(scenario(cc="udp", app=udp), "quinn")


def test_the_stack_is_part_of_the_name():
    quic_scenario = scenario(cc="quinn:bbr")
    cc = quic_scenario.flow[0].cc
    assert (cc.name, cc.stack, cc.written) == ("bbr", "quinn", "quinn:bbr")
    assert quic_scenario.hash != scenario(cc="bbr").hash
    changed = quic_scenario.with_settings({"one.cc.name": "cubic"})
    assert changed.flow[0].cc.written == "cubic" and changed.hash == scenario().hash


def test_the_plan_says_which_flows_are_whose():
    quic_scenario = scenario(count=2).with_settings({"one.cc": "bbr3"})
    plan = Stack("noq").plan(quic_scenario)
    assert "stack 0 noq ours bbr3\nstack 1 noq ours bbr3\n" in plan
    assert "stack 0 quinn own cubic\n" in Stack("noq").plan(scenario(cc="quinn:cubic"))
    assert "stack" not in Stack("noq").plan(scenario(cc="tcp:cubic"))


def test_other_engines_name_those_that_have_stacks():
    with pytest.raises(InputError, match="--engine quinn or noq"):
        simulator.SIMULATOR.prepare(Job(scenario(cc="quinn:cubic"), [1]))(1)


@pytest.mark.parametrize(
    ("check", "profile", "least"),
    [
        (ns3_limits.check, "rfc", 5),
        (linux_limits.check, "linux", 6),
        (lambda scenario: quic_limits.check(scenario, "quinn"), "rfc", 6),
    ],
)
def test_all_refusals_are_named_at_once(check, profile, least):
    """So nobody repairs one key at a time."""
    wrong = {"cc": "cubic", "min_rto": "100us", "timestamps": False, "rack_slack": "7ms"}
    wrong |= {"handshake_rtt": False}
    with pytest.raises(InputError) as caught:
        check(one_link(*({"name": name, **wrong} for name in "cd"), profile=profile))
    messages = [str(error_) for error_ in (caught.value, *caught.value.others)]
    assert len(messages) == len(set(messages)) >= least, messages
    for flow in "cd":
        assert any(message.startswith(f"{flow}.") for message in messages)


def test_a_profile_that_all_flows_have_is_refused_once():
    with pytest.raises(InputError, match='profile = "rfc": engine linux expects') as caught:
        linux_limits.check(one_link("cubic", "reno"))
    assert not caught.value.others


def test_a_scenario_without_a_profile_gets_the_engines(tmp_path, westwood, monkeypatch):
    monkeypatch.setenv("WESTWOOD_NS3", "/bin/true")
    file = tmp_path / "mine.toml"
    file.write_text(FILE)
    done = westwood("run", file, "--engine", "ns3")
    assert "uses the profile ns3-3.44" in done.err and "ended with a report without" in done.err
    file.write_text('profile = "rfc"\n' + FILE)
    assert "the profile ns3-3.44 sets it" in westwood("run", file, "--engine", "ns3").err
