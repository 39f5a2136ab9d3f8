# SPDX-License-Identifier: BSD-3-Clause
"""Loads our congestion controls into this machine's kernel, unloads them, reports their status.

The program ww-kernel does this with the BPF object ww.bpf.o. A wheel contains both, and
`make linux` builds them. WESTWOOD_KERNEL can name another ww-kernel, with ww.bpf.o in its folder.
Loaded controls are pinned in /sys/fs/bpf/westwood, or in a bpffs folder that WESTWOOD_BPFFS names.
ww-kernel accepts only a folder that nobody else may enter (linux/loader/folder.c).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from westwood import __version__
from westwood.control.catalogue import PROTOCOLS
from westwood.errors import InputError, RunError, UnavailableError
from westwood.kernel.guardian import guarded
from westwood.programs import REINSTALL, Program, system_program

VARIABLE = "WESTWOOD_KERNEL"
PINS_VARIABLE = "WESTWOOD_BPFFS"
# The protocols by our controls' names in the kernel.
CONTROLS = {protocol.kernel: name for name, protocol in PROTOCOLS.items() if protocol.ours}
PREFIX = "ww_"  # of our controls and of users'
_BPFFS = Path("/sys/fs/bpf")
_REGISTERED = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
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
    """Returns ww-kernel's location; raises UnavailableError with the remedy if it is missing."""
    return PROGRAM.find()


def bpf_object(program: Path) -> Path:
    """Returns the BPF object with the controls that a ww-kernel loads."""
    return program.with_name("ww.bpf.o")


def pins() -> Path:
    """Returns the folder in which loaded controls are pinned."""
    return Path(os.environ.get(PINS_VARIABLE) or _BPFFS / "westwood")


def check_names(cc: Sequence[str], key: str = "--cc") -> None:
    """Raises InputError unless the names are valid; the controls may be loaded later."""
    for name in cc:
        known = PROTOCOLS.get(name)
        if known and known.kernel not in ("", name):
            raise InputError(f"expected the kernel's name, {known.kernel}", key=key, value=name)
        if not re.fullmatch(r"[\w.-]{1,15}", name, re.ASCII):
            raise InputError("expected the name of a congestion control", key=key, value=name)


def unregistered(cc: Sequence[str]) -> str:
    """Returns a note for the user on the names that the kernel has no control for yet, or ""."""
    unknown = [name for name in cc if name not in registered()]
    return f"this kernel has no {', '.join(unknown)} yet: no such events" if unknown else ""


def registered() -> set[str]:
    """Lists the kernel's congestion controls; trying one would load its module."""
    return set(_REGISTERED.read_text().split())


def load() -> str:
    """Registers the controls until `unload` or the next boot; returns a line for the user."""
    path = program()
    _mount()
    return call("load", pins(), bpf_object(path), __version__).strip()


def unload() -> str:
    """Unregisters the controls; connections keep using them. Returns a line for the user."""
    return call("unload", pins()).strip()


@contextmanager
def borrowed() -> Iterator[None]:
    """Loads the controls for the block; unloads them afterwards, even if this process is killed."""
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
    result: dict[str, Any] = json.loads(call("status", pins()))
    return result


def _mount() -> None:
    """Mounts a bpffs if there is none and we may."""
    if (command := _mount_command()) is not None:
        subprocess.run(command, check=False, capture_output=True)


def _mount_command() -> list[str] | None:
    """Returns the command that mounts a bpffs as systemd does; None if not needed or allowed."""
    if PINS_VARIABLE in os.environ or os.path.ismount(_BPFFS) or os.geteuid() != 0:
        return None
    program = system_program("mount")
    words = ["-t", "bpf", "-o", "nosuid,nodev,noexec,mode=0700", "bpf", str(_BPFFS)]
    return [program, *words] if program else None


def call(*words: object, given: str = "", refused: Callable[[str], str] = lambda output: "") -> str:
    """Runs ww-kernel, which reads `given`, and returns what it prints; raises its error.

    It is InputError if `refused` finds in its messages what is wrong with a user's control.
    """
    command = [str(word) for word in (program(), *words)]
    done = subprocess.run(
        command, input=given, capture_output=True, text=True, check=False, errors="replace"
    )
    if done.returncode == 0:
        return done.stdout
    if problem := refused(done.stderr):
        raise InputError(problem)
    raise failure(done.returncode, done.stderr)


def failure(code: int, output: str) -> UnavailableError | RunError:
    """Returns the error for a ww-kernel that ended with this code and message."""
    words = (output.strip() or "ww-kernel said nothing").splitlines()[-1]
    if code == _LACKING:
        return UnavailableError(f"{words}; westwood kernel doctor lists what this machine lacks")
    return RunError(words)
