# SPDX-License-Identifier: BSD-3-Clause
"""Measures what users wait for: the start of a command, a point of a search, `reproduce all`."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from westwood import Scenario, _engine
from westwood.engines import simulator
from westwood.engines.contract import Job
from westwood.engines.network import build

WESTWOOD = Path(sys.executable).with_name("westwood")
_STARTS, _RUNS = 12, 200
_RUN = ("run", "table1", "--set", "duration=1s")
_POINT = {"path.delay": "21ms", "path.loss.rate": 0.005, "duration": "10s", "tcp.cc": "sack"}
# Byte code is kept, as after the first use of an installation.
_ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def rows(*, long: bool) -> list[dict[str, Any]]:
    """Measures each row: its name, its goal, seconds of CPU time, and their ratio to a peer's."""
    python = ("`python -c pass`", _call(sys.executable, "-c", "pass"))
    point_s, engine_s = _point()
    rows = [
        _row("start: `westwood run` of 1 s", 0.15, _call(WESTWOOD, *_RUN), python),
        _row("start: `westwood --help`", 0.08, _call(WESTWOOD, "--help"), python),
        _row(
            "a search's run of 10 s at 12 Mb/s, from settings to rows",
            2 * engine_s,
            point_s,
            ("the engine's", engine_s),
        ),
    ]
    if long:
        rows.append(_row("`reproduce all`", 100.0, _reproduce()))
    return rows


def _row(
    name: str, goal_s: float, seconds: float, peer: tuple[str, float] | None = None
) -> dict[str, Any]:
    print(name, file=sys.stderr)
    row: dict[str, Any] = {"case": name, "goal_s": goal_s, "seconds": seconds}
    return row | ({"peer": peer[0], "ratio": seconds / peer[1]} if peer else {})


def _call(*words: str | Path) -> float:
    """Returns the least CPU time of several whole processes."""
    taken = []
    for _ in range(_STARTS):
        before = _children_s()
        subprocess.run(words, env=_ENVIRONMENT, stdout=subprocess.DEVNULL, check=True)
        taken.append(_children_s() - before)
    return min(taken)


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _point() -> tuple[float, float]:
    """Returns the least CPU time of a point, and of the engine in it.

    A point is: settings, scenario, network, one run, rows.
    """
    base = Scenario.preset("path").with_settings(_POINT)
    whole, engine = [], []
    for number in range(_RUNS):
        start = time.process_time()
        point = base.with_settings({"path.rate": f"{12_000 + number % 20}kbps"})
        simulator.prepare(Job(point, [1]))(1)
        end = time.process_time()
        network = build(point)
        whole.append(end - start)
        start = time.process_time()
        _engine.simulate(network, 1)
        engine.append(time.process_time() - start)
    return min(whole), min(engine)


def _reproduce() -> float:
    with tempfile.TemporaryDirectory(prefix="westwood-bench-") as folder:
        before = _children_s()
        subprocess.run(
            [WESTWOOD, "reproduce", "all", "--out", f"{folder}/report"],
            env=_ENVIRONMENT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,  # its exit code says whether all claims hold
        )
    return _children_s() - before
