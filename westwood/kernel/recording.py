# SPDX-License-Identifier: BSD-3-Clause
"""Records real connections for `kernel record`; `trace FILE --plot` reads the recordings.

ww-kernel writes each event to a file when it happens. If ww-kernel, this process or the disk fails,
what was written remains in a file that `reading` can read.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import IO, NoReturn

import polars as pl

from westwood import stopping
from westwood.errors import InputError, Interrupted, RunError, WestwoodError, one_line
from westwood.kernel import reading, user_controls, ww_kernel
from westwood.results.folder import Folder
from westwood.units import option_seconds

OURS = tuple(ww_kernel.CONTROLS)
_RING_BYTES = 8 << 20  # 50 000 events, more than a second of 1000 connections
_LONGEST_WAIT_S = 3600.0
_LONGEST_END_S = 10.0  # enough for a recorder to write a full buffer
_HUNG = b"it did not end when asked to\n"
_KEPT = "has what was recorded, and westwood trace opens it"


@dataclass
class Recording:
    """Holds a trace of real connections, with counts of its events and of lost ones.

    missed: operations of our controls that the kernel skipped; their events are late or missing.
    """

    trace: pl.DataFrame = field(default_factory=pl.DataFrame)
    events: int = 0
    dropped: int = 0
    missed: int = 0


class Recorder:
    """Runs ww-kernel, which writes events to a file until it is stopped or dies."""

    def __init__(self, port: int | None, cc: Sequence[str], out: IO[bytes]) -> None:
        program = ww_kernel.program()
        words = [program, "record", ww_kernel.pins(), port or 0, _RING_BYTES, os.getpid()]
        if not cc or set(cc) - set(OURS):
            words += [ww_kernel.bpf_object(program), *cc]
        # A new session, so that Ctrl-C reaches only us; we end the recorder.
        self._process = subprocess.Popen(
            [str(word) for word in words],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._handle = os.pidfd_open(self._process.pid)
        self._ended = select.poll()  # unlike Popen.wait, it returns at once on a signal
        self._ended.register(self._handle, select.POLLIN)
        self._start, begun = time.monotonic(), False
        try:  # it writes the header when its ring buffer is ready
            while os.fstat(out.fileno()).st_size == 0 and not self.waits(0.005):
                pass
            begun = not self.waits(0)
        finally:
            if not begun:
                message = self._end()
        if not begun:
            raise ww_kernel.failure(self._process.returncode, message)

    def waits(self, seconds: float) -> bool:
        """Waits; returns True if the recorder ended by itself, False after `seconds`."""
        return bool(self._ended.poll(min(seconds, _LONGEST_WAIT_S) * 1000))

    def end(self) -> tuple[int, int, str]:
        """Ends the recorder; returns dropped and missed events, and why it had ended, or ''."""
        ended_before = self.waits(0)
        when = datetime.now().astimezone().isoformat(" ", "seconds")
        after_s = time.monotonic() - self._start
        message = self._end()
        counted = re.search(r"^\d+ events, (\d+) dropped, (\d+) missed$", message, re.M)
        dropped, missed = map(int, counted.groups()) if counted else (0, 0)
        code = self._process.returncode
        if code == 0 and not ended_before:
            return dropped, missed, ""
        with contextlib.suppress(WestwoodError):
            ww_kernel.status()  # also removes the buffer of a dead recorder
        return dropped, missed, f"{self._why(code, message)}, at {when}, after {after_s:.1f} s"

    @staticmethod
    def _why(code: int, message: str) -> str:
        if code < 0 and not message.endswith(_HUNG.decode()):
            return f"ww-kernel was killed by {signal.Signals(-code).name}"
        if code == 0:
            return "another process ended ww-kernel"
        last = (message.strip() or f"exit code {code}").splitlines()[-1]
        return f"ww-kernel ended: {one_line(last)}"

    def _end(self) -> str:
        self._process.send_signal(signal.SIGINT)
        try:
            message = self._process.communicate(timeout=_LONGEST_END_S)[1]
        except subprocess.TimeoutExpired:  # it is stopped, or its disk hangs
            self._process.kill()
            message = self._process.communicate()[1] + _HUNG
        os.close(self._handle)
        return message.decode(errors="replace")


@contextlib.contextmanager
def recording(port: int | None = None, cc: Sequence[str] = OURS) -> Iterator[Recording]:
    """Records during the block; the yielded object has the trace afterwards.

    port: only connections with this port at either end. cc: only these controls; empty: all. The
    events are stored in a file without a name.
    """
    recording_ = Recording()
    with tempfile.TemporaryFile() as out:
        recorder = Recorder(port, cc, out)
        try:
            yield recording_
        finally:
            recording_.dropped, recording_.missed, problem = recorder.end()
        if problem:
            raise RunError(problem)
        recording_.trace, _ = reading.read_events(Path(f"/proc/self/fd/{out.fileno()}"))
        recording_.events = recording_.trace.height


def record(
    out: Path, port: int | None, duration: str | None, cc: Sequence[str] = ()
) -> Iterator[str]:
    """Records to a file until the duration ends or the user stops it; yields lines for the user.

    cc: only these controls; empty: all.
    """
    check_port(port)
    cc = [user_controls.kernel_name(name) for name in cc]
    ww_kernel.check_names(cc)
    if not reading.is_recording(out.name):
        raise InputError("expected a name in .parquet or .csv", key="--out", value=str(out))
    if not out.parent.is_dir():
        raise InputError("no such folder", key="--out", value=str(out.parent))
    seconds = option_seconds("--for", duration, float("inf"))
    events, file = _file_of_events(out)
    with file:
        try:
            recorder = Recorder(port, cc, file)
        except BaseException:
            events.unlink()  # nothing was recorded
            raise
        try:
            try:
                yield from _first_lines(duration, cc)
                _wait(recorder, seconds)
            finally:
                dropped, missed, problem = recorder.end()
            trace = _keep(events, out, problem)
        except KeyboardInterrupt:
            raise Interrupted(f"interrupted; {events} {_KEPT}") from None
    connections = trace.select("flow", "transfer").n_unique()
    what = f"{connections} connections, {trace.height} events"
    if problem:
        raise RunError(f"{problem}; {out} has what was recorded before that: {what}")
    yield f"{out}: {what}, {dropped} dropped"
    if missed:
        yield f"the kernel skipped {missed} operations of our controls: their events came late"
    if dropped:
        raise RunError(f"{dropped} events were dropped: the disk was too slow for them")


def _first_lines(duration: str | None, cc: Sequence[str]) -> Iterator[str]:
    if note := ww_kernel.unregistered(cc):
        yield note
    yield "recording; Ctrl-C ends it" if duration is None else f"recording for {duration}"


def _file_of_events(out: Path) -> tuple[Path, IO[bytes]]:
    """Creates the file next to a recording that holds its events until the trace is written.

    It never replaces the file of an earlier recording.
    """
    for number in itertools.count(1):
        name = f"{out.stem}.events{f'-{number}' if number > 1 else ''}.csv"
        path = out.with_name(name)
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            continue
        except OSError as error:
            raise RunError(f"{path}: can't be written: {error.strerror or error}") from None
        return path, os.fdopen(descriptor, "r+b")
    raise AssertionError


def _keep(events: Path, out: Path, problem: str) -> pl.DataFrame:
    """Writes the recording from its events, and removes them if that succeeds."""
    try:
        trace, _ = reading.read_events(events)
        Folder.containing(out).frame(out.name, trace)
    except (WestwoodError, OSError, ValueError, MemoryError, pl.exceptions.PolarsError) as error:
        failed = str(error) if isinstance(error, WestwoodError) else f"{out}: can't be written"
        raise RunError("; ".join(filter(None, (problem, failed, f"{events} {_KEPT}")))) from None
    events.unlink()
    return trace


def _wait(recorder: Recorder, seconds: float) -> None:
    """Waits for the time, Ctrl-C, a service manager's SIGTERM or the recorder's end."""

    def end(number: int, frame: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGTERM)
    if before is signal.SIG_DFL:  # otherwise `stopping` turns it into an exception
        signal.signal(signal.SIGTERM, end)
    stop_at = time.monotonic() + seconds
    try:
        while (left := stop_at - time.monotonic()) > 0:
            if recorder.waits(left):
                break
    except KeyboardInterrupt:
        stopping.was_meant()
    finally:
        signal.signal(signal.SIGTERM, before)


def check_port(port: int | None) -> None:
    """Raises InputError unless it is None or a valid port."""
    if port is not None and not 1 <= port <= 65535:
        raise InputError("expected a port from 1 to 65535", key="--port", value=port)
