# SPDX-License-Identifier: BSD-3-Clause
"""Declares the test suites of `make test`, what they need, and what decides their results."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tools.rooms import PRODUCT
from tools.suites.inputs import (
    NOT_TESTED,
    OF_CORE,
    OF_CPP,
    OF_CRATE,
    OF_KERNEL,
    OF_LAB,
    OF_LINUX,
    OF_NS3,
    OF_PROOFS,
    OF_QUIC,
    PAGES,
    ROOT,
    VERSIONS,
    of_python,
)
from tools.suites.unchanged import Inputs

BUILD = ROOT / "build"
LOGS = BUILD / "logs"
CORES = str(len(os.sched_getaffinity(0)))
WORKERS = str(len(os.sched_getaffinity(0)) + 1)  # of pytest, which often wait for other programs
PYTHON = sys.executable
CPU_LIMIT_S = 2400.0  # of CPU time for a command; the longest uses 500
Command = list[str]


def fuzzer_libraries() -> list[Path]:
    return list(Path("/usr/lib").glob("llvm-*/**/libclang_rt.fuzzer*.a"))


def rust() -> bool:
    """Returns whether cargo runs with the release that quic/rust-toolchain.toml pins."""
    if not shutil.which("cargo"):
        return False
    asked = subprocess.run(
        ["cargo", "--version"], cwd=ROOT / "quic", capture_output=True, check=False
    )
    return asked.returncode == 0


# Each tool has a check for its presence, and the Debian package that provides it.
TOOLS: dict[str, tuple[Callable[[], object], str]] = {
    "clang": (lambda: shutil.which("clang"), "clang"),
    "GoogleTest": (lambda: Path("/usr/include/gtest/gtest.h").exists(), "libgtest-dev"),
    "libFuzzer": (fuzzer_libraries, "libclang-rt-dev"),
    "libbpf": (lambda: Path("/usr/include/bpf/libbpf.h").exists(), "libbpf-dev"),
    "npm": (lambda: shutil.which("npm"), "nodejs npm"),
    "Rust 1.95": (rust, "rustup"),
    "ns-3 3.37": (lambda: Path("/usr/include/ns3/core-module.h").exists(), "libns3-dev"),
}


@dataclass(frozen=True)
class Suite:
    name: str
    proves: str  # what no other suite does
    commands: list[Command]
    needs: tuple[str, ...] = ()  # of TOOLS
    after: tuple[str, ...] = ()  # suites whose results it uses; it runs whether they pass or not
    inputs: Inputs | None = None  # it runs only if one of them has changed
    tries_again: bool = False  # a failed test of pytest's runs again, and is printed
    restores: bool = False  # SIGINT lets it restore the machine
    cpu_limit_s: float = CPU_LIMIT_S


PYTEST = [PYTHON, "-m", "pytest", "-q", "--durations=20"]
QUICK = ("-m", "not slow and not clock", "-n", WORKERS)


def pytest(
    name: str,
    proves: str,
    *arguments: str,
    after: tuple[str, ...] = (),
    inputs: Inputs | None = None,
) -> Suite:
    """Returns a suite of Python tests."""
    cache = f"cache_dir={BUILD / 'pytest' / name}"  # its own, since suites run side by side
    command = [*PYTEST, "-o", cache, f"--junitxml={LOGS / name}.xml", *arguments]
    return Suite(
        name,
        proves,
        [command],
        after=("package", *after),
        inputs=inputs,
        tries_again=True,
        restores=True,
    )


def again(suite: Suite) -> Command:
    """Returns the command that runs a suite's failed tests again, one at a time."""
    (command,) = suite.commands
    report = [word for word in command if word.startswith("--junitxml=")]
    second = [f"--junitxml={LOGS / suite.name}-again.xml", "-n", "0"]
    failed = ["--last-failed", "--last-failed-no-failures=none"]
    return [word for word in command if word not in report] + second + failed


