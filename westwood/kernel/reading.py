# SPDX-License-Identifier: BSD-3-Clause
"""Reads recordings of real connections, including incomplete ones of a killed recorder.

ww-kernel writes events as CSV lines, from which `kernel record` makes a trace. Both can be read. A
killed recorder leaves events, whose last line may be cut off.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from westwood import files
from westwood.errors import InputError
from westwood.results.traces import STATES, TRACE_COLUMNS

ENDINGS = (".parquet", ".csv")
EVENTS = ("start", "window", "loss", "timeout", "exit", "undo", "end", "retransmit")
_NUMBERS = ("mss", "delivered_bytes", "sent", "retransmitted", "lost")  # integers
# The simulator's columns, then those of recordings only.
COLUMNS = ("flow", "transfer", *TRACE_COLUMNS, "event", "cc", "rtt_min_s", *_NUMBERS)
_NOT_DRAWN = {"rto_s", "in_flight", "rtt_min_s", "sent", "retransmitted", "lost"}
_NEEDED = [name for name in COLUMNS if name not in _NOT_DRAWN]  # for a figure
_NETNS = "netns"  # a column of events only
_WORDS = {"state": STATES, "event": EVENTS}
_ALWAYS = ("flow", "transfer", "time_s", "cwnd", "cc", *_WORDS, *_NUMBERS, _NETNS)
_MOST = 1e18  # larger than any value of a connection
_NONE = "expected a recording of westwood kernel record"


def _kind(name: str) -> type[pl.DataType]:
    if name in (*_NUMBERS, _NETNS, "transfer"):
        return pl.Int64
    return pl.String if name in ("flow", "cc", *_WORDS) else pl.Float64


_KINDS = {name: _kind(name) for name in (*COLUMNS, _NETNS)}


def is_recording(name: str) -> bool:
    """Returns whether a name on the command line is that of a recording."""
    return name.endswith(ENDINGS)


def read(path: Path) -> tuple[pl.DataFrame, bool]:
    """Returns a recording's trace, and whether an incomplete last record was left out.

    Raises InputError, with the line and the cell, if the file is not a recording.
    """
    source = str(path)
    try:
        files.check(path)
        if path.suffix == ".csv":
            frame, is_cut = _read_csv(path)
        else:
            frame, is_cut = pl.read_parquet(path), False
        frame = checked(frame)
    except OSError as error:
        problem = f"can't be read: {error.strerror or error}"
        raise InputError(problem, source=source) from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, UnicodeDecodeError):
        raise InputError(_NONE, source=source) from None
    except InputError as error:
        raise error.located(source=source) from None
    if frame.is_empty():
        raise InputError("has no events: no such connection was recorded", source=source)
    return frame, is_cut


def read_events(path: Path) -> tuple[pl.DataFrame, bool]:
    """Converts ww-kernel's events to a trace: docs/traces.md."""
    frame, is_cut = _read_csv(path)
    return checked(frame), is_cut


def _read_csv(path: Path) -> tuple[pl.DataFrame, bool]:
    """Reads the complete lines; returns whether the last line was cut off."""
    is_cut, source = False, path
    with path.open("rb") as file:
        if file.seek(0, io.SEEK_END) > 0:
            file.seek(-1, io.SEEK_END)
            is_cut = file.read(1) != b"\n"
        text = b""
        if is_cut:
            file.seek(0)
            text = file.read()
            text = text[: text.rfind(b"\n") + 1]
            if not text:  # not even the header is complete
                return pl.DataFrame(schema={name: _KINDS[name] for name in COLUMNS}), True
    try:
        return pl.read_csv(text if is_cut else source, schema_overrides=_KINDS), is_cut
    except pl.exceptions.PolarsError:
        lines = io.StringIO(text.decode()) if is_cut else path.open(encoding="utf-8", newline="")
        with lines:
            for problem in _problems(csv.reader(lines)):
                raise problem from None
        raise


