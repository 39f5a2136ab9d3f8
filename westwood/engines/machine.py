# SPDX-License-Identifier: BSD-3-Clause
"""Measures how much memory and disk space this process may still use."""

from __future__ import annotations

import contextlib
import math
import resource
import shutil
from pathlib import Path

_CGROUPS = Path("/sys/fs/cgroup")
_V1 = "memory"  # the controller's name in cgroups version 1


def free_memory() -> float:
    """Returns the free memory in bytes; infinity if it is unknown.

    It is the smallest of the kernel's available memory and the remainders of this process's
    control groups and of `ulimit -v`.
    """
    return min(_available(), _left_in_cgroups(), left_by_ulimit())


def free_disk(place: Path) -> float:
    """Returns the free bytes of the disk that has, or will have, this folder."""
    for folder in (place.absolute(), *place.absolute().parents):
        with contextlib.suppress(OSError):
            return shutil.disk_usage(folder).free
    return math.inf


def _available() -> float:
    for line in _text(Path("/proc/meminfo")).splitlines():
        if line.startswith("MemAvailable:"):
            return 1024.0 * int(line.split()[1])
    return math.inf


def left_by_ulimit() -> float:
    """Returns the bytes of address space that `ulimit -v` leaves."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return math.inf
    pages = _text(Path("/proc/self/statm")).split()[:1]
    return limit - sum(map(int, pages)) * resource.getpagesize()


def _left_in_cgroups() -> float:
    """Returns the smallest remainder of this process's control group and its parents."""
    left = math.inf
    for line in _text(Path("/proc/self/cgroup")).splitlines():
        _, controllers, name = line.split(":", 2)
        if controllers == "":
            root, limit, used = _CGROUPS, "memory.max", "memory.current"
        elif _V1 in controllers.split(","):
            root, limit, used = _CGROUPS / _V1, "memory.limit_in_bytes", "memory.usage_in_bytes"
        else:
            continue
        group = root / name.lstrip("/")
        while group != root.parent:
            most, taken = _text(group / limit).strip(), _text(group / used).strip()
            if most.isdigit() and taken.isdigit():
                left = min(left, int(most) - int(taken) + _cached(group))
            group = group.parent
    return left


def _cached(group: Path) -> int:
    """Returns the bytes of a group's file cache, which the kernel frees when memory runs out."""
    counts = dict(line.split() for line in _text(group / "memory.stat").splitlines())
    return sum(int(counts.get(name, 0)) for name in ("inactive_file", "active_file"))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
