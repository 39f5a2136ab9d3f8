# SPDX-License-Identifier: BSD-3-Clause
"""Keeps the checksums of a folder's files in SHA256SUMS, which `sha256sum --check` can read.

A file's line is added before the file is renamed, so every file has a matching line at all times. A
replaced file keeps its old line, too, until `compact`.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from westwood.results import disk

NAME = "SHA256SUMS"
_HEAD = "# westwood results folder: sha256sum --check SHA256SUMS"
_LINE = re.compile(r"([0-9a-f]{64})  (.+)")


class Sums:
    """Keeps a folder's SHA256SUMS."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._path = folder, folder / NAME
        self._written: dict[str, str] = {}  # by this process; they replace older checksums
        self._begun = False

    def is_ours(self) -> bool:
        """Returns whether westwood wrote it."""
        return self._lines()[:1] == [_HEAD]

    def of(self, name: str) -> list[str]:
        """Returns the checksums listed for a file."""
        return [checksum for checksum, other in self._entries() if other == name]

    @contextlib.contextmanager
    def replacing(self, name: str) -> Iterator[Callable[[Path], None]]:
        """Yields a function; call it with the file just before it is renamed to `name`."""
        checksum = ""

        def add(whole: Path) -> None:
            nonlocal checksum
            checksum = disk.sha256(whole)
            self._add(name, checksum)

        yield add
        self._written[name] = checksum

    def _add(self, name: str, checksum: str) -> None:
        if not self._begun and not self.is_ours():  # it is new, or its first line is damaged
            self._write(self._entries())
        self._begun = True
        file = disk.open_to_append(self._path)
        try:
            ended = os.pread(file, 1, os.fstat(file).st_size - 1) == b"\n"
            line = f"{checksum}  {name}\n"  # on its own line, even after one that was cut off
            disk.append(file, (line if ended else "\n" + line).encode())
            os.fdatasync(file)
        finally:
            os.close(file)

    def compact(self) -> None:
        """Removes the lines that match no current file."""
        kept = {
            (self._written.get(name, checksum), name): None
            for checksum, name in self._entries()
            if (self._folder / name).is_file()
        }
        self._write(list(kept))

    def _write(self, entries: list[tuple[str, str]]) -> None:
        lines = [_HEAD, *(f"{checksum}  {name}" for checksum, name in entries)]
        content = ("\n".join(lines) + "\n").encode()
        disk.write_whole(self._path, lambda path: path.write_bytes(content))

    def _entries(self) -> list[tuple[str, str]]:
        matches = (_LINE.fullmatch(line) for line in self._lines())
        return [(match[1], match[2]) for match in matches if match is not None]

    def _lines(self) -> list[str]:
        try:
            return disk.read_regular(self._path).decode("utf-8", "replace").split("\n")
        except OSError:
            return []
