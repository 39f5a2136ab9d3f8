# SPDX-License-Identifier: BSD-3-Clause
"""Remembers what `kernel default` found, until it is put back: in /run/westwood, for root only.

What is set is written down before it is set, and forgotten after it was put back, so that a kill at
any moment loses nothing. /run and the settings are both gone with the next boot.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import stat
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from westwood.errors import RunError, UnavailableError

FOLDER = Path("/run/westwood")
_FILE, _NEW = "defaults.json", "defaults.json.new"
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_MOST = 1 << 20  # bytes


@dataclass
class Entry:
    """Says of a namespace, or of a route in it, what control it had and which we have set."""

    netns: int  # its cookie, which no other namespace has until the next boot
    where: str  # for people
    before: str  # "" of a route: none
    ours: list[str] = field(default_factory=list)  # each that we have set or were about to set
    route: str = ""  # a prefix; "" is the namespace's default itself


class Memory:
    """Is the file, held by us alone."""

    def __init__(self, folder: int) -> None:
        self._folder = folder
        self.entries = self._read()

    def _read(self) -> list[Entry]:
        try:
            handle = os.open(_FILE, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=self._folder)
        except FileNotFoundError:
            return []
        with os.fdopen(handle, "rb") as file:
            text = file.read(_MOST)
        try:
            content: dict[str, Any] = json.loads(text)
            entries = [Entry(**one) for one in content["entries"]]
        except (ValueError, TypeError, KeyError):
            raise RunError(f"{FOLDER / _FILE}: is damaged: look at it, and remove it") from None
        return entries if content.get("boot") == _boot() else []

    def entry(self, netns: int, route: str = "") -> Entry | None:
        """Finds what is remembered of a namespace's default or of a route in it."""
        return next((one for one in self.entries if (one.netns, one.route) == (netns, route)), None)

    def keep(self) -> None:
        """Writes the entries, whole or not at all."""
        content = {"boot": _boot(), "entries": [asdict(one) for one in self.entries]}
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            with os.fdopen(os.open(_NEW, flags, 0o600, dir_fd=self._folder), "w") as file:
                json.dump(content, file)
            os.replace(_NEW, _FILE, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        except OSError as error:
            raise RunError(f"{FOLDER / _FILE}: can't be written: {error.strerror}") from None

    def forget(self, entry: Entry) -> None:
        """Drops an entry whose setting is put back."""
        self.entries.remove(entry)
        self.keep()


def _boot() -> str:
    return _BOOT.read_text().strip()


def may_be_there() -> bool:
    """Tells whether something may be remembered; others than root can't look further."""
    return os.path.lexists(FOLDER)


@contextlib.contextmanager
def opened() -> Iterator[Memory]:
    """Opens the memory, made if need be; others wait until the block ends.

    UnavailableError unless we are root, and the folder is root's with mode 700 and no link.
    """
    if os.geteuid() != 0:
        raise UnavailableError("only root may set or put back a default: run as root")
    try:
        with contextlib.suppress(FileExistsError):
            os.mkdir(FOLDER, 0o700)
        folder = os.open(FOLDER, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise RunError(f"{FOLDER}: can't be used: {error.strerror}") from None
    try:
        found = os.fstat(folder)
        if found.st_uid != 0 or stat.S_IMODE(found.st_mode) & 0o077:
            raise RunError(
                f"{FOLDER}: is of user {found.st_uid}, mode {stat.S_IMODE(found.st_mode):o}, so "
                "that others may have written what is in it: look at it, and remove it"
            )
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield Memory(folder)
    finally:
        os.close(folder)
