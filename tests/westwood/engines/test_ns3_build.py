# SPDX-License-Identifier: BSD-3-Clause
"""westwood ns3 build refuses a wrong setup, and a failed build leaves no runner.

tools/ns3_module.py, with CMake, and tests/linux/test_journey.py test a real build.
"""

import fcntl
from pathlib import Path

import pytest

from westwood import programs
from westwood.engines import ns3, ns3_build

HEADER = "include/ns3/core-module.h"


@pytest.fixture
def machine(tmp_path, monkeypatch) -> Path:
    """A machine with an installed package and only the programs that a test puts into bin/."""
    monkeypatch.setattr(programs, "CHECKOUT", None)
    monkeypatch.setattr(programs, "_PACKAGE", tmp_path / "westwood")
    monkeypatch.setattr(ns3_build.sys, "executable", str(tmp_path / "bin" / "python"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.delenv(ns3.VARIABLE, raising=False)
    return tmp_path


def test_only_one_command_builds_at_a_time(machine):
    with (
        ns3_build._turn(),
        (ns3_build.home() / ".lock").open("w") as other,
        pytest.raises(BlockingIOError),
    ):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)


def tool(machine: Path, name: str, script: str = "exit 1") -> None:
    path = machine / "bin" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def ns3_at(folder: Path) -> Path:
    (folder / HEADER).parent.mkdir(parents=True)
    (folder / HEADER).write_text("")
    return folder


@pytest.mark.parametrize(
    ("there", "expected"),
    [
        ((), "no C++ compiler, cmake, ninja: apt-get install g++ cmake ninja-build (or apt-get"),
        (("cmake", "make"), "no C++ compiler: apt-get install g++\n"),
        (("c++",), "no cmake, ninja: apt-get install cmake ninja-build (or pip install 'westw"),
        (("g++", "cmake"), "no ninja: apt-get install ninja-build (or pip install 'westwood[ns3]"),
    ],
)
def test_missing_tools_are_named_with_their_packages(machine, westwood, there, expected):
    for name in there:
        tool(machine, name)
    called = westwood("ns3", "build")
    assert called.code == 77 and expected in called.err and called.err.count("\n") == 1
    assert not (machine / "cache").exists()


@pytest.mark.parametrize("place", ["", "build", "ns3", "usr"])
def test_an_ns3_is_found_below_the_named_folder(tmp_path, place):
    ns3_at(tmp_path / place)
    assert ns3_build.root(tmp_path) == tmp_path / place


def test_a_folder_without_ns3_is_refused(machine, westwood):
    for name in ("c++", "cmake", "ninja"):
        tool(machine, name)
    (machine / "tree" / "src" / "core").mkdir(parents=True)
    for source, expected in (
        ("gone", "no such folder"),
        ("tree", "./ns3 configure -d release && ./ns3 build"),
        ("bin", "expected an ns-3 with include/ns3/core-module.h"),
    ):
        called = westwood("ns3", "build", "--source", machine / source).refusal()
        assert called.startswith("westwood: --source = ") and expected in called


def test_a_build_that_fails_says_why_and_leaves_no_runner(machine, westwood):
    tool(machine, "c++")
    tool(machine, "ninja")
    # A fake CMake succeeds first, then fails with a compiler's error.
    runner = machine / "cache" / "westwood" / programs.__version__ / ns3.PROGRAM.name
    tool(machine, "cmake", f"[ $1 = -S ] || {{ echo > {runner}; /bin/chmod +x {runner}; }}")
    source = ns3_at(machine / "installed")
    built = westwood("ns3", "build", "--source", source)
    *_, path, following = built.out.splitlines()
    assert (built.code, path) == (0, str(runner))
    assert following.startswith("Next: westwood run table1 --engine ns3 ")
    assert ns3.program() == runner
    for printed, expected in (
        ("working\na.cc:1: error: no such type\nstopped", ": a.cc:1: error: no such type\n"),
        (
            "CMake Error at a:1 (message):\n  no lib\n\nmore",
            ": CMake Error at a:1 (message): no lib\n",
        ),
        ("Killed", ": Killed\n"),
        ("", ": no message\n"),
    ):
        tool(machine, "cmake", f"echo '{printed}'; exit 1")
        failed = westwood("ns3", "build", "--source", source)
        assert failed.code == 1 and failed.err.endswith(expected)
    assert not runner.exists()
    refused = westwood("run", "table1", "--engine", "ns3")
    assert refused.code == 77 and refused.err.endswith("it is not installed: westwood ns3 build\n")
