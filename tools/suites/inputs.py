# SPDX-License-Identifier: BSD-3-Clause
"""Declares what decides the results of the test suites: files, and versions of programs."""

from __future__ import annotations

from pathlib import Path

from tools.suites.unchanged import Inputs

ROOT = Path(__file__).resolve().parents[2]
# A program's path and version stand for the program; constraints.txt pins those of .venv.
RUNNER = ("tools/suites", "tools/run_suites.py", "tools/constraints.txt")
OF_NS3 = Inputs(
    (
        *("ns3/CMakeLists.txt", "ns3/cmake", "ns3/compare", "ns3/helper", "ns3/model"),
        *("ns3/runner", "ns3/test"),
        *("cmake", "tests/golden/acks", "tools/ns3_module.py"),
        *("westwood/engines/ns3_build.py", "westwood/programs.py", *RUNNER),
    ),
    ("c++ --version", "valgrind --version", "dpkg-query -W libns3-dev libstdc++-12-dev libc6"),
)
OF_CPP = Inputs(
    (
        *("CMakeLists.txt", "cmake", "core", "engine", "wire", "plan", "metrics", "linux"),
        *("tests/core", "tests/engine", "tests/metrics", "tests/plan", "tests/wire"),
        *("tests/fuzz", "tests/linux/path/*pp", "tests/golden"),
        *RUNNER,
    ),
    ("c++ --version", "clang++ --version", "dpkg-query -W libgtest-dev libstdc++-12-dev libc6"),
)
OF_CORE = Inputs(
    ("core", "tools/check_core.sh", "tests/core/bpf_probe.c", *RUNNER),
    ("gcc --version", "g++ --version", "clang --version"),
)
OF_PROOFS = Inputs(
    ("core", "proofs", "tools/prove.py", *RUNNER),
    ("frama-c -version", "why3 --version", "z3 --version"),
)
OF_QUIC = Inputs(("core", "quic", *RUNNER), ("cargo --version", "cc --version"))
OF_CRATE = Inputs(
    ("quic/westwood", "quic/loopback", "quic/*.toml", "quic/Cargo.lock", "tools/quic.py", *RUNNER),
    ("cargo --version", "cargo deny --version"),
)
# The Python tests run again when anything changes but what these lists name. test_suite_inputs.py
# checks that what they test does not import the packages of westwood/ in them.
NOT_TESTED = (".github", "CHANGELOG.md", "CONTRIBUTING.md", "RELEASING.md", "SECURITY.md", "proofs")
PAGES = ("docs/*.md", "docs/img", "docs/pages")
NOT_IN_LAB = ("campaign", "evaluation", "gym", "search")
NOT_IN_LINUX = ("evaluation", "gym", "lab", "search")
PROGRAMS = "which firefox chromium clang frama-c node valgrind iperf3 tc"
MACHINE = "ls ${XDG_CACHE_HOME:-$HOME/.cache}/westwood/linux-um"
VERSIONS = ("python --version", "c++ --version", "uname -rv", "id -u", PROGRAMS, MACHINE)


def of_python(*rooms: str, without: tuple[str, ...] = ()) -> Inputs:
    """Returns the inputs of the tests in these rooms: everything but other rooms' tests."""
    tests = (path.name for path in sorted((ROOT / "tests").iterdir()) if path.is_dir())
    helpers = {"golden", "westwood"}  # with what other rooms' tests use
    others = [f"tests/{name}" for name in tests if name not in helpers | {*rooms}]
    if "westwood" not in rooms:
        others.append("tests/westwood/*test_*")
    return Inputs((".",), VERSIONS, (*NOT_TESTED, *without, *others))


def packages(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"westwood/{name}" for name in names)


OF_LAB = of_python("lab", without=(*PAGES, "linux", "ns3", "quic", *packages(NOT_IN_LAB)))
OF_LINUX = of_python("linux", without=(*PAGES, "lab", "ns3", "quic", *packages(NOT_IN_LINUX)))
OF_KERNEL = Inputs(  # ww-path has the engine's links, but nothing here runs the engine's senders
    (
        *("core", "linux", "westwood", "engine/link", "engine/traffic", "engine/columns.hpp"),
        *("engine/sim/topology.cpp", "engine/validate.cpp", "CMakeLists.txt", "cmake"),
        *("tests/linux", "tests/conftest.py", "pyproject.toml", *RUNNER),
    ),
    ("uname -rv", "clang --version", "id -u", "ls -d /sys/fs/bpf/westwood"),
    packages(NOT_IN_LINUX),
)
