# SPDX-License-Identifier: BSD-3-Clause
"""The ns-3 peer: unmodified ns-3 3.44 from PyPI and bench/ns3_peer.cc built against it.

The wheel's CMake and pkg-config files name paths that are absent, so its libraries are named one by
one. Both live in build/ns3; nothing is installed into the project's environment.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / "build" / "ns3"
WHEEL = "ns3==3.44.post0"
SOURCE = ROOT / "bench" / "ns3_peer.cc"
MODULES = (
    "core",
    "network",
    "stats",
    "bridge",
    "traffic-control",
    "internet",
    "point-to-point",
    "config-store",
    "applications",
)


def peer() -> Path:
    """The peer's program, built if it is missing or older than its source.

    Raises RuntimeError with one line if ns-3 can't be had here.
    """
    program = HOME / "ns3_peer"
    if program.exists() and program.stat().st_mtime > SOURCE.stat().st_mtime:
        return program
    site = wheel()
    libraries = site / "ns3" / "lib64"
    _call(
        ["g++", "-std=c++20", "-O3", "-w", f"-I{site / 'ns3' / 'include'}", str(SOURCE)]
        + ["-o", str(program), *(str(libraries / f"libns3.44-{m}.so") for m in MODULES)]
        + [f"-Wl,-rpath,{libraries}", f"-L{libraries}", "-Wl,--allow-shlib-undefined"],
        "bench/ns3_peer.cc can't be built against the ns-3 wheel",
    )
    return program


def wheel(requirement: str = WHEEL) -> Path:
    """The folder that a wheel is unpacked in; ns3/ in it is an installed ns-3."""
    site = HOME / ("site" if requirement == WHEEL else requirement.replace("ns3==", "site-"))
    if not (site / "ns3").exists():
        _call(
            [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
            + ["--target", str(site), requirement],
            f"{requirement} can't be installed from PyPI",
        )
    return site


def _call(command: list[str], problem: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{problem}: {(done.stderr.strip() or 'no message').splitlines()[-1]}")


def run(program: Path, **options: object) -> dict[str, Any]:
    """One run of the peer or of ww_engine_run, which take the same options, and what it printed."""
    arguments = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result