def _problems(rows: Iterator[list[str]]) -> Iterator[InputError]:
    """Yields an error for each cell that does not have its column's type."""
    try:
        head = next(rows, [])
        if not {*_NEEDED} & {*head}:
            return
        for number, row in enumerate(rows, 2):
            if len(row) != len(head):
                yield InputError(f"line {number} has {len(row)} cells, expected {len(head)}")
            for name, cell in zip(head, row, strict=False):
                if cell and not _is_of(_KINDS.get(name), cell):
                    whole = "a whole number" if _KINDS[name] == pl.Int64 else "a number"
                    yield InputError(f"expected {whole}", key=f"line {number}, {name}", value=cell)
    except csv.Error as error:
        yield InputError(f"{_NONE}, found no CSV: {error}")


def _is_of(kind: type[pl.DataType] | None, cell: str) -> bool:
    if kind not in (pl.Int64, pl.Float64):
        return True
    try:
        return abs(int(cell) if kind == pl.Int64 else float(cell)) <= _MOST
    except ValueError:
        return False


def checked(frame: pl.DataFrame) -> pl.DataFrame:
    """Returns the frame as a trace with typed columns; raises InputError for a wrong cell."""
    missing = [name for name in _NEEDED if name not in frame.columns]
    if _NETNS in frame.columns:
        missing = [name for name in missing if name != "transfer"]
    if missing:
        raise InputError(f"{_NONE}, with a column {missing[0]}")
    for name, kind in _KINDS.items():
        if name in frame.columns:
            frame = _cast(frame, name, kind)
    if _NETNS in frame.columns:
        frame = _trace_of(frame)
    return frame.with_columns(
        pl.col("transfer").cast(pl.UInt32),
        pl.col("state").cast(pl.Enum(STATES)),
        pl.col("event").cast(pl.Enum(EVENTS)),
    ).select(name for name in COLUMNS if name in frame.columns)


def _cast(frame: pl.DataFrame, name: str, kind: type[pl.DataType]) -> pl.DataFrame:
    """Converts a column to its type, and checks its cells against ww-kernel's format."""
    given = frame[name]
    if kind == pl.String and given.dtype not in (pl.String, pl.Categorical, pl.Enum):
        given = given.cast(pl.String, strict=False)
    column = given.cast(kind, strict=False)
    bad = column.is_null() & given.is_not_null()
    expected = "a whole number" if kind == pl.Int64 else "a number"
    if name in _WORDS:
        bad |= column.is_in(_WORDS[name]).not_() & column.is_not_null()
        expected = "one of " + ", ".join(_WORDS[name])
    elif kind != pl.String:
        outside = column.is_between(0, _MOST).not_() & column.is_not_null()
        bad |= outside & column.is_not_nan() if kind == pl.Float64 else outside
        expected += f" from 0 to {_MOST:g}"
    if name in _ALWAYS:
        bad |= column.is_null()
        if kind == pl.Float64:
            bad |= column.is_nan().fill_null(value=False)
    if bad.any():
        row = int(bad.arg_true()[0])
        value = given[row]
        shown = "nothing" if value is None else value
        raise InputError(f"expected {expected}", key=f"record {row + 1}, {name}", value=shown)
    if kind == pl.Float64:
        column = column.fill_null(math.nan)
    return frame.with_columns(column.alias(name))


def _trace_of(events: pl.DataFrame) -> pl.DataFrame:
    """Sorts events by time, numbers each flow's connections, and distinguishes namespaces."""
    # Each CPU stamps its own events, and may deliver one a little late.
    events = events.sort("time_s", maintain_order=True)
    if events[_NETNS].n_unique() > 1:  # they may use the same addresses
        name = pl.col("flow") + "@" + pl.col(_NETNS).cast(pl.String)
        events = events.with_columns(name.alias("flow"))
    starts = pl.col("event") == "start"
    # A later connection may reuse the ports.
    number = starts.cum_sum() + (~starts.first()).cast(pl.UInt32)
    return events.with_columns(number.over("flow").alias("transfer"))
