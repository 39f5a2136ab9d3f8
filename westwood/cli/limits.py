# SPDX-License-Identifier: BSD-3-Clause
"""Says in one line what limits of the shell leave too little of, before a library aborts for it.

polars, numpy and their threads map far more than they use, and end the process where they may not.
"""

from __future__ import annotations

import os
import resource
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from importlib.abc import MetaPathFinder
from types import ModuleType

from westwood.errors import RunError

_LIBRARIES = ("numpy", "polars")
# Bytes that they map with the tables of a command, of which they use a tenth: of any, and a core.
_MAPPED, _MAPPED_A_CORE = 1.2e9, 0.1e9
# Threads that they start, with some for workers: of any machine, and a core.
_THREADS, _THREADS_A_CORE = 16, 4
_MANY_THREADS = 1000  # a limit of a user's threads that needs no look
_LEAST_STACK = 128 << 10  # bytes; with half of it Python itself does not start


def check_stack() -> None:
    """RunError if the stack is too small for Python's imports."""
    stack, _ = resource.getrlimit(resource.RLIMIT_STACK)
    if 0 <= stack < _LEAST_STACK:
        problem = f"the stack may take {stack >> 10} kB, expected ulimit -s {_LEAST_STACK >> 10}"
        raise RunError(f"{problem} or more")


def watch_imports() -> None:
    """Lets the import of a large library raise RunError where `ulimit` leaves it too little."""
    memory, _ = resource.getrlimit(resource.RLIMIT_AS)
    threads, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    checks: list[Callable[[], None]] = []
    if memory != resource.RLIM_INFINITY:
        checks.append(partial(_check_memory, memory))
    if 0 <= threads < _MANY_THREADS:
        checks.append(_check_threads)
    if checks:
        sys.meta_path.insert(0, _Watch(checks))


class _Watch(MetaPathFinder):
    """Finds no module, but looks at what is left before others find a large library."""

    def __init__(self, checks: Sequence[Callable[[], None]]) -> None:
        self._checks = checks

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> None:
        """Raises RunError if the library would not fit."""
        del path, target
        if fullname in _LIBRARIES and not any(name in sys.modules for name in _LIBRARIES):
            for check in self._checks:
                check()


def _check_memory(limit: int) -> None:
    from westwood.engines import machine

    needed = _MAPPED + _MAPPED_A_CORE * (os.cpu_count() or 1)
    taken = limit - machine.left_by_ulimit()
    if limit - taken < needed:
        most = round((taken + needed) / 1024)
        problem = f"ulimit -v {limit >> 10} leaves too little memory for tables"
        raise RunError(f"{problem}, expected {most} or more")


def _check_threads() -> None:
    """Starts as many threads, since the limit counts all of the user's processes."""
    needed = _THREADS + _THREADS_A_CORE * (os.cpu_count() or 1)
    over, started = threading.Event(), list[threading.Thread]()
    try:
        for _ in range(needed):
            one = threading.Thread(target=over.wait, daemon=True)
            one.start()
            started.append(one)
    except RuntimeError:
        problem = f"ulimit -u leaves {len(started)} threads for tables, expected {needed} or more"
        raise RunError(problem) from None
    finally:
        over.set()
        for one in started:
            one.join()
