# SPDX-License-Identifier: BSD-3-Clause
"""Gives all Python tests the command line to call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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
