# SPDX-License-Identifier: BSD-3-Clause
"""An attack whose data plan/ reads runs as its scenario does, to the bit."""

import random
from dataclasses import replace

import pytest

from westwood.engines.simulator import simulate
from westwood.search.stress import attack as attacks
from westwood.search.stress.evaluate import Runner
from westwood.search.stress.figures import of_run
from westwood.search.stress.scenarios import scenario as scenario_of

ATTACKS = 80


def any_attack(choices: random.Random) -> attacks.Attack:
    names = [name for name in attacks.FEATURES if choices.random() < 0.25]
    while not attacks.fit_together(names):
        names.remove(choices.choice(names))
    fractions = [choices.random() for _ in range(attacks.genes(names))]
    return attacks.drawn(names, fractions, choices.getrandbits(32))


def check(attack: attacks.Attack, protocol: str, runner: Runner) -> None:
    """Checks that an attack runs as its scenario does."""
    result = simulate(scenario_of(attack, protocol), attack.seed)
    names = [flow.name for flow in result.scenario.flows]
    duration_s, raw = attack.duration_us / 1e6, result.raw
    slowly = of_run(names, raw.connections, raw.forward[0], duration_s, attack.rate_bps)
    assert repr(runner.run(attack, protocol)) == repr(slowly), attack


def test_any_attack_runs_as_its_scenario_does():
    choices, runner = random.Random(7), Runner()
    for _ in range(ATTACKS):
        attack = any_attack(choices)
        attack = replace(attack, duration_us=attack.duration_us // 10)
        check(attack, choices.choice(("bbr", "cubic")), runner)


@pytest.mark.parametrize("feature", attacks.FEATURES)
def test_each_feature_runs_as_its_scenario_does(feature):
    choices, runner = random.Random(f"networks {feature}"), Runner()
    names = ["beside", feature] if feature == "elsewhere" else [feature]
    for _ in range(6):
        fractions = [choices.random() for _ in range(attacks.genes(names))]
        check(attacks.drawn(names, fractions, choices.getrandbits(32), 2_000), "cubic", runner)
