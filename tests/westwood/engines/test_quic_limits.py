# SPDX-License-Identifier: BSD-3-Clause
"""Scenarios that a QUIC stack can't run are refused by key; a stack's name is part of `cc`."""

from __future__ import annotations

import pytest

from westwood import Scenario
from westwood.catalogue import settings_of
from westwood.engines import quic_limits, simulator
from westwood.engines.contract import Job
from westwood.engines.quic import Stack
from westwood.errors import InputError
from westwood.units import Amount


def scenario(**flow: object) -> Scenario:
    path = {"name": "path", "between": ["a", "b"], "rate": "10Mbps", "delay": "10ms"}
    tcp = {"name": "one", "from": "a", "to": "b", "cc": "cubic"}
    return Scenario(name="quic", duration="2s", profile="rfc", link=[path], flow=[{**tcp, **flow}])


@pytest.mark.parametrize(
    "flow, key, expected",
    [
        ({"dupack_threshold": 5}, "one.dupack_threshold", "own rules"),
        ({"delayed_ack": 4}, "one.delayed_ack", "own rules"),
        ({"header": "60B"}, "one.header", "own rules"),
        ({"min_rto": "200ms"}, "one.min_rto", "own rules"),
        ({"recovery": "newreno"}, "one.recovery", "prr"),
        ({"packet": "1227B"}, "one.packet", "at least 1228B"),
        ({"receive_window": "1471B"}, "one.receive_window", "at least 1472B"),
        ({"packet": "16413B"}, "one.packet", "at most 16412B"),
        ({"app": {"kind": "on-off", "on": "1s", "off": "1s"}}, "one.app", "does not take back"),
        ({"cc": "quinn:bbr3"}, "one.cc", "quinn:bbr"),
        ({"cc": {"name": "cubic", "hystart": "none"}}, "one.cc.hystart", "defaults"),
    ],
)
def test_what_a_stack_has_no_word_for_is_refused_by_key(
    flow: dict[str, object], key: str, expected: str
) -> None:
    with pytest.raises(InputError, match=expected) as caught:
        quic_limits.check(scenario(**flow), "quinn")
    assert caught.value.key == key


@pytest.mark.parametrize("key", sorted(settings_of("flow").keys() - {*quic_limits.OBEYED}))
def test_no_setting_of_tcp_is_ignored(key: str) -> None:
    made = scenario()
    (flow,) = made.flow
    usual = getattr(flow, key)
    if isinstance(usual, bool):
        other: object = not usual
    else:
        other = usual + 1 if isinstance(usual, int) else Amount(3, "p")
    different = made.model_copy(update={"flow": (flow.model_copy(update={key: other}),)})
    with pytest.raises(InputError, match="a stack has its own rules") as caught:
        quic_limits.check(different, "quinn")
    assert caught.value.key == f"one.{key}"


def test_an_ack_filter_needs_a_flow_whose_acks_it_can_read() -> None:
    made = scenario().with_settings({"path.ack_filter": {"on": "backward"}})
    with pytest.raises(InputError, match=r"path\.ack_filter: has no effect"):
        quic_limits.check(made, "noq")
    quic_limits.check(made.with_settings({"one.cc": "tcp:cubic"}), "noq")


@pytest.mark.parametrize("profile", ["rfc", "linux"])
def test_a_profile_does_not_stand_in_the_way(profile: str) -> None:
    made = scenario().with_settings({"profile": profile})
    quic_limits.check(made, "noq")


def test_flows_of_the_simulator_and_datagrams_may_have_any_settings() -> None:
    quic_limits.check(scenario(cc="tcp:cubic", timestamps=True), "quinn")
    udp = {"kind": "udp", "rate": "1Mbps"}
    quic_limits.check(scenario(cc="udp", app=udp), "quinn")


def test_the_stack_is_part_of_the_name() -> None:
    made = scenario(cc="quinn:bbr")
    cc = made.flow[0].cc
    assert (cc.name, cc.stack, cc.written) == ("bbr", "quinn", "quinn:bbr")
    assert made.hash != scenario(cc="bbr").hash
    changed = made.with_settings({"one.cc.name": "cubic"})
    assert changed.flow[0].cc.written == "cubic" and changed.hash == scenario().hash


def test_the_plan_says_which_flows_are_whose() -> None:
    made = scenario(count=2).with_settings({"one.cc": "bbr3"})
    plan = Stack("noq").plan(made)
    assert "stack 0 noq ours bbr3\nstack 1 noq ours bbr3\n" in plan
    assert "stack 0 quinn own cubic\n" in Stack("noq").plan(scenario(cc="quinn:cubic"))
    assert "stack" not in Stack("noq").plan(scenario(cc="tcp:cubic"))


def test_other_engines_name_those_that_have_stacks() -> None:
    with pytest.raises(InputError, match="--engine quinn or noq"):
        simulator.SIMULATOR.prepare(Job(scenario(cc="quinn:cubic"), [1]))(1)
    with pytest.raises(InputError, match="unknown protocol"):
        scenario(cc="lsquic:cubic")


@pytest.mark.parametrize(
    ("cc", "hint"),
    [
        ("quinn:bbr2", "expected one of: quinn:newreno, quinn:cubic, quinn:bbr$"),
        ("quin:cubic", 'did you mean "quinn:cubic"'),
        ("tcp:cubik", 'did you mean "cubic"'),
    ],
)
def test_a_misspelt_control_of_a_stack_names_those_there_are(cc: str, hint: str) -> None:
    with pytest.raises(InputError, match=f'"{cc}": unknown protocol, {hint}'):
        scenario(cc=cc)
