# SPDX-License-Identifier: BSD-3-Clause
"""Stops quickly and cleanly on SIGINT, SIGTERM or SIGHUP, and keeps finished results.

A signal raises an exception in the main thread, KeyboardInterrupt or its subclass Stopped, so every
`finally` cleans up. Nothing may block for long: the engine polls (`of_thread`), and waits for pools
and programs time out every POLL_S. Three functions control when the exception is raised:

    shielded()   delays it between creating something and noting that it must be removed
    keeping()    delays it until finished results are written, however long that takes
    watch()      installs the handlers of the program `westwood`. Before `begin`, a signal ends the
                 process at once. After it, an exception lost in a library or a destructor is raised
                 again, and the process exits anyway if none gets through.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import FrameType

    from westwood._engine import Stop

POLL_S = 0.04  # how often waiting code checks for a signal
_PATIENCE_S = 0.35  # from a signal to a forced exit, if the exception does not get through
_AGAIN_S = 0.01  # between two attempts to raise a lost exception
_SAME_S = 1.0  # signals this close count as one: a terminal and a parent may both send it
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
UNKNOWN = "interrupted; every file that it wrote is whole"


class Stopped(KeyboardInterrupt):
    """Raised when a signal asks this process to end."""


class _Process:
    """Holds the state of signal handling; unused unless `watch` was called."""

    number = 0  # of the first signal; 0 before it
    since = 0.0  # time of the signal, or of the last finished `keeping` block
    has_begun = False  # something may need cleaning up
    shields = 0
    keeping = 0
    is_due = False  # the exception has yet to be raised
    is_meant = False  # the signal was the normal way to end, not an interrupt


_process = _Process()
_threads = threading.local()
children: set[Any] = set()  # processes to kill when this one ends


def of_thread() -> Stop | None:
    """Returns the stop flag of a pool's thread; None in other threads, which signals stop."""
    return getattr(_threads, "stop", None)


def adopt(stop: Stop) -> None:
    """Makes `stop` the stop flag of this thread."""
    _threads.stop = stop


def check() -> None:
    """Raises KeyboardInterrupt if this thread's stop flag is set."""
    stop = of_thread()
    if stop is not None and stop.is_set():
        raise KeyboardInterrupt


@contextlib.contextmanager
def shielded() -> Iterator[None]:
    """Delays the exception until the block ends; only for short blocks."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _process.shields += 1
    try:
        yield
    finally:
        _process.shields -= 1
        _raise_if_due()


@contextlib.contextmanager
def keeping() -> Iterator[None]:
    """Delays the exception while results are written; a second signal ends the process anyway."""
    _process.keeping += 1
    try:
        yield
    finally:
        _process.keeping -= 1
        _process.since = time.monotonic()
        _raise_if_due()


@contextlib.contextmanager
def temporary_folder(prefix: str, parent: Path | None = None) -> Iterator[Path]:
    """Makes a folder and removes it after the block, however the block ends."""
    import shutil
    import tempfile

    folder = None
    try:
        with shielded():
            folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        yield folder
    finally:
        if folder is not None:
            with shielded():
                shutil.rmtree(folder, ignore_errors=True)


def begin() -> None:
    """Makes later signals raise an exception instead of ending the process at once."""
    _process.has_begun = True


def end() -> None:
    """Makes later signals end the process at once, because nothing is left to clean up."""
    _process.has_begun = False


def was_meant() -> None:
    """Marks the signal as the normal way to end the command, not an interrupt."""
    _process.is_meant = _process.number != 0
    _process.number = 0


def is_asked() -> bool:
    """Returns whether a signal has asked this process to end."""
    return _process.number != 0


def exit_code(code: int) -> int:
    """Returns 128 plus the signal's number, or `code` if no signal came."""
    return 128 + _process.number if _process.number else code


def watch() -> None:
    """Installs the signal handlers; call it first, in the main thread.

    This module imports little, because a signal before this call prints a traceback.
    """
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup ignores SIGHUP
            signal.signal(number, _on_signal)
    sys.unraisablehook = _on_unraisable
    readable, writable = os.pipe()
    os.set_blocking(writable, False)
    signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
    try:
        threading.Thread(target=_see_to_the_end, args=(readable,), daemon=True).start()
    except RuntimeError as error:
        raise SystemExit(f"westwood: {error}, expected a higher limit (ulimit -u)") from None


def _on_signal(number: int, frame: FrameType | None) -> None:
    if not _process.has_begun:
        _end_at_once(number)
    if not _process.number:
        _process.number, _process.since, _process.is_due = number, time.monotonic(), True
    _raise_if_due()


def _raise_if_due() -> None:
    if _process.is_due and not _process.shields and not _process.keeping:
        _process.is_due = False
        raise Stopped


def _on_unraisable(unraisable: Any) -> None:
    """Schedules the exception again if Python could not raise it, as in a destructor."""
    if isinstance(unraisable.exc_value, Stopped):
        _process.is_due = True
    else:
        sys.__unraisablehook__(unraisable)


def _see_to_the_end(readable: int) -> None:
    """Waits for signals in its own thread."""
    while True:
        (number,) = os.read(readable, 1)
        if signal.getsignal(number) is _on_signal:  # not temporarily handled elsewhere
            _see_to(number, readable)


def _see_to(number: int, readable: int) -> None:
    came = last = time.monotonic()
    waited_s = 0.0
    main_thread = threading.main_thread().ident or 0
    while waited_s < _PATIENCE_S:
        # Ignores time in which a busy machine does not schedule this process.
        now = time.monotonic()
        has_kept = _process.keeping or _process.since > last
        waited_s = 0.0 if has_kept else waited_s + min(now - last, 2 * _AGAIN_S)
        last = now
        if _process.is_due and not _process.shields and not _process.keeping:
            # A real signal also wakes the main thread from a blocking call.
            signal.pthread_kill(main_thread, number)
            time.sleep(_AGAIN_S)
        another, _, _ = select.select([readable], [], [], _AGAIN_S)
        if another and os.read(readable, 1) and time.monotonic() > came + _SAME_S:
            break
        if _process.is_meant:
            _process.is_meant = False
            return
    _end_at_once(number)


def _end_at_once(number: int) -> None:
    for process in list(children):
        with contextlib.suppress(OSError):
            process.kill()
    shown = "\x1b[?25h" if os.isatty(2) else ""  # a progress bar hides the cursor
    with contextlib.suppress(OSError):
        os.write(2, f"{shown}westwood: {UNKNOWN}\n".encode())
    os._exit(128 + number)
