# SPDX-License-Identifier: BSD-3-Clause
"""Each command needs exactly the privileges that docs/linux-path.md names."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Set
from pathlib import Path
from typing import Any

import pytest
from machine import OURS, available, eventually, in_kernel

from westwood.kernel import ww_kernel

pytestmark = pytest.mark.kernel
NOBODY = 65534
LOAD = {"bpf", "perfmon"}
RECORD = {"bpf"}  # status and unload need none if the user owns the pins
GUIDE = Path(__file__).parents[3] / "docs" / "linux-path.md"


def open_to_all(bpffs: Path) -> None:
    """Lets anybody make folders in the bpffs, as after a mount without options."""
    for folder in (bpffs.parent, bpffs.parent.parent, bpffs.parent.parent.parent):
        folder.chmod(folder.stat().st_mode | 0o011)
    bpffs.chmod(0o1777)


@pytest.fixture
def own_folder(bpffs, program) -> Iterator[Path]:
    """Gives the bpffs to an unprivileged user, who may enter all folders above it."""
    ww_kernel.unload()
    assert eventually(lambda: not in_kernel())
    open_to_all(bpffs)
    os.chown(bpffs, NOBODY, NOBODY)
    yield bpffs
    open_to_all(bpffs)  # another pytest run may have closed a folder above it
    as_user(set(), program, "unload", bpffs / "westwood")
    os.chown(bpffs, 0, 0)
    assert eventually(lambda: not in_kernel())


@pytest.fixture
def program(tmp_path) -> Path:
    """Copies ww-kernel to a folder that the user can read."""
    folder = Path(f"/tmp/westwood-privilege-{os.getpid()}")
    folder.mkdir(mode=0o755)
    try:
        there = ww_kernel.program()
        shutil.copy2(ww_kernel.bpf_object(there), folder)
        yield Path(shutil.copy2(there, folder))  # type: ignore[misc]
    finally:
        shutil.rmtree(folder)


def as_user(
    capabilities: set[str], *words: object, user: int = NOBODY
) -> subprocess.CompletedProcess[str]:
    """Runs a command as an unprivileged user with exactly these capabilities."""
    held = ",".join(["-all", *(f"+{name}" for name in sorted(capabilities))])
    setpriv = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--no-new-privs"]
    setpriv += [f"--{kind}={held}" for kind in ("inh-caps", "ambient-caps", "bounding-set")]
    command = [*setpriv, *(str(word) for word in words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def load(program: Path, folder: Path, capabilities: set[str]) -> subprocess.CompletedProcess[str]:
    return as_user(
        capabilities, program, "load", folder / "westwood", ww_kernel.bpf_object(program), "test"
    )


def test_two_capabilities_suffice_for_load_status_record_and_unload(program, own_folder):
    pins = own_folder / "westwood"
    assert load(program, own_folder, LOAD).stdout == "version test is loaded\n"
    assert available() >= OURS
    status = as_user(set(), program, "status", pins)
    assert json.loads(status.stdout)["version"] == "test"
    recorded = as_user(RECORD, "timeout", "-s", "INT", "0.3", program, "record", pins, 0, 1 << 16)
    assert recorded.stderr == "0 events, 0 dropped, 0 missed\n" and recorded.stdout.startswith(
        "netns,flow,"
    )
    unload = as_user(set(), program, "unload", pins)
    assert unload.stdout == "version test is unloaded\n"
    assert not available() & OURS


def test_two_capabilities_suffice_to_record_every_control(program, own_folder):
    """The tracing programs do not need a loaded control of ours."""
    words = (program, "record", own_folder / "westwood", 0, 1 << 16, 0)
    everything = ("timeout", "-s", "INT", "0.5", *words, ww_kernel.bpf_object(program))
    recorded = as_user(LOAD, *everything)
    assert recorded.stdout.startswith("netns,flow,") and recorded.stderr.endswith(
        " 0 dropped, 0 missed\n"
    )
    refused = as_user(RECORD, *everything)
    assert refused.returncode == 77 and refused.stderr.count("\n") == 1
    assert "expected CAP_BPF and CAP_PERFMON" in refused.stderr


@pytest.mark.parametrize("capability", sorted(LOAD))
def test_load_with_one_capability_less_is_refused_in_one_line(program, own_folder, capability):
    called = load(program, own_folder, LOAD - {capability})
    assert called.returncode == 77
    assert called.stderr.count("\n") == 1 and "expected CAP_BPF" in called.stderr
    assert not available() & OURS
    assert not (own_folder / "westwood").exists()


def test_others_are_refused(program, own_folder):
    """The user may not record without capabilities; another user may do nothing."""
    load(program, own_folder, LOAD)
    called = as_user(set(), program, "record", own_folder / "westwood", 0, 1 << 16)
    assert called.returncode == 77 and called.stderr.count("\n") == 1
    for words in (("status",), ("unload",), ("record", 0, 1 << 16)):
        command = (program, words[0], own_folder / "westwood", *words[1:])
        called = as_user(LOAD, *command, user=NOBODY - 1)
        assert called.returncode == 77 and called.stderr.count("\n") == 1
    assert available() >= OURS


@pytest.fixture
def shared(bpffs) -> Iterator[Path]:
    """Makes a bpffs in which nothing is loaded and anybody may make folders."""
    ww_kernel.unload()
    open_to_all(bpffs)
    yield bpffs
    subprocess.run(["rm", "-rf", str(ww_kernel.pins())], check=True)
    bpffs.chmod(0o700)


def refused(westwood: Callable[..., Any], expected: str) -> None:
    """Every command rejects the folder of the pins in one line, before doing anything."""
    out = ("--out", f"/tmp/westwood-{os.getpid()}.csv")
    for words in (("load",), ("status",), ("unload",), ("record", *out)):
        called = westwood("kernel", *words)
        assert called.code in (1, 77) and called.err.count("\n") == 1
        assert expected in called.err, called.err
    assert not available() & OURS and not Path(out[1]).exists()


def test_a_folder_that_another_user_made_first_is_refused(shared, westwood):
    pins = ww_kernel.pins()
    assert as_user(set(), "mkdir", "-m", "777", pins).returncode == 0
    refused(westwood, f"{pins}: belongs to user {NOBODY}, expected user 0: rm -r {pins}")
    assert f"missing  bpffs: {pins} belongs to user {NOBODY}" in westwood("kernel", "doctor").out


def test_a_link_that_another_user_made_is_not_followed(shared, westwood):
    elsewhere = shared / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    pins = ww_kernel.pins()
    assert as_user(set(), "ln", "-s", elsewhere, pins).returncode == 0
    refused(westwood, f"{pins}: expected a folder, not a link or a file: rm {pins}")
    elsewhere.rmdir()


def test_a_folder_that_others_may_enter_or_move_is_refused(shared, westwood):
    pins = ww_kernel.pins()
    pins.mkdir(mode=0o750)
    refused(westwood, f"{pins}: has mode 750, so that others may have changed it: chmod 700")
    pins.chmod(0o700)
    shared.chmod(0o777)
    refused(westwood, f"{pins}: other users may change a folder above it")


def test_a_bpffs_that_we_mount_belongs_to_root(tmp_path):
    """In a new mount namespace, where nothing is mounted at /sys/fs/bpf."""
    code = "from westwood.kernel import ww_kernel; ww_kernel._mount()"
    script = (
        "umount -l /sys/fs/bpf 2>/dev/null; mountpoint -q /sys/fs/bpf && exit 9; "
        f"{sys.executable} -c '{code}' && stat -f -c %T /sys/fs/bpf && stat -c %a /sys/fs/bpf"
    )
    environment = {k: v for k, v in os.environ.items() if k != ww_kernel.PINS_VARIABLE}
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script], capture_output=True, text=True, env=environment
    )
    assert done.stdout.split() == ["bpf_fs", "1700"], done


CHOOSE = "import socket, sys; socket.socket().setsockopt(6, 13, sys.argv[1].encode())"


def may_choose(cc: str, capabilities: Set[str] = frozenset()) -> bool:
    """Returns whether an unprivileged user may choose a control; fails if it does not exist."""
    asked = as_user({*capabilities}, "/usr/bin/python3", "-c", CHOOSE, cc)
    assert asked.returncode == 0 or "PermissionError" in asked.stderr, asked.stderr
    return asked.returncode == 0


@pytest.mark.parametrize("cc", ww_kernel.CONTROLS)
def test_only_root_may_choose_a_control(controls, cc):
    assert not may_choose(cc) and may_choose(cc, {"net_admin"})
    assert may_choose("reno")


def test_root_opens_a_control_by_its_name_until_unload(bpffs, westwood, tmp_path):
    ww_kernel.unload()
    called = westwood("kernel", "load", "--allow-users", "ww_plus")
    assert called.code == 0 and "any user may choose ww_plus, and root all" in called.out
    assert may_choose("ww_plus") and not may_choose("ww_bbr3")
    lines = westwood("kernel", "status").out.splitlines()
    assert [line.split()[0] for line in lines if line.endswith("any user may choose it")] == [
        "ww_plus"
    ]
    tagged = tmp_path / "ww.bpf.o"  # another version replaces this one
    tagged.write_bytes(ww_kernel.bpf_object(ww_kernel.program()).read_bytes() + b"\0")
    shutil.copy2(ww_kernel.program(), tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(ww_kernel.VARIABLE, str(tmp_path / "ww-kernel"))
        lines = westwood("kernel", "load", "--allow-users", "ww_nrplus").out.splitlines()
    assert lines[0].startswith("replaces version")
    assert may_choose("ww_plus") and may_choose("ww_nrplus") and not may_choose("ww_bbr3")
    westwood("kernel", "unload")
    westwood("kernel", "load")
    assert not may_choose("ww_plus")


@pytest.mark.parametrize("name", ["ww_mine", "cubic", "ww_pluss", ""])
def test_root_opens_only_what_it_loads(bpffs, westwood, name):
    ww_kernel.unload()
    assert "--allow-users" in westwood("kernel", "load", "--allow-users", name).refusal()
    assert not ww_kernel.status()["loaded"]


def test_others_cannot_change_the_pins(loaded):
    open_to_all(loaded)
    pins = ww_kernel.pins()
    assert pins.stat().st_mode & 0o777 == 0o700 and pins.stat().st_uid == 0
    for words in (("ls", pins), ("rm", "-rf", pins), ("mv", pins, loaded / "x"), ("rmdir", pins)):
        assert as_user(set(), *words).returncode != 0
    assert ww_kernel.status()["loaded"]
    loaded.chmod(0o700)


def test_the_guide_names_the_capabilities():
    line = re.compile(r"^\| (`[a-z`, ]+`) \| ([^|]*) \|", re.M)
    rows = line.findall(GUIDE.read_text(encoding="utf-8"))
    table = {
        command: rights
        for commands, rights in rows
        for command in re.findall("`([a-z]+)`", commands)
    }
    for command, held in (("load", LOAD), ("record", LOAD), ("status", set()), ("unload", set())):
        assert set(re.findall(r"CAP_(\w+)", table[command])) == {name.upper() for name in held}
