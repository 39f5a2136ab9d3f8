# SPDX-License-Identifier: BSD-3-Clause
"""ns-3 as an engine: the same scenario there, its rows, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from westwood import Scenario, engines, simulate
from westwood.engines import ns3
from westwood.errors import InputError, UnavailableError
from westwood.experiments import experiment, validation

BUILT = Path(__file__).parents[3] / "build" / "ns3" / "wheel" / "ww-ns3-runner"
needs_runner = pytest.mark.skipif(not BUILT.exists(), reason="no ns-3 runner: make ns3")
GRID = validation.GRIDS["ns3"]
SAME = {"profile": "ns3-3.44", "tcp.recovery": "sack", "duration": "60s"}


def track(runs: Any, total: int) -> Any:
    return runs


@needs_runner
@pytest.mark.parametrize("cc", ["sack", "westwood", "westwood+", "westwood+-linux", "cubic"])
def test_without_losses_both_engines_deliver_the_same(cc: str) -> None:
    of_protocol = {f"tcp.{key}": value for key, value in GRID.protocols[cc].items()}
    scenario = Scenario.preset("table1").with_settings(
        SAME | {"tcp.cc": cc, "bottleneck.loss.rate": 0.0} | of_protocol
    )
    planned = experiment.plan(scenario, seeds=1)
    theirs = experiment.collect(planned, engines.find("ns3"), workers=1, track=track).rows
    ours = simulate(scenario, 1).rows
    assert theirs["engine"][0] == "ns3" and set(theirs.columns) == set(ours.columns)
    for column, tolerance in (
        ("goodput_bps", 0.01),
        ("sent", 0.01),
        ("mean_cwnd", 0.1),
        ("min_rtt_s", 0.05),
        ("throughput_bps", 0.01),
    ):
        assert theirs[column][0] == pytest.approx(ours[column][0], rel=tolerance), column


@needs_runner
def test_each_flow_has_its_own_protocol_and_settings() -> None:
    link = {"name": "l", "between": ["a", "b"], "rate": "4Mbps", "delay": "20ms"}
    flows = [
        {"name": "one", "from": "a", "to": "b", "cc": "westwood+", "recovery": "sack"},
        {"name": "two", "from": "a", "to": "b", "cc": "cubic", "packet": "1500B", "size": "1MB"},
    ]
    scenario = Scenario(name="s", duration="20s", profile="ns3-3.44", link=[link], flow=flows)
    planned = experiment.plan(scenario, seeds=1)
    rows = experiment.collect(planned, engines.find("ns3"), workers=1, track=track).rows
    one, two = rows.to_dicts()
    assert (one["cc"], two["cc"]) == ("westwood+", "cubic")
    assert two["completed"] == 1 and 1 < two["completed_s"] < 20
    assert two["sent"] == pytest.approx(1e6 / 1460, rel=0.2) and one["sent"] > 2000
    assert one["loss_ratio"] < 0.1


@needs_runner
def test_the_command_line_runs_it(westwood: Callable[..., Any]) -> None:
    options = ["--set", "profile=ns3-3.44", "--set", "tcp.recovery=sack", "--set", "duration=10s"]
    called = westwood("run", "table1", "--engine", "ns3", *options, "--seeds", "2", "--out", "r")
    assert (called.code, called.err) == (0, "")
    rows = pl.read_parquet("r/runs.parquet")
    assert rows["engine"].to_list() == ["ns3", "ns3"] and rows["goodput_bps"].min() > 1e5


@needs_runner
def test_a_trace_has_the_simulators_columns_and_tells_of_the_same_run() -> None:
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
def test_queue_drops_are_counted_once() -> None:
    changes = {"tcp.cc": "sack", "bottleneck.loss.rate": 0.0, "bottleneck.queue.limit": "5p"}
    scenario = Scenario.preset("table1").with_settings({**SAME, **changes})
    result = ns3.simulate(scenario, 1, trace=True, queues=True)
    row = result.flow_rows[0]
    assert result.drops.filter(kind="queue").height == row["queue_drops"] > 0
    assert row["retransmitted"] == pytest.approx(row["queue_drops"], rel=0.1)


@needs_runner
def test_options_of_the_protocol_reach_ns3_and_only_their_flow() -> None:
    def goodput(cc: object) -> float:
        scenario = Scenario.preset("table1").with_settings({**SAME, "tcp.cc": cc})
        return float(ns3.simulate(scenario, 1).flow_rows[0]["goodput_bps"])

    plain, slow = goodput("westwood"), goodput({"name": "westwood", "tau": "10s"})
    assert plain != slow and goodput({"name": "westwood", "tau": "500ms"}) == plain
    link = {"name": "l", "between": ["a", "b"], "rate": "8Mbps", "delay": "45ms"}
    both = [
        {"name": name, "from": "a", "to": "b", "cc": cc, "recovery": "sack"}
        for name, cc in (("slow", {"name": "westwood", "tau": "10s"}), ("plain", "westwood"))
    ]
    scenario = Scenario(name="s", duration="2s", profile="ns3-3.44", link=[link], flow=both)
    trace = ns3.simulate(scenario, 1, trace=True).trace.filter(pl.col("time_s") > 1)
    estimates = trace.group_by("flow").agg(pl.col("estimate_bps").fill_nan(None).mean())
    seen = dict(estimates.iter_rows())
    assert seen["slow"] < 0.5 * seen["plain"]  # a filter of 10 s has not yet risen


@needs_runner
def test_both_engines_lose_the_packets_that_a_script_lists() -> None:
    lost = {"kind": "script", "packets": [40, 41, 90], "on": "forward"}
    scenario = Scenario.preset("table1").with_settings(SAME | {"bottleneck.loss": lost})
    for engine in (simulate, ns3.simulate):
        row = engine(scenario, 1).flow_rows[0]
        assert (row["lost"], row["queue_drops"]) == (3, 1)  # and the queue overflows once
        assert (row["retransmitted"], row["fast_recoveries"]) == (4, 3)


@needs_runner
def test_the_same_losses_give_the_same_goodput() -> None:
    """Both agree within 5 % (`westwood validate` compares all points)."""
    five = ("sack", "reno", "newreno", "westwood", "westwood+")
    point = {"rate": "2Mbps", "delay": "0.01ms", "loss": 0.001}
    assert point in GRID.points
    chosen = {cc: flow for cc, flow in GRID.protocols.items() if cc in five}
    few = replace(GRID, protocols=chosen, points=[point])
    planned = validation.plan(few, 2, "60s")
    done = validation.run(planned, few, engines.find("ns3"), workers=2, track=track)
    assert done is not None and done.points.height == 5 and done.close == 1


@pytest.mark.parametrize("option", [["--events"], ["--pcap", "f.pcap", "--at", "access"]])
@needs_runner
def test_what_only_the_simulator_records_is_said(
    westwood: Callable[..., Any], option: list[str]
) -> None:
    settings = ["--set", "profile=ns3-3.44", "--set", "tcp.recovery=sack", "--cc", "sack"]
    called = westwood("trace", "table1", "--engine", "ns3", *settings, "--out", "o", *option)
    assert called.code == 2 and f"{option[0]}: comes of the simulator only" in called.err


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"profile": "rfc"}, r"access\.overhead = \"0B\": --engine ns3 expects the \"2B\""),
        ({"tcp.recovery": "prr"}, r"tcp\.recovery = \"prr\": --engine ns3 expects one of tahoe"),
        (
            {"tcp.cc": "westwood+-linux24"},
            r"tcp\.cc = \"westwood\+-linux24\": --engine ns3 expects",
        ),
        ({"bottleneck.loss": {"kind": "bits", "rate": 1e-6}}, r"bottleneck\.loss\.kind = \"bits\""),
        (
            {"tcp.cc": {"name": "cubic", "hystart": True}},
            r"tcp\.cc\.hystart = true: --engine ns3 expects none: in ns-3 \(class TcpCubic\)",
        ),
        (
            {"tcp.cc": {"name": "veno", "veno_beta": 4}},
            r"^tcp\.cc\.veno_beta = 4: --engine ns3 expects none: in ns-3 \(class TcpVeno\) "
            r"this control's settings can't be set$",
        ),
        ({"bottleneck.jitter": "1ms"}, r"bottleneck = \"bottleneck\": --engine ns3 expects no"),
    ],
)
def test_what_ns3_can_not_do_is_said(changes: dict[str, Any], problem: str) -> None:
    scenario = Scenario.preset("table1").with_settings({**SAME, "tcp.cc": "sack"})
    with pytest.raises(InputError, match=problem):
        ns3.plan(scenario.with_settings(changes))


def test_without_the_runner_there_is_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ns3.VARIABLE, "/nowhere/ww-ns3-runner")
    with pytest.raises(UnavailableError, match=r"names no program: make ns3"):
        ns3.program()
