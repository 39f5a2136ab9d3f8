# SPDX-License-Identifier: BSD-3-Clause
"""The ns-3 peer: unmodified ns-3 3.44 from PyPI and bench/ns3_peer.cc built against it.

The wheel's CMake and pkg-config files name paths that do not exist, so its libraries are named one
by one. The program is in build/ns3.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from westwood.engines.ns3_build import call, home, wheel

SOURCE = Path(__file__).with_name("ns3_peer.cc")
HEADER = SOURCE.with_name("usage.hpp")
MODULES = (
    *("core", "network", "stats", "bridge", "traffic-control", "internet", "point-to-point"),
    *("config-store", "applications"),
)


def peer() -> Path:
    """Returns the peer's program, built if it is missing or older than its source.

    Raises RunError with one line if ns-3 is not available.
    """
    program = home() / "ns3_peer"
    newest = max(file.stat().st_mtime for file in (SOURCE, HEADER))
    if program.exists() and program.stat().st_mtime > newest:
        return program
    site = wheel()
    libraries = site / "ns3" / "lib64"
    call(
        ["g++", "-std=c++20", "-O3", "-w", f"-I{site / 'ns3' / 'include'}", str(SOURCE)]
        + ["-o", str(program), *(str(libraries / f"libns3.44-{m}.so") for m in MODULES)]
        + [f"-Wl,-rpath,{libraries}", f"-L{libraries}", "-Wl,--allow-shlib-undefined"],
        "bench/ns3_peer.cc can't be built against the ns-3 wheel",
    )
    return program


def run(program: Path, **options: object) -> dict[str, Any]:
    """Runs the peer or ww_engine_run, which take the same options. Returns what it printed."""
    arguments = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result
