# SPDX-License-Identifier: BSD-3-Clause
"""A search run rates attacks over several seeds, climbs, and reports what each feature adds."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from westwood.scenario.paths.population import purpose_of
from westwood.search.stress import attack as attacks
from westwood.search.stress import hunter, search_run
from westwood.search.stress.attack import Attack
from westwood.search.stress.degradation import DEGRADATIONS
from westwood.search.stress.search_run import LEAST, Finding, SearchRun

PATH = Attack(10_000_000, 100_000, 80, 20_000_000, 1)  # bit/s, us, packets, us, seed
LOSSY = replace(PATH, loss="uniform", loss_rate=0.01)


class Rates:
    """Stands for a runner: degradations follow from the attack."""

    def __init__(self, harm_of: Callable[[Attack], float]) -> None:
        self._of = harm_of
        self.rated: list[Attack] = []

    def degradation(self, metric: Any, attack: Attack, cc: str) -> float:
        self.rated.append(attack)
        return self._of(attack)

    def median(self, metric: Any, attack: Attack, cc: str, seeds: Sequence[int]) -> float:
        values = sorted(self._of(replace(attack, seed=seed)) for seed in seeds)
        return values[len(values) // 2]

    def remembering(self, attack: Attack) -> Any:
        return attack


def run_of(
    harm_of: Callable[[Attack], float], number: int = 0, harm: str = "below-cubic"
) -> tuple[SearchRun, Rates]:
    run = SearchRun("westwood+", [DEGRADATIONS[harm]], 1, number)
    rates = Rates(harm_of)
    run.runner = rates  # type: ignore[assignment]
    return run, rates


@pytest.mark.parametrize(
    ("values", "is_bad", "runs"),
    [
        ([0.5, 0.6, 0.0], True, 2),
        ([0.6, 0.0, 0.5], True, 3),
        ([0.4, 0.1, 0.9], False, 2),
        ([0.4, 0.9, 0.49], False, 3),
    ],
)
def test_most_seeds_decide_and_no_more_are_run(values, is_bad, runs):
    run, rates = run_of(lambda attack: values[attack.seed])
    assert run._is_bad(PATH, [0, 1, 2], 0.5) is is_bad
    assert [attack.seed for attack in rates.rated] == list(range(runs))


def test_a_finding_has_the_median_of_five_fresh_seeds_and_what_each_change_leaves():
    """The degradation halves without losses, and falls with the queue and the delay."""

    def harm_of(attack: Attack) -> float:
        value = 0.8 if attack.loss == "uniform" else 0.4
        value -= 0.1 * (attack.queue_packets == 320) + 0.2 * (attack.delay_us == 25_000)
        return value + 0.01 * (attack.seed % 1000 / 1000)

    run, rates = run_of(harm_of)
    told: list[Attack] = []

    def assess(first: Attack, attack: Attack, cc: str) -> tuple[float, str]:
        told.append(attack)
        return 0.0, "it is slow"

    run._metric = replace(run._metric, assess=assess)  # type: ignore[arg-type]
    finding = run._finding(LOSSY)
    assert finding is not None and finding.says == "it is slow"
    seeds = {attack.seed for attack in rates.rated}
    assert len(seeds) == 5 and all(purpose_of(attack) == "hunt" for attack in rates.rated)
    values = sorted(harm_of(replace(LOSSY, seed=seed)) for seed in seeds)
    assert (finding.value, finding.least, finding.most) == (values[2], values[0], values[-1])
    assert harm_of(finding.attack) == finding.value and told == [finding.attack]
    assert finding.without == {
        "loss": pytest.approx(0.4, abs=0.01),
        "with four times the queue": pytest.approx(0.7, abs=0.01),
        "with a quarter of the delay": pytest.approx(0.6, abs=0.01),
    }


@pytest.mark.parametrize(("value", "is_found"), [(LEAST, True), (0.99 * LEAST, False)])
def test_a_smaller_degradation_is_no_finding(value, is_found):
    run, _ = run_of(lambda attack: value)
    run._metric = replace(run._metric, assess=lambda *_: (0.0, ""))
    assert (run._finding(PATH) is not None) is is_found
    assert (run.find() is not None) is is_found


def test_a_hopeless_combination_is_left_after_forty_attacks():
    run, rates = run_of(lambda attack: 0.049)
    assert run.find() is None and len(rates.rated) == 40
    assert len({attack.seed for attack in rates.rated}) == 1


def test_climbing_ends_when_nothing_improves_or_nothing_is_worse():
    run, rates = run_of(lambda attack: 0.1)
    assert run._climbed() is not None
    assert len(rates.rated) == 40 + 4 * 10, "four generations of ten"
    run, rates = run_of(lambda attack: 0.98)
    assert run._climbed() is not None and len(rates.rated) == 40


def test_climbing_finds_what_is_worst():
    """The degradation grows with the queue; climbing goes on for twelve generations at most."""
    run, rates = run_of(lambda attack: min(0.9, 0.1 + attack.queue_packets / 5000))
    climbed = run._climbed()
    assert climbed is not None
    drawn = max(attack.queue_packets for attack in rates.rated[:40])
    assert climbed.queue_packets == max(attack.queue_packets for attack in rates.rated) >= drawn
    assert 40 < len(rates.rated) <= 40 + 12 * 10


def test_a_run_follows_from_the_hunts_seed_and_its_number():
    features = [run_of(lambda _: 0.0, number)[0]._features for number in range(60)]
    assert features == [run_of(lambda _: 0.0, number)[0]._features for number in range(60)]
    assert len({tuple(feature) for feature in features}) > 30
    assert all(attacks.fit_together(feature) for feature in features)
    extra = [len(set(feature) - {"RTO"}) for feature in features]
    assert set(extra) <= {0, 1, 2, 3} and extra.count(0) < 30
    has_rto = sum("RTO" in feature for feature in features)
    assert 15 < has_rto < 45


@pytest.mark.parametrize("harm", DEGRADATIONS)
def test_a_run_has_the_features_that_its_harm_needs(harm):
    degradation = DEGRADATIONS[harm]
    for number in range(20):
        chosen = run_of(lambda _: 0.0, number, harm)[0]._features
        assert set(degradation.needs) <= set(chosen) and not set(degradation.without) & set(chosen)
        assert not degradation.needs_any or set(degradation.needs_any) & set(chosen)


@pytest.mark.parametrize(
    ("queue_bdp", "length"),
    [(0.05, "short"), (0.1, "shallow"), (0.65, "shallow"), (0.75, "usual"), (2.5, "deep")],
)
def test_findings_of_a_kind_share_all_but_the_numbers(queue_bdp, length):
    path = Attack(120_000_000, 100_000, round(1000 * queue_bdp), 20_000_000, 1)
    finding = Finding(replace(path, loss="uniform", loss_rate=0.01), "idle", "x", 0, 0, 0, "", {})
    assert finding.kind == ("idle", "loss", length)
    assert Finding.of(finding.as_json()) == finding


def test_the_limits_of_a_search_are_as_declared():
    packets, weights = search_run._PACKETS
    assert len(packets) == len(weights) and max(packets) == 40_000


def test_a_hunt_for_a_time_tells_no_total():
    told: list[tuple[int, int]] = []
    hunt = hunter.Hunt(hunter.plan("westwood+", ("losses",), 1, None, 0.01))
    with hunt.opened(resume=False):
        hunt.run_all(1, lambda done, total: told.append((done, total)))
    assert told and told[-1] == (hunt.environments, 0)
