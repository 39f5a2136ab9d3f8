# SPDX-License-Identifier: BSD-3-Clause
"""Gives all Python tests the command line to call, and those of `make torture` their rounds.

A test that asks for `attack` is part of `make torture`: it repeats itself with other random choices
for as long as that gives it, and for a short while in `make test`.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from westwood.cli import call


@dataclass
class Called:
    """Holds what a command printed, and its exit code."""

    code: int
    out: str
    err: str


@pytest.fixture
def westwood(capsys: pytest.CaptureFixture[str]) -> Callable[..., Called]:
    """Calls the command line."""

    def run(*arguments: object) -> Called:
        code = call([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Called(code, captured.out, captured.err)

    return run


# `make torture` sets these: how long each attack goes on, its first seed, and where its figures go.
SECONDS = float(os.environ.get("WW_TORTURE_SECONDS", "3"))
SEED = int(os.environ.get("WW_TORTURE_SEED", "1"))
FIGURES = os.environ.get("WW_TORTURE_FIGURES")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "attack" in getattr(item, "fixturenames", ()):
            item.add_marker("torture")


class Attack:
    """The rounds of one test: each has a seed of its own, from which all of its choices come."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.seed = SEED
        self.rounds_made = 0
        self.seconds = 0.0

    def rounds(self) -> Iterator[random.Random]:
        """Gives the source of each round's choices, until the time is up; one round at least."""
        start = time.monotonic()
        for seed in range(SEED, SEED + 1_000_000):
            self.seed = seed
            yield random.Random(seed)
            self.rounds_made += 1
            self.seconds = time.monotonic() - start
            if self.seconds >= SECONDS:
                return


@pytest.fixture
def attack(request: pytest.FixtureRequest) -> Iterator[Attack]:
    """Repeats an attack; a failure names the seed of its round."""
    one = Attack(request.node.nodeid)
    yield one
    print(f"WW_TORTURE_SEED={one.seed} repeats the last round of {one.name}")
    if FIGURES:
        figures = Path(FIGURES)
        figures.mkdir(parents=True, exist_ok=True)
        row = {"attack": one.name, "rounds": one.rounds_made, "seconds": round(one.seconds, 1)}
        row |= {"first_seed": SEED, "last_seed": one.seed}
        file = figures / f"{request.node.originalname}.json"
        file.write_text(json.dumps(row) + "\n", encoding="utf-8")
