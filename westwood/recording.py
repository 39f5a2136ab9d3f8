# SPDX-License-Identifier: BSD-3-Clause
"""Recordings of real connections: made by `kernel record`, drawn by `trace FILE --plot`."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import polars as pl

from westwood import figures, kernel, panel, units
from westwood.errors import InputError, RunError
from westwood.store import Folder
from westwood.traces import STATES

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
    kernel.check_port(port)
    if not is_recording(out.name):
        raise InputError("expected a name in .parquet or .csv", key="--out", value=str(out))
    if not out.parent.is_dir():
        raise InputError("there is no such folder", key="--out", value=str(out.parent))
    seconds = _seconds("--duration", duration, float("inf"))
    with kernel.recording(port, out.parent) as recorded:
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


def plot(path: Path, start: str | None, end: str | None) -> Path:
    """Draws a recording's panel beside it; the PNG's path."""
    frame = read(path)
    first, last = (float(frame["time_s"].min() or 0), float(frame["time_s"].max() or 0))  # type: ignore[arg-type]
    span = (_seconds("--from", start, first), _seconds("--to", end, max(last, first + 1e-3)))
    if not span[0] < span[1]:
        raise InputError("expected times with from before to", key="--to" if end else "--from",
                         value=end or start)  # fmt: skip
    folder = Folder.beside(path)
    return figures.save(panel.draw(panel_of(frame, path.stem, span)), folder.file, path.stem)


def panel_of(frame: pl.DataFrame, title: str, span_s: tuple[float, float]) -> panel.Run:
    """What is drawn: the connections that delivered most, each under a name of its own."""
    name = pl.when(pl.col("transfer") > 1).then(
        pl.format("{} ({})", "flow", "transfer")).otherwise(pl.col("flow"))  # fmt: skip
    named = frame.with_columns(name.alias("flow"))
    busiest = (
        named.group_by("flow", maintain_order=True)
        .agg(pl.col("cc").last(), pl.col("delivered_bytes").max())
        .filter(pl.col("delivered_bytes") > 0)
        .sort("delivered_bytes", descending=True, maintain_order=True)
    )
    if busiest.is_empty():
        busiest = named.group_by("flow", maintain_order=True).agg(pl.col("cc").last())
    flows = [
        (flow, kernel.CONTROLS.get(cc, cc)) for flow, cc in busiest.select("flow", "cc").rows()
    ]
    return panel.Run(title=title, flows=flows, trace=named, span_s=span_s)


def _seconds(option: str, text: str | None, default: float) -> float:
    if text is None:
        return default
    try:
        return units.parse_time(text) / units.PS_PER_S
    except InputError as error:
        raise error.located(key=option) from None
