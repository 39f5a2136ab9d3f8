# SPDX-License-Identifier: BSD-3-Clause
"""What the papers' observers read from a traced run."""

import math
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from westwood.engines.simulator import simulate
from westwood.papers import observers
from westwood.scenario import Scenario
from westwood.units import PS_PER_S


def recoveries(scenario: Scenario, lost: list[int]) -> dict[str, float]:
    """Runs two seconds, in which only these packets are lost."""
    loss = {"kind": "script", "packets": lost, "on": "forward"}
    settings = {"bottleneck.loss": loss, "bottleneck.queue.limit": "1000p"}
    changed = scenario.with_settings({**settings, "duration": "2s"})
    return observers.RECOVERIES.read(simulate(changed, trace=True, events=True))["tcp"]


def test_without_a_loss_there_is_no_recovery_to_measure(small):
    measured = recoveries(small, [])
    assert math.isnan(measured.pop("backlog_cleared"))
    assert set(measured.values()) == {0.0}


@pytest.mark.parametrize("lost", [[40], [40, 200]])
def test_each_loss_makes_a_recovery(small, lost):
    measured = recoveries(small, lost)
    assert measured["recoveries_seen"] == len(lost)
    assert measured["longest_silence_rtts"] > 0
    assert 0 <= measured["backlog_cleared"] <= 1


def test_a_backlog_is_cleared_if_the_rtt_falls_to_its_least_within_three_rtts():
    """The least RTT, 0.1 s, returns 0.25 s after the first recovery and 0.4 s after the second."""
    rtts = {0.0: 0.1, 1.0: 0.3, 1.25: 0.105, 2.0: 0.3, 2.4: 0.1}
    trace = pl.DataFrame({"time_s": list(rtts), "rtt_s": list(rtts.values())})
    events = pl.DataFrame({"time_s": [1.0, 2.0], "kind": ["exit", "exit"]})
    result: Any = SimpleNamespace(trace=trace, events=events)
    assert observers._backlog_cleared(result) == {"backlog_cleared": 0.5}


def plateaus(cc: str, settings: Mapping[str, object] | None = None) -> dict[str, float]:
    wired = Scenario.preset("plateau-wired").with_settings({"duration": "40s", "tcp.cc": cc})
    result = simulate(wired.with_settings(settings or {}), trace=True, events=True)
    return observers.STAGES.read(result)["tcp"]


def test_only_the_window_with_plateaus_has_stages_and_it_swings_less():
    stages, without = plateaus("westwoodnr+"), plateaus("westwoodnr")
    assert stages["stages"] >= 3 and stages["stage_ratio"] >= 1
    assert without["stages"] == 0
    assert 0 < stages["cwnd_swing"] < without["cwnd_swing"]


def test_a_window_that_grows_every_second_round_trip_has_no_stages():
    """With a queue of 200 ms the window stays for more than half a second as it grows."""
    slow = {"tcp.delayed_ack": 2, "bottleneck.queue.limit": "120p"}
    assert plateaus("westwoodnr", slow)["stages"] == 0


def test_the_use_of_a_full_link_lacks_only_what_the_start_left_idle():
    result = simulate(
        Scenario.preset("plateau-wired").with_settings({"duration": "30s"}), events=True
    )
    second, use = observers.use_over_time(result)
    assert second.to_list() == list(range(30))
    idle_s = ((1 - use) * (second + 1)).filter(second >= 10)
    assert idle_s.to_list() == pytest.approx([idle_s[0]] * 20, abs=0.02)
    assert 0 < idle_s[0] < 2


def test_a_second_without_an_ack_lowers_the_running_mean():
    """A packet a second fills this link; after a silence in second 2, two packets make it up."""
    acks = {0.5: 1, 1.5: 2, 3.1: 3, 3.6: 4}
    events = pl.DataFrame({"time_s": list(acks), "segment": list(acks.values())})
    link = SimpleNamespace(mean_rate_bps=lambda direction: 8000.0)
    flow = SimpleNamespace(packet=1000)
    scenario = SimpleNamespace(flows=[flow], link=[link], duration=4 * PS_PER_S)
    result: Any = SimpleNamespace(scenario=scenario, events=events.with_columns(kind=pl.lit("ack")))
    second, use = observers.use_over_time(result)
    assert dict(zip(second, use, strict=True)) == {0: 1.0, 1: 1.0, 2: 2 / 3, 3: 1.0}


def test_a_window_that_rises_once_in_a_while_is_counted():
    two = Scenario.preset("plateau-friendly").with_settings({"duration": "40s"})
    measured = observers.TWO_WINDOWS.read(simulate(two, trace=True))
    assert measured["S1-tcp"]["late_cwnd"] > measured["S2-tcp"]["late_cwnd"] > 1
    assert 3 <= measured["S2-tcp"]["window_rises"] < 40
    distance = measured["S1-tcp"]["windows_apart"] * measured["S1-tcp"]["late_cwnd"]
    assert distance == pytest.approx(
        measured["S2-tcp"]["windows_apart"] * measured["S2-tcp"]["late_cwnd"]
    )
