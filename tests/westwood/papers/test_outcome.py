# SPDX-License-Identifier: BSD-3-Clause
"""The cost of a setting counts failing claims first, then their places and the numbers."""

from types import SimpleNamespace
from typing import Any

import pytest
from invented import estimates

from westwood.papers import claims
from westwood.papers.infer import published, space
from westwood.papers.infer.evaluate import ClaimOutcome, ClaimPlan, ClaimTestSet
from westwood.papers.infer.result import InferenceResult, TriedSetting


def cost(*failures: int) -> float:
    return ClaimOutcome({f"claim-{n}": count for n, count in enumerate(failures)}, {}).cost


def test_a_claim_that_fails_in_many_places_costs_a_little_more():
    """Half of the mean of count / (1 + count) over all claims, without published numbers."""
    none = published.distance({}) / 2
    assert cost(0, 0) == none
    assert cost(1, 0) == pytest.approx(1 + (1 / 2) / 2 / 2 + none)
    assert cost(9, 0) == pytest.approx(1 + (9 / 10) / 2 / 2 + none)
    assert cost(1, 3) == pytest.approx(2 + (1 / 2 + 3 / 4) / 2 / 2 + none)
    assert cost(1, 0) < cost(9, 0) < cost(1, 1) < 3
    assert ClaimOutcome({}, {}).cost == none


def test_a_claim_holds_that_fails_nowhere():
    assert ClaimOutcome({"a": 0, "b": 1, "c": 0}, {}).held == ["a", "c"]


def test_a_claims_measurements_are_in_the_units_of_their_names():
    (claim_verdict,) = claims.check(
        ["ns3.fig11.ack_compression"], {"ack-compression": estimates(5.2e5)}
    )
    assert claim_verdict.measured == {
        "westwood_peak_bps": 8e6,
        "westwood+_mean_bps": 4.9e5,
        "westwood+_bps": [3e5, 5.2e5],
    }


def test_a_witness_has_its_claim_on_both_sets_of_seeds_that_confirm():
    """The search found the claim in settings 1 to 4; the profile and the inferred one lack it."""
    open_ = space.of("linux-2003")
    ids = [open_claim.id for open_claim in open_.claims]
    claim, paths = ids[0], open_.settings[0].choices
    holds, fails = (
        ClaimOutcome(dict.fromkeys(ids, count), {}, dict.fromkeys(ids, "why")) for count in (0, 1)
    )
    chosen = [{**open_.profile, open_.settings[0].key: path} for path in (*paths, "made up")]
    tried = {
        n: TriedSetting(n, choice, holds if n else fails) for n, choice in enumerate(chosen[:5])
    }
    judged = {
        (purpose, number, tuple(ids)): fails
        for purpose in ("choosing", "fresh")
        for number in tried
    }
    alone = {("choosing", 1): holds, ("witness", 1): fails, ("choosing", 2): fails}
    alone |= {("choosing", 3): holds, ("witness", 3): holds}
    inference_result = InferenceResult(open_, 1, tried, judged)
    assert inference_result.witness(claim) is None
    judged |= {(*key, (claim,)): outcome for key, outcome in alone.items()}
    assert inference_result.witness(claim) == 3
    assert inference_result._unconfirmed(claim) == ["why", "why"]
    judged["choosing", 1, tuple(ids)] = holds
    assert inference_result.inferred == 1 and inference_result.candidates(claim) == [2, 3, 4]


@pytest.mark.parametrize("failures", [0, 1, 3])
def test_a_claim_holds_if_it_fails_on_no_fresh_seed(failures):
    outcome = SimpleNamespace(failures={"a": failures}, explanations={"a": "why"})
    result: Any = SimpleNamespace(
        inferred=1,
        holding=lambda claim: [],
        witness=lambda claim: None,
        on=lambda purpose, number: outcome,
        different={},
        _unconfirmed=lambda claim: [],
        tree=lambda claim: SimpleNamespace(entry=dict),
    )
    entry = InferenceResult._claim(result, "a")
    assert entry["profile"] == entry["inferred"] == (failures == 0)


def test_what_a_study_shows_is_averaged_over_its_seeds():
    test_set = ClaimTestSet(space.of("linux-2003"), ("linux.backlog",), (1, 2), thin=False)
    plan = ClaimPlan(test_set, "goodput_bps", wanted={"rate-halving": [({}, "a job")]})
    usual = dict.fromkeys(("goodput_bps", "loss_ratio"), 1.0)
    rows = [
        {"flow": "tcp", "cc": "reno", "seed": seed, **usual, "backlog_cleared": cleared}
        for seed, cleared in ((1, 0.25), (2, 0.75))
    ]
    points = plan._measured("rate-halving", {"a job": rows}).points
    assert points["backlog_cleared"].to_list() == [0.5]
