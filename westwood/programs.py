# SPDX-License-Identifier: BSD-3-Clause
"""Finds programs, both our own and the system's, and runs them.

A wheel contains the programs of linux/; in a checkout `make` builds them. Before root runs a
program, `changeable` checks that nobody else can modify it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import stat
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from westwood import __version__, stopping
from westwood.errors import RunError, UnavailableError

_PACKAGE = Path(__file__).parent
REINSTALL = "pip install --force-reinstall --no-deps westwood"


def _checkout() -> Path | None:
    root = _PACKAGE.parent
    return root if all((root / name).is_file() for name in ("Makefile", "pyproject.toml")) else None


CHECKOUT = _checkout()  # None if the package was installed


def sources() -> Path:
    """Returns the folder with ns3/ and the sources that it is built from."""
    return CHECKOUT or _PACKAGE / "sources"


def workshop() -> Path:
    """Returns the folder for builds and downloads: build/ of a checkout, else a cache.

    Each version has its own, because builds of other versions don't fit.
    """
    if CHECKOUT:
        return CHECKOUT / "build"
    named = os.environ.get("XDG_CACHE_HOME", "")
    caches = Path(named) if os.path.isabs(named) else Path(os.path.expanduser("~/.cache"))
    return caches / "westwood" / __version__


def opened_private(folder: Path) -> int:
    """Opens a folder of ours that nobody else may write to, and makes it if it is missing.

    Returns its descriptor, from which files in it should be named. Raises RunError if it is a link,
    another user's, or writable by others, and OSError if it can't be made or opened.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.is_symlink():
        raise RunError(f"{folder}: is a link, expected a folder of yours: rm {folder}")
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    found = os.fstat(opened)
    mode = stat.S_IMODE(found.st_mode)
    if found.st_uid == os.geteuid() and not mode & 0o022:
        return opened
    os.close(opened)
    problem = f"belongs to user {found.st_uid}, mode {mode:o}, so others may have changed it"
    raise RunError(f"{folder}: {problem}: rm -r {folder}")


def check_workshop() -> None:
    """Raises RunError if others may write to the cache, whose programs we run.

    The build/ of a checkout is as trusted as the sources beside it.
    """
    if CHECKOUT is None:
        os.close(opened_private(workshop()))


_MORE_FOLDERS = "/usr/sbin:/sbin"  # only in root's PATH


def changeable(path: Path) -> Path | None:
    """Returns the first folder of a path, or the file, that users other than root may change.

    A folder with the sticky bit counts, because anyone may create files in it. Returns None if only
    root may change them all.
    """
    whole = path.resolve()
    for one in (*reversed(whole.parents), whole):
        found = one.stat()
        if found.st_uid != 0 or found.st_mode & 0o022:
            return one
    return None


def system_program(name: str) -> str | None:
    """Finds a system program in PATH or the sbin folders.

    For root it skips folders that other users may change.
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
    """A program of the package or built on this machine; an environment variable can replace it."""

    name: str  # relative to the workshop
    variable: str
    needed: str  # such as "engine linux needs ww-path"
    make: str  # the command that builds it in a checkout
    install: str  # the remedy for an installed package
    companion: str = ""  # a file required in the same folder

    @property
    def remedy(self) -> str:
        """Returns what the user can do if it is missing."""
        return self.make if CHECKOUT else self.install

    def find(self) -> Path:
        """Returns its path; raises UnavailableError with the remedy if it is missing."""
        named = os.environ.get(self.variable)
        built = workshop() / self.name
        for path in [Path(named)] if named else [_PACKAGE / "bin" / built.name, built]:
            there = path.is_file() and os.access(path, os.X_OK)
            if there and (not self.companion or path.with_name(self.companion).is_file()):
                if path == built:
                    check_workshop()
                return path
        if named:
            name = Path(named).name
            lacking = f"{name} with {self.companion} next to it" if self.companion else "program"
            problem = f"{self.variable} names no {lacking}"
        else:
            problem = "it is not built" if CHECKOUT else "it is not installed"
        raise UnavailableError(f"{self.needed}, and {problem}: {self.remedy}")


@dataclass(frozen=True)
class Ended:
    """Holds a finished program's exit code and output."""

    code: int
    out: str
    errors: str


def run(
    command: Sequence[str | Path],
    text: str,
    *,
    timeout_s: float = float("inf"),
    both: bool = False,
    **options: Any,
) -> Ended:
    """Runs a program with `text` as input; with `both`, its standard error goes to `out`.

    options: more for Popen. Raises TimeoutError after `timeout_s`. Its standard input stays open,
    so that the program sees when this process dies. It has its own process group, so Ctrl-C reaches
    only us. An exception here kills it.
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
                **options,
            )
            stopping.children.add(process)
        stdin, process.stdin = process.stdin, None  # communicate() would close it
        assert stdin is not None
        try:
            with contextlib.suppress(BrokenPipeError):  # it ended before it read everything
                stdin.write(text)
                stdin.flush()
            out, said = _hear(process, ends_at)
        finally:
            with contextlib.suppress(BrokenPipeError):  # close() flushes the rest
                stdin.close()
        return Ended(process.returncode, out, said or "")
    finally:
        with stopping.shielded():
            if process is not None:
                _end(process)


def _hear(process: subprocess.Popen[str], ends_at: float) -> tuple[str, str]:
    """Waits for the end in short intervals, so that signals are noticed."""
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
        with contextlib.suppress(OSError):  # what it has started, in its own group
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()
