# SPDX-License-Identifier: BSD-3-Clause
"""Finds programs, both our own and the system's, and runs them.

A wheel contains the programs of linux/; in a checkout `make` builds them. Before root runs a
program, `changeable` checks that nobody else can modify it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import selectors
import shutil
import signal
import stat
import subprocess
import time
from collections.abc import Iterator, Sequence
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
    return CHECKOUT / "build" if CHECKOUT else user_cache() / __version__


def user_cache() -> Path:
    """Returns the user's cache of this package, of all versions."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    caches = Path(named) if os.path.isabs(named) else Path(os.path.expanduser("~/.cache"))
    return caches / "westwood"


@contextlib.contextmanager
def turn(folder: Path) -> Iterator[None]:
    """Waits until no other command builds in this folder."""
    with (folder / ".lock").open("w") as lock:
        while True:
            stopping.check()
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            time.sleep(stopping.POLL_S)
        yield


def opened_private(folder: Path) -> int:
    """Opens a folder of ours that nobody else may write to, and makes it if it is missing.

    Returns its descriptor, from which files in it should be named. Raises RunError if it is a link,
    another user's, or writable by others, and OSError if it can't be made or opened.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.is_symlink():
        raise RunError(f"{folder}: is a link, expected a folder of yours: rm {folder}")
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    status = os.fstat(opened)
    mode = stat.S_IMODE(status.st_mode)
    if status.st_uid == os.geteuid() and not mode & 0o022:
        return opened
    os.close(opened)
    problem = f"belongs to user {status.st_uid}, mode {mode:o}, so others may have changed it"
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
    for parent in (*reversed(whole.parents), whole):
        status = parent.stat()
        if status.st_uid != 0 or status.st_mode & 0o022:
            return parent
    return None


def system_program(name: str) -> str | None:
    """Finds a system program in PATH or the sbin folders.

    For root it skips folders that other users may change.
    """
    folders = f"{os.environ.get('PATH', os.defpath)}:{_MORE_FOLDERS}".split(":")
    if os.geteuid() == 0:
        folders = [
            folder for folder in folders if os.path.isabs(folder) and _is_roots(Path(folder))
        ]
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
            description = (
                f"{name} with {self.companion} next to it" if self.companion else "program"
            )
            problem = f"{self.variable} names no {description}"
        else:
            problem = "it is not built" if CHECKOUT else "it is not installed"
        raise UnavailableError(f"{self.needed}, and {problem}: {self.remedy}")


@dataclass(frozen=True)
class Ended:
    """Holds a finished program's exit code and output."""

    code: int
    out: str
    errors: str

    @property
    def problem(self) -> str:
        """Returns the last line of its errors, or how it ended."""
        lines = self.errors.split("\n")
        how = f"exit code {self.code}"
        if self.code < 0:
            with contextlib.suppress(ValueError):
                how = f"signal {signal.Signals(-self.code).name}"
        return next((line for line in reversed(lines) if line.strip()), how)


_MOST_OUTPUT = 1 << 30  # bytes; a million connections report half as much
_A_PIECE = 1 << 16
BUSY = 10  # how many times its CPU time a program may take on a busy machine
_LINGERS_S = 1.0  # how long something else may hold the output of a program that has ended


def run(
    command: Sequence[str | Path],
    text: str,
    *,
    timeout_s: float = float("inf"),
    idle_s: float = float("inf"),
    both: bool = False,
    **options: Any,
) -> Ended:
    """Runs a program with `text` as input; with `both`, its standard error goes to `out`.

    options: more for Popen. Raises UnavailableError if it does not start, RunError if it prints
    without end, and TimeoutError after `timeout_s`, or once its process group has waited for
    `idle_s`: time in which it only gets no CPU does not count. Its standard input stays open, so
    that the program sees when this process dies. It has its own process group, so Ctrl-C reaches
    only us. An exception here kills it.
    """
    errors = subprocess.STDOUT if both else subprocess.PIPE
    process, ends_at = None, time.monotonic() + timeout_s
    try:
        with stopping.shielded():
            try:
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    process_group=0,
                    **options,
                )
            except OSError as error:
                problem = f"{command[0]} does not start: {error.strerror}"
                raise UnavailableError(problem) from None
            stopping.children.add(process)
        pipes = _Pipes(process, text)
        pipes.exchange(ends_at, idle_s)
        return Ended(process.returncode, *pipes.texts())
    finally:
        with stopping.shielded():
            if process is not None:
                _end(process)


