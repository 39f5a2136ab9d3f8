# SPDX-License-Identifier: BSD-3-Clause
"""The objective: outcomes of runs, targets, and a cost that falls as targets are approached."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from pathlib import Path

import pytest
from golden_files import assert_golden

from westwood.scenario.paths.environment import Environment
from westwood.scenario.paths.families import FAMILIES
from westwood.search import objective
from westwood.search.evaluation import effect_interval
from westwood.search.objective import TARGETS
from westwood.search.outcome import Outcome, PathOutcomes

PATH = Environment(10_000_000, 40_000, 33, 10_000_000, 8)
NOTHING = math.nan
TYPICAL = Outcome(9e6, 0.0, NOTHING, 10.0, NOTHING, NOTHING, 0.01)


def target(name: str) -> objective.Target:
    return next(target for target in TARGETS if target.name == name)


def seen(
    outcome: Outcome,
    cubic: Outcome = TYPICAL,
    bbr: Outcome = TYPICAL,
    westwood: Outcome = TYPICAL,
    **path: object,
) -> PathOutcomes:
    return PathOutcomes(replace(PATH, **path), outcome, cubic, bbr, westwood)  # type: ignore[arg-type]


def test_an_outcome_groups_flows_by_role():
    row = {"sent": 100, "queue_drops": 3, "lost": 2, "mean_queue": 7.0, "retransmitted": 6}
    short = {"completion_p50_s": 0.2, "completion_p95_s": 0.9}
    rows = [
        {**row, "flow": "tcp-1", "goodput_bps": 3e6},
        {**row, "flow": "tcp-2", "goodput_bps": 1e6},
        {**row, "flow": "beside", "goodput_bps": 5e6, "lost": 50},
        {**row, "flow": "short", "goodput_bps": 1e5, "sent": 50, **short},
    ]

    read = Outcome.of(rows)

    assert read == Outcome(4e6, 5e6, 0.8, 7.0, 0.2, 0.9, 15 / 250, 1e6, 18 / 250, 12 / 250)
    assert Outcome.read(read.entry()) == read


def test_the_worst_seed_counts_for_what_is_resent():
    once = replace(TYPICAL, resent=0.01, resent_beyond=0.01)
    twice = replace(TYPICAL, goodput_bps=7e6, resent=0.5, resent_beyond=0.3)

    both = Outcome.mean([once, twice])

    assert (both.goodput_bps, both.resent, both.resent_beyond) == (8e6, 0.5, 0.3)
    assert (
        target("resent").value([seen(both, once)])
        > 1.5
        > target("resent").value([seen(once, once)])
    )
    some = [seen(outcome, once) for outcome in (once, both)]
    assert not target("runaway").reached(target("runaway").value(some))
    assert math.isnan(target("runaway").value([seen(both, both)])), "CUBIC does so, too"


def test_the_guide_has_every_target_as_it_is_declared():
    guide = (Path(__file__).parents[3] / "docs" / "control-reference.md").read_text("utf-8")
    for goal in TARGETS:
        wanted = f"{'at most' if goal.quantity.at_most else 'at least'} {goal.bound:g}"
        what = f"{goal.statistic} of {goal.quantity.what}"
        row = f"| {goal.name} | `{goal.family}` | {what} | {wanted} |"
        assert row in guide.splitlines()


def test_every_family_of_a_target_is_drawn():
    assert {target.family for target in TARGETS} < set(FAMILIES)
    assert len({target.name for target in TARGETS}) == len(TARGETS)


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_a_penalty_grows_with_the_shortfall_and_is_small_without_one(target):
    worse = target.quantity.scale * (1 if target.quantity.at_most else -1)

    assert target.reached(target.bound)
    assert not target.reached(target.bound + worse)
    far = [target.penalty(target.bound + k * worse) for k in (-20, -3, 0, 3, 20, 1000)]
    assert far == sorted(far)
    assert far[0] < 1e-6
    assert far[3] == pytest.approx(3, abs=0.1)
    assert far[-1] == pytest.approx(1000, abs=0.1)


def test_the_worst_tenth_is_on_the_bad_side():
    values = [1 + n / 100 for n in range(11)]

    assert target("alone, worst").of(values) == pytest.approx(1.01)
    assert target("alone").of(values) == pytest.approx(1.05)
    assert target("CUBIC keeps, worst").of(values) == pytest.approx(1)
    assert target("runaway").of(values) == pytest.approx(1.1)
    longer = replace(target("queue"), statistic="worst tenth")
    assert longer.of(values) == pytest.approx(1.09)


def test_loss_binds_where_bbr_has_twice_cubics():
    judged, bbr = replace(TYPICAL, goodput_bps=6e6), replace(TYPICAL, goodput_bps=8e6)
    slow, fast = replace(TYPICAL, goodput_bps=4e6), replace(TYPICAL, goodput_bps=4.1e6)

    assert target("loss binds").value([seen(judged, slow, bbr)]) == pytest.approx(0.75)
    assert math.isnan(target("loss binds").value([seen(judged, fast, bbr)]))
    assert math.isnan(target("loss binds").value([seen(judged, slow, bbr, queue_packets=3)]))


def test_bursts_are_compared_with_the_better_of_bbr_and_westwood():
    judged, bbr = replace(TYPICAL, goodput_bps=6e6), replace(TYPICAL, goodput_bps=10e6)
    low, high = replace(TYPICAL, goodput_bps=4e6), replace(TYPICAL, goodput_bps=12e6)

    assert target("bursts").value([seen(judged, TYPICAL, bbr, low)]) == pytest.approx(0.75)
    assert target("bursts").value([seen(judged, TYPICAL, bbr, high)]) == pytest.approx(0.5)


def test_what_cubic_keeps_is_compared_with_its_share_against_cubic():
    """CUBIC's share is compared with its own, not with an even one, since round trips differ."""
    cubic = replace(TYPICAL, goodput_bps=4e6, beside_bps=4.4e6)
    judged = replace(TYPICAL, goodput_bps=6e6, beside_bps=2.2e6)
    path_outcomes = seen(judged, cubic, flows=1, beside="cubic", beside_flows=1)

    assert target("CUBIC keeps").value([path_outcomes]) == pytest.approx(0.5)
    assert target("own share").value([path_outcomes]) == pytest.approx(1.5)


