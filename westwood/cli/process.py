# SPDX-License-Identifier: BSD-3-Clause
"""The process of the program `westwood`: its signals, its standard streams, its end."""

from __future__ import annotations

import gc
import os
import sys
import warnings
from typing import NoReturn, TextIO

from westwood import stopping
from westwood.cli import limits, streams
from westwood.errors import ImpossibleResult, Interrupted, RunError

_shown_by_python = warnings.showwarning


def main() -> NoReturn:
    """Runs the command line that started this process, and ends it."""
    gc.set_threshold(50_000)  # what the start makes stays: looking through it costs a tenth of it
    output = streams.prepare()
    warnings.showwarning = _show
    try:
        limits.check_stack()
        limits.watch_imports()
        from westwood.cli.commands import call

        stopping.begin()
        code = call(sys.argv[1:])
        stopping.end()
    except RunError as error:  # of a limit
        stopping.end()
        streams.say(str(error))
        code = error.exit_code
    except KeyboardInterrupt:  # just before or after
        stopping.end()
        streams.say(stopping.UNKNOWN)
        code = Interrupted.exit_code
    output.flush()
    if (problem := streams.problem_of(output)) and code == 0:
        if not isinstance(problem, BrokenPipeError):  # else the reader is gone, as with `| head`
            streams.say(f"standard output can't be written: {problem.strerror}")
        code = RunError.exit_code
    sys.stderr.flush()
    # Nothing that still runs, in a thread of ours or of a library, is waited for; and Python's own
    # end gives signals their default again before it is over.
    os._exit(stopping.exit_code(code) if code == Interrupted.exit_code else code)


def _show(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Prints a warning of ours as one line, and any other as Python does."""
    if issubclass(category, ImpossibleResult):
        streams.say(str(message))
    else:
        _shown_by_python(message, category, filename, lineno, file, line)
