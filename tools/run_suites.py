# SPDX-License-Identifier: BSD-3-Clause
"""Runs the test suites and prints a summary: `run_suites.py [NAME...]`; `lint` means every lint-*.

The programs of the real-time tests are built first. These tests then run in parallel with the
suites that build or check, at a higher priority (nice). The Python tests, which use every core and
measure time, run alone at the end. Failures of these two kinds are repeated one test at a time,
because a busy machine may have delayed them; the summary counts the repetitions. build/logs/ has
each suite's output, and a failing suite prints the end of it. A suite whose tool is missing is
skipped, and the summary says how to install the tool.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
CORES = str(len(os.sched_getaffinity(0)))
PYTHON = sys.executable
Command = list[str]


def fuzzer_libraries() -> list[Path]:
    return list(Path("/usr/lib").glob("llvm-*/**/libclang_rt.fuzzer*.a"))


# Each tool has a check for its presence, and the Debian package that provides it.
TOOLS: dict[str, tuple[Callable[[], object], str]] = {
    "clang": (lambda: shutil.which("clang"), "clang"),
    "GoogleTest": (lambda: Path("/usr/include/gtest/gtest.h").exists(), "libgtest-dev"),
    "libFuzzer": (fuzzer_libraries, "libclang-rt-dev"),
    "libbpf": (lambda: Path("/usr/include/bpf/libbpf.h").exists(), "libbpf-dev"),
    "npm": (lambda: shutil.which("npm"), "nodejs npm"),
    "ns-3 3.37": (lambda: Path("/usr/include/ns3/core-module.h").exists(), "libns3-dev"),
}


@dataclass(frozen=True, eq=False)
class Suite:
    name: str
    commands: list[Command]
    needs: tuple[str, ...] = ()
    again: Command | None = None  # runs after a failure, up to CHANCES times
    with_package: bool = False  # needs westwood and the Python tools in .venv


@dataclass(frozen=True)
class Outcome:
    verdict: str  # PASS, FAIL or SKIPPED
    note: str


PYTEST = [PYTHON, "-m", "pytest", "-q", "--durations=20"]


def pytest(name: str, *arguments: str) -> Suite:
    """Returns a suite of Python tests; failed tests run again, one at a time."""
    again = [*PYTEST, *arguments, "--last-failed", "--last-failed-no-failures=none", "-n", "0"]
    return Suite(name, [[*PYTEST, *arguments]], again=again, with_package=True)


def cmake(name: str, *options: str, source: str = ".") -> list[Command]:
    """Returns commands that configure and build `source` with CMake's `options`, and test it."""
    folder = str(BUILD / name)
    defines = [f"-D{option}" for option in options]
    return [
        ["cmake", "-S", source, "-B", folder, "-G", "Ninja", *defines],
        ["cmake", "--build", folder],
        ["ctest", "--test-dir", folder, "--output-on-failure", "--no-tests=error", "-j", CORES],
    ]


def c_files() -> list[str]:
    rooms = (
        "core",
        "engine",
        "wire",
        "bindings",
        "lab",
        "ns3",
        "linux",
        "proofs",
        "tests",
        "bench",
    )
    return [
        str(path.relative_to(ROOT))
        for room in rooms
        for path in sorted((ROOT / room).rglob("*"))
        if path.suffix in {".h", ".hpp", ".c", ".cc", ".cpp"}
    ]


Started = dict[Suite, Future[Outcome]]
LACKING = 77  # exit code of a suite that can't run on this machine
CHANCES, BETWEEN_CHANCES_S = 5, 20
PATIENCE_S = 2400  # for a command; on a quiet machine it takes ten minutes at most
DEBUG = "CMAKE_BUILD_TYPE=Debug"  # with assertions
CLANG = "CMAKE_CXX_COMPILER=clang++"
WHEEL = [PYTHON, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "."]
# The package is installed while suites run that need only a compiler.
PACKAGE = Suite("package", [["make", "--no-print-directory", ".venv"]])
FIRST = [  # in this order, since both build in build/linux
    Suite("linux-build", cmake("linux", "WW_TESTS=OFF", source="linux")[:2]),
    Suite(  # the controls for the other BPF instruction sets
        "linux-controls-build",
        [["cmake", "--build", str(BUILD / "linux"), "--target", "ww-bpf-check"]],
        ("clang", "libbpf"),
    ),
]
SIDE_BY_SIDE = [  # longest first
    Suite(  # with clang, whose sanitized code takes two thirds of gcc's time
        "cpp-sanitized",
        cmake("sanitized", "WW_SANITIZE=ON", DEBUG, CLANG),
        ("clang", "GoogleTest"),
    ),
    Suite("ns3-wheel", [[PYTHON, "tools/ns3_module.py", "wheel"]], with_package=True),
    Suite(
        "ns3-debian",
        [[PYTHON, "tools/ns3_module.py", "debian"]],
        ("ns-3 3.37",),
        with_package=True,
    ),
    Suite("cpp-release", cmake("release"), ("GoogleTest",)),
    Suite(
        "linux-path",
        cmake("path-sanitized", "WW_SANITIZE=ON", DEBUG, CLANG, source="linux"),
        ("clang", "GoogleTest"),
    ),
    Suite(
        "fuzz",
        cmake("fuzz", "WW_FUZZ=ON", DEBUG, CLANG)
        + cmake("path-fuzz", "WW_FUZZ=ON", DEBUG, CLANG, source="linux"),
        ("clang", "libFuzzer"),
    ),
    Suite("prove", [[PYTHON, "tools/prove.py", "--only", "any order"]]),
    Suite("core-compiles", [["tools/check_core.sh"]], ("clang",)),
    Suite("lint-ruff", [["ruff", "check"], ["ruff", "format", "--check"]], with_package=True),
    Suite("lint-mypy", [["mypy"]], with_package=True),
    Suite(
        "lint-imports", [["lint-imports"], [PYTHON, "tools/check_includes.py"]], with_package=True
    ),
    Suite("lint-length", [[PYTHON, "tools/check_length.py"]]),
    Suite("lint-prose", [[PYTHON, "tools/check_prose.py"]]),
    Suite("lint-commits", [[PYTHON, "tools/check_commits.py"]]),
    Suite(
        "lint-format", [["clang-format", "--dry-run", "--Werror", *c_files()]], with_package=True
    ),
    Suite(
        "docs",
        [
            ["sphinx-build", "-W", "-q", "-b", "html", "-D", "nb_execution_mode=off", "docs"]
            + [str(BUILD / "docs")]
        ],
        with_package=True,
    ),
    Suite(
        "wheel",  # with the laboratory's page, which the Python tests open in a browser
        [
            ["make", "--no-print-directory", "lab"],
            [
                *WHEEL,
                "--wheel-dir",
                str(BUILD / "dist"),
                "--config-settings=cmake.define.WW_WERROR=ON",
            ],
            [PYTHON, "tools/check_wheel.py", str(BUILD / "dist")],
        ],
        ("clang", "libbpf", "npm"),
        with_package=True,
    ),
]
NICE = ("nice", "-n", "19")
# They share one kernel and run in real time, so they run one after another.
REAL_TIME = [pytest("linux-kernel", "-rs", "tests/linux")]
ALONE = [pytest("python", "tests", "--ignore=tests/linux", "-n", CORES)]


