# SPDX-License-Identifier: BSD-3-Clause
"""Reads a run's records piece by piece, connection by connection.

These are in memory; spool.py keeps them on disk.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

from westwood import extras
from westwood.results.raw import Columns

# The tables, and the column by which each is sorted, before the time.
KEYS: Mapping[str, str | None] = {
    "windows": "connection",
    "events": "connection",
    "queues": "channel",
    "states": "channel",
    "drops": None,
    "captured": None,
}


class Records(Protocol):
    """Holds the tables of a run."""

    def pieces(self, table: str) -> Iterator[Columns]:
        """Yields a table's rows in order, piece by piece; at least one, which may be empty."""

    def count(self, table: str) -> int:
        """Returns the number of a table's rows."""


def by_key(columns: Columns, key: str | None) -> Columns:
    """Returns the rows sorted by a column; the sort is stable."""
    import numpy as np

    if key is None or not (np.diff(columns[key].astype(np.int64)) < 0).any():
        return columns
    order = np.argsort(columns[key], kind="stable")
    return {name: column[order] for name, column in columns.items()}


class InMemory:
    """Records in memory; `table` returns a table by its name."""

    def __init__(self, table: Callable[[str], Columns]) -> None:
        self._table = table

    def __reduce__(self) -> tuple[type[Kept], tuple[dict[str, Columns]]]:
        tables: dict[str, Columns] = {}
        if extras.has("numpy"):  # without it nobody can read them
            import numpy as np

            for name in KEYS:
                with contextlib.suppress(KeyError):  # the engine has no such table
                    columns = self._table(name)
                    tables[name] = {column: np.array(each) for column, each in columns.items()}
        return Kept, (tables,)

    def pieces(self, table: str) -> Iterator[Columns]:
        """Yields all rows at once."""
        extras.need("numpy", "a trace")
        yield by_key(self._table(table), KEYS[table])

    def count(self, table: str) -> int:
        """Returns the number of a table's rows."""
        return len(next(iter(self._table(table).values()), ()))  # an engine may record nothing


class Kept(InMemory):
    """Records that were copied from a run, as those of an unpickled result."""

    def __init__(self, tables: dict[str, Columns]) -> None:
        super().__init__(lambda table: tables.get(table, {}))
