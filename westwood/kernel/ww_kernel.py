# SPDX-License-Identifier: BSD-3-Clause
"""Loads our congestion controls into this machine's kernel, unloads them, tells their status.

`make linux` builds linux/: the BPF object and ww-kernel, the program that does all of this;
WESTWOOD_KERNEL names another ww-kernel, with ww.bpf.o beside it. What is loaded is pinned in
/sys/fs/bpf/westwood, or in the folder of a bpffs that WESTWOOD_BPFFS names: ww-kernel uses one
that nobody but its own user may enter (linux/loader/folder.c).
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from westwood import __version__
from westwood.catalogue import PROTOCOLS
from westwood.errors import RunError, UnavailableError
from westwood.programs import Program, system_program

VARIABLE = "WESTWOOD_KERNEL"
PINS_VARIABLE = "WESTWOOD_BPFFS"
# The protocols by the names that our controls have in the kernel.
CONTROLS = {protocol.kernel: name for name, protocol in PROTOCOLS.items() if protocol.ours}
_BPFFS = Path("/sys/fs/bpf")
_LACKING = 77
PROGRAM = Program(
    "linux/ww-kernel", VARIABLE, "linux/ww-kernel is needed", "make linux", companion="ww.bpf.o"
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


def load() -> str:
    """Registers the controls until `unload` or the next boot; one line about what was done."""
    path = program()
    _mount()
    return _call(path, "load", pins(), bpf_object(path), __version__)


def unload() -> str:
    """Takes the controls' names away; connections that use them go on. One line about it."""
    return _call(program(), "unload", pins())


def status() -> dict[str, Any]:
    """Returns {"loaded": False}, or version, controls, their sockets, recorder, dropped events."""
    result: dict[str, Any] = json.loads(_call(program(), "status", pins()))
    return result


def _mount() -> None:
    """Mounts a bpffs where none is yet, if we may, for root only, as systemd, bpftool and ip do."""
    if PINS_VARIABLE in os.environ or os.path.ismount(_BPFFS) or os.geteuid() != 0:
        return
    words = ["-t", "bpf", "-o", "nosuid,nodev,noexec,mode=0700", "bpf", str(_BPFFS)]
    if program := system_program("mount"):
        subprocess.run([program, *words], check=False, capture_output=True)


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
