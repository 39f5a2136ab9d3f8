# SPDX-License-Identifier: BSD-3-Clause
"""Draws random network paths from named families.

    paths("search", 1, 100, "lossy")           a hundred environments, the same for a seed
    draw(random.Random(7), "clean")            one environment from a random generator

Paths are drawn for a purpose: searching and judging never share a path.
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import replace

from westwood.errors import InputError
from westwood.scenario.paths.environment import Environment, check_one_of
from westwood.scenario.paths.families import FAMILIES, PACKETS_LEAST

PURPOSES = ("search", "judge", "hunt", "evaluate")  # each purpose has seeds of its own
PACKETS_MOST = 400_000  # most packets per run by default: 10 to 30 ms of CPU time
_SEED_STEP = 8  # a seed modulo this tells its purpose; there is room for more purposes


def draw(
    choices: random.Random, family: str = "all", packets_most: int = PACKETS_MOST
) -> Environment:
    """Draws an environment of a family whose run carries at most this many packets."""
    check_one_of("family", family, FAMILIES)
    if packets_most < PACKETS_LEAST:
        raise InputError(
            f"expected at least {PACKETS_LEAST}", key="packets_most", value=packets_most
        )
    return FAMILIES[family](choices, packets_most)


def path(
    purpose: str, seed: int, family: str, number: int, packets_most: int = PACKETS_MOST
) -> Environment:
    """Draws path `number` of a purpose, seed and family, independently of all others.

    The run's seed equals the purpose's index modulo _SEED_STEP, so no two purposes share a path.
    """
    check_one_of("purpose", purpose, PURPOSES)
    text = f"westwood {purpose} {seed} {family} {number}"
    choices = random.Random(hashlib.sha256(text.encode()).digest())
    drawn = draw(choices, family, packets_most)
    return replace(drawn, seed=seed_of(purpose, drawn.seed))


def seed_of(purpose: str, number: int) -> int:
    """Returns a run's seed, which no run for another purpose has."""
    return number * _SEED_STEP + PURPOSES.index(purpose)


def paths(
    purpose: str, seed: int, count: int, family: str = "all", packets_most: int = PACKETS_MOST
) -> list[Environment]:
    """Draws the first paths of a purpose, seed and family."""
    return [path(purpose, seed, family, number, packets_most) for number in range(count)]


def again(environment: Environment, number: int) -> Environment:
    """Returns the path with other random numbers for its purpose; number 0 is the path itself."""
    return replace(environment, seed=environment.seed + _SEED_STEP * number)


def purpose_of(environment: Environment) -> str | None:
    """Returns the purpose of a drawn path; for a seed of other origin the answer means nothing."""
    place = environment.seed % _SEED_STEP
    return PURPOSES[place] if place < len(PURPOSES) else None
