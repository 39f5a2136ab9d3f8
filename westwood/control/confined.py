# SPDX-License-Identifier: BSD-3-Clause
"""Runs controls of users without rights: a control is native code, and root loads it into Linux.

A child process becomes `nobody` if it was root, and keeps one pipe. Then the kernel refuses it
files, sockets and other processes (bindings/confine.cpp).
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import resource
import select
import signal
import subprocess
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from westwood import _engine, programs, stopping
from westwood.control.loading import Control
from westwood.errors import InputError, RunError, UnavailableError, one_line

_NOBODY = 65534
LONGEST_S = 60  # of CPU time
_MORE_BYTES = 1 << 32  # of memory, beyond what this process has
_MOST_BYTES = 1 << 29  # of an answer
_PAGE = resource.getpagesize()
_FAILURE = re.compile(r"\w+\t(\w*\t(?:[0-9]{1,18} ){0,2}\t)([^\t]+)")  # bindings/control.hpp
_DONE, _FAILED, _REFUSED, _UNAVAILABLE = b"dfru"


def call(work: Callable[[], str], control: Control) -> str:
    """Returns what `work` does, which calls a control, in a confined child.

    It may not import, since that needs files. Passes on ControlFailed and ValueError. Raises
    InputError if the child does not answer, and UnavailableError if this kernel can't confine it.
    """
    readable, writable = os.pipe()
    child = 0
    try:
        with stopping.shielded(), warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # the child calls the engine only
            child = os.fork()
            if child == 0:
                _answer(work, writable)
            os.close(writable)
            writable = -1
        answer = _hear(readable, control.name)
    finally:
        with stopping.shielded():
            for pipe_end in (readable, writable):
                if pipe_end >= 0:
                    os.close(pipe_end)
            code = _end(child)
    return _understood(answer, code, control)


@contextlib.contextmanager
def starting(program: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields how Popen starts a program with a control in it: for root, as nobody and confined.

    Its CPU time is limited: SIGXCPU ends it.
    """
    if os.geteuid() != 0:
        yield str(program), {"preexec_fn": partial(_limit, "CPU", LONGEST_S)}
        return
    program.chmod(0o755)
    opened = os.open(program, os.O_RDONLY)  # nobody may not enter its folder
    options = {"pass_fds": (opened,), "preexec_fn": partial(give_up_rights, starts_program=True)}
    try:
        yield f"/proc/self/fd/{opened}", options
    except subprocess.SubprocessError:
        problem = "runs without rights, and this kernel can't take them"
        raise UnavailableError(f"{program.name}: {problem}") from None
    finally:
        os.close(opened)


def give_up_rights(*, starts_program: bool = False) -> None:
    """Takes this process's rights for good; it may still read files if it starts a program.

    Raises OSError if this kernel can't.
    """
    with open("/proc/self/statm", "rb") as file:
        memory = int(file.read().split()[0]) * _PAGE + _MORE_BYTES
    limits = {"CPU": LONGEST_S, "CORE": 0, "FSIZE": 0}
    if not starts_program:  # the sanitizers reserve most of the address space
        limits["AS"] = memory
    for limit, most in limits.items():
        _limit(limit, most)
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(_NOBODY, _NOBODY, _NOBODY)
        os.setresuid(_NOBODY, _NOBODY, _NOBODY)
    _engine.confine(starts_program)


def _limit(limit: str, most: int) -> None:
    kind = getattr(resource, f"RLIMIT_{limit}")
    hard = resource.getrlimit(kind)[1]
    last = most + (limit == "CPU")  # at the soft limit of CPU time comes SIGXCPU, then SIGKILL
    last = last if hard == resource.RLIM_INFINITY else min(last, hard)
    resource.setrlimit(kind, (min(most, last), last))


def _answer(work: Callable[[], str], pipe: int) -> NoReturn:
    """Does the work in the child, and writes an answer of a letter and a text."""
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        pipe = fcntl.fcntl(pipe, fcntl.F_DUPFD, 3)
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        os.closerange(3, pipe)
        os.closerange(pipe + 1, os.sysconf("SC_OPEN_MAX"))
        try:
            give_up_rights()
        except OSError as error:
            kind, text = _UNAVAILABLE, os.strerror(error.errno or 0)
        else:
            kind, text = _worked(work)
        message = bytes([kind]) + text.encode(errors="replace")
        while message:
            message = message[os.write(pipe, message) :]
        os._exit(0)
    finally:
        os._exit(1)


def _worked(work: Callable[[], str]) -> tuple[int, str]:
    try:
        return _DONE, work()
    except _engine.ControlFailed as error:
        return _FAILED, str(error)
    except ValueError as error:
        return _REFUSED, str(error)


def _hear(pipe: int, name: str) -> bytes:
    """Reads the answer to its end."""
    answer, ends_at = bytearray(), time.monotonic() + programs.BUSY * LONGEST_S
    while True:
        stopping.check()
        ready, _, _ = select.select([pipe], [], [], stopping.POLL_S)
        more = os.read(pipe, 1 << 20) if ready else b""
        answer += more
        if ready and not more:
            return bytes(answer)
        if len(answer) > _MOST_BYTES or time.monotonic() > ends_at:
            raise InputError(f"{name}: takes more than {LONGEST_S} s of a CPU")


def _end(child: int) -> int:
    """Ends the child; returns its exit code, negative for a signal."""
    if child == 0:
        return 0
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)  # it has answered, or is not waited for
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _understood(answer: bytes, code: int, control: Control) -> str:
    """Reads an answer, which the control may have forged."""
    kind, text = answer[:1], answer[1:].decode(errors="replace")
    if kind == bytes([_DONE]):
        return text
    if kind == bytes([_REFUSED]):
        raise ValueError(one_line(text))
    if kind == bytes([_UNAVAILABLE]):
        problem = "is run without rights first, and this kernel can't take them"
        raise UnavailableError(f"{control.name}: {problem}: {one_line(text)}")
    if kind == bytes([_FAILED]) and (failed := _FAILURE.fullmatch(text)):
        raise _engine.ControlFailed(f"{control.source}\t{failed[1]}{one_line(failed[2])}")
    if code == -signal.SIGXCPU:
        raise InputError(f"{control.name}: takes more than {LONGEST_S} s of a CPU")
    if code == -signal.SIGKILL:
        raise RunError(f"{control.name}: its run without rights gave no answer")
    ended = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    raise InputError(f"{control.name}: the control ends its process ({ended})")
