# SPDX-License-Identifier: BSD-3-Clause
"""Standard output and error whose failures cost no result.

After a failed write, later output is discarded. The command still writes its files, and the process
reports the failure at its end. Characters that the encoding lacks are replaced by ASCII.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import sys
from typing import BinaryIO, TextIO, cast

_ASCII = {"±": "+-", "…": "..."}
_REPLACE = "westwood.ascii"


class _Stream(io.FileIO):
    """Writes to a descriptor until a write fails."""

    problem: OSError | None = None

    def write(self, data: bytes) -> int:  # type: ignore[override]
        """Writes the data; after a failure, discards it."""
        if self.problem is None:
            try:
                return super().write(data) or 0
            except OSError as error:
                self.problem = error
        return len(data)


def prepare() -> TextIO:
    """Replaces Python's standard streams, and returns standard output."""
    codecs.register_error(_REPLACE, _in_ascii)
    closed = [stream is None for stream in (sys.stdin, sys.stdout, sys.stderr)]
    while any(closed):  # otherwise the next opened file becomes standard output
        if (number := os.open(os.devnull, os.O_RDWR)) > 2:
            os.close(number)
            break
    sys.stdout = _stream(1, sys.stdout)
    sys.stderr = _stream(2, sys.stderr)
    return sys.stdout


def problem_of(stream: TextIO) -> OSError | None:
    """Returns the error of a stream from `prepare`, after everything was written."""
    raw = stream.buffer.raw if isinstance(stream, io.TextIOWrapper) else None
    return raw.problem if isinstance(raw, _Stream) else None


def say(message: str) -> None:
    """Prints one line on standard error."""
    print(f"westwood: {message}", file=sys.stderr)


def next_step(command: str) -> None:
    """Prints the command to type next, as the last line of the output."""
    print(f"Next: {command}")


def _stream(number: int, before: TextIO | None) -> TextIO:
    raw = _Stream(number, "w", closefd=False)
    if before is None:
        raw.problem = OSError(errno.EBADF, os.strerror(errno.EBADF))
    return io.TextIOWrapper(
        cast(BinaryIO, io.BufferedWriter(cast(io.RawIOBase, raw))),
        encoding=before.encoding if before else "utf-8",
        errors=_REPLACE,
        line_buffering=number == 2 or os.isatty(number),
    )


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    characters = error.object[error.start : error.end]
    return "".join(_ASCII.get(c, "?") for c in characters), error.end
