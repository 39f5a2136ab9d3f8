# SPDX-License-Identifier: BSD-3-Clause
"""Provides fixtures: the command line for all Python tests, and rounds for those of `make torture`.

A test that asks for `attack` is part of `make torture`. It repeats itself with other random choices
for its share of the time, and for a fifth of a second in `make test`.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from mine import MINE

from westwood.cli import call

settings.register_profile("deep", max_examples=1000)  # for `make test-slow`


@dataclass
class Called:
    """Holds what a command printed, and its exit code."""

    code: int
    out: str
    err: str

    def printed(self) -> str:
        """Returns what a command printed that succeeded."""
        assert self.code == 0, self
        return self.out

    def refusal(self) -> str:
        """Returns the one line of bad input: its exit code is 2, and nothing else is printed."""
        assert (self.code, self.out, self.err.count("\n")) == (2, "", 1), self
        return self.err


@pytest.fixture
def westwood(capsys) -> Callable[..., Called]:
    """Calls the command line."""

    def run(*arguments: object) -> Called:
        code = call([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Called(code, captured.out, captured.err)

    return run


@pytest.fixture
def mine(tmp_path, monkeypatch) -> Path:
    """A control in C like Reno, in the folder where the test runs: `./mine.c` for commands."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mine.c"
    path.write_text(MINE, encoding="utf-8")
    return path


# `make torture` sets these: the total time of all attacks, their first seed, and the folder for
# figures. In `make test` each attack has a fifth of a second, and two in `make test-slow`.
TOTAL_S = float(os.environ.get("WW_TORTURE_SECONDS", "0"))
SEED = int(os.environ.get("WW_TORTURE_SEED", "1"))
FIGURES = os.environ.get("WW_TORTURE_FIGURES")
SHORT_S = float(os.environ.get("WW_ATTACK_SECONDS", "0.2"))
SHARE: pytest.StashKey[float] = pytest.StashKey()  # of one attack, in seconds
OUTCOME: pytest.StashKey[str] = pytest.StashKey()


def pytest_configure():
    """A background job ignores Ctrl-C, and nohup hangups: tests that send one would hang."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    attacks = [item for item in items if "attack" in getattr(item, "fixturenames", ())]
    for item in attacks:
        item.add_marker("torture")
    config.stash[SHARE] = TOTAL_S / len(attacks) if TOTAL_S and attacks else SHORT_S


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    report = yield
    if report.when == "call":
        item.stash[OUTCOME] = report.outcome
    return report


class Attack:
    """The rounds of one test: each has a seed of its own, from which all of its choices come."""

    def __init__(self, name: str, seconds: float) -> None:
        self.name = name
        self.seconds = seconds
        self.seed = SEED
        self.rounds_made = 0
        self.took_s = 0.0

    @property
    def is_short(self) -> bool:
        """Returns whether this is `make test`."""
        return not TOTAL_S

    def rounds(self) -> Iterator[random.Random]:
        """Gives the source of each round's choices, until the time is up; one round at least."""
        start = time.monotonic()
        for self.seed in itertools.count(SEED):
            self.rounds_made += 1
            yield random.Random(self.seed)
            self.took_s = time.monotonic() - start
            if self.took_s >= self.seconds:
                return


@pytest.fixture
def attack(request) -> Iterator[Attack]:
    """Repeats an attack; a failure names the seed of its round."""
    attack = Attack(request.node.nodeid, request.config.stash[SHARE])
    yield attack
    print(f"WW_TORTURE_SEED={attack.seed} repeats the last round of {attack.name}")
    if FIGURES:
        row = {
            "attack": attack.name,
            "rounds": attack.rounds_made,
            "seconds": round(attack.took_s, 1),
        }
        row |= {"first_seed": SEED, "last_seed": attack.seed}
        row |= {"outcome": request.node.stash.get(OUTCOME, "skipped")}
        file = Path(FIGURES) / f"{request.node.name.replace('/', '-')}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(row) + "\n", encoding="utf-8")
