# SPDX-License-Identifier: BSD-3-Clause
"""Compiles and loads congestion controls of users, one C file each: docs/your-own-control.md."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager

_numbers = itertools.count(1)
_command = 0


def command_number() -> int:
    """Returns the number of the command that runs; 0 outside of commands."""
    return _command


@contextmanager
def one_command() -> Iterator[None]:
    """Keeps the contents with which files were first read, although they change meanwhile."""
    global _command
    before, _command = _command, next(_numbers)
    try:
        yield
    finally:
        _command = before
