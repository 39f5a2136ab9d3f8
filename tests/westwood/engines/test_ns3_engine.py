# SPDX-License-Identifier: BSD-3-Clause
"""ns-3 as an engine: it runs the same scenarios, returns rows, and refuses what it lacks."""

from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from ns3_runner import needs_runner
from one_link import one_link
from tracked import everything

from westwood import Scenario, engines, simulate
from westwood.engines import ns3
from westwood.errors import UnavailableError
from westwood.experiments import experiment
from westwood.experiments.validation import compare
from westwood.experiments.validation.grid import plan
from westwood.experiments.validation.grids import GRIDS
from westwood.results.columns import LOST_ON

GRID = GRIDS["ns3"]["single"]
SLOW = {"rate": "4Mbps", "delay": "20ms"}
SAME = {"profile": "ns3-3.44", "tcp.recovery": "sack", "duration": "60s"}


def rows_in_ns3(scenario: Scenario) -> pl.DataFrame:
    planned = experiment.plan(scenario, seeds=1)
    return experiment.collect(planned, engines.find("ns3"), workers=1, track=everything).rows


@needs_runner
@pytest.mark.parametrize(
    "cc", ["sack", "westwood", "westwood+", "westwood+-linux", "westwood-cubic", "cubic"]
)
def test_without_losses_both_engines_deliver_the_same(cc):
    of_protocol = {f"tcp.{key}": value for key, value in GRID.protocols[cc].items()}
    scenario = Scenario.preset("table1").with_settings(
        SAME | {"tcp.cc": cc, "bottleneck.loss.rate": 0.0} | of_protocol
    )
    theirs, ours = rows_in_ns3(scenario), simulate(scenario, 1).rows
    columns = {name for name in theirs.columns if not name.startswith(LOST_ON)}  # of several links
    assert theirs["engine"][0] == "ns3" and columns == set(ours.columns)
    for column, tolerance in (
        ("goodput_bps", 0.01),
        ("sent", 0.01),
        ("mean_cwnd", 0.1),
        ("min_rtt_s", 0.05),
        ("throughput_bps", 0.01),
    ):
        assert theirs[column][0] == pytest.approx(ours[column][0], rel=tolerance), column


@needs_runner
@pytest.mark.parametrize("cwnd", ["1p", "10p"])
@pytest.mark.parametrize("size", ["360B", "10kB", "100kB", "1MB"])
def test_a_transfer_takes_as_long_as_in_ns3(size, cwnd):
    """The handshake and the first and last ACKs agree; neither engine delays the FIN."""
    scenario = Scenario.preset("table1").with_settings(
        SAME
        | {"tcp.cc": "sack", "bottleneck.loss.rate": 0.0, "tcp.initial_cwnd": cwnd}
        | {"tcp.size": size}
    )
    theirs, ours = rows_in_ns3(scenario), simulate(scenario, 1).rows
    assert theirs["completion_s"][0] == pytest.approx(ours["completion_s"][0], rel=0.005)


@needs_runner
def test_each_flow_has_its_own_protocol_and_settings():
    sized = {"cc": "cubic", "packet": "1500B", "size": "1MB"}
    flows = [{"cc": "westwood+", "recovery": "sack"}, sized]
    scenario = one_link(*flows, link=SLOW, duration="20s", profile="ns3-3.44")
    first_row, two = rows_in_ns3(scenario).to_dicts()
    assert (first_row["cc"], two["cc"]) == ("westwood+", "cubic")
    assert two["completed"] == 1 and 1 < two["completed_s"] < 20
    assert two["sent"] == pytest.approx(1e6 / 1460, rel=0.2) and first_row["sent"] > 2000
    assert first_row["loss_ratio"] < 0.1


@needs_runner
def test_the_command_line_runs_it(westwood):
    options = ["--set", "profile=ns3-3.44", "--set", "tcp.recovery=sack", "--set", "duration=10s"]
    called = westwood("run", "table1", "--engine", "ns3", *options, "--seeds", "2", "--out", "r")
    assert (called.code, called.err) == (0, "")
    rows = pl.read_parquet("r/runs.parquet")
    assert rows["engine"].to_list() == ["ns3", "ns3"] and rows["goodput_bps"].min() > 1e5


