# SPDX-License-Identifier: BSD-3-Clause
"""Our congestion controls in this machine's kernel: load, unload, status, recordings.

`make linux` builds linux/: the BPF object and ww-kernel, the program that does all of this;
WESTWOOD_KERNEL names another ww-kernel, with ww.bpf.o beside it. What is loaded is pinned in
/sys/fs/bpf/westwood, or in the folder of a bpffs that WESTWOOD_BPFFS names.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from westwood import __version__
from westwood.errors import InputError, RunError, UnavailableError
from westwood.results.traces import STATES

VARIABLE = "WESTWOOD_KERNEL"
PINS_VARIABLE = "WESTWOOD_BPFFS"
CONTROLS = {
    "ww_westwood": "westwood", "ww_plus": "westwood+", "ww_nrplus": "westwoodnr+",
    "ww_plus_rh": "westwood+-linux24",
}  # fmt: skip
EVENTS = ("start", "window", "loss", "timeout", "exit", "undo", "end")
_BPFFS = Path("/sys/fs/bpf")
_LACKING = 77
_RING_BYTES = 8 << 20  # 50 000 events: more than a second of 1000 connections
_TRACE = (  # the simulator's columns, then those that only a recording has
    "flow", "transfer", "time_s", "cwnd", "ssthresh", "estimate_bps", "sample_bps", "rtt_s",
    "srtt_s", "rto_s", "in_flight", "state",
    "event", "cc", "rtt_min_s", "mss", "delivered_bytes", "sent", "retransmitted", "lost",
)  # fmt: skip


def program() -> Path:
    """ww-kernel; UnavailableError with the remedy if it is not there."""
    named = os.environ.get(VARIABLE)
    path = Path(named or Path(__file__).parents[2] / "build" / "linux" / "ww-kernel")
    if path.is_file() and os.access(path, os.X_OK) and bpf_object(path).is_file():
        return path
    where = f"{VARIABLE} names no ww-kernel with ww.bpf.o beside it" if named else "it is not built"
    raise UnavailableError(f"linux/ww-kernel is needed, and {where}: make linux")


def bpf_object(program: Path) -> Path:
    """The congestion controls that a ww-kernel loads."""
    return program.with_name("ww.bpf.o")


def pins() -> Path:
    """The folder in which what is loaded is found again."""
    return Path(os.environ.get(PINS_VARIABLE) or _BPFFS / "westwood")


def load() -> str:
    """Registers the controls until `unload` or the next boot; one line about what was done."""
    path = program()
    _mount()
    return _call(path, "load", pins(), bpf_object(path), __version__)


def unload() -> str:
    """Takes the controls' names away; connections that use them go on. One line about it."""
    return _call(program(), "unload", pins())


def status() -> dict[str, Any]:
    """{"loaded": False}, or version, controls with their sockets, recorder, dropped events."""
    result: dict[str, Any] = json.loads(_call(program(), "status", pins()))
    return result


def _mount() -> None:
    """As bpftool and ip do: a bpffs where none is yet, if we may."""
    if PINS_VARIABLE in os.environ or os.path.ismount(_BPFFS) or os.geteuid() != 0:
        return
    mount = ["mount", "-t", "bpf", "bpf", str(_BPFFS)]
    subprocess.run(mount, check=False, capture_output=True)


def _call(path: Path, *words: object) -> str:
    command = [str(word) for word in (path, *words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise _failure(done.returncode, done.stderr)
    return done.stdout.strip()


def _failure(code: int, said: str) -> UnavailableError | RunError:
    words = (said.strip() or "ww-kernel said nothing").splitlines()[-1]
    if code == _LACKING:
        return UnavailableError(f"{words}; westwood kernel doctor says what this machine lacks")
    return RunError(words)


@dataclass
class Recorded:
    """A recording: the trace, and how many events there were and were lost."""

    trace: pl.DataFrame = field(default_factory=pl.DataFrame)
    events: int = 0
    dropped: int = 0


@contextlib.contextmanager
def recording(port: int | None = None, folder: Path | None = None) -> Iterator[Recorded]:
    """Records while the block runs; afterwards the object has what was seen.

    port: only connections with this port at either end. folder: for the events until then.
    """
    recorded = Recorded()
    with tempfile.TemporaryDirectory(dir=folder, prefix=".recording-") as place:
        csv, log = Path(place) / "events.csv", Path(place) / "log"
        words = [program(), "record", pins(), port or 0, _RING_BYTES]
        with csv.open("wb") as out, log.open("wb") as errors:
            # Ctrl-C is for us: the recorder ends when we say so.
            process = subprocess.Popen(
                [str(word) for word in words], stdout=out, stderr=errors, start_new_session=True
            )
        try:
            _await_first_line(process, csv, log)
            yield recorded
        finally:
            process.send_signal(signal.SIGINT)
            code = process.wait()
        said = log.read_text()
        if code != 0:
            raise _failure(code, said)
        events, _, dropped = said.split()[:3]
        recorded.events, recorded.dropped = int(events), int(dropped)
        recorded.trace = trace(csv)


def _await_first_line(process: subprocess.Popen[bytes], csv: Path, log: Path) -> None:
    """Until the recorder's ring buffer is in place."""
    while csv.stat().st_size == 0:
        if process.poll() is not None:
            raise _failure(process.returncode, log.read_text())
        time.sleep(0.005)


def trace(csv: Path) -> pl.DataFrame:
    """What ww-kernel wrote, as `westwood.results.traces.windows` would: docs/traces.md."""
    numbers = dict.fromkeys(
        ("time_s", "cwnd", "ssthresh", "estimate_bps", "sample_bps", "rtt_s", "srtt_s", "rto_s",
         "in_flight", "rtt_min_s"), pl.Float64,
    )  # fmt: skip
    whole = dict.fromkeys(("netns", "mss", "delivered_bytes", "sent", "retransmitted", "lost"),
                          pl.Int64)  # fmt: skip
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
    ).select(_TRACE)


def check_port(port: int | None) -> None:
    """InputError unless it is a port, or none."""
    if port is not None and not 1 <= port <= 65535:
        raise InputError("expected a port from 1 to 65535", key="--port", value=port)
