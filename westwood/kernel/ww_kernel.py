# SPDX-License-Identifier: BSD-3-Clause
"""Loads our congestion controls into this machine's kernel, unloads them, tells their status.

linux/ has the BPF object and ww-kernel, the program that does all of this: a wheel brings both,
`make linux` builds them; WESTWOOD_KERNEL names another ww-kernel, with ww.bpf.o beside it. What is
loaded is pinned in /sys/fs/bpf/westwood, or in the folder of a bpffs that WESTWOOD_BPFFS names:
ww-kernel uses one that nobody but its own user may enter (linux/loader/folder.c).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from westwood import __version__
from westwood.catalogue import PROTOCOLS
from westwood.errors import InputError, RunError, UnavailableError
from westwood.kernel.guardian import guarded
from westwood.programs import REINSTALL, Program, system_program

VARIABLE = "WESTWOOD_KERNEL"
PINS_VARIABLE = "WESTWOOD_BPFFS"
# The protocols by the names that our controls have in the kernel.
CONTROLS = {protocol.kernel: name for name, protocol in PROTOCOLS.items() if protocol.ours}
_BPFFS = Path("/sys/fs/bpf")
_LACKING = 77
PROGRAM = Program(
    "linux/ww-kernel",
    VARIABLE,
    "ww-kernel is needed",
    make="make linux",
    install=f"{REINSTALL} (where pip builds it: after apt-get install clang libbpf-dev)",
    companion="ww.bpf.o",
)


def program() -> Path:
    """Finds ww-kernel; UnavailableError with the remedy if it is not there."""
    return PROGRAM.find()


def bpf_object(program: Path) -> Path:
    """Names the file with the congestion controls that a ww-kernel loads."""
    return program.with_name("ww.bpf.o")


def pins() -> Path:
    """Names the folder in which what is loaded is found again."""
    return Path(os.environ.get(PINS_VARIABLE) or _BPFFS / "westwood")


def check_names(cc: Sequence[str], key: str = "--cc") -> None:
    """Raises InputError unless they can be controls' names; the kernel may learn them later."""
    for name in cc:
        if not re.fullmatch(r"[\w.-]{1,15}", name, re.ASCII):
            raise InputError("expected the name of a congestion control", key=key, value=name)


def load() -> str:
    """Registers the controls until `unload` or the next boot; one line about what was done."""
    path = program()
    _mount()
    return _call(path, "load", pins(), bpf_object(path), __version__)


def unload() -> str:
    """Takes the controls' names away; connections that use them go on. One line about it."""
    return _call(program(), "unload", pins())


@contextmanager
def borrowed() -> Iterator[None]:
    """Loads the controls for the block; after it they are gone, whatever ends this process."""
    path, mount = program(), _mount_command()
    do: list[Sequence[object]] = [[path, "load", pins(), bpf_object(path), __version__]]
    undo: list[Sequence[object]] = [[path, "unload", pins()]]
    if mount is not None:
        do.insert(0, mount)
        undo.append([system_program("umount") or "umount", _BPFFS])
    with guarded(do, undo):
        yield


def status() -> dict[str, Any]:
    """Returns {"loaded": False}, or version, controls, their sockets, recorder, dropped events."""
    result: dict[str, Any] = json.loads(_call(program(), "status", pins()))
    return result


def _mount() -> None:
    """Mounts a bpffs where none is yet, if we may."""
    if (command := _mount_command()) is not None:
        subprocess.run(command, check=False, capture_output=True)


def _mount_command() -> list[str] | None:
    """What mounts a bpffs for root only, as systemd, bpftool and ip do; None: there is one."""
    if PINS_VARIABLE in os.environ or os.path.ismount(_BPFFS) or os.geteuid() != 0:
        return None
    program = system_program("mount")
    words = ["-t", "bpf", "-o", "nosuid,nodev,noexec,mode=0700", "bpf", str(_BPFFS)]
    return [program, *words] if program else None


def _call(path: Path, *words: object) -> str:
    command = [str(word) for word in (path, *words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise failure(done.returncode, done.stderr)
    return done.stdout.strip()


def failure(code: int, said: str) -> UnavailableError | RunError:
    """Makes the error of a ww-kernel that ended with this code after it said this."""
    words = (said.strip() or "ww-kernel said nothing").splitlines()[-1]
    if code == _LACKING:
        return UnavailableError(f"{words}; westwood kernel doctor says what this machine lacks")
    return RunError(words)
