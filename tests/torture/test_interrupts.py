# SPDX-License-Identifier: BSD-3-Clause
"""A signal at any moment, even during imports, ends any command soon, cleanly and in one line."""

import contextlib
import json
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from started_tool import Tool

COMMANDS = (
    "run table1 --seeds 200 --set duration=100s --out out",
    "run table1 --seeds 3 --set duration=20s --plot --out out",
    "compare --duration 5s --plot --out out",
    "trace table1 --set duration=60s --plot --out out --pcap out.pcap --at access",
    "reproduce fig5 --quick --out out",
    "report done --export",
    "evaluate westwood+ --suite benchmark --out out",
    "control tune --cc westwood+ --paths 30 --packets 5000 --trials 500 --out out",
    "control stress --cc bbr --environments 1000000 --out out",
    "reproduce --infer plateau --settings 100 --out out",
    "ns3 export table1 --out out.cc",
    "lab --no-browser",
    "list protocols",
)
SWEEP = "sweep table1 --cc reno --cc westwood+ --seeds 60 --set duration=60s --out out"
SIGNALS = (signal.SIGINT, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LATEST_S = 5.0  # for a busy machine; tests/westwood/test_stopping.py tests the promised time
CODES = {0, *(128 + number for number in SIGNALS)}


@contextlib.contextmanager
def load(programs: int) -> Iterator[None]:
    """Keeps the cores busy with this many programs."""
    busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(programs)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def interrupted(command: str, choices: Any, folder: Path) -> int:
    """Starts a command, signals it at a random moment, checks its end; returns its exit code."""
    tool = Tool(command, folder)
    tool.watches()
    time.sleep(choices.choice([0.05, 1.0, 2.5]) * choices.random())
    signals = [choices.choice(SIGNALS) for _ in range(choices.randint(1, 3))]
    took_s, _, errors = tool.end(*signals, group=choices.random() < 0.5)
    code = tool.process.returncode
    assert code in CODES, errors
    assert "Traceback" not in errors and "ignored" not in errors, errors
    assert errors.count("\n") == (code != 0), errors
    assert code == 0 or "interrupted" in errors
    assert not tool.left(), tool.left()
    assert took_s < LATEST_S
    return code


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    """Makes a results folder for `report`, and an undisturbed sweep."""
    folder = tmp_path_factory.mktemp("finished")
    for command in ("run fig5 --seeds 2 --set duration=2s --out done", SWEEP):
        tool = Tool(command, folder)
        tool.process.communicate(timeout=60)
        assert tool.process.returncode == 0
    return folder


def test_a_command_ends_at_any_moment(attack, finished, tmp_path):
    for choices in attack.rounds():
        folder = tmp_path / str(attack.seed)
        shutil.copytree(finished / "done", folder / "done")
        with load(0 if attack.is_short else choices.choice((0, 2, 8))):
            interrupted(choices.choice(COMMANDS), choices, folder)
        for manifest in folder.glob("*/manifest.json"):
            json.loads(manifest.read_text(encoding="utf-8"))
        shutil.rmtree(folder)


def test_a_sweep_that_is_interrupted_again_and_again_ends_with_the_same_bytes(
    attack, finished, tmp_path
):
    for choices in attack.rounds():
        folder = tmp_path / str(attack.seed)
        folder.mkdir()
        for _ in range(choices.randint(1, 3)):
            begun = (folder / "out" / "sweep.json").exists()
            interrupted(f"{SWEEP} --resume" if begun else SWEEP, choices, folder)
        rest = Tool(f"{SWEEP} --resume", folder)
        _, errors = rest.process.communicate(timeout=120)
        if "holds no sweep to resume" not in errors:
            assert rest.process.returncode == 0, errors
            same = [folder_ / "out" / "runs.parquet" for folder_ in (folder, finished)]
            assert same[0].read_bytes() == same[1].read_bytes()
        shutil.rmtree(folder)
