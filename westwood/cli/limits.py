# SPDX-License-Identifier: BSD-3-Clause
"""Says in one line what limits of the shell leave too little of, before a library aborts for it.

polars, numpy and their threads map far more than they use, and end the process where they may not.
"""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType

from westwood.errors import RunError

_LIBRARIES = ("numpy", "polars")
# Bytes that they map with the tables of a command, of which they use a tenth: of any, and a core.
_MAPPED, _MAPPED_A_CORE = 1.2e9, 0.1e9
_LEAST_STACK = 128 << 10  # bytes; with half of it Python itself does not start


def check_stack() -> None:
    """RunError if the stack is too small for Python's imports."""
    stack, _ = resource.getrlimit(resource.RLIMIT_STACK)
    if 0 <= stack < _LEAST_STACK:
        problem = f"the stack may take {stack >> 10} kB, expected ulimit -s {_LEAST_STACK >> 10}"
        raise RunError(f"{problem} or more")


def watch_imports() -> None:
    """Lets the import of a large library raise RunError where `ulimit -v` leaves too little."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY:
        sys.meta_path.insert(0, _Watch(limit))


class _Watch(MetaPathFinder):
    """Finds no module, but looks at what is left before others find a large library."""

    def __init__(self, limit: int) -> None:
        self._limit = limit

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> None:
        """Raises RunError if the library would not fit."""
        del path, target
        if fullname not in _LIBRARIES or any(name in sys.modules for name in _LIBRARIES):
            return
        from westwood.engines import machine

        needed = _MAPPED + _MAPPED_A_CORE * (os.cpu_count() or 1)
        taken = self._limit - machine.left_by_ulimit()
        if self._limit - taken < needed:
            most = round((taken + needed) / 1024)
            problem = f"ulimit -v {self._limit >> 10} leaves too little memory for tables"
            raise RunError(f"{problem}, expected {most} or more")
