# SPDX-License-Identifier: BSD-3-Clause
"""Ends what runs when a signal says so, soon, wherever it meets us, and keeps what is finished.

A signal becomes an exception in the main thread, KeyboardInterrupt or here its child Stopped, so
that every `finally` on the way cleans up. For this nothing may wait long without looking: the
engine asks (`of_thread`), pools and programs are waited for in short spans. Three things make sure:

    shielded()   no signal comes between making something and noting that it has to be removed
    keeping()    what is finished is written whole, however long that takes
    watch()      the program `westwood`: a signal ends it at once while there is nothing to clean
                 up; after `begin`, should the exception get lost, in a library's code or a
                 destructor, it is raised again; should it not arrive, the process ends without it
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

POLL_S = 0.04  # between two looks of what waits
_PATIENCE_S = 0.35  # from a signal to the end, if the exception does not arrive
_AGAIN_S = 0.01  # between two tries to raise an exception that got lost
_SAME_S = 1.0  # signals so close are one: of a terminal and a program that passes it on
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
UNKNOWN = "interrupted; every file that it wrote is whole"


class Stopped(KeyboardInterrupt):
    """A signal wants this process to end."""


class _Process:
    """Holds what this process knows of signals, as far as `watch` was called."""

    number = 0  # the first signal's; 0: none came
    since = 0.0  # the signal came, or what is finished was written
    has_begun = False  # something may have to be cleaned up
    shields = 0
    keeping = 0
    is_due = False  # the exception is still to be raised
    is_meant = False  # the signal is not an interrupt


_process = _Process()
_threads = threading.local()
children: set[Any] = set()  # processes that have to end with this one


def of_thread() -> Stop | None:
    """Returns what ends the run of this thread, if it works for a pool; else signals do."""
    return getattr(_threads, "stop", None)


def adopt(stop: Stop) -> None:
    """Makes this thread one whose runs `stop` ends."""
    _threads.stop = stop


def check() -> None:
    """Raises KeyboardInterrupt if the run of this thread is to end."""
    stop = of_thread()
    if stop is not None and stop.is_set():
        raise KeyboardInterrupt


@contextlib.contextmanager
def shielded() -> Iterator[None]:
    """Lets the block end first; only for what takes no time."""
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
    """Lets what is finished be written first; another signal, a second later, ends even that."""
    _process.keeping += 1
    try:
        yield
    finally:
        _process.keeping -= 1
        _process.since = time.monotonic()
        _raise_if_due()


@contextlib.contextmanager
def temporary_folder(prefix: str, parent: Path | None = None) -> Iterator[Path]:
    """Makes a folder that is gone after the block, whatever ends it."""
    import shutil
    import tempfile

    made = None
    try:
        with shielded():
            made = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        yield made
    finally:
        if made is not None:
            with shielded():
                shutil.rmtree(made, ignore_errors=True)


def begin() -> None:
    """From now on a signal is an exception."""
    _process.has_begun = True


def end() -> None:
    """Nothing is left to clean up: a signal ends the process where it is."""
    _process.has_begun = False


def was_meant() -> None:
    """Says that the signal was how the user ends it: nothing was interrupted."""
    _process.is_meant = _process.number != 0
    _process.number = 0


def is_asked() -> bool:
    """Tells whether a signal has asked this process to end."""
    return _process.number != 0


def exit_code(code: int) -> int:
    """Returns the exit code of an end by a signal: the one of Ctrl-C, `code`, or another's."""
    return 128 + _process.number if _process.number else code


def watch() -> None:
    """Takes the signals that end a program, in its main thread and before anything else.

    It imports little, for what comes before it is Python's, with a traceback.
    """
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup has it
            signal.signal(number, _on_signal)
    sys.unraisablehook = _on_unraisable
    readable, writable = os.pipe()
    os.set_blocking(writable, False)
    signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
    threading.Thread(target=_see_to_the_end, args=(readable,), daemon=True).start()


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
    """Notes an exception that Python could not raise, as in a destructor."""
    if isinstance(unraisable.exc_value, Stopped):
        _process.is_due = True
    else:
        sys.__unraisablehook__(unraisable)


def _see_to_the_end(readable: int) -> None:
    """Waits for signals, in a thread of its own."""
    while True:
        (number,) = os.read(readable, 1)
        if signal.getsignal(number) is _on_signal:  # else it is handled otherwise for the moment
            _see_to(number, readable)


def _see_to(number: int, readable: int) -> None:
    came = last = time.monotonic()
    waited_s = 0.0
    main_thread = threading.main_thread().ident or 0
    while waited_s < _PATIENCE_S:
        # Time in which a busy machine gives this process no turn does not count.
        now = time.monotonic()
        has_kept = _process.keeping or _process.since > last
        waited_s = 0.0 if has_kept else waited_s + min(now - last, 2 * _AGAIN_S)
        last = now
        if _process.is_due and not _process.shields and not _process.keeping:
            # A true signal: it wakes the main thread from a call that sleeps, too.
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
