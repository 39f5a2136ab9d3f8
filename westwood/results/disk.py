# SPDX-License-Identifier: BSD-3-Clause
"""Writes files atomically, and reads only regular files.

A file is written under a temporary name, PARTIAL and some digits, synced and renamed. Its writer
holds a lock on it, which ends with the process. An unlocked file with such a name was left by a
process that died; the next writer removes it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from westwood import stopping

PARTIAL = ".partial-"
_LEFT = re.compile(re.escape(PARTIAL) + r"[0-9a-f]{8}(\.\w+)?")
_MOST = 1 << 28  # bytes of a manifest, a journal or SHA256SUMS
_A_PIECE = 1 << 20
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO)  # numbers of errors
_FOR_READING = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def write_whole(
    path: Path,
    write: Callable[[Path], object],
    *,
    place: Path | None = None,
    before: Callable[[Path], object] | None = None,
) -> None:
    """Calls `write` with a temporary file in `place`, on the same disk, and renames it to `path`.

    `before` is called with the synced file just before it is renamed.
    """
    with _partial(place or path.parent, path.suffix) as temporary:
        write(temporary)
        _to_disk(temporary, os.O_RDWR)
        if before is not None:
            before(temporary)
        os.replace(temporary, path)
    folder_to_disk(path.parent)


@contextlib.contextmanager
def _partial(folder: Path, suffix: str) -> Iterator[Path]:
    """Makes a locked temporary file for the block; removes it if the block fails."""
    descriptor = None
    try:
        with stopping.shielded():
            path, held = descriptor = _make_locked(folder, suffix)
        yield path
    except BaseException:
        if descriptor is not None:
            with stopping.shielded(), contextlib.suppress(OSError):
                path.unlink()
        raise
    finally:
        if descriptor is not None:
            os.close(held)


def check_place(folder: Path) -> None:
    """Raises OSError if no file can be made in a folder; if it is missing, in the one above it."""
    while not os.path.lexists(folder):
        folder = folder.parent
    path, held = _make_locked(folder, "")
    try:
        path.unlink()
    finally:
        os.close(held)


def _make_locked(folder: Path, suffix: str) -> tuple[Path, int]:
    while True:
        path = folder / f"{PARTIAL}{secrets.token_hex(4)}{suffix}"  # writers may need the suffix
        held = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # another process is removing it as a leftover
            os.close(held)
            continue
        except OSError:
            pass  # without locks on this disk, no process removes leftovers
        if os.fstat(held).st_nlink:
            return path, held
        os.close(held)  # another process removed it before we locked it


def remove_left(folder: Path) -> None:
    """Removes the temporary files of dead processes from this folder."""
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            if _LEFT.fullmatch(name):
                with contextlib.suppress(OSError):
                    _remove_unless_locked(folder / name)


def _remove_unless_locked(path: Path) -> None:
    file = os.open(path, _FOR_READING)
    try:
        if stat.S_ISREG(os.fstat(file).st_mode):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
    finally:
        os.close(file)


def append(file: int, content: bytes) -> None:
    """Appends all of the content to the open file, or nothing if that fails (as on a full disk)."""
    start, left = os.fstat(file).st_size, memoryview(content)
    try:
        while left:
            written = os.write(file, left)
            if written == 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            left = left[written:]
    except OSError:
        with contextlib.suppress(OSError):
            os.ftruncate(file, start)
        raise


def open_to_append(path: Path) -> int:
    """Opens a file for `append`; creates it if necessary, and follows no link."""
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    file = _open(path, flags)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OSError(errno.EINVAL, "is not a regular file")
    return file


def _open(path: Path, flags: int) -> int:
    try:
        return os.open(path, flags, 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "is a link, expected a file") from None
        raise


def folder_to_disk(folder: Path) -> None:
    """Syncs a folder's list of files to the disk."""
    try:
        _to_disk(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network disks can't sync
            raise


def _to_disk(path: Path, flags: int) -> None:
    file = os.open(path, flags | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)


@contextlib.contextmanager
def opened(path: Path) -> Iterator[int]:
    """Opens a file for reading; refuses links, and pipes and devices, which may never end."""
    file = _open(path, _FOR_READING)
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise OSError(errno.EINVAL, "is not a regular file")
        yield file
    finally:
        os.close(file)


def read_regular(path: Path) -> bytes:
    """Reads a regular file of limited size."""
    content = bytearray()
    with opened(path) as file:
        while piece := os.read(file, _A_PIECE):  # one large read would allocate the limit
            content += piece
            if len(content) > _MOST:
                raise OSError(errno.EFBIG, f"has more than {_MOST} bytes")
    return bytes(content)


def sha256(path: Path) -> str:
    """Computes the checksum of a regular file."""
    with opened(path) as file, os.fdopen(file, "rb", closefd=False) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