def cmake(name: str, *options: str, source: str = ".") -> list[Command]:
    """Returns commands that configure and build `source` with CMake's `options`, and test it."""
    folder = str(BUILD / name)
    defines = [f"-D{option}" for option in options]
    return [
        ["cmake", "-S", source, "-B", folder, "-G", "Ninja", *defines],
        ["cmake", "--build", folder],
        ["ctest", "--test-dir", folder, "--output-on-failure", "--no-tests=error", "-j", CORES]
        + ["--output-junit", str(LOGS / f"{name}.xml")],
    ]


C_ROOMS = ({*PRODUCT} - {"westwood"}) | {"controls", "quic", "tests", "bench"}


def c_files() -> list[str]:
    return [
        str(path.relative_to(ROOT))
        for room in sorted(C_ROOMS)
        for path in sorted((ROOT / room).rglob("*"))
        if path.suffix in {".h", ".hpp", ".c", ".cc", ".cpp"}
    ]


DEBUG = "CMAKE_BUILD_TYPE=Debug"  # with assertions
CLANG = "CMAKE_CXX_COMPILER=clang++"
WHEEL = [PYTHON, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "."]
MAKE = ["make", "--no-print-directory"]

# The lists are in the order in which suites start. Those of BUILDERS use every core, two at a time,
# while the tests of REAL_TIME run at a higher priority: these mostly sleep, and those with our
# controls share one kernel. The tests of ALONE have limits on the wall clock.
BUILDERS = [
    Suite(
        "package",
        "the package compiles without warnings and installs",
        [[*MAKE, "dev", "WERROR=ON"]],
    ),  # as in the wheel, whose objects it has
    Suite(
        "linux-build",
        "the emulated path and the kernel's loader compile",
        cmake("linux", "WW_TESTS=OFF", source="linux")[:2],
    ),
    Suite(  # the controls for the other BPF instruction sets; builds in build/linux, too
        "linux-controls-build",
        "the BPF controls compile for every instruction set",
        [["cmake", "--build", str(BUILD / "linux"), "--target", "ww-bpf-check"]],
        ("clang", "libbpf"),
        after=("linux-build",),
    ),
    Suite(  # with clang, whose sanitized code takes two thirds of gcc's time
        "cpp-sanitized",
        "the C++ has no memory error, undefined behaviour or failed assertion",
        cmake("sanitized", "WW_SANITIZE=ON", DEBUG, CLANG),
        ("clang", "GoogleTest", "libFuzzer"),
        inputs=OF_CPP,
    ),
    Suite(
        "ns3-wheel",
        "the module works with ns-3 3.44 of PyPI, which users of the package get",
        [[PYTHON, "tools/ns3_module.py", "wheel"]],
        after=("package",),
        inputs=OF_NS3,
    ),
    Suite(
        "ns3-debian",
        "the module works with ns-3 3.37 of Debian",
        [[PYTHON, "tools/ns3_module.py", "debian"]],
        ("ns-3 3.37",),
        after=("package",),
        inputs=OF_NS3,
    ),
    Suite(
        "cpp-release",
        "gcc's optimised code gives the recorded bytes and allocates as little",
        cmake("release", "WW_TESTS_BY_COMPILER=ON"),
        ("GoogleTest",),
        inputs=OF_CPP,
    ),
    Suite(
        "quic-build",
        "the QUIC runner compiles",
        cmake("quic", "WW_TESTS=OFF", source="quic")[:2],
        ("Rust 1.95",),
    ),
    Suite(
        "quic",
        "the Rust code passes its tests and clippy",
        [[PYTHON, "tools/quic.py"]],
        ("Rust 1.95",),
        after=("quic-build",),
        inputs=OF_QUIC,
    ),
    Suite(
        "quic-crate",
        "the crate builds alone, with its documentation and allowed licences",
        [[PYTHON, "tools/quic.py", "--crate"]],
        ("Rust 1.95",),
        after=("quic",),
        inputs=OF_CRATE,
    ),
    Suite(
        "prove",
        "the core keeps its bounds for any order of calls (Frama-C)",
        [[PYTHON, "tools/prove.py", "--only", "any order"]],
        inputs=OF_PROOFS,
    ),
    Suite(
        "core-compiles",
        "each header of core/ compiles alone, as C, C++ and BPF",
        [["tools/check_core.sh"]],
        ("clang",),
        inputs=OF_CORE,
    ),
    Suite(
        "lint-ruff",
        "Python keeps the rules and the format of ruff",
        [["ruff", "check"], ["ruff", "format", "--check"]],
        after=("package",),
    ),
    Suite("lint-mypy", "Python keeps its declared types", [["mypy"]], after=("package",)),
    Suite(
        "lint-imports",
        "no layer imports or includes from a higher one",
        [["lint-imports"], [PYTHON, "tools/check_includes.py"]],
        after=("package",),
    ),
    Suite("lint-length", "files and functions are short", [[PYTHON, "-m", "tools.check_length"]]),
    Suite(
        "lint-prose",
        "sentences are short, and no banned word occurs",
        [[PYTHON, "-m", "tools.check_prose"]],
    ),
    Suite(
        "lint-names",
        "no new name says nothing, such as `one`",
        [[PYTHON, "-m", "tools.check_names"]],
    ),
    Suite("lint-commits", "a commit has a short subject", [[PYTHON, "tools/check_commits.py"]]),
    Suite(
        "lint-format",
        "C and C++ have the format of clang-format",
        [["clang-format", "--dry-run", "--Werror", *c_files()]],
        after=("package",),
    ),
    Suite(
        "docs",
        "the documentation builds without warnings",
        [
            ["sphinx-build", "-W", "-q", "-b", "html", "-D", "nb_execution_mode=off", "docs"]
            + [str(BUILD / "docs")]
        ],
        after=("package",),
    ),
    Suite(
        "wheel",  # with the laboratory's page, which the Python tests open in a browser
        "the wheel holds the whole package and nothing else",
        [
            [*MAKE, "lab"],
            [
                *WHEEL,
                "--wheel-dir",
                str(BUILD / "dist"),
                "--config-settings=cmake.define.WW_WERROR=ON",
            ],
            [PYTHON, "tools/check_wheel.py", str(BUILD / "dist")],
        ],
        ("clang", "libbpf", "npm"),
        after=("package",),
    ),
    pytest(
        "linux-um",
        "the real Linux TCP in virtual time repeats every byte, where `make linux-um` has built it",
        *("-rs", "tests/um"),
        inputs=of_python("um", without=(*PAGES, "lab")),
    ),
    # One after another, since each keeps all cores busy.
    pytest(
        "python",
        "the package and its commands behave as documented",
        *("tests/westwood", "tests/upstream", *QUICK),
        after=("linux-build", "ns3-wheel", "ns3-debian", "quic-build", "wheel"),
        inputs=of_python("upstream", "westwood"),
    ),
    pytest(
        "python-lab",
        "the laboratory's page shows what the engine does",
        *("tests/lab", *QUICK),
        after=("python",),
        inputs=OF_LAB,
    ),
    pytest(
        "python-tools",
        "the pages say what commands print, and the tools of this repository work",
        *("tests/tools", *QUICK),
        after=("python-lab",),
        inputs=Inputs((".",), VERSIONS),
    ),
    pytest(
        "python-torture",
        "damage, kills and nonsense lose nothing and are one line",
        *("tests/torture", *QUICK),
        after=("python-tools",),
        inputs=of_python("torture", without=("lab",)),
    ),
]
LINUX = ("-rs", "tests/linux")
REAL_TIME = [
    pytest(
        "linux-kernel",
        "the controls work in this machine's kernel (root)",
        *LINUX,
        *("-m", "kernel and not slow"),
        after=("linux-controls-build",),
        inputs=OF_KERNEL,
    ),
    pytest(
        "linux-path",
        "the emulated path keeps its rates, delays and losses in real time",
        *LINUX,
        "-m",
        "not kernel and not slow",
        after=("linux-build",),
        inputs=OF_LINUX,
    ),
]
ALONE = [
    pytest(
        "clocks",
        "interrupts and waits end within their limits on the wall clock",
        "tests",
        "--ignore=tests/linux",
        "-m",
        "clock and not slow",
        inputs=Inputs((".",), VERSIONS, (*NOT_TESTED, *PAGES, "lab", "tests/linux")),
    )
]
