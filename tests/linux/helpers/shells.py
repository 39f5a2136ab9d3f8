# SPDX-License-Identifier: GPL-2.0-only
"""Runs `westwood path emulate` for its tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from emulated_paths import LACKING

from westwood.cli import call
from westwood.engines import linux, linux_shell  # noqa: F401, preloaded for children

SHELL = [sys.executable, "-m", "westwood", "path", "emulate"]
REACH = "westwood: only this machine is within reach: net.ipv4.ip_forward is 0"
# Limits that only a failure reaches: on a busy machine a nested start has taken 30 s.
START_S, END_S = 120, 20


def missing_reason() -> str:
    """Returns why shells can't be tested on this machine, or "" if they can."""
    if LACKING:
        return LACKING
    return "" if os.geteuid() == 0 else "needs root: network namespaces for the outer side"


def program(*words: str, **how: Any) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [*SHELL, *words], capture_output=True, text=True, check=False, timeout=60, **how
    )
    assert "Traceback" not in done.stderr
    return done


def become(*words: str) -> dict[str, Any]:
    """Returns subprocess arguments for a copy of this process that becomes a shell; faster."""
    return {"args": ["true"], "preexec_fn": lambda: os._exit(call(["path", "emulate", *words]))}


def shell(*words: str) -> subprocess.CompletedProcess[str]:
    """Runs `path emulate` in a copy of this process, which starts faster."""
    return subprocess.run(**become(*words), capture_output=True, text=True, check=False, timeout=60)


def python(script: str) -> tuple[str, ...]:
    return (sys.executable, "-c", script)


def upload(*words: str, path: tuple[str, ...]) -> Any:
    """Uploads to the outer side; returns iperf3's report."""
    serve = ["iperf3", "-s", "-1", "--forceflush"]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        while "listening" not in server.stdout.readline():
            pass
        try:
            send = f"iperf3 -J -c $WESTWOOD_GATEWAY {' '.join(words)}"
            return json.loads(shell(*path, "--", "sh", "-c", send).stdout)["end"]
        finally:
            assert server.wait(5) == 0, "the server did not see the connection's end"
