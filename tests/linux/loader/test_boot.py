# SPDX-License-Identifier: BSD-3-Clause
"""westwood kernel load --boot makes a systemd unit that does what `load` does, no more."""

from __future__ import annotations

import configparser
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from westwood.errors import InputError
from westwood.kernel import boot, ww_kernel


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Puts a script in ww-kernel's place."""
    path = tmp_path / "ww-kernel"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    ww_kernel.bpf_object(path).write_bytes(b"")
    monkeypatch.setenv(ww_kernel.VARIABLE, str(path))
    return path


@pytest.fixture
def no_systemd(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(boot.shutil, "which", lambda name: None)
    yield


def parsed(text: str) -> configparser.ConfigParser:
    unit = configparser.ConfigParser()
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string(text)
    return unit


def test_the_unit_loads_and_unloads_what_lies_here(program: Path) -> None:
    service = parsed(boot.unit())["Service"]
    words = service["ExecStart"].split()
    pins, controls = str(ww_kernel.pins()), str(ww_kernel.bpf_object(program))
    assert words[:4] == [str(program), "load", pins, controls]
    assert service["ExecStop"].split() == [str(program), "unload", str(ww_kernel.pins())]
    assert service["CapabilityBoundingSet"] == "CAP_BPF CAP_PERFMON"
    assert service["NoNewPrivileges"] == "yes"


def test_written_and_removed(program: Path, no_systemd: None, tmp_path: Path) -> None:
    path = tmp_path / boot.UNIT
    assert boot.enable(tmp_path)[0] == f"wrote {path}"
    assert path.read_text() == boot.unit()
    assert boot.disable(tmp_path)[-1] == f"removed {path}"
    assert not path.exists()
    assert boot.disable(tmp_path) == [f"there is no {path}"]


def test_without_systemd_it_says_what_is_left_to_do(
    program: Path, no_systemd: None, tmp_path: Path
) -> None:
    assert boot.enable(tmp_path)[1].endswith("systemctl enable westwood.service")


def test_a_path_that_systemd_would_misread_is_refused(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "my programs"
    folder.mkdir()
    for path in (program, ww_kernel.bpf_object(program)):
        shutil.copy2(path, folder)
    monkeypatch.setenv(ww_kernel.VARIABLE, str(folder / "ww-kernel"))
    with pytest.raises(InputError, match="expected a path without spaces"):
        boot.unit()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_understands_it(program: Path, tmp_path: Path) -> None:
    path = tmp_path / boot.UNIT
    path.write_text(boot.unit())
    verify = ["systemd-analyze", "verify", str(path)]
    checked = subprocess.run(verify, capture_output=True, text=True)
    assert boot.UNIT not in checked.stderr


@pytest.mark.kernel
def test_what_the_unit_starts_works(bpffs: Path) -> None:
    service = parsed(boot.unit())["Service"]
    for command in ("ExecStart", "ExecStop"):
        done = subprocess.run(service[command].split(), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert ww_kernel.status()["loaded"] is (command == "ExecStart")
