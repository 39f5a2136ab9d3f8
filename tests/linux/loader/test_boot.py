# SPDX-License-Identifier: BSD-3-Clause
"""westwood kernel load --boot makes a systemd unit that does the same as `load`, and no more."""

import configparser
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from westwood import programs
from westwood.errors import InputError, UnavailableError
from westwood.kernel import boot, users, ww_kernel

ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: makes root's folders")


@pytest.fixture
def anywhere(monkeypatch):
    """Skips the check who may change a program: most of these tests do not need it."""
    monkeypatch.setattr(boot, "changeable", lambda path: None)


@pytest.fixture
def program(tmp_path, monkeypatch) -> Path:
    """Replaces ww-kernel by a script."""
    path = tmp_path / "ww-kernel"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    ww_kernel.bpf_object(path).write_bytes(b"")
    monkeypatch.setenv(ww_kernel.VARIABLE, str(path))
    return path


@pytest.fixture
def no_systemd(monkeypatch) -> Iterator[None]:
    monkeypatch.setattr(boot, "system_program", lambda name: None)
    yield


def parsed(text: str) -> configparser.ConfigParser:
    unit = configparser.ConfigParser()
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string(text)
    return unit


def test_the_unit_loads_and_unloads_this_package(program, anywhere):
    service = parsed(boot.unit())["Service"]
    words = service["ExecStart"].split()
    pins, controls = str(ww_kernel.pins()), str(ww_kernel.bpf_object(program))
    assert words[:4] == [str(program), "load", pins, controls]
    assert service["ExecStop"].split() == [str(program), "unload", str(ww_kernel.pins())]
    assert service["CapabilityBoundingSet"] == "CAP_BPF CAP_PERFMON"
    assert service["NoNewPrivileges"] == "yes"


def test_the_unit_is_written_and_removed(program, anywhere, no_systemd, tmp_path):
    path = tmp_path / boot.UNIT
    assert boot.enable(tmp_path)[0] == f"wrote {path}"
    assert path.read_text() == boot.unit()
    assert boot.disable(tmp_path)[-1] == f"removed {path}"
    assert not path.exists()
    assert boot.disable(tmp_path) == [f"there is no {path}"]


def test_without_systemd_it_names_the_remaining_steps(program, anywhere, no_systemd, tmp_path):
    assert boot.enable(tmp_path)[1].endswith("systemctl enable westwood.service")


def test_a_path_that_systemd_would_misread_is_refused(program, tmp_path, monkeypatch):
    folder = tmp_path / "my programs"
    folder.mkdir()
    for path in (program, ww_kernel.bpf_object(program)):
        shutil.copy2(path, folder)
    monkeypatch.setenv(ww_kernel.VARIABLE, str(folder / "ww-kernel"))
    with pytest.raises(InputError, match="expected a path without spaces"):
        boot.unit()


@ROOT_ONLY
def test_a_program_that_others_may_change_is_refused_with_the_remedy(program, westwood, tmp_path):
    """/tmp is on the path: its sticky bit does not help, since others may take names first."""
    called = westwood("kernel", "load", "--boot")
    assert called.code == 77 and called.err.count("\n") == 1
    first = next(parent for parent in reversed(program.parents) if parent.stat().st_mode & 0o022)
    assert called.err.startswith(f"westwood: {first}: users other than root may change it")
    assert f"install -D -t /usr/local/lib/westwood {program}" in called.err
    assert called.out == "", "nothing was loaded before the check"
    with pytest.raises(UnavailableError):
        boot.enable(tmp_path)
    assert not (tmp_path / boot.UNIT).exists()


