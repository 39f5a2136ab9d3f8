# SPDX-License-Identifier: BSD-3-Clause
"""Fetches ns-3 as its wheel on PyPI and unpacks it into build/ns3.

Nothing is installed into the project's environment.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / "build" / "ns3"
WHEEL = "ns3==3.44.post0"


def wheel(requirement: str = WHEEL) -> Path:
    """Returns the folder that a wheel is unpacked in; ns3/ in it is an installed ns-3.

    Raises RuntimeError with one line if ns-3 can't be had here.
    """
    site = HOME / ("site" if requirement == WHEEL else requirement.replace("ns3==", "site-"))
    if not (site / "ns3").exists():
        call(
            [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
            + ["--target", str(site), requirement],
            f"{requirement} can't be installed from PyPI",
        )
    return site


def call(command: list[str], problem: str) -> None:
    """Run a command; if it fails, raise RuntimeError with `problem` and its last line."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{problem}: {(done.stderr.strip() or 'no message').splitlines()[-1]}")
