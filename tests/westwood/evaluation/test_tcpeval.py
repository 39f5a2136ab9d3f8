# SPDX-License-Identifier: BSD-3-Clause
"""The suite of 2014: its loads, its packets and its ramp-up."""

import pytest

from westwood.engines import simulator
from westwood.engines.contract import Job
from westwood.evaluation import tcpeval
from westwood.experiments.control import Control

CUBIC = Control("cubic")
CRITERIA = {criterion.name: criterion for criterion in tcpeval.PART.criteria}


@pytest.mark.parametrize("load", tcpeval.LOADS)
def test_the_transfers_that_arrive_bring_the_load(load):
    central = tcpeval.CENTRALS[1]
    brought = sum(
        flow.arrivals.size * 8e12 / flow.arrivals.every
        for flow in tcpeval.dumbbell(central, load, CUBIC).flows
        if flow.arrivals
    )
    assert brought / (central.mbps * 1e6) == pytest.approx(load / 100 * tcpeval._PAYLOAD, rel=0.01)


def test_a_tenth_of_the_transfers_have_small_packets():
    rates = {1500: 0.0, 536: 0.0}
    for flow in tcpeval.dumbbell(tcpeval.CENTRALS[1], 60, CUBIC).flows:
        assert flow.arrivals
        rates[flow.packet] += 1 / flow.arrivals.every
    assert rates[536] / sum(rates.values()) == pytest.approx(0.1, rel=0.01)


def test_a_ramp_up_begins_in_congestion_avoidance():
    """From 10 segments on, one more each round trip of 80 ms: 104 segments take 7 of them."""
    ramp_up = CRITERIA["tcpeval-ramp-up"]
    (point,) = (
        candidate
        for candidate in ramp_up.points
        if candidate.name.startswith("0.15 MB, 1000 Mb/s, 80/")
    )
    (scenario,) = point.runs(Control("sack")).values()
    rows = simulator.prepare(Job(scenario, [1]))(1)
    assert ramp_up.measure({"alone": rows}) / 0.08 == pytest.approx(9, abs=1.5)


def test_datagrams_that_grow_in_steps_reach_the_rate_of_the_others():
    falls, rises, steps = tcpeval._TRANSIENTS.values()
    rates = {fall["app"]["rate"] for fall in (*falls, *rises)}
    assert rates == {"75000kbps"} and {step["app"]["rate"] for step in steps} == {"2500kbps"}
    assert [step["start"] for step in steps] == [f"{second}s" for second in range(30)]
