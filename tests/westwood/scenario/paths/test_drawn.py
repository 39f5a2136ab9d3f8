# SPDX-License-Identifier: BSD-3-Clause
"""What a seed draws never changes: published results name the seed, not the paths.

tests/golden/drawn/ has digests of what is drawn, which `make golden` writes. A difference means
that published searches, benchmarks and hunts cannot be repeated: name it in CHANGELOG.md.
"""

import dataclasses
import random
from collections.abc import Iterator
from typing import Any

import pytest
from golden_files import assert_golden, digest

from westwood.evaluation.benchmark.cases import CUBIC, Case
from westwood.evaluation.paths import SECTIONS
from westwood.papers.infer import propose, space
from westwood.scenario.paths import population
from westwood.scenario.paths.environment import given as data_of
from westwood.scenario.paths.environment import window_bytes
from westwood.scenario.paths.families import FAMILIES, PACKETS_LEAST
from westwood.search.stress import attack as attacks
from westwood.search.stress import scenarios, shrink
from westwood.search.stress.attack import Attack

PACKETS = (PACKETS_LEAST, 5_000, population.PACKETS_MOST)


def drawn_paths(family: str) -> Iterator[Any]:
    """Yields paths as they are drawn, and their scenarios."""
    for packets_most in PACKETS:
        for path in population.paths("search", 1, 40, family, packets_most):
            yield [dataclasses.asdict(path), window_bytes(path)]
            if packets_most < population.PACKETS_MOST:
                yield data_of(path, "westwood+", {"filter": "none"})


def drawn_cases(section: str) -> Iterator[Any]:
    """Yields a section's cases with their scenarios' settings and seeds."""

    def told(case: Case) -> dict[str, Any]:
        path, settings = dataclasses.asdict(case.environment), dict(case.settings)
        return {"cell": case.cell, "path": path, "settings": settings, "seeds": case.seeds}

    for case in SECTIONS[section].cases(1, 200):
        yield told(case)
    first = next(SECTIONS[section].cases(1, 40))
    scenario, seed = first.run(CUBIC, first.seeds - 1)
    yield [scenario.to_toml(), seed]


def some_attack(choices: random.Random, *names: str) -> Attack:
    """Draws an attack with these features and some more."""
    while True:
        more = [name for name in attacks.FEATURES if choices.random() < 0.2]
        together = list(dict.fromkeys([*names, *more]))
        if attacks.fit_together(together):
            fractions = [choices.random() for _ in range(attacks.genes(together))]
            packets_most = choices.choice((4_000, 10_000, 40_000))
            return attacks.drawn(together, fractions, choices.getrandbits(30), packets_most)


def drawn_attacks(feature: str) -> Iterator[Any]:
    """Yields attacks with a feature, their scenarios, features, and what is left of them."""
    choices = random.Random(f"attacks {feature}")
    for _ in range(10):
        attack = some_attack(choices, feature)
        yield dataclasses.asdict(attack)
        yield scenarios.as_data(attack, "cubic")
        yield [attacks.features(attack), attack.load, attack.carried_bps]
        yield dataclasses.asdict(attacks.undisturbed(attack))


def tried_edits(feature: str) -> Iterator[Any]:
    """Yields the attacks that shrinking tries when it keeps every third one."""
    choices = random.Random(f"edits {feature}")
    for _ in range(3):
        tried: list[Attack] = []

        def is_bad(attack: Attack, tried: list[Attack] = tried) -> bool:
            tried.append(attack)
            return len(tried) % 3 == 0

        tried.append(shrink.shrink(some_attack(choices, feature), is_bad))
        yield [dataclasses.asdict(attack) for attack in tried]


def filled_settings(paper: str) -> Iterator[Any]:
    """Yields the batches of settings that fill the space which a paper leaves open."""
    for batch in (0, 1, 3):
        yield propose.propose(space.of(paper), 1, batch, {})


@pytest.mark.parametrize(
    ("what", "drawn", "names"),
    [
        ("paths", drawn_paths, FAMILIES),
        ("cases", drawn_cases, SECTIONS),
        ("attacks", drawn_attacks, attacks.FEATURES),
        ("edits", tried_edits, attacks.FEATURES),
        ("settings", filled_settings, space.papers()),
    ],
)
def test_a_seed_draws_what_it_always_drew(what, drawn, names):
    assert_golden(f"drawn/{what}", {name: digest(list(drawn(name))) for name in names})
