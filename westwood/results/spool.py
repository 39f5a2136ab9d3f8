# SPDX-License-Identifier: BSD-3-Clause
"""Keeps a run's records on disk, so that memory does not grow with the run.

Rows arrive in order of time, with many connections interleaved. They are read back by connection
(or direction of a link), each in order of time: pieces of `_PIECE` rows are sorted when written and
merged when read. The files have no names, so they disappear with the process.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from westwood.errors import RunError
from westwood.results.raw import Columns
from westwood.results.records import KEYS, by_key

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from westwood import _engine

_PIECE = 1 << 14  # rows


def _rows(columns: Columns) -> int:
    return len(next(iter(columns.values())))


def _joined(parts: list[Columns]) -> Columns:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


@dataclass(frozen=True)
class _Piece:
    """Locates a piece in the file; it is stored column by column, sorted by the key."""

    offset: int
    rows: int
    keys: NDArray[np.uint32]  # distinct, ascending
    starts: NDArray[np.int64]  # the first row of each key, and the end


class _Table:
    """A table on disk; its file is created when the first piece is full."""

    def __init__(self, key: str | None, folder: Path) -> None:
        self._key, self._folder = key, folder
        self._waiting: list[Columns] = []  # less than a piece
        self._shape: Columns = {}  # without rows
        self._pieces: list[_Piece] = []
        self._file: Any = None
        self._end = 0
        self.count = 0

    def close(self) -> None:
        self._waiting.clear()
        if self._file is not None:
            self._file.close()

    def add(self, columns: Columns) -> None:
        """Adds rows, and writes them once there are enough."""
        rows = _rows(columns)
        if not self._shape:
            self._shape = {name: column[:0].copy() for name, column in columns.items()}
        if rows == 0:
            return
        self.count += rows
        # Copies, because a view would keep the whole original array in memory.
        self._waiting.append({name: column.copy() for name, column in columns.items()})
        if sum(map(_rows, self._waiting)) >= _PIECE:
            self._write(by_key(_joined(self._waiting), self._key))
            self._waiting = []

    def _write(self, columns: Columns) -> None:
        if self._file is None:
            # On the folder's future disk; the folder itself is created after the run.
            there = next(
                parent for parent in (self._folder, *self._folder.parents) if parent.is_dir()
            )
            self._file = tempfile.TemporaryFile(dir=there, buffering=0)  # noqa: SIM115
        for column in columns.values():
            data = memoryview(np.ascontiguousarray(column).reshape(-1).view(np.uint8).data)
            while len(data):
                data = data[self._file.write(data) :]
        rows = _rows(columns)
        keys, starts = np.zeros(1, dtype=np.uint32), np.zeros(1, dtype=np.int64)
        if self._key is not None:
            keys, starts = np.unique(columns[self._key], return_index=True)
        self._pieces.append(_Piece(self._end, rows, keys, np.append(starts, rows)))
        self._end += rows * self._row_bytes()

    def _row_bytes(self) -> int:
        return sum(_size(column) for column in self._shape.values())

    def _read(self, piece: _Piece, first: int, last: int) -> Columns:
        offset, columns = piece.offset, {}
        for name, column in self._shape.items():
            size = _size(column)
            data = os.pread(self._file.fileno(), (last - first) * size, offset + first * size)
            columns[name] = np.frombuffer(data, column.dtype).reshape(-1, *column.shape[1:])
            offset += piece.rows * size
        return columns

    def pieces(self) -> Iterator[Columns]:
        if not self._pieces:
            yield by_key(_joined([self._shape, *self._waiting]), self._key)
            return
        if self._waiting:
            self._write(by_key(_joined(self._waiting), self._key))
            self._waiting = []
        for low, high, rows in self._ranges():
            parts: list[Columns] = []
            for piece in self._pieces:
                first, last = piece.starts[np.searchsorted(piece.keys, (low, high))]
                if first == last:
                    continue
                part = self._read(piece, int(first), int(last))
                if rows > _PIECE:  # a single key, so they are in order
                    yield part
                else:
                    parts.append(part)
            if parts:
                yield by_key(_joined(parts), self._key)

    def _ranges(self) -> Iterator[tuple[int, int, int]]:
        """Yields ranges of keys with their rows: at most `_PIECE` rows, or a single key."""
        keys = np.concatenate([piece.keys for piece in self._pieces])
        rows = np.concatenate([np.diff(piece.starts) for piece in self._pieces])
        totals = np.bincount(keys, weights=rows).astype(np.int64)
        low = held = 0
        for key in np.flatnonzero(totals):
            total = int(totals[key])
            if held and held + total > _PIECE:
                yield low, int(key), held
                low, held = int(key), 0
            held += total
        yield low, len(totals), held


def _size(column: NDArray[Any]) -> int:
    """Returns the bytes of a row of the column."""
    return int(column.dtype.itemsize * np.prod(column.shape[1:], dtype=np.int64))


class Spool:
    """Keeps the tables on the folder's disk, in files without names, during the block."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._tables = {table: _Table(key, folder) for table, key in KEYS.items()}

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, *_: object) -> None:
        for table in self._tables.values():
            table.close()

    def take(self, records: _engine.Records) -> None:
        """Adds what the simulator has recorded since the last call."""
        try:
            for name, table in self._tables.items():
                table.add(getattr(records, name)())
        except OSError as error:
            raise self._error(error) from None

    def _error(self, error: OSError) -> RunError:
        return RunError(f"{self._folder}: can't be written: {error.strerror or error}")

    def pieces(self, table: str) -> Iterator[Columns]:
        """Yields a table's rows in order, piece by piece."""
        try:
            yield from self._tables[table].pieces()
        except OSError as error:
            raise self._error(error) from None

    def count(self, table: str) -> int:
        """Returns the number of a table's rows."""
        return self._tables[table].count
