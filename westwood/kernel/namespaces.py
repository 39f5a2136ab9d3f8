# SPDX-License-Identifier: BSD-3-Clause
"""Finds network namespaces and runs functions in them; sockets and sysctls belong to one."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from westwood.errors import InputError, RunError, UnavailableError, one_line

T = TypeVar("T")
NAMED = Path("/run/netns")  # where ip(8) mounts them
_CLONE_NEWNET = 0x40000000  # linux/sched.h
_KIND_OF = 0xB703  # NS_GET_NSTYPE of linux/nsfs.h
_EXPECTED = "expected a name in /run/netns or a process's number"
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Namespace:
    """An open network namespace: its descriptor, its inode number and the name it was given."""

    handle: int
    inode: int
    name: str  # a name in /run/netns, a process's number, or "" for our own

    def __str__(self) -> str:
        return f"of process {self.name}" if self.name.isdigit() else self.name or "(this one)"

    def run(self, work: Callable[[], T]) -> T:
        """Runs a function in the namespace, in its own thread; passes on its exceptions."""
        done: list[T] = []
        failed: list[BaseException] = []

        def enter() -> None:
            try:
                if _libc.setns(self.handle, _CLONE_NEWNET) != 0:
                    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
                done.append(work())
            except BaseException as error:
                failed.append(error)

        if self.inode == own_inode():
            return work()
        thread = threading.Thread(target=enter)
        thread.start()
        thread.join()
        for error in failed:
            if isinstance(error, PermissionError):
                raise UnavailableError(
                    f"network namespace {self}: {error.strerror}, expected CAP_SYS_ADMIN"
                ) from None
            raise error
        return done[0]


def own_inode() -> int:
    """Returns the inode number of this thread's namespace."""
    return os.stat("/proc/thread-self/ns/net").st_ino


@contextlib.contextmanager
def opened(chosen: str | int | None) -> Iterator[Namespace]:
    """Opens a namespace by its name in /run/netns or a process in it; None is our own.

    Raises InputError if there is none.
    """
    name = "" if chosen is None else str(chosen)
    if not name and chosen is None:
        path = Path("/proc/thread-self/ns/net")
    elif re.fullmatch(r"\d+", name, re.ASCII):
        path = Path(f"/proc/{name}/ns/net")
    elif re.fullmatch(r"[^/\0]+", name) and name not in (".", ".."):
        path = NAMED / name
    else:
        raise InputError(_EXPECTED, key="--netns", value=chosen)
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        raise InputError(_EXPECTED, key="--netns", value=chosen) from None
    except PermissionError as error:
        raise UnavailableError(f"{path}: {error.strerror}; run as root") from None
    except OSError as error:
        raise RunError(f"{one_line(str(path))}: {error.strerror}") from None
    try:
        if not _is_network(handle):  # ip(8) leaves an empty file where its mount is not visible
            raise InputError(
                f"is not a network namespace, {_EXPECTED}", key="--netns", value=chosen
            )
        yield Namespace(handle, os.fstat(handle).st_ino, name)
    finally:
        os.close(handle)


def _is_network(handle: int) -> bool:
    try:
        return fcntl.ioctl(handle, _KIND_OF) == _CLONE_NEWNET
    except OSError:
        return False


def everywhere() -> dict[int, str | None]:
    """Returns what `opened` takes, by inode number, for every namespace with a name or a process.

    Our own is None. Namespaces of processes that we may not inspect are left out.
    """
    name_of_inode: dict[int, str | None] = {own_inode(): None}
    with contextlib.suppress(OSError):
        for path in sorted(NAMED.iterdir()):
            with contextlib.suppress(OSError):
                name_of_inode.setdefault(path.stat().st_ino, path.name)
    for number in sorted((entry for entry in os.listdir("/proc") if entry.isdigit()), key=int):
        with contextlib.suppress(OSError):
            name_of_inode.setdefault(os.stat(f"/proc/{number}/ns/net").st_ino, number)
    return name_of_inode
