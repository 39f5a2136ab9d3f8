# SPDX-License-Identifier: BSD-3-Clause
"""Provides a small scenario, and runs the command line in an empty folder."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from westwood.engines import quic
from westwood.errors import UnavailableError
from westwood.scenario import Scenario

SMALL = Path(__file__).with_name("small.toml").read_text(encoding="utf-8")


@pytest.fixture
def small_file(tmp_path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return path


@pytest.fixture
def quic_runner():
    """Skips the test on a machine without the runner of the QUIC stacks."""
    try:
        quic.program()
    except UnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture
def small(small_file) -> Scenario:
    return Scenario.from_toml(small_file)


@pytest.fixture
def westwood(westwood, tmp_path, monkeypatch) -> Callable[..., Any]:
    """The command line, called in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))  # looks that `evaluate` notes
    return westwood
