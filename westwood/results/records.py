# SPDX-License-Identifier: BSD-3-Clause
"""Gives what a run recorded back piece by piece, one connection after another.

Here it is in memory; spool.py keeps it on disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

from westwood import extras
from westwood.results.raw import Columns

# The tables, and by which of their columns they are sorted, before the time.
KEYS: Mapping[str, str | None] = {
    "windows": "connection",
    "events": "connection",
    "queues": "pipe",
    "drops": None,
    "captured": None,
}


class Records(Protocol):
    """Holds the tables of a run."""

    def pieces(self, table: str) -> Iterator[Columns]:
        """Yields a table's rows in order, piece by piece; at least one, which may be empty."""

    def count(self, table: str) -> int:
        """Returns the number of a table's rows."""


class Kept:
    """Has the tables in memory: `table` finds one by its name."""

    def __init__(self, table: Callable[[str], Columns]) -> None:
        self._table = table

    def pieces(self, table: str) -> Iterator[Columns]:
        """Yields all rows at once."""
        extras.need("numpy", "a trace")
        from westwood.results.spool import by_key

        yield by_key(self._table(table), KEYS[table])

    def count(self, table: str) -> int:
        """Returns the number of a table's rows."""
        return len(next(iter(self._table(table).values())))
