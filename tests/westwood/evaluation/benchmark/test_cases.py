# SPDX-License-Identifier: BSD-3-Clause
"""The judge's cases are drawn for judging only, fit their cells, and repeat for a seed."""

import pytest

from westwood.evaluation.benchmark.cases import BBR, CUBIC, Case
from westwood.evaluation.benchmark.earlier import MIXES, POINTS, QUEUES_BDP
from westwood.evaluation.paths import SECTIONS
from westwood.experiments.control import Control
from westwood.scenario.paths import population
from westwood.scenario.paths.environment import role


def cases(section: str, seed: int = 5, paths: int = 40) -> list[Case]:
    return list(SECTIONS[section].cases(seed, paths))


@pytest.mark.parametrize("section", SECTIONS)
def test_no_search_draws_them_and_more_paths_keep_the_first_ones(section):
    few, many = cases(section), cases(section, paths=120)
    assert {population.purpose_of(case.environment) for case in many} == {"judge"}
    for cell in {case.cell for case in few}:
        first = [case.environment for case in few if case.cell == cell]
        more = [case.environment for case in many if case.cell == cell]
        assert more[: len(first)] == first and len(more) > len(first)
    assert few == cases(section) != cases(section, seed=6)


@pytest.mark.parametrize("section", SECTIONS)
def test_controls_differ_only_in_the_flows_under_test(section):
    by_cell = {case.cell: case for case in cases(section)}
    for case in by_cell.values():
        ours = case.scenario(Control("westwood+", {"filter": "none"}))
        cubics = case.scenario(CUBIC)
        assert ours.link == cubics.link and ours.duration == cubics.duration
        differing = {
            role(flow.name)
            for flow, other in zip(ours.flows, cubics.flows, strict=True)
            if flow.cc != other.cc
        }
        assert differing == ({"short"} if section == "short" else {"tcp"})


def test_lone_flows_lose_packets_only_as_declared():
    for case in cases("clean", paths=100):
        path = case.environment
        assert (path.flows, path.loss, path.aqm, path.reverse_flows) == (1, "none", "droptail", 0)
        assert 1e6 <= path.rate_bps <= 1e9 and 2_000 <= path.delay_us <= 600_000
    for case in cases("loss", paths=100):
        path = case.environment
        assert 1e6 <= path.rate_bps <= 300e6 and 5_000 <= path.delay_us <= 400_000
        assert path.loss == "uniform" and 1e-4 <= path.loss_rate <= 2e-2


def test_cells_with_competing_cubic_are_as_declared():
    expected = {f"{a}+{b}, {q:g} BDP": (a, b, q) for a, b in MIXES for q in QUEUES_BDP}
    case_list = cases("beside")
    assert {case.cell for case in case_list} == set(expected)
    for case in case_list:
        ours, theirs, queue_bdp = expected[case.cell]
        path = case.environment
        assert (path.flows, path.beside_flows, path.beside) == (ours, theirs, "cubic")
        assert path.queue_packets == pytest.approx(queue_bdp * path.bdp_packets, abs=0.51)


def test_the_other_sections_are_as_declared():
    for case in cases("among"):
        path = case.environment
        assert (f"{path.flows} flows", path.beside) == (case.cell, None)
        a_packet_us = 12_000 / (path.rate_bps / 1e6)
        assert path.jitter_us == pytest.approx(a_packet_us, abs=1)
        assert 4 <= (path.bdp_packets + path.queue_packets) / path.flows <= 400
    for case in cases("mixed"):
        trips = {flow.from_ for flow in case.scenario(BBR).flows}
        assert len(trips) == 5 and case.environment.delay_us == 10_000
        assert case.environment.rtt_spread == 16
    for case in cases("collapse"):
        assert case.environment.flows == 100
        assert case.environment.bdp_packets == pytest.approx(100, rel=0.01)
    for case in cases("short"):
        scenario = case.scenario(BBR)
        (short,) = (flow for flow in scenario.flow if flow.name == "short")
        assert scenario.duration - short.stop == 20 * 10**12, "the last transfers can end"
        assert [flow.cc.name for flow in scenario.flow if flow.name != "short"] == (
            ["cubic"] if case.cell == "beside CUBIC" else []
        )
    for case in cases("point"):
        mbps, rtt_ms, queue_bdp, loss = POINTS[case.cell]
        path = case.environment
        assert (path.rate_bps, path.delay_us) == (mbps * 10**6, rtt_ms * 1000)
        assert path.queue_bdp == pytest.approx(queue_bdp, rel=0.01) and path.loss_rate == loss
