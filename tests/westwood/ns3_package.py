# SPDX-License-Identifier: BSD-3-Clause
"""Installs the CMake package of ns3/ and builds a user's project against it."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
USER = ROOT / "ns3" / "test" / "user"


def run(*words: object) -> str:
    """Runs a program that must succeed; returns its output."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [str(word) for word in words],
        env={**os.environ, "PATH": path},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert done.returncode == 0, done.stdout[-5000:]
    return done.stdout


def installed(which: str, prefix: Path) -> Path:
    """Installs the module built against PyPI's or Debian's ns-3; returns the prefix."""
    built = ROOT / "build" / "ns3" / which
    if not (built / "libww-westwood.so").exists():
        pytest.skip(f"no ns-3 module: tools/ns3_module.py {which}")
    run("cmake", "--install", built, "--prefix", prefix)
    return prefix


def built(prefix: Path, sources: Sequence[Path], folder: Path) -> Path:
    """Builds programs as a user of the package does; returns their folder."""
    words = ["-D", f"CMAKE_PREFIX_PATH={prefix}", "-D", "CMAKE_CXX_FLAGS=-Wall -Wextra -Werror"]
    programs = ";".join(map(str, sources))
    run("cmake", "-S", USER, "-B", folder, "-G", "Ninja", *words, "-D", f"PROGRAMS={programs}")
    run("cmake", "--build", folder)
    return folder