@ROOT_ONLY
@pytest.mark.parametrize("what", ["owner of a folder", "mode of a folder", "owner", "mode", "link"])
def test_any_folder_above_it_that_others_may_change_is_found(what):
    with tempfile.TemporaryDirectory(dir="/run") as parent:  # only root may write /run
        folder = Path(parent) / "bin"
        folder.mkdir()
        file = folder / "ww-kernel"
        file.write_bytes(b"")
        assert programs.changeable(file) is None
        culprit = folder if what.endswith("folder") else file
        if what.startswith("owner"):
            os.chown(culprit, 65534, 65534)
        elif what.startswith("mode"):
            culprit.chmod(0o775)
        else:
            culprit = Path("/tmp")
            there = Path(tempfile.mkdtemp(dir=culprit))
            file.unlink()
            file.symlink_to(there / "ww-kernel")
            (there / "ww-kernel").write_bytes(b"")
        assert programs.changeable(file) == culprit
        if what == "link":
            shutil.rmtree(there)


@ROOT_ONLY
def test_root_takes_no_program_that_others_may_change(tmp_path, monkeypatch):
    fake = tmp_path / "mount"
    fake.write_text("#!/bin/sh\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:.:{os.environ['PATH']}")
    path = programs.system_program("mount")
    assert path is not None and path != str(fake) and programs.changeable(Path(path)) is None


def test_only_root_can_write_the_unit_with_any_umask(program, anywhere, no_systemd, tmp_path):
    before = os.umask(0)
    try:
        boot.enable(tmp_path)
    finally:
        os.umask(before)
    assert (tmp_path / boot.UNIT).stat().st_mode & 0o777 == 0o644
    assert [path.name for path in tmp_path.glob("*.service*")] == [boot.UNIT]


def test_pins_have_absolute_normalised_names(program, anywhere, monkeypatch):
    monkeypatch.setenv(ww_kernel.PINS_VARIABLE, "x/../bpf/westwood")
    assert f"RequiresMountsFor={Path.cwd()}/bpf/westwood\n" in boot.unit()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_accepts_the_unit(program, anywhere, tmp_path):
    path = tmp_path / boot.UNIT
    path.write_text(boot.unit(["ww_plus"]))
    verify = ["systemd-analyze", "verify", str(path)]
    checked = subprocess.run(verify, capture_output=True, text=True)
    assert boot.UNIT not in checked.stderr


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_accepts_the_guides_unit_for_a_default(program, anywhere, tmp_path):
    page = (Path(__file__).parents[3] / "docs" / "linux.md").read_text(encoding="utf-8")
    ((text, name),) = re.findall(r"```ini\n(# /etc/systemd/system/(\S+?);.*?)```", page, re.S)
    command = "/opt/westwood/bin/westwood"
    assert text.count(command) == 2 and f"After={boot.UNIT}\n" in text
    path = tmp_path / name
    path.write_text(text.replace(command, str(program)))
    (tmp_path / boot.UNIT).write_text(boot.unit())
    verify = ["systemd-analyze", "verify", str(path)]
    checked = subprocess.run(verify, capture_output=True, text=True)
    assert name not in checked.stderr, checked.stderr


@pytest.mark.kernel
def test_the_units_commands_work(bpffs, anywhere):
    """Also with the capabilities of the unit, which root needs for nothing else."""
    held = ["setpriv", "--bounding-set=-all,+bpf,+perfmon", "--inh-caps=-all", "--no-new-privs"]
    lines = re.findall(r"^(ExecSt\w+)=(.*)$", boot.unit(["ww_plus", "ww_nrplus"]), re.M)
    assert [name for name, _ in lines] == ["ExecStart", "ExecStart", "ExecStop"]
    for name, command in lines:
        words = [*held, *shlex.split(command.replace("$$", "$"))]
        done = subprocess.run(words, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert ww_kernel.status()["loaded"] is (name == "ExecStart")
        opened = {control for control in users.allowed() if control.startswith("ww_")}
        assert opened == ({"ww_plus", "ww_nrplus"} if "allowed" in command else set())


def test_the_unit_opens_what_is_open(program, anywhere, no_systemd, tmp_path):
    boot.enable(tmp_path, ["ww_plus"])
    assert f" ww_plus > {users.ALLOWED}'\n" in (tmp_path / boot.UNIT).read_text()
