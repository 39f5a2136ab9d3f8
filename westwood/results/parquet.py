# SPDX-License-Identifier: BSD-3-Clause
"""Writes Parquet files of tables that are larger than memory."""

from __future__ import annotations

import contextlib
import os
import queue
import re
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

import polars as pl
from polars.io.plugins import register_io_source

_POLL_S = 0.04  # how often the writing thread is checked


def write_parquet(frames: Iterable[pl.DataFrame], path: Path) -> None:
    """Writes frames with the same columns into one file."""
    left = iter(frames)
    first, second = next(left), next(left, None)
    if second is None:
        with _refusals():
            first.write_parquet(path)
        return
    with contextlib.closing(_Writer(first.schema, path)) as writer:
        for frame in (first, second):
            writer.add(frame)
        del first, second, frame
        for frame in left:
            writer.add(frame)
        writer.finish()


class _Writer:
    """Passes frames to polars, which writes them in a thread while the caller makes the next.

    If polars pulled them itself, its threads would not react to signals.
    """

    def __init__(self, schema: pl.Schema, path: Path) -> None:
        self._schema, self._path = schema, path
        self._waiting: queue.Queue[pl.DataFrame | None] = queue.Queue(maxsize=1)
        self._problem: BaseException | None = None
        self._is_given_up = False
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def add(self, frame: pl.DataFrame) -> None:
        """Queues a frame for writing; raises the error of an earlier one, if any."""
        self._put(frame.cast(self._schema))

    def finish(self) -> None:
        """Waits until all frames are written."""
        self._put(None)
        while self._thread.is_alive():
            self._thread.join(_POLL_S)
        if self._problem is not None:
            raise self._problem

    def close(self) -> None:
        """Ends the thread, even if frames are left."""
        self._is_given_up = True
        self._thread.join()

    def _put(self, frame: pl.DataFrame | None) -> None:
        while self._thread.is_alive():
            with contextlib.suppress(queue.Full):
                self._waiting.put(frame, timeout=_POLL_S)
                return
        raise self._problem or AssertionError("polars stopped writing")

    def _frames(self, *_: object) -> Iterator[pl.DataFrame]:
        while not self._is_given_up:
            with contextlib.suppress(queue.Empty):
                frame = self._waiting.get(timeout=_POLL_S)
                if frame is None:
                    return
                yield frame

    def _write(self) -> None:
        try:
            with _refusals():
                register_io_source(self._frames, schema=self._schema).sink_parquet(self._path)
        except BaseException as error:
            self._problem = error


@contextlib.contextmanager
def _refusals() -> Iterator[None]:
    """Turns polars' errors about the disk, such as a full one, into OSError."""
    try:
        yield
    except pl.exceptions.ComputeError as error:
        number = re.search(r"\(os error (\d+)\)", str(error))
        if number is None:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1]))) from None
