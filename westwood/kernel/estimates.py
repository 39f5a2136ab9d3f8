# SPDX-License-Identifier: BSD-3-Clause
"""Reads our controls' current estimates from their recorder, since sock_diag lacks them."""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import tempfile
from collections.abc import Iterator

import polars as pl

from westwood.errors import RunError
from westwood.kernel.recording import OURS, Recorder

_PUNCH_HOLE, _KEEP_SIZE = 2, 1  # linux/falloc.h
_libc = ctypes.CDLL(None, use_errno=True)


class Estimates:
    """Follows a recorder, and keeps the latest estimate of each open connection."""

    def __init__(self, recorder: Recorder, file: int) -> None:
        self._recorder, self._file = recorder, file
        self._read, self._rest = 0, b""
        self._known: dict[tuple[int, str], float] = {}

    def added_to(self, seen: pl.DataFrame) -> pl.DataFrame:
        """Returns the frame with `estimate_bps` for connections of our controls."""
        if self._recorder.waits(0):
            raise RunError(self._recorder.end()[2])
        self._follow()
        keys = zip(seen["netns"].to_list(), seen["flow"].to_list(), strict=True)
        series = pl.Series([self._known.get(key, math.nan) for key in keys], dtype=pl.Float64)
        ours = pl.col("cc").is_in(OURS)
        return seen.with_columns(
            pl.when(ours).then(series).otherwise(pl.col("estimate_bps")).alias("estimate_bps")
        )

    def _follow(self) -> None:
        """Reads what was written since the last call, and frees its space on the disk."""
        while piece := os.pread(self._file, 1 << 20, self._read):
            self._read += len(piece)
            *lines, self._rest = (self._rest + piece).split(b"\n")
            for line in lines:
                netns, flow, *cells = line.decode().split(",")
                if len(cells) < 11 or not netns.isdigit():  # the header
                    continue
                if cells[10] == "end":
                    self._known.pop((int(netns), flow), None)
                elif cells[3]:
                    self._known[int(netns), flow] = float(cells[3])
        _libc.fallocate(
            self._file, _PUNCH_HOLE | _KEEP_SIZE, ctypes.c_long(0), ctypes.c_long(self._read)
        )


@contextlib.contextmanager
def followed(port: int | None) -> Iterator[Estimates]:
    """Records our controls during the block; nobody else can record at the same time."""
    with tempfile.TemporaryFile() as file:
        recorder = Recorder(port, OURS, file)
        try:
            yield Estimates(recorder, file.fileno())
        finally:
            recorder.end()
