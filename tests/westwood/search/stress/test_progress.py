# SPDX-License-Identifier: BSD-3-Clause
"""The progress of `control stress` goes to the terminal, never into the output."""

import sys

import pytest

from westwood.cli import control_stress
from westwood.search.stress import hunter


@pytest.mark.parametrize("is_terminal", [True, False])
def test_only_a_terminal_shows_how_many_environments_are_tested(is_terminal, capsys, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    with control_stress._progress(hunter.plan("reno", (), 1, 40, None)) as tell:
        tell(7, 40)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert ("testing" in shown.err and "7/40" in shown.err) if is_terminal else shown.err == ""
