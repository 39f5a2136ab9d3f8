# SPDX-License-Identifier: BSD-3-Clause
"""ns-3, ns-2 and Linux obey or refuse each flow setting; none is silently ignored."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from one_link import one_link

from westwood import Scenario, _engine
from westwood.control.catalogue import Setting, settings_of
from westwood.engines import linux_limits, linux_um, ns2, ns2_limits, ns3, ns3_limits, quic_limits
from westwood.errors import InputError, UnavailableError, show
from westwood.experiments.validation.grid import plan
from westwood.experiments.validation.grids import GRIDS
from westwood.scenario import profiles
from westwood.scenario.stacks import STACKS

HOSTS = {
    "ns3": (ns3_limits, "ns3-3.44", "sack"),
    "ns2": (ns2_limits, "ns2-2002", "sack"),
    "linux": (linux_limits, "linux", "prr"),
}
SETTINGS = settings_of("flow")
LESSER = {lesser for lesser, _ in _engine.settings_in_order("flow")}


@pytest.fixture(autouse=True)
def any_kernel(monkeypatch):
    """Skips the check for controls that this machine's kernel lacks."""
    monkeypatch.setattr(linux_limits, "require", lambda control: None)


def test_ns3_names_a_profile_whose_growth_it_lacks():
    (remark,) = ns3_limits.remarks(scenario("rfc", "sack"))
    assert remark.startswith("the profile rfc has byte_counting and validate_cwnd, but ns-3 grows")
    assert not list(ns3_limits.remarks(scenario("ns3-3.44", "sack")))
    assert not list(ns3_limits.remarks(scenario("rfc", "sack", cc="westwood+")))


def scenario(profile: str, recovery: str, cc: str = "reno", **flow: Any) -> Scenario:
    return one_link({"cc": cc, "recovery": recovery, **flow}, profile=profile)


def other_than(setting: Setting, fixed_value: Any) -> Any:
    """Returns a valid value that differs from the host's fixed one."""
    match setting.kind:
        case "SWITCH":
            return not fixed_value
        case "COUNT":
            return next(count for count in (3, 4) if count != fixed_value)
        case "TIME" if setting.name in LESSER:
            return next(text for text in ("2ms", "1ms") if text != fixed_value)
        case "TIME":
            return next(text for text in ("59s", "300ms") if text != fixed_value)
        case "BYTES":
            return "44B"
        case "SSTHRESH":
            return "20p"
        case "TIME_OR_NEVER":
            return "9s"
    raise AssertionError(f"a test value for the kind {setting.kind} is missing")


@pytest.mark.parametrize("engine", HOSTS)
@pytest.mark.parametrize("key", SETTINGS)
def test_a_host_obeys_a_setting_or_has_a_fixed_value(engine, key):
    limits, profile, recovery = HOSTS[engine]
    fixed = limits.fixed(scenario(profile, recovery).flow[0])
    assert (key in limits.OBEYED) != (key in fixed)


@pytest.mark.parametrize("engine", HOSTS)
def test_a_host_refuses_other_values_of_settings_that_it_does_not_know(engine, monkeypatch):
    """A newly declared setting needs no change in the hosts."""
    limits, profile, recovery = HOSTS[engine]
    others = tuple(key for key in limits.OBEYED if key != "dupack_threshold")
    monkeypatch.setattr(limits, "OBEYED", others)
    limits.check(scenario(profile, recovery))
    with pytest.raises(InputError, match=rf"tcp\.dupack_threshold = 4: engine {engine} expects 3"):
        limits.check(scenario(profile, recovery, dupack_threshold=4))


@pytest.mark.parametrize("limits", [ns3_limits, ns2_limits, linux_limits])
def test_only_settings_of_flows_are_named(limits):
    fixed = limits.fixed(scenario("linux", "sack").flow[0])
    assert {*limits.OBEYED, *fixed} <= SETTINGS.keys()


