# SPDX-License-Identifier: BSD-3-Clause
"""Runs the program as a user without privileges."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

# A user of each test process: limits on processes count those of other tests, too.
NOBODY = 60_000 + os.getpid() % 5_000


def missing_reason() -> str | None:
    """Returns why this user can't become another one, or None if it can."""
    if os.geteuid() != 0:
        return "needs root, which becomes a user without privileges"
    tried = subprocess.run([*_as_nobody(()), "true"], capture_output=True)
    return None if tried.returncode == 0 else "needs setpriv that drops capabilities"


def _as_nobody(limits: Sequence[str]) -> list[str]:
    """Returns a command prefix for a user that may only read all files, such as Python's."""
    held = "-all,+dac_read_search"
    user = [f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs"]
    capabilities = ["--inh-caps", held, "--ambient-caps", held, "--bounding-set", held]
    return ["setpriv", *user, *capabilities, *(["prlimit", *limits] if limits else [])]


def westwood(words: Sequence[str], folder: Path, *limits: str) -> subprocess.CompletedProcess[str]:
    """Runs a command line as nobody in a folder; `limits` are prlimit's."""
    command = [*_as_nobody(limits), sys.executable, "-m", "westwood", *words]
    environment = {**os.environ, "HOME": "/nonexistent", "MPLCONFIGDIR": str(folder)}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120
    )


def owned(folder: Path) -> Path:
    """Makes a folder that belongs to nobody, and lets anybody enter those above it."""
    folder.mkdir()
    os.chown(folder, NOBODY, NOBODY)
    return folder
