# SPDX-License-Identifier: BSD-3-Clause
"""Reports limits of the shell that are too low, before a library aborts because of them.

polars, numpy and their threads map far more memory than they use. Without it they abort.
"""

from __future__ import annotations

import math
import os
import resource
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from westwood.errors import RunError

if TYPE_CHECKING:
    from types import ModuleType

_LIBRARIES = ("numpy", "polars")
# Bytes that they map for a command's tables (a tenth is used): a fixed part, and one per core.
_MAPPED, _MAPPED_A_CORE = 1.2e9, 0.1e9
# Threads that they and workers start: a fixed part, and one per core.
_THREADS, _THREADS_A_CORE = 16, 4
_MANY_THREADS = 1000  # threads per user; a limit from here on needs no check
_LEAST_STACK = 128 << 10  # bytes; with half of that, Python itself does not start


def check_stack() -> None:
    """Raises RunError if the stack is too small for Python's imports."""
    stack, _ = resource.getrlimit(resource.RLIMIT_STACK)
    if 0 <= stack < _LEAST_STACK:
        problem = f"the stack may take {stack >> 10} kB, expected ulimit -s {_LEAST_STACK >> 10}"
        raise RunError(f"{problem} or more")


def watch_imports() -> None:
    """Makes the import of a large library raise RunError if `ulimit` leaves too little."""
    memory, _ = resource.getrlimit(resource.RLIMIT_AS)
    threads, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    checks: list[Callable[[], None]] = []
    if memory != resource.RLIM_INFINITY:
        checks.append(partial(_check_memory, memory))
    if 0 <= threads < _MANY_THREADS:
        checks.append(_check_threads)
    if checks:
        sys.meta_path.insert(0, _Watch(checks))


class _Watch:
    """Finds no module, but checks the limits before the import of a large library."""

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
    left = machine.left_by_ulimit()
    if left < needed:
        most = math.ceil((limit - left + needed) / 1024)
        problem = f"ulimit -v {limit >> 10} leaves too little memory for tables"
        raise RunError(f"{problem}, expected {most} or more")


def _check_threads() -> None:
    """Starts the threads as a test, because the limit counts all processes of the user."""
    needed = _THREADS + _THREADS_A_CORE * (os.cpu_count() or 1)
    over, started = threading.Event(), list[threading.Thread]()
    try:
        for _ in range(needed):
            waiter = threading.Thread(target=over.wait, daemon=True)
            waiter.start()
            started.append(waiter)
    except RuntimeError:
        problem = f"ulimit -u leaves {len(started)} threads for tables, expected {needed} or more"
        raise RunError(problem) from None
    finally:
        over.set()
        for waiter in started:
            waiter.join()
