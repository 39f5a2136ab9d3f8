# SPDX-License-Identifier: BSD-3-Clause
"""ns-3 as an engine: the same scenario there, its rows, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from westwood import Scenario, experiment, ns3, simulate
from westwood.errors import InputError, UnavailableError

BUILT = Path(__file__).parents[2] / "build" / "ns3" / "wheel" / "ww-ns3-runner"
needs_runner = pytest.mark.skipif(not BUILT.exists(), reason="no ns-3 runner: make ns3")
SAME = {"profile": "ns3-3.44", "tcp.recovery": "sack", "duration": "60s"}


def track(runs: Any, total: int) -> Any:
    return runs


@needs_runner
@pytest.mark.parametrize("cc", ["sack", "westwood", "westwood+", "westwood+-linux", "cubic"])
def test_without_losses_both_engines_deliver_the_same(cc: str) -> None:
    scenario = Scenario.preset("table1").with_settings(
        {**SAME, "tcp.cc": cc, "bottleneck.loss.rate": 0.0}
    )
    planned = experiment.plan(scenario, seeds=1)
    theirs = experiment.collect(planned, workers=1, track=track, prepare=ns3.prepare).rows
    ours = simulate(scenario, 1).rows
    assert theirs["engine"][0] == "ns3" and set(theirs.columns) == set(ours.columns)
    for column, tolerance in (("goodput_bps", 0.01), ("sent", 0.01), ("mean_cwnd", 0.1),
                              ("min_rtt_s", 0.05), ("throughput_bps", 0.01)):  # fmt: skip
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
    rows = experiment.collect(planned, workers=1, track=track, prepare=ns3.prepare).rows
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
        ({"bottleneck.jitter": "1ms"}, r"bottleneck = \"bottleneck\": --engine ns3 expects no"),
    ],
)
def test_what_ns3_can_not_do_is_said(changes: dict[str, Any], problem: str) -> None:
    scenario = Scenario.preset("table1").with_settings({**SAME, "tcp.cc": "sack"})
    with pytest.raises(InputError, match=problem):
        ns3.network(scenario.with_settings(changes))


def test_without_the_runner_there_is_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ns3.VARIABLE, "/nowhere/ww-ns3-runner")
    with pytest.raises(UnavailableError, match=r"names no program: make ns3"):
        ns3.runner()
