# SPDX-License-Identifier: BSD-3-Clause
"""Keeps the finished records of a resumable command in journal-N.jsonl, one file per start.

The next start reads back what a killed one finished. It reports damaged lines and repeats them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from westwood.errors import RunError
from westwood.results import journal
from westwood.results.folder import Folder
from westwood.results.kinds import ResultKind

_JOURNAL = re.compile(r"journal-(\d{6,12})\.jsonl")
# Raised by `take` for foreign lines.
_NOT_OURS = (KeyError, TypeError, ValueError, OverflowError, AttributeError)


class Ledger:
    """Keeps records; `take` receives each, and raises ValueError or the like for a foreign one."""

    def __init__(self, folder: Folder, take: Callable[[Mapping[str, Any]], None]) -> None:
        self._folder, self._take = folder, take
        self._journal: journal.Journal | None = None
        self._number = 1

    @contextmanager
    def opened(
        self, kind: ResultKind, state: object, *, resume: bool, differs: str
    ) -> Iterator[None]:
        """Locks the folder, checks that it fits (`Folder.holds`), and reads its records."""
        with self._folder.locked():
            self._folder.begin(kind, state, resume=resume, differs=differs)
            self._read()
            try:
                yield
            finally:
                if self._journal is not None:
                    self._journal.close()

    def _read(self) -> None:
        numbers = [0]
        for path in sorted(self._folder.path.iterdir()):
            if not (match := _JOURNAL.fullmatch(path.name)):
                continue
            numbers.append(int(match[1]))
            try:
                read = journal.read(path)
            except OSError as error:
                self._folder.tell(f"{path}: can't be read: {error.strerror}; its runs are repeated")
                continue
            damaged = read.damaged + sum(not self._is_taken(record) for record in read.records)
            if damaged:
                self._folder.tell(f"{path}: has damaged lines ({damaged}); they are repeated")
        self._number = max(numbers) + 1

    def _is_taken(self, record: Mapping[str, Any]) -> bool:
        try:
            self._take(record)
        except _NOT_OURS:
            return False
        return True

    def keep(self, record: Mapping[str, Any]) -> None:
        """Writes a record to the disk, then passes it to `take`."""
        try:
            if self._journal is None:
                name = f"journal-{self._number:06}.jsonl"
                self._journal = journal.Journal(self._folder.path / name)
            self._journal.add(record)
        except OSError as error:
            problem = f"{self._folder.path}: can't be written: {error.strerror or error}"
            raise RunError(f"{problem}; continue with --resume") from None
        self._take(record)
