# SPDX-License-Identifier: BSD-3-Clause
"""ns-2 as an engine: it runs the same scenarios, returns rows, and refuses what it lacks."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Any

import pytest
from one_link import one_link

from westwood import Scenario, engines, simulate
from westwood.engines import ns2
from westwood.engines.ns2_limits import _OF_NEWRENO, AGENTS, fixed
from westwood.errors import InputError, RunError, UnavailableError
from westwood.experiments.validation import chosen
from westwood.experiments.validation.grid import Point
from westwood.experiments.validation.grid import scenario as scenario_of
from westwood.experiments.validation.ns2_grids import NS2, OWN_GROWTH, OWN_WAYS, POINTS
from westwood.programs import system_program

needs_ns2 = pytest.mark.skipif(not system_program("ns"), reason=f"no ns-2: {ns2.REMEDY}")
LOST = [50, 300, 1000, 2000, 2010, 5000]  # packets of the bottleneck


def ns2_scenario(cc: str = "newreno", *, profile: str = "ns2-2005", **flow: Any) -> Scenario:
    """Returns a scenario of one flow over 2 Mb/s and 45 ms; `link` overrides link settings."""
    link = {"name": "bottleneck", "rate": "2Mbps", "delay": "45ms", "queue": {"limit": "50p"}}
    link |= flow.pop("link", {})
    duration = flow.pop("duration", "60s")
    tcp = {"cc": cc, "recovery": AGENTS[cc].recovery, **flow}
    return one_link(tcp, link=link, duration=duration, profile=profile)


def losing(numbers: list[int]) -> dict[str, Any]:
    return {"loss": {"kind": "script", "packets": numbers, "on": "forward"}}


@needs_ns2
def test_datagrams_are_refused():
    link = {"name": "bottleneck", "rate": "2Mbps", "delay": "45ms", "queue": {"limit": "50p"}}
    scenario = one_link(
        {"app": {"kind": "udp", "rate": "1Mbps"}}, link=link, duration="1s", profile="ns2-2005"
    )
    with pytest.raises(InputError, match='app = "udp": engine ns2 expects'):
        simulate(scenario, engine="ns2")


@needs_ns2
@pytest.mark.parametrize("profile", ["ns2-2001", "ns2-2005"])
@pytest.mark.parametrize("cc", ["tahoe", "reno", "newreno", "sack"])
def test_with_ns2s_fixed_values_a_flow_delivers_as_much_as_there(cc, profile):
    growth = {f"tcp.cc.{key}": value for key, value in OWN_GROWTH.items()}
    scenario = ns2_scenario(cc, profile=profile, link=losing(LOST), **OWN_WAYS).with_settings(
        growth
    )
    ours, theirs = simulate(scenario).flow_rows[0], ns2.simulate(scenario).flow_rows[0]
    assert theirs["engine"] == "ns2" and theirs.keys() == ours.keys()
    assert ours["goodput_bps"] == pytest.approx(theirs["goodput_bps"], rel=0.03)
    assert ours["lost"] == theirs["lost"] == len(LOST)
    assert ours["mean_queue"] == pytest.approx(theirs["mean_queue"], rel=0.1)
    assert ours["utilisation"] == pytest.approx(theirs["utilisation"], rel=0.03)


@needs_ns2
@pytest.mark.parametrize("syn", [True, False])
@pytest.mark.parametrize("lost", [[], [50]])
def test_the_same_packets_are_lost_and_a_transfer_takes_as_long(syn, lost):
    """Our packet numbers count the SYN, which ns-2 does not send without `syn_`."""
    scenario = ns2_scenario(
        "newreno", link=losing(lost), size="100kB", handshake_rtt=syn, initial_rto="1s", **OWN_WAYS
    )
    ours, theirs = simulate(scenario).flow_rows[0], ns2.simulate(scenario).flow_rows[0]
    assert theirs["lost"] == ours["lost"] == len(lost)
    assert theirs["retransmitted"] == ours["retransmitted"] == len(lost)
    handshake = 0.0 if syn else 0.0903
    assert theirs["completed_s"] + handshake == pytest.approx(ours["completed_s"], rel=0.02)


@needs_ns2
def test_the_queue_holds_as_many_packets_as_ours():
    """ns-2's DropTail is full one packet below its limit_; drops are counted per flow."""
    scenario = ns2_scenario(link={"queue": {"kind": "droptail", "limit": "10p"}}, duration="150ms")
    scenario = scenario.with_settings({"tcp.initial_cwnd": "30p"})
    ours, theirs = simulate(scenario).flow_rows[0], ns2.simulate(scenario).flow_rows[0]
    assert ours["queue_drops"] == 30 - 10
    assert theirs["queue_drops"] == 30 - 11, "no ACK precedes them"


@needs_ns2
def test_random_losses_and_red_have_the_seed_and_flows_share_a_link():
    red = {"kind": "red", "limit": "50p", "min": 5, "max": 15, "spared": 1}
    random = ns2_scenario(
        link={"loss": {"kind": "uniform", "rate": 0.01}, "queue": red}, duration="20s"
    )
    first, again, other = (ns2.simulate(random, seed).flow_rows[0] for seed in (1, 1, 2))
    same = {"sent", "lost", "queue_drops", "goodput_bps"}
    assert all(first[key] == again[key] for key in same) and first["sent"] != other["sent"]
    two = random.resolved()
    names = ("one", "two")
    flows = [{**ns2_scenario(duration="20s").resolved()["flow"][0], "name": n} for n in names]
    shared = Scenario(**{**two, "flow": flows})
    rows = ns2.simulate(shared).flow_rows
    assert [row["flow"] for row in rows] == list(names)
    assert all(row["lost"] > 0 for row in rows) and sum(r["goodput_bps"] for r in rows) < 2e6


