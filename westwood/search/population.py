# SPDX-License-Identifier: BSD-3-Clause
"""Draws network paths at random, of named families, and makes scenarios of them.

    paths("search", 1, 100, "lossy")           a hundred environments, the same for a seed
    draw(random.Random(7), "clean")            one, from whatever chooses
    scenario(environment, "westwood+", {"filter": "none"})

Paths are drawn for a purpose, and those for searching are never those for judging.
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import replace

from westwood.errors import InputError
from westwood.search.aqms import AQMS
from westwood.search.earlier import QUEUE_LEAST, ROUND_TRIPS
from westwood.search.environment import (
    ITSELF,
    LOSSES,
    PACKET_BYTES,
    PROFILE,
    WINDOW_BYTES,
    Environment,
    check_one_of,
    given,
    role,
    scenario,
    toml,
    window_bytes,
)
from westwood.search.families import (
    FAMILIES,
    FLOWS_MOST,
    PACKETS_LEAST,
    QUEUE_MS,
    QUEUE_PASSES,
)

__all__ = [
    "AQMS",
    "FAMILIES",
    "FLOWS_MOST",
    "ITSELF",
    "LOSSES",
    "PACKETS_LEAST",
    "PACKETS_MOST",
    "PACKET_BYTES",
    "PROFILE",
    "PURPOSES",
    "QUEUE_LEAST",
    "QUEUE_MS",
    "QUEUE_PASSES",
    "ROUND_TRIPS",
    "WINDOW_BYTES",
    "Environment",
    "again",
    "draw",
    "given",
    "path",
    "paths",
    "purpose_of",
    "role",
    "scenario",
    "seed_of",
    "toml",
    "window_bytes",
]

PURPOSES = ("search", "judge", "hunt")  # the seeds of one are never those of another
PACKETS_MOST = 400_000  # of a run, unless a caller says less: 10 to 30 ms
_SEED_STEP = 8  # a seed's remainder says its purpose; room for more than there are


def draw(
    choices: random.Random, family: str = "all", packets_most: int = PACKETS_MOST
) -> Environment:
    """Draws an environment of a family, whose run carries at most so many packets."""
    check_one_of("family", family, FAMILIES)
    if packets_most < PACKETS_LEAST:
        raise InputError(
            f"expected at least {PACKETS_LEAST}", key="packets_most", value=packets_most
        )
    return FAMILIES[family](choices, packets_most)


def path(
    purpose: str, seed: int, family: str, number: int, packets_most: int = PACKETS_MOST
) -> Environment:
    """Draws path `number` of a purpose, seed and family: each by itself, in any order.

    The run's seed is the purpose's place, modulo _SEED_STEP: no path of one purpose can be one of
    another, however they are drawn.
    """
    check_one_of("purpose", purpose, PURPOSES)
    text = f"westwood {purpose} {seed} {family} {number}"
    choices = random.Random(hashlib.sha256(text.encode()).digest())
    drawn = draw(choices, family, packets_most)
    return replace(drawn, seed=seed_of(purpose, drawn.seed))


def seed_of(purpose: str, number: int) -> int:
    """Returns the seed of a run that no other purpose has."""
    return number * _SEED_STEP + PURPOSES.index(purpose)


def paths(
    purpose: str, seed: int, count: int, family: str = "all", packets_most: int = PACKETS_MOST
) -> list[Environment]:
    """Draws so many paths of a purpose, seed and family."""
    return [path(purpose, seed, family, number, packets_most) for number in range(count)]


def again(environment: Environment, number: int) -> Environment:
    """The same path with other random numbers, drawn for the same purpose; 0: itself."""
    return replace(environment, seed=environment.seed + _SEED_STEP * number)


def purpose_of(environment: Environment) -> str | None:
    """Says for what a path was drawn; a seed of other origin may say anything."""
    place = environment.seed % _SEED_STEP
    return PURPOSES[place] if place < len(PURPOSES) else None
