# SPDX-License-Identifier: BSD-3-Clause
"""Recordings of real connections: made by `kernel record`, read by `trace FILE --plot`."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import polars as pl

from westwood.errors import InputError, RunError
from westwood.kernel import ww_kernel
from westwood.results.store import Folder
from westwood.results.traces import STATES
from westwood.units import option_seconds

if TYPE_CHECKING:
    from types import FrameType

ENDINGS = (".parquet", ".csv")
_NEEDED = ("flow", "transfer", "time_s", "cwnd", "ssthresh", "estimate_bps", "sample_bps", "rtt_s",
           "srtt_s", "state", "event", "cc", "mss", "delivered_bytes")  # fmt: skip


def is_recording(name: str) -> bool:
    """Whether a name on the command line is a recording's."""
    return name.endswith(ENDINGS)


def record(out: Path, port: int | None, duration: str | None) -> Iterator[str]:
    """Records into a file until the duration or the user ends it; lines about it."""
    ww_kernel.check_port(port)
    if not is_recording(out.name):
        raise InputError("expected a name in .parquet or .csv", key="--out", value=str(out))
    if not out.parent.is_dir():
        raise InputError("there is no such folder", key="--out", value=str(out.parent))
    seconds = option_seconds("--duration", duration, float("inf"))
    with ww_kernel.recording(port, out.parent) as recorded:
        yield "recording; Ctrl-C ends it" if duration is None else f"recording for {duration}"
        _wait(seconds)
    Folder.beside(out).frame(out.name, recorded.trace)
    connections = recorded.trace.select("flow", "transfer").n_unique()
    yield f"{out}: {connections} connections, {recorded.events} events, {recorded.dropped} dropped"
    if recorded.dropped:
        raise RunError(f"{recorded.dropped} events were dropped: the disk was too slow for them")


def _wait(seconds: float) -> None:
    """Until then, or Ctrl-C, or the SIGTERM of a service manager; what was recorded is kept."""

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
    """A recording's trace; InputError if the file is none."""
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