def run(suite: Suite, prefix: Sequence[str] = ()) -> Outcome:
    """Runs one suite with its output in a log, and prints the outcome.

    Each of its commands starts with prefix.
    """
    missing = [tool for tool in suite.needs if not TOOLS[tool][0]()]
    if missing:
        packages = " ".join(TOOLS[tool][1] for tool in missing)
        outcome = Outcome("SKIPPED", f"no {', '.join(missing)}: apt-get install {packages}")
    else:
        start = time.monotonic()
        log = BUILD / "logs" / f"{suite.name}.log"
        with log.open("w") as output:
            codes = (finishes([*prefix, *command], output.fileno()) for command in suite.commands)
            code = next((code for code in codes if code != 0), 0)
            chances = 1
            while suite.again and code not in (0, LACKING) and chances < CHANCES:
                time.sleep(BETWEEN_CHANCES_S)  # the machine may be less busy then
                code = finishes(suite.again, output.fileno())
                chances += 1
        verdict = {0: "PASS", LACKING: "SKIPPED"}.get(code, "FAIL")
        more = f", {chances} chances" if chances > 1 else ""
        outcome = Outcome(verdict, f"{time.monotonic() - start:.1f} s{more}")
        if verdict != "PASS":
            tail = "\n".join(log.read_text(errors="replace").splitlines()[-60:])
            print(f"--- {suite.name}: the end of {log.relative_to(ROOT)}\n{tail}\n---")
    print(f"{suite.name}: {outcome.verdict} ({outcome.note})", flush=True)
    return outcome


def finishes(command: Command, output: int) -> int:
    """Returns the exit code of `command`; 1 if it takes more than PATIENCE_S."""
    os.write(output, f"$ {' '.join(command)}\n".encode())
    with subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=output) as process:
        try:
            return process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            os.write(output, f"stopped after {PATIENCE_S} s\n".encode())
        process.send_signal(signal.SIGINT)  # lets tests restore the machine
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(60)
        process.kill()
    return 1


def main(names: list[str]) -> int:
    def start(suites: Iterable[Suite], pool: ThreadPoolExecutor, *prefix: str) -> Started:
        wanted = set(names)
        chosen = [s for s in suites if not names or {s.name, s.name.split("-")[0]} & wanted]
        return {suite: pool.submit(run_with, suite, prefix) for suite in chosen}

    def run_with(suite: Suite, prefix: Sequence[str]) -> Outcome:
        if suite.with_package and package.result().verdict != "PASS":
            return Outcome("FAIL", "without the package")
        return run(suite, prefix)

    os.environ["PATH"] = f"{Path(PYTHON).parent}{os.pathsep}{os.environ['PATH']}"
    (BUILD / "logs").mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(1) as installer:
        package = installer.submit(run, PACKAGE)
        with ThreadPoolExecutor(1) as pool:
            started = start(FIRST, pool)
        with ThreadPoolExecutor(1) as real_time, ThreadPoolExecutor(2) as pool:
            started |= start(REAL_TIME, real_time) | start(SIDE_BY_SIDE, pool, *NICE)
        with ThreadPoolExecutor(1) as pool:
            started |= start(ALONE, pool)
    outcomes = {PACKAGE: package.result()}
    outcomes |= {suite: future.result() for suite, future in started.items()}

    print("\nSummary")
    for suite, outcome in outcomes.items():
        print(f"  {suite.name:<20} {outcome.verdict:<8} {outcome.note}")
    verdicts = [outcome.verdict for outcome in outcomes.values()]
    failed = verdicts.count("FAIL")
    summary = f"{verdicts.count('PASS')} passed, {failed} failed"
    (BUILD / "summary.txt").write_text(summary + "\n")
    print(f"\n{summary}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
