# SPDX-License-Identifier: BSD-3-Clause
"""Stores the defaults that `kernel default` replaces, in /run/westwood, for root only.

An entry is written before a default is set and removed after it is restored, so nothing is lost if
the process is killed. Both /run and the settings last until the next boot.
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
    """Describes a namespace or a route in it: the control it had, and those we have set."""

    netns: int  # its cookie, unique until the next boot
    where: str  # description for messages
    before: str  # "" for a route without a control
    ours: list[str] = field(default_factory=list)  # every control that we have set or tried to set
    route: str = ""  # a prefix; "" for the namespace's default
    opened: list[str] = field(default_factory=list)  # those that any user may choose by this


class SavedDefaults:
    """The stored entries; needs the exclusive lock of the folder."""

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
            entries = [Entry(**entry) for entry in content["entries"]]
        except (ValueError, TypeError, KeyError):
            raise RunError(f"{FOLDER / _FILE}: is damaged: inspect and remove it") from None
        return entries if content.get("boot") == _boot() else []

    def entry(self, netns: int, route: str = "") -> Entry | None:
        """Returns the entry of a namespace's default or of a route in it, if there is one."""
        return next(
            (entry for entry in self.entries if (entry.netns, entry.route) == (netns, route)), None
        )

    def keep(self) -> None:
        """Writes the entries atomically."""
        content = {"boot": _boot(), "entries": [asdict(entry) for entry in self.entries]}
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            with os.fdopen(os.open(_NEW, flags, 0o600, dir_fd=self._folder), "w") as file:
                json.dump(content, file)
            os.replace(_NEW, _FILE, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        except OSError as error:
            raise RunError(f"{FOLDER / _FILE}: can't be written: {error.strerror}") from None

    def forget(self, entry: Entry) -> None:
        """Removes an entry whose default has been restored."""
        self.entries.remove(entry)
        self.keep()


def _boot() -> str:
    return _BOOT.read_text().strip()


def may_be_there() -> bool:
    """Returns whether there may be entries; only root can read them."""
    return os.path.lexists(FOLDER)


@contextlib.contextmanager
def opened() -> Iterator[SavedDefaults]:
    """Opens the entries and holds the lock during the block; creates the folder if necessary.

    Raises UnavailableError unless we are root, and RunError unless the folder is a real folder of
    root's with mode 700.
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
        info = os.fstat(folder)
        if info.st_uid != 0 or stat.S_IMODE(info.st_mode) & 0o077:
            raise RunError(
                f"{FOLDER}: belongs to user {info.st_uid}, mode {stat.S_IMODE(info.st_mode):o}, "
                "so others may have changed it: inspect and remove it"
            )
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield SavedDefaults(folder)
    finally:
        os.close(folder)