@pytest.mark.parametrize("engine", HOSTS)
@pytest.mark.parametrize("key", SETTINGS)
def test_a_value_other_than_the_fixed_one_is_refused_in_one_line(engine, key):
    limits, profile, recovery = HOSTS[engine]
    accepted = scenario(profile, recovery)
    limits.check(accepted)
    fixed = limits.fixed(accepted.flow[0])
    if key not in fixed:
        return
    value = other_than(SETTINGS[key], fixed[key])
    another = scenario(profile, recovery, **{key: value})
    if another.flow == accepted.flow:
        return  # the profile's value is accepted, and a switch has no third value
    with pytest.raises(InputError) as refused:
        limits.check(another)
    message = str(refused.value)
    wanted = "none" if fixed[key] is None else show(fixed[key])
    expected = f"tcp.{key} = {show(value)}: engine {engine} expects {wanted}"
    assert message.startswith(expected) and "\n" not in message


@pytest.mark.parametrize("profile", profiles.names())
def test_ns3_accepts_a_profiles_value_but_no_third_one(profile):
    framed = {"access.overhead": "2B", "bottleneck.overhead": "2B"}
    settings = {"profile": profile, "tcp.recovery": "sack", "tcp.cc": "sack", **framed}
    taken = Scenario.preset("table1").with_settings(settings)
    ns3.plan(taken)
    ns3.plan(taken.with_settings({"tcp.max_rto": "60s", "tcp.handshake_rtt": True}))
    with pytest.raises(InputError, match=r'tcp\.max_rto = "59s": engine ns3 expects "60s"'):
        ns3.plan(taken.with_settings({"tcp.max_rto": "59s"}))


def test_ns3_refuses_a_profiles_header():
    """Other headers would change the packets, so profiles are no exception."""
    flow = {"cc": "sack", "timestamps": False}
    with pytest.raises(InputError, match=r'tcp\.header = "52B": engine ns3 expects "40B"'):
        ns3.plan(one_link(flow, link={"overhead": "2B"}, profile="linux"))


@pytest.mark.parametrize("key", ["flight_excludes_sacked", "ssthresh_from_cwnd"])
def test_ns3_has_other_fixed_values_for_cubic(key):
    """Its CUBIC takes ssthresh from cwnd, its NewReno from the pipe."""
    cubic, reno = (scenario("ns3-3.44", "sack", cc).flow[0] for cc in ("cubic", "sack"))
    fixed = ns3_limits.fixed(cubic)[key]
    assert fixed is not ns3_limits.fixed(reno)[key]
    ns3_limits.check(scenario("ns3-3.44", "sack", "cubic", **{key: fixed}))
    with pytest.raises(InputError, match=key):
        ns3_limits.check(scenario("ns3-3.44", "sack", "sack", **{key: fixed}))


ERRORS = Path(__file__).parents[1] / "cli" / "errors.toml"
REFUSED = tomllib.loads(ERRORS.read_text(encoding="utf-8"))["engine"]
OF_NS3 = {"profile": "ns3-3.44", "tcp.recovery": "sack", "tcp.cc": "sack"}
SLOW = {"name": "bottleneck", "queue": {"limit": "50p"}}
ACCEPTED = {
    "ns3": (ns3.plan, Scenario.preset("table1").with_settings(OF_NS3)),
    "ns2": (ns2.script, one_link({"cc": "newreno"}, link=SLOW, profile="ns2-2005")),
    "linux": (linux_limits.check, one_link("reno", profile="linux")),
    "quinn": (lambda scenario: quic_limits.check(scenario, "quinn"), one_link("cubic")),
}


@pytest.mark.parametrize(
    ("engine", "written"), [(engine, written) for engine in REFUSED for written in REFUSED[engine]]
)
def test_what_an_engine_lacks_is_refused_by_its_key(engine, written):
    check, accepted = ACCEPTED[engine]
    check(accepted)
    pairs = (setting.split(" = ", 1) for setting in written.split("; "))
    settings = {key: tomllib.loads(f"value = {value}")["value"] for key, value in pairs}
    with pytest.raises(InputError) as refused:
        check(accepted.with_settings(settings))
    assert str(refused.value).startswith(REFUSED[engine][written])


@pytest.mark.parametrize(
    ("engine", "name"), [(engine, name) for engine in GRIDS for name in GRIDS[engine]]
)
def test_the_validation_grids_are_accepted(engine, name):
    for job in plan(GRIDS[engine][name], 1, {"duration": "6s"}).jobs:
        if engine in STACKS:
            quic_limits.check(job.scenario, engine)
        elif engine == "linux-um":
            linux_um.check(job.scenario)
        else:
            try:
                HOSTS[engine][0].check(job.scenario)
            except UnavailableError as error:  # a kernel without a queue discipline
                pytest.skip(str(error))
