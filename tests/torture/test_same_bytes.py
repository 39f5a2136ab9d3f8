# SPDX-License-Identifier: BSD-3-Clause
"""A command's output depends on its arguments only: not on the number of workers, the locale, the
time zone, the order of sets, the user's files or the folder's place."""

import functools
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from small_studies import COSTS, SCENARIO, STUDIES, SWEPT, contents

COMMANDS = (
    "run swept.toml --seeds 3 --out out --plot",
    "run small.toml --seeds 4 --json",
    "compare --duration 2s --seeds 2 --out out --plot",
    "trace small.toml --out out --plot --events",
    *(
        f"{STUDIES[name].words} --out out"
        for name in ("sweep", "benchmark", "reproduce", "tune", "stress")
    ),
    "list protocols",
)
SINGLE = ("trace", "list")  # have no workers
LOCALES = ("C", "C.utf8", "POSIX", "de_DE.UTF-8", "tr_TR.UTF-8", "en_US.UTF-8", "xx_XX")
ZONES = ("UTC", "Asia/Kathmandu", "America/St_Johns", "EST5EDT", "<-12>12", "nonsense")


@dataclass(frozen=True)
class Made:
    printed: str
    files: Mapping[str, str]


def outcome(words: list[str], folder: Path, **variables: str) -> Made:
    """Runs the command in a new folder; returns its output without times and costs."""
    folder.mkdir(parents=True)
    (folder / "small.toml").write_text(SCENARIO, encoding="utf-8")
    (folder / "swept.toml").write_text(SWEPT, encoding="utf-8")
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-m", "westwood", *words],
        cwd=folder,
        env={**kept, "COLUMNS": "120", **variables},
        capture_output=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
    return Made(_portable(done.stdout.decode("utf-8")), contents(folder / "out"))


def _portable(printed: str) -> str:
    """Returns words and numbers in ASCII, without the runs' costs."""
    if printed.startswith("{"):
        report = json.loads(printed)
        for row in [*report.get("runs", ()), *report.get("summary", ())]:
            for cost in [name for name in row if name.startswith(COSTS)]:
                del row[cost]
        return json.dumps(report)
    words = re.sub(r"[^\w.,:/=+-]", " ", printed.replace("±", "+-"), flags=re.A)
    return " ".join(word for word in words.split() if word.strip("+-"))  # without a table's lines


def otherwise(choices: random.Random) -> dict[str, str]:
    """Returns an environment that should change nothing."""
    chosen = {
        "LC_ALL": choices.choice(LOCALES),
        "LANG": choices.choice(LOCALES),
        "TZ": choices.choice(ZONES),
        "PYTHONHASHSEED": str(choices.randrange(1, 1 << 32)),
        "POLARS_MAX_THREADS": str(choices.choice((1, 2, 7))),
        "OMP_NUM_THREADS": str(choices.choice((1, 3))),
        "PYTHONUTF8": choices.choice(("0", "1")),
    }
    return {name: value for name, value in chosen.items() if choices.random() < 0.8}


@pytest.fixture(scope="module")
def usual(tmp_path_factory) -> Callable[[str], Made]:
    """Returns a function that runs a command with one worker in the usual environment."""

    @functools.cache
    def output_of(command: str) -> Made:
        return outcome(with_workers(command, 1), tmp_path_factory.mktemp("usual") / "place")

    return output_of


def with_workers(command: str, count: int) -> list[str]:
    words = command.split()
    return words if words[0] in SINGLE else [*words, "--workers", str(count)]


def test_the_same_command_gives_the_same_bytes(attack, usual, tmp_path):
    for choices in attack.rounds():
        command = COMMANDS[attack.seed % len(COMMANDS)]
        expected, environment = usual(command), otherwise(choices)
        words = with_workers(command, choices.choice((2, 2, 3, 8)))
        folder = tmp_path / choices.choice(("a b", "ü", "x" * 100)) / str(attack.seed)
        output = outcome(words, folder, **environment)
        context = f"{' '.join(words)} in {environment}"
        assert output.printed == expected.printed, context
        assert output.files.keys() == expected.files.keys(), context
        differing = [name for name, file in output.files.items() if file != expected.files[name]]
        assert not differing, context
