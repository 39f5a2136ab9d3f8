# SPDX-License-Identifier: BSD-3-Clause
"""Keeps what compilers made of controls, in a folder of the user's.

What is there runs with the user's rights. So the folder must be the user's own, no link, and nobody
else may write to it. It is held open while it is used, and files are named from there.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from westwood import programs, stopping
from westwood.errors import RunError

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG)  # numbers of errors of a disk
_CHECKSUM = hashlib.sha256().digest_size
_MOST = 64 << 20  # bytes of an object
_ROOM = 1 << 20  # bytes that a compiler should find free
_BEGUN = "new-"  # begins the name of a folder of a compiler at work
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_NOFOLLOW | os.O_CLOEXEC


def folder() -> Path:
    """Returns the folder of the cache."""
    return programs.workshop() / "controls"


def kept_or_made(name: str, make: Callable[[Path], None]) -> bytes:
    """Returns the file of the cache with this name; `make` writes it if it is missing or damaged.

    In the cache it ends with a checksum, which is not returned and which loaders of objects ignore.
    Raises RunError if the cache can't be used.
    """
    with _opened() as cache:
        kept = _whole(cache, name)
        if kept is not None:
            return kept
        _remove_left(cache)
        with _workplace(cache) as (place, folder):
            make(place / name)
            content = _read(folder, name)
            with os.fdopen(_new(folder, "whole"), "wb") as file:
                file.write(content + hashlib.sha256(content).digest())
            os.replace("whole", name, src_dir_fd=folder, dst_dir_fd=cache)
        return content


def is_kept(name: str) -> bool:
    """Returns whether the cache has a file, undamaged."""
    with _opened() as cache:
        return _whole(cache, name) is not None


def check_room(purpose: str) -> None:
    """Raises RunError if a compiler that failed, and said this, found no room on a disk."""
    for number in FULL:
        if os.strerror(number) in purpose:
            raise RunError(f"{folder()}: the compiler can't write: {os.strerror(number)}")
    with _opened() as cache, _workplace(cache) as (_, place):
        file = _new(place, "room")
        try:
            os.posix_fallocate(file, 0, _ROOM)
        finally:
            os.close(file)


@contextlib.contextmanager
def _opened() -> Iterator[int]:
    """Opens the folder of the cache; turns OSError in the block into a RunError."""
    try:
        programs.check_workshop()
        cache = programs.opened_private(folder())
        try:
            yield cache
        finally:
            os.close(cache)
    except OSError as error:
        raise RunError(f"{folder()}: can't be used: {error.strerror or error}") from None


def _whole(cache: int, name: str) -> bytes | None:
    """Returns a file without the checksum at its end; None if that is another."""
    try:
        kept = _read(cache, name)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ELOOP):
            return None
        raise
    content = kept[:-_CHECKSUM]
    return content if hashlib.sha256(content).digest() == kept[-_CHECKSUM:] else None


def _new(place: int, name: str) -> int:
    return os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | _FILE, 0o600, dir_fd=place)


def _read(place: int, name: str) -> bytes:
    file = os.open(name, os.O_RDONLY | os.O_NONBLOCK | _FILE, dir_fd=place)
    with os.fdopen(file, "rb") as stream:
        return stream.read(_MOST)


@contextlib.contextmanager
def _workplace(cache: int) -> Iterator[tuple[Path, int]]:
    """Makes a folder for a compiler; yields its path and descriptor, and removes it.

    The path leads to the folder itself, so that nobody can put another in its place.
    """
    name, folder = None, -1
    try:
        with stopping.shielded():
            name, folder = _made_and_locked(cache)
        yield Path(f"/proc/{os.getpid()}/fd/{folder}"), folder
    finally:
        if name is not None:
            with stopping.shielded():
                shutil.rmtree(name, dir_fd=cache, ignore_errors=True)
                os.close(folder)


def _made_and_locked(cache: int) -> tuple[str, int]:
    """Makes a folder; it is locked while its maker lives."""
    while True:
        name = f"{_BEGUN}{secrets.token_hex(8)}"
        os.mkdir(name, 0o700, dir_fd=cache)
        folder = os.open(name, _FOLDER, dir_fd=cache)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # another process is removing it as one that was left
            os.close(folder)
            continue
        except OSError:
            pass  # without locks on this disk, no process removes any
        if os.fstat(folder).st_nlink:
            return name, folder
        os.close(folder)  # another process removed it before it was locked


def _remove_left(cache: int) -> None:
    """Removes the folders of processes that were killed while a compiler worked for them."""
    for name in os.listdir(cache):
        if name.startswith(_BEGUN):
            with contextlib.suppress(OSError):
                _remove_unless_locked(cache, name)


def _remove_unless_locked(cache: int, name: str) -> None:
    folder = os.open(name, _FOLDER, dir_fd=cache)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(name, dir_fd=cache)
    finally:
        os.close(folder)
