# SPDX-License-Identifier: BSD-3-Clause
"""Each row on the wide population fails for a control that deserves it, and CUBIC passes."""

import math
from typing import Any

import pytest

from westwood import simulate
from westwood.evaluation.benchmark.cases import BBR, CUBIC, CUBIC_AGAIN, WESTWOOD, Case
from westwood.evaluation.benchmark.targets import CaseRuns, Target
from westwood.evaluation.benchmark.wide import CROWD_BDP, SHARED_SEEDS
from westwood.evaluation.paths import SECTIONS, TARGETS
from westwood.experiments.control import Control
from westwood.scenario.paths import population
from westwood.scenario.paths.environment import Environment

Rows = list[dict[str, Any]]
PLACE = population.seed_of("judge", 7)


def target(name: str) -> Target:
    return next(target for target in TARGETS if target.name == name)


def flow(name: str, mbps: float, **more: Any) -> dict[str, Any]:
    defaults = {"sent": 1000, "retransmitted": 10, "lost": 0}
    return {"flow": name, "goodput_bps": mbps * 1e6, **defaults, **more}


def ran(section: str, rows: list[Rows], **others: list[Rows]) -> CaseRuns:
    """Makes a path of a section; `again` is CUBIC on other seeds."""
    named = {"again": CUBIC_AGAIN.text, "westwood": WESTWOOD.text}
    case = next(SECTIONS[section].cases(5, 4))
    return CaseRuns(case, rows, {named.get(key, key): runs for key, runs in others.items()})


def both(ours: float, theirs: float, **more: Any) -> Rows:
    return [flow("tcp", ours, **more), flow("beside", theirs)]


def value(name: str, *seen: CaseRuns) -> float:
    return target(name).of(seen).estimate.value


def is_reached(name: str, *seen: CaseRuns) -> bool:
    threshold = target(name).threshold
    assert threshold is not None
    return threshold.holds(value(name, *seen))


def test_what_cubic_keeps_is_summed_over_the_seeds_of_a_path():
    good = ran("shared", [both(5, 5), both(5, 5)], cubic=[both(4, 4), both(6, 6)])
    bad = ran("shared", [both(9, 1), both(7, 3)], cubic=[both(4, 4), both(6, 6)])

    assert value("shared-median", good) == pytest.approx(1)
    assert value("shared-worst", good, good, bad) == pytest.approx(0.4)
    assert is_reached("shared-worst", good) and not is_reached("shared-worst", good, bad)
    assert is_reached("shared-median", good, good, bad)
    assert target("shared-worst").of([good, bad]).worst[0][1] == bad.case


def test_cubic_is_compared_with_itself_on_other_seeds_for_any_control():
    noisy = ran("shared", [both(9, 1)], cubic=[both(5, 5)], again=[both(6, 4)])

    assert value("shared-self", noisy) == pytest.approx(0.8)
    assert not is_reached("shared-self", noisy)


def test_what_is_resent_counts_in_the_worst_seed_without_what_the_wire_lost():
    calm, wild = both(5, 5), both(5, 5, retransmitted=40)
    lossy = both(5, 5, retransmitted=40, lost=30)
    seldom, often = (
        ran("shared", [calm, calm, rows], cubic=[calm, calm, calm]) for rows in (lossy, wild)
    )

    assert is_reached("resent-tenth", seldom) and not is_reached("resent-tenth", often)
    assert value("resent-worst", seldom, often) == pytest.approx(0.041 / 0.011)


def test_a_run_that_resends_a_fifth_in_vain_has_collapsed():
    calm, wild = both(5, 5), both(5, 5, retransmitted=300)
    lossy = both(5, 5, retransmitted=300, lost=150)

    assert value("runaways", ran("shared", [calm, wild, wild], cubic=[calm])) == 2
    assert not is_reached("runaways", ran("shared", [wild], cubic=[calm]))
    for judged, cubic in ((calm, calm), (lossy, calm), (wild, wild)):
        assert is_reached("runaways", ran("shared", [judged], cubic=[cubic]))


def test_a_crowd_is_compared_with_a_crowd_of_cubic():
    equal, uneven = ([flow("tcp-1", 5), flow("tcp-2", b)] for b in (5, 1))

    assert value("crowd", ran("crowd", [uneven], cubic=[equal])) == pytest.approx(36 / 52 - 1)
    assert not is_reached("crowd", ran("crowd", [uneven], cubic=[equal]))
    assert is_reached("crowd", ran("crowd", [uneven], cubic=[uneven]))


