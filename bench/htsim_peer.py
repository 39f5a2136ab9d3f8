# SPDX-License-Identifier: BSD-3-Clause
"""The csg-htsim peer: bench/htsim_peer.cc, built against a source tree (it is in no registry).

git clone https://github.com/Broadcom/csg-htsim && make -C csg-htsim/sim libhtsim.a
WW_HTSIM=$PWD/csg-htsim make bench
"""

from __future__ import annotations

import os
from pathlib import Path

from westwood.engines.ns3_build import call
from westwood.errors import UnavailableError

VARIABLE = "WW_HTSIM"
SOURCE = Path(__file__).with_name("htsim_peer.cc")
HEADER = SOURCE.with_name("usage.hpp")
BUILD = Path(__file__).resolve().parent.parent / "build" / "bench"


def peer() -> Path:
    """Returns the peer's program, built if missing or older than its source or the library.

    Raises UnavailableError if something is missing, or RunError if the build fails.
    """
    given = os.environ.get(VARIABLE)
    if not given:
        raise UnavailableError(f"{VARIABLE} names no folder of csg-htsim")
    sim = Path(given) / "sim"
    library, program = sim / "libhtsim.a", BUILD / "htsim_peer"
    if not library.is_file():
        raise UnavailableError(f"{library} is missing: make -C {sim} libhtsim.a")
    newest = max(file.stat().st_mtime for file in (SOURCE, HEADER, library))
    if program.exists() and program.stat().st_mtime > newest:
        return program
    call(
        ["g++", "-std=c++17", "-O3", "-w", f"-I{given}", str(SOURCE), str(library)]
        + ["-o", str(program)],
        f"bench/htsim_peer.cc can't be built against {sim}",
    )
    return program