@needs_runner
def test_a_trace_has_the_simulators_columns_and_agrees_with_the_rows():
    scenario = Scenario.preset("table1").with_settings({**SAME, "tcp.cc": "westwood+"})
    theirs = ns3.simulate(scenario, 3, trace=True, queues=True)
    ours = simulate(scenario, 3, trace=True, queues=True)
    for frame in ("trace", "queues", "drops", "links", "transfers"):
        assert getattr(theirs, frame).schema == getattr(ours, frame).schema, frame
    row, trace = theirs.flow_rows[0], theirs.trace
    assert trace["time_s"].is_sorted() and trace["estimate_bps"].is_not_nan().any()
    assert set(trace["state"].cast(pl.String)) >= {"open", "disorder", "recovery"}
    lost = theirs.drops.filter(kind="wire", packet="data")
    assert lost.height == row["lost"] > 0
    bottleneck = theirs.links.filter(link="bottleneck", direction="forward")
    assert row["utilisation"] == pytest.approx(bottleneck["utilisation"][0])
    assert bottleneck["packets"][0] == pytest.approx(row["sent"], abs=20)
    assert bottleneck["longest_wait_s"][0] > 0
    for name in ("mean_wait_s", "mean_queue"):
        assert theirs.links[name].is_finite().all(), name
    assert theirs.queues["packets"].min() == 0


@needs_runner
def test_queue_drops_are_counted_once():
    changes = {"tcp.cc": "sack", "bottleneck.loss.rate": 0.0, "bottleneck.queue.limit": "5p"}
    scenario = Scenario.preset("table1").with_settings({**SAME, **changes})
    result = ns3.simulate(scenario, 1, trace=True, queues=True)
    row = result.flow_rows[0]
    assert result.drops.filter(kind="queue").height == row["queue_drops"] > 0
    assert row["retransmitted"] == pytest.approx(row["queue_drops"], rel=0.1)


@needs_runner
def test_options_of_the_protocol_reach_ns3_and_only_their_flow():
    def goodput(cc: object) -> float:
        scenario = Scenario.preset("table1").with_settings({**SAME, "tcp.cc": cc})
        return float(ns3.simulate(scenario, 1).flow_rows[0]["goodput_bps"])

    default, slow = goodput("westwood"), goodput({"name": "westwood", "tau": "10s"})
    assert default != slow and goodput({"name": "westwood", "tau": "500ms"}) == default
    both = [
        {"name": name, "cc": cc, "recovery": "sack"}
        for name, cc in (("slow", {"name": "westwood", "tau": "10s"}), ("default", "westwood"))
    ]
    link = {"rate": "8Mbps", "delay": "45ms"}
    scenario = one_link(*both, link=link, duration="2s", profile="ns3-3.44")
    trace = ns3.simulate(scenario, 1, trace=True).trace.filter(pl.col("time_s") > 1)
    estimates = trace.group_by("flow").agg(pl.col("estimate_bps").fill_nan(None).mean())
    seen = dict(estimates.iter_rows())
    assert seen["slow"] < 0.5 * seen["default"]  # a filter of 10 s has hardly risen


@needs_runner
def test_both_engines_lose_the_packets_that_a_script_lists():
    lost = {"kind": "script", "packets": [40, 41, 90], "on": "forward"}
    scenario = Scenario.preset("table1").with_settings(SAME | {"bottleneck.loss": lost})
    for engine in (simulate, ns3.simulate):
        row = engine(scenario, 1).flow_rows[0]
        assert (row["lost"], row["queue_drops"]) == (3, 1)  # the queue overflows once
        assert (row["retransmitted"], row["fast_recoveries"]) == (4, 3)


@needs_runner
def test_with_the_same_losses_a_control_with_its_own_recovery_recovers_alike():
    lost = {"kind": "script", "packets": [500, 1200, 1203, 2500], "on": "forward"}
    of_control = {"tcp.cc": "westwood-cubic", "tcp.packet": "1500B", "bottleneck.loss": lost}
    scenario = Scenario.preset("table1").with_settings(SAME | of_control)
    ours, theirs = (engine(scenario, 1).flow_rows[0] for engine in (simulate, ns3.simulate))
    for column in ("lost", "fast_recoveries", "timeouts"):
        assert theirs[column] == ours[column], column
    assert theirs["retransmitted"] == pytest.approx(ours["retransmitted"], rel=0.05)
    assert theirs["goodput_bps"] == pytest.approx(ours["goodput_bps"], rel=0.005)
    assert theirs["mean_cwnd"] == pytest.approx(ours["mean_cwnd"], rel=0.02)


