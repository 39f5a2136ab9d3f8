# SPDX-License-Identifier: BSD-3-Clause
"""Keeps a command's finished records in its folder, so that a killed command can continue.

    store = Store(folder, take)
    with store.resumed(ResultKind.SEARCH, state, resume=True, differs="holds another search"):
        store.keep({"trial": 1, "cost": 0.5})

The records are the lines of a file (journal.py). `take` receives each one: those of earlier starts
when the store is opened, and a new one when it is in the file. It raises ValueError or the like for
a record that the command can't have written. Such records and damaged lines are reported, and
their work is repeated. docs/decisions.md, 10, explains the choice.
"""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from westwood.errors import Resumable, RunError
from westwood.results import disk, journal
from westwood.results.folder import Folder
from westwood.results.kinds import ResultKind

Take = Callable[[Mapping[str, Any]], object]
_NOT_OURS = (KeyError, TypeError, ValueError, OverflowError, AttributeError)


class Store:
    """Keeps records in a file of a folder; with `synced` a record survives a power cut, too."""

    def __init__(
        self, folder: Folder, take: Take, *, file: str = "journal.jsonl", synced: bool = False
    ) -> None:
        self._folder, self._take, self._synced = folder, take, synced
        self._path = folder.path / file
        self._file: int | None = None
        self._end = 0  # of the last complete line of earlier starts, in bytes
        self._advice = ""

    @contextmanager
    def resumed(
        self,
        kind: ResultKind,
        state: object,
        *,
        resume: bool,
        differs: str,
        about: Mapping[str, Any] | None = None,
        files: Mapping[str, str] | None = None,
    ) -> Iterator[None]:
        """Locks the folder, checks that it fits (`Folder.begin`), and opens the store."""
        with self._folder.locked():
            self._folder.begin(
                kind, state, resume=resume, differs=differs, about=about, files=files
            )
            with self.opened(resumes=True):
                yield

    @contextmanager
    def opened(self, *, resumes: bool = False) -> Iterator[None]:
        """Reads the records of earlier starts, and closes the file in the end.

        resumes: errors advise to continue with --resume.
        """
        self._advice = "; continue with --resume" if resumes else ""
        self._read()
        try:
            yield
        finally:
            self._close()

    def keep(self, record: Mapping[str, Any]) -> None:
        """Appends a record to the file, then passes it to `take`."""
        with self._writing():
            if self._file is None:
                self._file = self._open()
            disk.append(self._file, journal.line_of(record))
            if self._synced:
                os.fdatasync(self._file)
        self._take(record)

    def _open(self) -> int:
        """Opens the file, and removes a last line that was cut off when a process died."""
        file = disk.open_to_append(self._path)
        os.ftruncate(file, self._end)
        if self._synced:
            disk.folder_to_disk(self._folder.path)
        return file

    def clear(self) -> None:
        """Removes all records, which another file of the folder has replaced."""
        self._close()
        self._end = 0
        self._folder.remove([self._path.name])

    def _read(self) -> None:
        if not os.path.lexists(self._path):
            return
        try:
            read = journal.read(self._path)
        except OSError as error:
            self._remove_unless_regular(error)
            return
        damaged = read.damaged + sum(not self._is_taken(record) for record in read.records)
        if damaged:
            self._folder.tell(f"{self._path}: has damaged lines ({damaged}); they are repeated")
        self._end = read.end

    def _remove_unless_regular(self, error: OSError) -> None:
        """Removes a link or a pipe; a file stays, since a failing disk may work again."""
        problem = f"{self._path}: can't be read: {error.strerror or error}"
        if stat.S_ISREG(self._path.lstat().st_mode):
            raise RunError(problem)
        self._folder.tell(f"{problem}; it is repeated")
        self._folder.remove([self._path.name])

    def _is_taken(self, record: Mapping[str, Any]) -> bool:
        try:
            self._take(record)
        except _NOT_OURS:
            return False
        return True

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Turns OSError into a one-line RunError."""
        try:
            yield
        except OSError as error:
            problem = f"{self._folder.path}: can't be written: {error.strerror or error}"
            raise RunError(problem + self._advice) from None

    def _close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def interrupted(folder: Folder, kept: str) -> Resumable:
    """Returns the error of a user's interrupt, to which the command line adds how to continue."""
    return Resumable(f"interrupted; {kept} are kept in {shlex.quote(str(folder.path))}")


@contextmanager
def interruptible(folder: Folder | None, kept: Callable[[], str]) -> Iterator[None]:
    """Turns a user's interrupt into that error; without a folder nothing is kept."""
    try:
        yield
    except KeyboardInterrupt:
        if folder is None:
            raise
        raise interrupted(folder, kept()) from None
