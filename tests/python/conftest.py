# SPDX-License-Identifier: BSD-3-Clause
"""What the Python tests share: a small scenario, and the command line called in this process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from westwood.cli import call
from westwood.scenario import Scenario

SMALL = Path(__file__).with_name("small.toml").read_text(encoding="utf-8")


@pytest.fixture
def small_file(tmp_path: Path) -> Path:
    """The small scenario as a file, in a folder of its own."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return path


@pytest.fixture
def small(small_file: Path) -> Scenario:
    """The small scenario."""
    return Scenario.from_toml(small_file)


@dataclass
class Called:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


@pytest.fixture
def westwood(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Called]:
    """Calls the command line in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> Called:
        code = call([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Called(code, captured.out, captured.err)

    return run
