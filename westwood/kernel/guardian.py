# SPDX-License-Identifier: BSD-3-Clause
"""Undoes changes when this process ends, however it ends.

A guardian is a shell in its own session. It makes a change, reports it, waits for the end of its
standard input, and undoes the change. We hold the other end of that pipe, which closes when we
close it or are killed. A normal end takes the same path as a kill, so the undo after a kill is well
tested.
"""

from __future__ import annotations

import contextlib
import os
import select
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence

from westwood import stopping
from westwood.errors import RunError, one_line

Command = Sequence[object]  # its words
_READY = b"guarded\n"
_LONGEST_S = 30.0  # for doing, and for undoing
_INTERRUPTED_S = 0.2  # how long an interrupt waits for undoing, which continues without us
# Signals of the terminal and a closed pipe concern us, not the guardian or its commands.
_SCRIPT = "trap '' HUP INT TERM PIPE; {do} && echo guarded && cat > /dev/null; {undo}"


@contextlib.contextmanager
def guarded(do: Sequence[Command], undo: Sequence[Command]) -> Iterator[None]:
    """Runs the commands `do`, then the block, then the commands `undo`, however the block ends.

    Raises RunError if a command of `do` fails, after running `undo`, or if the last one of `undo`
    fails.
    """
    first = " && ".join(f"{_quoted(command)} > /dev/null" for command in do)
    last = "; ".join(f"{_quoted(command)} > /dev/null" for command in undo)
    with _guardian(_SCRIPT.format(do=first, undo=last), first):
        yield


@contextlib.contextmanager
def running(command: Command) -> Iterator[None]:
    """Runs the command in the background during the block, and kills it afterwards."""
    # The shell waits for it, so that it is gone when the guardian is.
    undo = "kill -KILL $!; wait $! 2> /dev/null; true"
    script = _SCRIPT.format(do="{ " + _quoted(command) + " > /dev/null 2>&1 & }", undo=undo)
    with _guardian(script, _quoted(command)):
        yield


def _quoted(command: Command) -> str:
    return shlex.join(str(word) for word in command)


@contextlib.contextmanager
def _guardian(script: str, waits_for: str) -> Iterator[None]:
    process, problem = None, ""
    longest_s = _LONGEST_S
    try:
        with stopping.shielded():
            process = subprocess.Popen(
                ["/bin/sh", "-c", script],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        _await_ready(process, waits_for)
        yield
    except KeyboardInterrupt:
        longest_s = _INTERRUPTED_S
        raise
    finally:
        if process is not None:
            with stopping.shielded():
                problem = _end(process, longest_s)
    if problem:
        raise RunError(f"could not undo all changes to this machine: {problem}")


def _await_ready(process: subprocess.Popen[bytes], waits_for: str) -> None:
    assert process.stdout is not None and process.stderr is not None
    heard, ends_at = b"", time.monotonic() + _LONGEST_S
    while not heard.endswith(_READY):
        stopping.check()
        ready, _, _ = select.select([process.stdout], [], [], stopping.POLL_S)
        more = os.read(process.stdout.fileno(), 4096) if ready else b""
        heard += more
        if (ready and not more) or time.monotonic() > ends_at:
            if ready and not more:
                raise RunError(_last_line(os.read(process.stderr.fileno(), 65536)))
            late = f"{waits_for} gave no answer in {_LONGEST_S:g} s"
            raise RunError(f"{late}, under a load of {os.getloadavg()[0]:.1f}")


def _end(process: subprocess.Popen[bytes], longest_s: float) -> str:
    """Makes the guardian undo its change; returns why it failed, or an empty string."""
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    process.stdin.close()
    output = b""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(longest_s)
        output = process.stderr.read()
    process.stdout.close()
    process.stderr.close()
    if process.returncode is not None and process.returncode < 0:
        return f"its guardian was killed by {signal.Signals(-process.returncode).name}"
    return _last_line(output) if process.returncode else ""


def _last_line(output: bytes) -> str:
    return one_line((output.decode(errors="replace").strip() or "said nothing").splitlines()[-1])
