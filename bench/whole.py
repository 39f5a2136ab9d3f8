# SPDX-License-Identifier: BSD-3-Clause
"""Measures what users wait for: the start of a command, a point of a search, `reproduce all`."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from westwood import Scenario
from westwood.engines import simulator
from westwood.engines.contract import Job

WESTWOOD = Path(sys.executable).with_name("westwood")
_STARTS, _RUNS = 12, 200
# Byte code is kept, as after the first use of an installation.
_ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def rows(*, long: bool) -> list[dict[str, Any]]:
    """Measures each row: its name, its goal, seconds."""
    rows = [
        _row("start: `westwood run` of 1 s", 0.25, lambda: _start("run", "table1")),
        _row("start: `westwood --help`", None, lambda: _call("--help")),
        _row("a search's run of 10 s at 12 Mb/s, from settings to rows", None, _point),
    ]
    if long:
        rows.append(_row("`reproduce all`, CPU time", 100.0, _reproduce))
    return rows


def _row(name: str, goal_s: float | None, measure: Callable[[], float]) -> dict[str, Any]:
    print(f"{name} ...", file=sys.stderr)
    return {"case": name, "goal_s": goal_s, "seconds": measure()}


def _start(*words: str) -> float:
    return _call(*words, "--set", "duration=1s")


def _call(*words: str) -> float:
    """Returns the shortest time of several whole processes."""
    taken = []
    for _ in range(_STARTS):
        start = time.perf_counter()
        subprocess.run([WESTWOOD, *words], env=_ENVIRONMENT, stdout=subprocess.DEVNULL, check=True)
        taken.append(time.perf_counter() - start)
    return min(taken)


def _point() -> float:
    """Returns the shortest time of a point: settings, scenario, network, one run, rows."""
    base = Scenario.preset("path").with_settings(
        {"path.delay": "21ms", "path.loss.rate": 0.005, "duration": "10s", "tcp.cc": "sack"}
    )
    taken = []
    for number in range(_RUNS):
        start = time.perf_counter()
        point = base.with_settings({"path.rate": f"{12_000 + number % 20}kbps"})
        simulator.prepare(Job(point, [1]))(1)
        taken.append(time.perf_counter() - start)
    return min(taken)


def _reproduce() -> float:
    with tempfile.TemporaryDirectory(prefix="westwood-bench-") as folder:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [WESTWOOD, "reproduce", "all", "--out", f"{folder}/report"],
            env=_ENVIRONMENT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,  # its exit code says whether all claims hold
        )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
