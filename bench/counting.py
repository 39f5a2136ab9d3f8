# SPDX-License-Identifier: BSD-3-Clause
"""Counts a program's instructions and cache misses: `perf stat`, or callgrind for the first alone.

Time on a shared machine is off by a tenth from one minute to the next; a count is not.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

Counts = Mapping[str, float]
Counter = Callable[[list[str]], Counts]
_EVENTS = ("instructions", "cache-misses")


def counter() -> tuple[Counter | None, str]:
    """Returns what counts on this machine, if anything does, and what that leaves out."""
    if set(_perf(["true"])) == set(_EVENTS):
        return _perf, ""
    missing = "perf stat counts nothing here (no counters of the processor)"
    if shutil.which("valgrind"):
        return _callgrind, f"{missing}: instructions are callgrind's, cache misses are left out"
    return None, f"{missing}, and valgrind is not installed: no counts"


def a_packet(count: Counter, program: Path, arguments: list[str]) -> Counts:
    """Counts what a data packet takes: what a second run of the case adds to the first."""
    command = [str(program), *arguments]
    done = subprocess.run([*command, "--repeat=1"], capture_output=True, text=True, check=True)
    packets = json.loads(done.stdout)["packets"]
    once, twice = (count([*command, f"--repeat={n}"]) for n in (1, 2))
    return {name: (twice[name] - once[name]) / packets for name in once}


def _perf(command: list[str]) -> Counts:
    if not shutil.which("perf"):
        return {}
    events = ",".join(f"{name}:u" for name in _EVENTS)
    done = subprocess.run(
        ["perf", "stat", "-x", ";", "-e", events, *command],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    found = {}
    for line in done.stderr.splitlines():
        value, _, name, *_ = [*line.split(";"), "", "", ""]
        if value.isdecimal():
            found[name.partition(":")[0]] = float(value)
    return found


def _callgrind(command: list[str]) -> Counts:
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command],
        capture_output=True,
        text=True,
        check=True,
    )
    match = re.search(r"Collected : (\d+)", done.stderr)
    assert match, done.stderr
    return {"instructions": float(match[1])}


@cache
def clock_ghz() -> float:
    """The highest clock that a core shows now; 0 where none is shown."""
    shown = re.findall(r"^cpu MHz\s*: ([\d.]+)", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return max(map(float, shown), default=0.0) / 1e3