@needs_runner
def test_the_same_losses_give_the_same_goodput():
    """Both agree within 5 % (`westwood validate` compares all points)."""
    five = ("sack", "reno", "newreno", "westwood", "westwood+")
    point = {"rate": "2Mbps", "delay": "0.01ms", "loss": 0.001}
    assert point in GRID.points
    chosen = {cc: flow for cc, flow in GRID.protocols.items() if cc in five}
    few = replace(GRID, protocols=chosen, points=[point])
    planned = plan(few, 2, {"duration": "60s"})
    done = compare.run("single", planned, few, engines.find("ns3"), workers=2, track=everything)
    assert done is not None and done.points.height == 5 and done.share("goodput") == 1


def shared(queue: dict[str, Any], flows: list[dict[str, Any]], duration: str = "30s") -> Scenario:
    """Returns flows over a bottleneck of 4 Mb/s with a round trip of 40 ms."""
    common = {"cc": "sack", "packet": "1500B", "initial_ssthresh": "64p"}
    tables = [{"name": f"f{i}", **common, **flow} for i, flow in enumerate(flows)]
    link = {**SLOW, "queue": queue}
    return one_link(*tables, link=link, duration=duration, profile="ns3-3.44")


RED = {"kind": "red", "limit": "60p", "min": 5, "max": 15, "max_p": 0.1, "weight": 0.002}
RED |= {"spared": 2}


@needs_runner
def test_codel_keeps_the_delay_near_its_target():
    for ecn in (False, True):
        queue = {"kind": "codel", "limit": "200p", "target": "15ms", "ecn": ecn}
        result = ns3.simulate(shared(queue, [{"ecn": ecn}] * 3), 1, trace=True, queues=True)
        forward = result.links.filter(direction="forward").to_dicts()[0]
        assert (forward["marked"] > 0) == ecn
        assert forward["early_drops"] > 0 or ecn
        assert forward["queue_drops"] == forward["early_drops"]
        assert result.drops.filter(kind="early").height == forward["early_drops"]
        assert 0.005 < forward["mean_wait_s"] < 0.03


@needs_runner
def test_red_drops_early_and_marks_with_ecn():
    dropping = ns3.simulate(shared(RED, [{}] * 3), 1, trace=True, queues=True)
    forward = dropping.links.filter(direction="forward").to_dicts()[0]
    assert forward["early_drops"] > 0 and forward["marked"] == 0
    assert sum(row["queue_drops"] for row in dropping.flow_rows) == forward["queue_drops"]
    assert dropping.drops.filter(kind="early").height == forward["early_drops"]
    assert 3 < forward["mean_queue"] < 15  # near RED's thresholds, including the device's packet
    marking = ns3.simulate(shared({**RED, "ecn": True}, [{"ecn": True}] * 3), 1, queues=True)
    forward = marking.links.filter(direction="forward").to_dicts()[0]
    assert forward["marked"] > forward["early_drops"]  # drops above the upper threshold
    assert marking.drops.filter(kind="mark").height == forward["marked"]
    assert min(row["ecn_reductions"] for row in marking.flow_rows) > 0


@needs_runner
def test_a_queue_with_red_holds_its_limit():
    flows = [{"initial_cwnd": "100p"}]
    late = {**RED, "limit": "20p", "min": 200, "max": 300}
    for engine in (simulate, ns3.simulate):
        result = engine(shared(late, flows, "1s"), 1, queues=True)
        assert result.queues["packets"].max() == 20, engine
        forward = result.links.filter(direction="forward").to_dicts()[0]
        assert forward["queue_drops"] > 0 and forward["early_drops"] == 0


@needs_runner
def test_flows_start_within_their_spread_by_the_seed():
    scenario = shared({"limit": "60p"}, [{"start_spread": "4s", "start": "1s"}] * 4, "10s")
    first_starts, other = (
        ns3.simulate(scenario, seed).transfers["start_s"].to_list() for seed in (1, 2)
    )
    assert len({*first_starts, *other}) == 8 and min(first_starts) >= 1 and max(first_starts) <= 5