@needs_ns2
def test_the_command_line_runs_it(westwood):
    words = ("table1", "--set", "profile=ns2-2005", "--set", "tcp.cc=newreno")
    called = westwood("run", *words, "--engine", "ns2", "--set", "duration=2s", "--seeds", 1)
    assert (called.code, called.err) == (0, "") and "NewReno" in called.out


@needs_ns2
def test_an_error_of_ns2_is_reported_in_one_line():
    with pytest.raises(RunError, match=r"^s, seed 1: ns-2 ended with .*invalid command name"):
        ns2._execute(ns2.program(), "nonsense\n", "s, seed 1")


def of_ucla(name: str = "2002", duration: str = "60s") -> Scenario:
    """Returns UCLA's module over 2 Mb/s and 45 ms, with queue losses only."""
    return scenario_of(NS2[name], "westwood-ucla", Point(**POINTS[1]), 1, duration)


@needs_ns2
def test_an_ns_without_uclas_module_is_refused_in_one_line(monkeypatch, westwood):
    monkeypatch.delenv("WESTWOOD_NS2", raising=False)
    with pytest.raises(UnavailableError, match=r"needs an ns with the module TCP/WestwoodNR .*"):
        ns2.simulate(of_ucla(duration="1s"))
    called = westwood("validate", "--engine", "ns2", "--only", "2002")
    assert called.code != 0 and len(called.err.splitlines()) == 1 and "WestwoodNR" in called.err


def test_the_grids_of_the_module_are_run_by_name_only():
    assert {"2002", "2002-varying"} == NS2.keys() - chosen("ns2", ()).keys()
    assert list(chosen("ns2", ["2002", "2001"])) == ["2002", "2001"]


@pytest.mark.skipif(not os.environ.get("WESTWOOD_NS2"), reason="WESTWOOD_NS2 names no ns with it")
@pytest.mark.parametrize("name", ["2002", "2002-varying"])
def test_uclas_module_delivers_as_much_as_ours(name):
    ours, theirs = simulate(of_ucla(name)).flow_rows[0], ns2.simulate(of_ucla(name)).flow_rows[0]
    for key in ("goodput_bps", "retransmitted", "timeouts"):
        assert ours[key] == pytest.approx(theirs[key], rel=0.005), key


@pytest.mark.parametrize(("switch", "theirs"), sorted(_OF_NEWRENO.items()))
def test_newrenos_behaviour_before_2003_is_a_switch_in_ns2(switch, theirs):
    for cc in ("newreno", "westwood-ucla"):
        for on in (True, False):
            text = ns2.script(ns2_scenario(cc, profile="ns2-2002", **{switch: on}))
            assert f" {theirs} {int(not on)}" in text
    assert theirs not in ns2.script(ns2_scenario("reno", profile="ns2-2002", **{switch: True}))


def test_without_ns2_the_error_has_a_remedy(monkeypatch):
    monkeypatch.setenv("WESTWOOD_NS2", "/nowhere/ns")
    with pytest.raises(UnavailableError, match=r"names no program: apt-get install ns2$"):
        engines.find("ns2")
    monkeypatch.delenv("WESTWOOD_NS2")
    monkeypatch.setattr(ns2, "system_program", lambda name: None)
    with pytest.raises(UnavailableError, match=r"needs ns-2, and it is not installed: apt-get"):
        engines.find("ns2")


def test_a_flow_may_set_the_values_that_are_fixed_in_ns2():
    scenario = ns2_scenario(**OWN_WAYS)
    ns2.script(scenario)
    fixed_values = fixed(scenario.flow[0])
    assert all(fixed_values[key] == value for key, value in OWN_WAYS.items())


def test_a_trace_is_refused():
    with pytest.raises(InputError, match='--engine = "ns2": ns-2 gives no trace'):
        ns2.simulate(ns2_scenario(), trace=True)


def test_the_grids_have_forty_points_and_more_a_profile():
    for name, grid in NS2.items():
        assert grid.profile == f"ns2-{name[:4]}"
        assert grid.size >= (20 if grid.by_name else 40)
    flows = {point["flows"] for point in POINTS}
    assert min(flows) == 1 and max(flows) == 20
    kinds = itertools.product(("droptail", "red"), (False, True))
    has = {(point["aqm"], point["loss"] > 0) for point in POINTS}
    assert has >= set(kinds) - {("red", True)}


def test_the_commands_are_installed_with_the_module():
    assert Path(ns2.__file__).with_name("ns2.tcl").is_file()


def test_packets_are_numbered_as_in_ns2():
    """Ours begin with the SYN and the end of the handshake, of which ns-2 has the SYN at most."""
    packets = [1, 2, 3, 10]
    assert list(ns2._numbers(packets, has_syn=True)) == [0, 1, 8]
    assert list(ns2._numbers(packets, has_syn=False)) == [0, 7]
