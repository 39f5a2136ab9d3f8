# SPDX-License-Identifier: GPL-2.0-only
"""Gives a test its own network namespace, for its traffic and its devices."""

import ctypes
import fcntl
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CLONE_NEWNET = 0x40000000
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1
_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


@contextmanager
def own_network() -> Iterator[None]:
    """Moves this thread and its children into a new namespace with a loopback device."""
    before = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    try:
        _check(_libc.unshare(CLONE_NEWNET))
        try:
            with socket.socket() as any_socket:
                up = struct.pack("16sH14x", b"lo", _IFF_UP)
                fcntl.ioctl(any_socket, _SIOCSIFFLAGS, up)
            yield
        finally:
            _check(_libc.setns(before, CLONE_NEWNET))
    finally:
        os.close(before)


def devices() -> set[str]:
    lines = Path("/proc/thread-self/net/dev").read_text().splitlines()[2:]
    return {line.partition(":")[0].strip() for line in lines}


class Network:
    """The network namespace of a process, held open: else a later one may get its number."""

    def __init__(self, pid: int) -> None:
        self._held = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)

    def __del__(self):
        os.close(self._held)

    def inhabitants(self) -> list[int]:
        name = os.readlink(f"/proc/self/fd/{self._held}")
        members = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if os.readlink(process / "ns/net") == name:
                    members.append(int(process.name))
            except OSError:  # it has ended
                continue
        return members
