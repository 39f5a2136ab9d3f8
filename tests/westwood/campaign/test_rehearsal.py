# SPDX-License-Identifier: BSD-3-Clause
"""A rehearsal needs its tools, root and a path that Linux can emulate."""

from pathlib import Path

import pytest

from westwood.campaign import rehearsal
from westwood.cli import path_compare
from westwood.errors import InputError, UnavailableError


@pytest.fixture(autouse=True)
def machine(monkeypatch):
    """Has every tool, and this process is root's."""
    monkeypatch.setattr(rehearsal.linux_limits, "check", lambda scenario: None)
    monkeypatch.setattr(rehearsal.linux, "program", lambda: Path("/bin/true"))
    monkeypatch.setattr(rehearsal.shutil, "which", lambda tool: f"/usr/bin/{tool}")
    monkeypatch.setattr(rehearsal.os, "geteuid", lambda: 0)


def test_a_machine_with_everything_is_accepted_for_up_to_twelve_hours():
    path = rehearsal.path(None, {})
    rehearsal.check(path, 43_200)
    with pytest.raises(InputError, match=r'--for = "43201s": expected at most 12h'):
        rehearsal.check(path, 43_201)


@pytest.mark.parametrize(
    ("tool", "remedy"),
    [
        ("iperf3", "needs iperf3: apt-get install iperf3"),
        ("nsenter", "needs nsenter: apt-get install util-linux"),
    ],
)
def test_a_missing_tool_is_named_with_its_package(tool, remedy, monkeypatch):
    monkeypatch.setattr(
        rehearsal.shutil, "which", lambda name: None if name == tool else f"/usr/bin/{name}"
    )
    with pytest.raises(UnavailableError, match=remedy):
        rehearsal.check(rehearsal.path(None, {}), 60)


def test_another_user_than_root_is_refused(monkeypatch):
    monkeypatch.setattr(rehearsal.os, "geteuid", lambda: 1000)
    with pytest.raises(UnavailableError, match="needs root"):
        rehearsal.check(rehearsal.path(None, {}), 60)


def test_a_comparison_has_a_new_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("trial", "trial-2", "trial-3"):
        assert path_compare._new("trial") == Path(name)
        (tmp_path / name).mkdir()
