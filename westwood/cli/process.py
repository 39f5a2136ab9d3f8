# SPDX-License-Identifier: BSD-3-Clause
"""Runs the program `westwood` with its signals, standard streams and exit code."""

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
    """Runs the command line of this process and ends it."""
    gc.set_threshold(50_000)  # objects of the start stay; collecting them takes a tenth of it
    output = streams.prepare()
    warnings.showwarning = _show
    try:
        limits.check_stack()
        limits.watch_imports()
        from westwood.cli.commands import call

        stopping.begin()
        code = call(sys.argv[1:])
        stopping.end()
    except RunError as error:  # from a limit of the shell
        stopping.end()
        streams.say(str(error))
        code = error.exit_code
    except KeyboardInterrupt:  # just before or after the command
        stopping.end()
        streams.say(stopping.UNKNOWN)
        code = Interrupted.exit_code
    output.flush()
    if (problem := streams.problem_of(output)) and code == 0:
        if not isinstance(problem, BrokenPipeError):  # the reader of `| head` may leave
            streams.say(f"standard output can't be written: {problem.strerror}")
        code = RunError.exit_code
    sys.stderr.flush()
    # A normal exit would wait for threads, and would restore default signals before it is over.
    os._exit(stopping.exit_code(code) if code == Interrupted.exit_code else code)


def _show(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Prints our warnings as one line each, and others as Python does."""
    if issubclass(category, ImpossibleResult):
        streams.say(str(message))
    else:
        _shown_by_python(message, category, filename, lineno, file, line)