@needs_runner
def test_a_transfer_is_complete_when_all_of_it_was_acknowledged():
    """Both engines measure to the last ACK, when the sender knows it (RFC 9293)."""
    scenario = shared({"limit": "60p"}, [{"size": "2920B", "initial_cwnd": "10p"}], "5s")
    ours, theirs = (engine(scenario, 1).flow_rows[0] for engine in (simulate, ns3.simulate))
    assert theirs["completed_s"] == pytest.approx(ours["completed_s"], abs=1e-3)
    assert theirs["completed_s"] > 0.08  # a round trip for the handshake, one for the data


@needs_runner
def test_flows_in_both_directions_share_a_link():
    flows = [{}, {"from": "b", "to": "a"}]
    rows = ns3.simulate(shared({"limit": "60p"}, flows), 1).flow_rows
    assert all(2e6 < row["goodput_bps"] < 4e6 for row in rows)


@needs_runner
@pytest.mark.parametrize(
    "impairment",
    [
        {"jitter": "2ms"},
        {"reroute": {"at": ["2s", "5s"], "delay": ["60ms", "10ms"]}},
        {"delays": {"interval": "100ms", "forward": [20, 25, 40], "backward": [20, 20, 35]}},
        {"policer": {"rate": "5Mbps", "burst": "30kB"}},
        {"detour": {"delay": "30ms", "start": "2s", "length": "1s", "every": "4s"}},
        {"aggregation": {"time": "5ms"}},
    ],
    ids=lambda impairment: str(next(iter(impairment))),
)
def test_impairments_of_a_link_act_as_in_the_simulator(impairment):
    """Both draw the same random numbers, so that each packet has the same extra delay."""
    delay = {"delay": None if "delays" in impairment else "20ms", "queue": {"limit": "60p"}}
    flow = {"cc": "westwood+", "recovery": "sack", "packet": "1500B"}
    scenario = one_link(flow, link=delay | impairment, duration="8s", profile="ns3-3.44")
    ours, theirs = (run(scenario, 1) for run in (simulate, ns3.simulate))
    for column, tolerance in (("goodput_bps", 0.005), ("mean_srtt_s", 0.1), ("queue_drops", 0.06)):
        expected = pytest.approx(ours.flow_rows[0][column], rel=tolerance)
        assert theirs.flow_rows[0][column] == expected, column
    early = [run.links.filter(direction="forward")["early_drops"][0] for run in (ours, theirs)]
    assert (early[0] > 0) == ("policer" in impairment) and early[1] == pytest.approx(early[0], 0.06)


@pytest.mark.parametrize("option", [["--events"], ["--pcap", "f.pcap", "--at", "access"]])
@needs_runner
def test_records_of_the_simulator_only_are_refused(westwood, option):
    settings = ["--set", "profile=ns3-3.44", "--set", "tcp.recovery=sack", "--cc", "sack"]
    called = westwood(
        "trace", "table1", "--engine", "ns3", *settings, "--out", "o", *option
    ).refusal()
    assert f"{option[0]}: works only in the simulator" in called


def test_without_the_runner_there_is_a_remedy(monkeypatch):
    monkeypatch.setenv(ns3.VARIABLE, "/nowhere/ww-ns3-runner")
    with pytest.raises(UnavailableError, match=r"names no program: westwood ns3 build"):
        ns3.program()


def test_a_runner_of_another_version_is_to_be_rebuilt(monkeypatch, tmp_path):
    runner = tmp_path / "ww-ns3-runner"
    runner.write_text(
        "#!/bin/sh\necho 'ww-ns3-runner: line 9: new: unknown statement' >&2\nexit 1\n"
    )
    runner.chmod(0o755)
    monkeypatch.setenv(ns3.VARIABLE, str(runner))
    scenario = Scenario.preset("table1").with_settings({**SAME, "tcp.cc": "sack"})
    stale = r"of another version than this package .*; rebuild it: westwood ns3 build"
    with pytest.raises(UnavailableError, match=stale):
        ns3.simulate(scenario)
