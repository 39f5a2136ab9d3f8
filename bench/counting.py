# SPDX-License-Identifier: BSD-3-Clause
"""Counts instructions and cache misses with `perf stat`, or just instructions with callgrind.

On a shared machine time varies by a tenth from minute to minute; a count does not.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

Counts = Mapping[str, float]
Counter = Callable[[list[str]], Counts]
_EVENTS = ("instructions", "cache-misses")


def counter() -> tuple[Counter | None, str]:
    """Returns the tool that can count on this machine, if any, and what it cannot count."""
    if set(_perf(["true"])) == set(_EVENTS):
        return _perf, ""
    missing = "perf stat counts nothing here (no counters of the processor)"
    if shutil.which("valgrind"):
        return _callgrind, f"{missing}: instructions are callgrind's, cache misses are left out"
    return None, f"{missing}, and valgrind is not installed: no counts"


def per_packet(count: Counter, program: Path, arguments: list[str]) -> Counts:
    """Returns the counts per data packet: what a second run of the case adds to the first."""
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
    counts = {}
    for line in done.stderr.splitlines():
        value, _, name, *_ = [*line.split(";"), "", "", ""]
        if value.isdecimal():
            counts[name.partition(":")[0]] = float(value)
    return counts


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