def test_the_latecomer_is_the_last_flow():
    late, early = ([flow("tcp-1", 5), flow("tcp-2", b)] for b in (1, 5))

    assert value("late-median", ran("late", [late], cubic=[early])) == pytest.approx(0.2)
    assert not is_reached("late-tenth", ran("late", [late], cubic=[early]))


def test_bursts_are_compared_with_the_better_of_two_references():
    seen = ran("bursts", [both(6, 0)], bbr=[both(10, 0)], westwood=[both(4, 0)])
    other = ran("bursts", [both(6, 0)], bbr=[both(5, 0)], westwood=[both(12, 0)])

    assert value("bursts-median", seen) == pytest.approx(0.75)
    assert value("bursts-median", other) == pytest.approx(0.5)


def test_cubics_transfers_take_longer_with_a_competitor():
    slow, fast = ([flow("short", 1, completion_p50_s=completion_s)] for completion_s in (2.9, 0.37))

    assert not is_reached("brief-median", ran("brief", [slow], cubic=[fast]))
    assert is_reached("brief-tenth", ran("brief", [fast], cubic=[fast]))


SHORT = Environment(50_000_000, 20_000, 5, 10_000_000, PLACE, beside="cubic", beside_flows=1)


def runs(case: Case, control: Control) -> list[Rows]:
    scenarios = (case.run(control, number) for number in range(case.seeds))
    return [simulate(scenario, seed).flow_rows for scenario, seed in scenarios]


@pytest.mark.parametrize(("cc", "does_harm"), [("cubic", False), ("sack", False), ("bbr", True)])
def test_harm_in_a_short_queue_is_seen(cc, does_harm):
    """BBRv1 takes nearly all of a link with 1.2 ms of queue and an RTT of 20 ms; Reno does not."""
    case = Case("shared", "", SHORT, seeds=8)
    others = {control_.text: runs(case, control_) for control_ in (CUBIC, CUBIC_AGAIN)}
    seen = CaseRuns(case, runs(case, Control(cc)), others)

    for row in ("shared-tenth", "shared-worst", "resent-tenth"):
        assert is_reached(row, seen) is not does_harm, row


def test_the_second_run_of_cubic_has_seeds_of_its_own():
    for case in SECTIONS["shared"].cases(5, 20):
        first, again = (
            {case.run(control_, number)[1] for number in range(case.seeds)}
            for control_ in (CUBIC, CUBIC_AGAIN)
        )
        assert len(first) == len(again) == SHARED_SEEDS and not first & again
        for seed in first | again:
            assert seed % 8 == PLACE % 8, "the judge's"


def test_sections_are_as_declared():
    deep, thin = (
        [c for c in SECTIONS["wire"].cases(5, 40) if c.cell == name] for name in ("deep", "thin")
    )
    assert (
        min(c.environment.queue_bdp for c in deep)
        >= 0.1
        > max(c.environment.queue_bdp for c in thin)
    )
    for case in SECTIONS["crowd"].cases(5, 40):
        path = case.environment
        queue_bdp = {f"{bdp:g} BDP": bdp for bdp in CROWD_BDP}[case.cell]
        assert path.queue_packets == pytest.approx(queue_bdp * path.bdp_packets, abs=0.51)
        assert 2 <= path.flows <= 50 and path.queue_packets >= 2
    for case in SECTIONS["brief"].cases(5, 40):
        scenario = case.scenario(BBR)
        (short,) = (flow for flow in scenario.flow if flow.name == "short")
        assert short.cc.name == "cubic" and scenario.duration - short.stop == 20 * 10**12
    for case in SECTIONS["late"].cases(5, 40):
        starts = [flow.start for flow in case.scenario(BBR).flow]
        assert (
            len(starts) == 2
            and starts[0] == 0
            and 3 * starts[1] == pytest.approx(case.environment.duration_us * 10**6, rel=0.01)
        )
    assert {c.environment.loss for c in SECTIONS["bursts"].cases(5, 80)} == {
        "two-state",
        "recorded",
    }
    assert math.isnan(target("wire-thin").bound)