def test_reaching_every_target_costs_less_than_missing_one():
    there = {
        target_.name: target_.bound + (-0.2 if target_.quantity.at_most else 0.2)
        for target_ in TARGETS
    }

    for declared in TARGETS:
        missed = {
            **there,
            declared.name: declared.bound + (0.2 if declared.quantity.at_most else -0.2),
        }
        assert objective.cost(there) < objective.cost(missed)
    assert objective.cost(there) < 0.1


def test_the_interval_of_an_effect_is_that_of_resampled_paths():
    """The second control gets a tenth less on each path, and a little more or less by chance."""
    choices = random.Random(4)

    def drawn(share: float) -> list[PathOutcomes]:
        outcomes = []
        for _ in range(12):
            outcome = replace(
                TYPICAL,
                goodput_bps=share * choices.uniform(8e6, 10e6),
                beside_bps=choices.uniform(4e6, 5e6),
                jain=choices.uniform(0.8, 1),
                short_p50_s=choices.uniform(0.2, 0.3),
                latest_bps=share * choices.uniform(3e6, 5e6),
                resent=0.02,
                resent_beyond=choices.uniform(0.01, 0.03),
            )
            reference = replace(
                outcome, goodput_bps=9e6, beside_bps=4.5e6, jain=0.9, latest_bps=4e6
            )
            outcomes.append(seen(outcome, reference, reference, reference))
        return outcomes

    families = list(dict.fromkeys(target.family for target in TARGETS))
    first, second = ({family: drawn(share) for family in families} for share in (1.0, 0.9))
    low, high = effect_interval(first, second)
    effect = objective.cost(objective.values(second)) - objective.cost(objective.values(first))
    assert low < effect < high
    assert_golden("search_effect", {"low": float(f"{low:.9g}"), "high": float(f"{high:.9g}")})
