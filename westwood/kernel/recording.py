# SPDX-License-Identifier: BSD-3-Clause
"""Recordings of real connections: made by `kernel record`, read by `trace FILE --plot`."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import polars as pl

from westwood.errors import InputError, RunError
from westwood.kernel import ww_kernel
from westwood.results.folder import Folder
from westwood.results.traces import STATES, TRACE_COLUMNS
from westwood.units import option_seconds

if TYPE_CHECKING:
    from types import FrameType

ENDINGS = (".parquet", ".csv")
EVENTS = ("start", "window", "loss", "timeout", "exit", "undo", "end")
_RING_BYTES = 8 << 20  # 50 000 events: more than a second of 1000 connections
_NUMBERS = ("mss", "delivered_bytes", "sent", "retransmitted", "lost")  # whole ones
# The simulator's columns, then those that only a recording has.
_COLUMNS = ("flow", "transfer", *TRACE_COLUMNS, "event", "cc", "rtt_min_s", *_NUMBERS)
_NOT_DRAWN = {"rto_s", "in_flight", "rtt_min_s", "sent", "retransmitted", "lost"}
_NEEDED = [name for name in _COLUMNS if name not in _NOT_DRAWN]  # for a figure


@dataclass
class Recording:
    """Holds the trace of real connections, and how many events there were and were lost."""

    trace: pl.DataFrame = field(default_factory=pl.DataFrame)
    events: int = 0
    dropped: int = 0


@contextlib.contextmanager
def recording(port: int | None = None, folder: Path | None = None) -> Iterator[Recording]:
    """Records while the block runs; afterwards the object has what was seen.

    port: only connections with this port at either end. folder: for the events until then.
    """
    made = Recording()
    with tempfile.TemporaryDirectory(dir=folder, prefix=".recording-") as place:
        csv, log = Path(place) / "events.csv", Path(place) / "log"
        words = [ww_kernel.program(), "record", ww_kernel.pins(), port or 0, _RING_BYTES]
        with csv.open("wb") as out, log.open("wb") as errors:
            # Ctrl-C is for us: the recorder ends when we say so.
            process = subprocess.Popen(
                [str(word) for word in words], stdout=out, stderr=errors, start_new_session=True
            )
        try:
            _await_first_line(process, csv, log)
            yield made
        finally:
            process.send_signal(signal.SIGINT)
            code = process.wait()
        said = log.read_text()
        if code != 0:
            raise ww_kernel.failure(code, said)
        events, _, dropped = said.split()[:3]
        made.events, made.dropped = int(events), int(dropped)
        made.trace = read_events(csv)


def _await_first_line(process: subprocess.Popen[bytes], csv: Path, log: Path) -> None:
    """Waits until the recorder's ring buffer is in place."""
    while csv.stat().st_size == 0:
        if process.poll() is not None:
            raise ww_kernel.failure(process.returncode, log.read_text())
        time.sleep(0.005)


def read_events(csv: Path) -> pl.DataFrame:
    """Reads what ww-kernel wrote into the columns of a trace: docs/traces.md."""
    numbers = dict.fromkeys((*TRACE_COLUMNS, "rtt_min_s"), pl.Float64)
    del numbers["state"]
    whole = dict.fromkeys(("netns", *_NUMBERS), pl.Int64)
    frame = pl.read_csv(csv, schema_overrides={**numbers, **whole})
    if frame["netns"].n_unique() > 1:  # the same addresses may be in use in each
        name = pl.col("flow") + "@" + pl.col("netns").cast(pl.String)
        frame = frame.with_columns(name.alias("flow"))
    starts = pl.col("event") == "start"
    # A connection's ports may be used again by the next one.
    number = starts.cum_sum() + (~starts.first()).cast(pl.UInt32)
    return frame.with_columns(
        number.over("flow").cast(pl.UInt32).alias("transfer"),
        pl.col("state").cast(pl.Enum(STATES)),
        pl.col("event").cast(pl.Enum(EVENTS)),
        pl.col(list(numbers)).fill_null(float("nan")),
    ).select(_COLUMNS)


def is_recording(name: str) -> bool:
    """Tells whether a name on the command line is a recording's."""
    return name.endswith(ENDINGS)


def record(out: Path, port: int | None, duration: str | None) -> Iterator[str]:
    """Records into a file until the duration or the user ends it; yields lines about it."""
    check_port(port)
    if not is_recording(out.name):
        raise InputError("expected a name in .parquet or .csv", key="--out", value=str(out))
    if not out.parent.is_dir():
        raise InputError("there is no such folder", key="--out", value=str(out.parent))
    seconds = option_seconds("--duration", duration, float("inf"))
    with recording(port, out.parent) as made:
        yield "recording; Ctrl-C ends it" if duration is None else f"recording for {duration}"
        _wait(seconds)
    Folder.beside(out).frame(out.name, made.trace)
    connections = made.trace.select("flow", "transfer").n_unique()
    yield f"{out}: {connections} connections, {made.events} events, {made.dropped} dropped"
    if made.dropped:
        raise RunError(f"{made.dropped} events were dropped: the disk was too slow for them")


def _wait(seconds: float) -> None:
    """Waits so long, or for Ctrl-C, or for a service manager's SIGTERM; the recording is kept."""

    def end(number: int, frame: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, end)
    stop_at = time.monotonic() + seconds
    try:
        while (left := stop_at - time.monotonic()) > 0:
            time.sleep(min(left, 3600))
    except KeyboardInterrupt:
        pass
    finally:
        signal.signal(signal.SIGTERM, before)


def read(path: Path) -> pl.DataFrame:
    """Reads a recording's trace; InputError if the file is none."""
    try:
        if path.suffix == ".csv":
            frame = pl.read_csv(path, infer_schema_length=None)
        else:
            frame = pl.read_parquet(path)
    except OSError as error:
        problem = f"can't be read: {error.strerror or error}"
        raise InputError(problem, source=str(path)) from None
    except pl.exceptions.PolarsError:
        raise InputError(
            "expected a recording of westwood kernel record", source=str(path)
        ) from None
    lacking = [name for name in _NEEDED if name not in frame.columns]
    if lacking:
        problem = f"expected a recording of westwood kernel record, with a column {lacking[0]}"
        raise InputError(problem, source=str(path))
    if frame.is_empty():
        raise InputError("has no event: no connection used ww_* meanwhile", source=str(path))
    return frame.with_columns(pl.col("state").cast(pl.Enum(STATES)))


def check_port(port: int | None) -> None:
    """Raises InputError unless it is a port, or none."""
    if port is not None and not 1 <= port <= 65535:
        raise InputError("expected a port from 1 to 65535", key="--port", value=port)