class _Pipes:
    """Writes a program's input and reads its output, in one thread."""

    def __init__(self, process: subprocess.Popen[bytes], text: str) -> None:
        assert process.stdin is not None
        self._process, self._left = process, memoryview(text.encode())
        self._out, self._errors, self._total = list[bytes](), list[bytes](), 0
        self._ready = selectors.DefaultSelector()
        os.set_blocking(process.stdin.fileno(), False)
        if text:
            self._ready.register(process.stdin, selectors.EVENT_WRITE)
        for stream, into in ((process.stdout, self._out), (process.stderr, self._errors)):
            if stream is not None:
                self._ready.register(stream, selectors.EVENT_READ, into)

    def exchange(self, ends_at: float, idle_s: float) -> None:
        """Goes on until the program has ended and its output, too."""
        lingers_until = float("inf")
        waits = _Waiting(self._process.pid, idle_s)
        while True:
            has_ended = self._process.poll() is not None
            if has_ended and not self._is_open():
                return
            stopping.check()  # in short intervals, so that signals are noticed
            self._pass_on()
            now = time.monotonic()
            if now > ends_at:
                raise TimeoutError("takes too long")
            waits.check(now)
            if has_ended:
                lingers_until = min(lingers_until, now + _LINGERS_S)
            if now > lingers_until:
                _kill_group(self._process)
                return

    def _is_open(self) -> bool:
        return any(key.data is not None for key in self._ready.get_map().values())

    def _pass_on(self) -> None:
        if not self._ready.get_map():
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(stopping.POLL_S)
            return
        for key, _ in self._ready.select(stopping.POLL_S):
            goes_on = self._write(key.fd) if key.data is None else self._read(key.fd, key.data)
            if not goes_on:
                self._ready.unregister(key.fileobj)

    def _write(self, fd: int) -> bool:
        try:
            self._left = self._left[os.write(fd, self._left[:_A_PIECE]) :]
        except BrokenPipeError:  # it reads no more
            return False
        return len(self._left) > 0

    def _read(self, fd: int, into: list[bytes]) -> bool:
        piece = os.read(fd, _A_PIECE)
        into.append(piece)
        self._total += len(piece)
        if self._total > _MOST_OUTPUT:
            name = Path(str(self._process.args[0])).name  # type: ignore[index]
            raise RunError(f"{name} prints without end: more than {_MOST_OUTPUT >> 20} MB")
        return len(piece) > 0

    def texts(self) -> tuple[str, str]:
        """Returns what it has printed, in lines as Python has them."""
        self._ready.close()
        first, second = (
            b"".join(chunks).decode(errors="replace") for chunks in (self._out, self._errors)
        )
        return _lines(first), _lines(second)


class _Waiting:
    """Sees whether a process group has only waited for too long."""

    _LOOK_S = 0.5

    def __init__(self, group: int, longest_s: float) -> None:
        self._group, self._longest_s, self._looks = group, longest_s, 0
        self._look_at = time.monotonic() + self._LOOK_S

    def check(self, now: float) -> None:
        """Raises TimeoutError then."""
        if now < self._look_at or self._longest_s == float("inf"):
            return
        self._look_at = now + self._LOOK_S
        self._looks = 0 if self._works() else self._looks + 1
        if self._looks * self._LOOK_S >= self._longest_s:
            raise TimeoutError(f"has waited for {self._longest_s:g} s")

    def _works(self) -> bool:
        """Returns whether a process of the group runs, or waits for a disk."""
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError, ValueError):
                state, _, group, *_ = (process / "stat").read_text().rpartition(")")[2].split()
                if int(group) == self._group and state in "RD":
                    return True
        return False


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _end(process: subprocess.Popen[bytes]) -> None:
    stopping.children.discard(process)
    if process.poll() is None:
        process.kill()
        _kill_group(process)
        process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kills what a program has started, in its own group."""
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
