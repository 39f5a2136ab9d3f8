# SPDX-License-Identifier: BSD-3-Clause
"""Finds the programs built from linux/ and ns3/, and runs programs to their end.

A wheel brings those of linux/ along; in a checkout `make` builds them. Finds the system's programs
as well, and says who may change a program that root is to run.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from westwood import __version__, stopping
from westwood.errors import UnavailableError

_PACKAGE = Path(__file__).parent
REINSTALL = "pip install --force-reinstall --no-deps westwood"


def _checkout() -> Path | None:
    root = _PACKAGE.parent
    return root if all((root / name).is_file() for name in ("Makefile", "pyproject.toml")) else None


CHECKOUT = _checkout()  # where `make` works; None: the package was installed


def sources() -> Path:
    """Returns the folder that has ns3/ and what it is built with."""
    return CHECKOUT or _PACKAGE / "sources"


def workshop() -> Path:
    """Returns the folder for what is built or fetched here: build/ of a checkout, else a cache.

    Each version has its own: what another one built does not fit.
    """
    if CHECKOUT:
        return CHECKOUT / "build"
    named = os.environ.get("XDG_CACHE_HOME", "")
    caches = Path(named) if os.path.isabs(named) else Path(os.path.expanduser("~/.cache"))
    return caches / "westwood" / __version__


_MORE_FOLDERS = "/usr/sbin:/sbin"  # which only root's PATH has


def changeable(path: Path) -> Path | None:
    """Finds what of a path others than root may change: its first such folder, or the file itself.

    A folder with the sticky bit counts: there they may at least put something in a name's place.
    None: nobody else may.
    """
    whole = path.resolve()
    for one in (*reversed(whole.parents), whole):
        found = one.stat()
        if found.st_uid != 0 or found.st_mode & 0o022:
            return one
    return None


def system_program(name: str) -> str | None:
    """Finds a program of the system in PATH, also where only root looks.

    Root takes none that others may change, whatever PATH says.
    """
    folders = f"{os.environ.get('PATH', os.defpath)}:{_MORE_FOLDERS}".split(":")
    if os.geteuid() == 0:
        folders = [one for one in folders if os.path.isabs(one) and _is_roots(Path(one))]
    return shutil.which(name, path=":".join(folders))


def _is_roots(folder: Path) -> bool:
    try:
        return changeable(folder) is None
    except OSError:
        return False


@dataclass(frozen=True)
class Program:
    """Lies in the package or was built on this machine, unless a variable names another program."""

    name: str  # below the workshop
    variable: str
    needed: str  # "--engine linux needs ww-path"
    make: str  # the command that builds it in a checkout
    install: str  # what helps where the package was installed
    companion: str = ""  # a file that has to lie beside it

    @property
    def remedy(self) -> str:
        """What this user can do when it is not there."""
        return self.make if CHECKOUT else self.install

    def find(self) -> Path:
        """Finds its path; UnavailableError with the remedy if it is not there."""
        named = os.environ.get(self.variable)
        built = workshop() / self.name
        for path in [Path(named)] if named else [_PACKAGE / "bin" / built.name, built]:
            there = path.is_file() and os.access(path, os.X_OK)
            if there and (not self.companion or path.with_name(self.companion).is_file()):
                return path
        if named:
            name = Path(named).name
            lacking = f"{name} with {self.companion} beside it" if self.companion else "program"
            problem = f"{self.variable} names no {lacking}"
        else:
            problem = "it is not built" if CHECKOUT else "it is not here"
        raise UnavailableError(f"{self.needed}, and {problem}: {self.remedy}")


@dataclass(frozen=True)
class Ended:
    """Says how a program ended, and what it wrote."""

    code: int
    out: str
    errors: str


def run(
    command: Sequence[str | Path], text: str, *, timeout_s: float = float("inf"), both: bool = False
) -> Ended:
    """Runs a program that reads `text`; TimeoutError if it takes longer. `both`: errors in `out`.

    Its standard input stays open until it ends, so that it can tell when we are gone. It has a
    group of its own: Ctrl-C in a terminal is for us, and whatever ends this function kills it.
    """
    errors = subprocess.STDOUT if both else subprocess.PIPE
    process, ends_at = None, time.monotonic() + timeout_s
    try:
        with stopping.shielded():
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                errors="replace",
                process_group=0,
            )
            stopping.children.add(process)
        stdin, process.stdin = process.stdin, None  # communicate() would close it
        assert stdin is not None
        try:
            with contextlib.suppress(BrokenPipeError):  # it ended before it read all
                stdin.write(text)
                stdin.flush()
            out, said = _hear(process, ends_at)
        finally:
            with contextlib.suppress(BrokenPipeError):  # what is not written yet is written again
                stdin.close()
        return Ended(process.returncode, out, said or "")
    finally:
        with stopping.shielded():
            if process is not None:
                _end(process)


def _hear(process: subprocess.Popen[str], ends_at: float) -> tuple[str, str]:
    """Waits for the end, in short spans."""
    while True:
        stopping.check()
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.communicate(timeout=stopping.POLL_S)
        if time.monotonic() > ends_at:
            raise TimeoutError


def _end(process: subprocess.Popen[str]) -> None:
    stopping.children.discard(process)
    if process.poll() is None:
        process.kill()
        process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()
