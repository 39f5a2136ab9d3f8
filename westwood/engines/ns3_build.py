# SPDX-License-Identifier: BSD-3-Clause
"""Builds our ns-3 module and the runner of --engine ns3 against an existing ns-3.

By default that is ns-3's wheel from PyPI, unpacked next to the build without installing it. A user
can also name an installed ns-3 or a built source tree. `make ns3` and the tests use the same
functions.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from westwood import programs
from westwood.engines.ns3 import PROGRAM
from westwood.errors import InputError, RunError, UnavailableError, one_line

WHEEL = "ns3==3.44.post0"
_PYTHON = "3.11"  # the wheel's Python; only its C++ libraries are used, so any would do
_HEADER = Path("include/ns3/core-module.h")
# Where include/ns3 is in a prefix, a source tree, a site-packages and a root.
_PLACES = ("", "build", "ns3", "usr")


def title() -> str:
    """Returns what pages call the engine; only our own build tells ns-3's version."""
    runner = programs.workshop() / PROGRAM.name
    return f"ns-{WHEEL[5:]}" if PROGRAM.find() == runner else f"ns-3 of {PROGRAM.find()}"


def home() -> Path:
    """Returns the folder of ns-3's wheels and our builds."""
    return programs.workshop() / "ns3"


def wheel(requirement: str = WHEEL) -> Path:
    """Unpacks a wheel if necessary; returns the folder, whose ns3/ is an installed ns-3."""
    site = home() / ("site" if requirement == WHEEL else requirement.replace("ns3==", "site-"))
    with _turn():
        if not (site / "ns3").exists():
            part = home() / ".part"
            for left in (part, site):  # remains of an interrupted command
                shutil.rmtree(left, ignore_errors=True)
            pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
            call(
                [*pip, "--no-deps", "--only-binary=:all:", "--python-version", _PYTHON]
                + ["--target", str(part), requirement],
                f"{requirement} can't be installed from PyPI",
            )
            part.rename(site)
    return site


@contextlib.contextmanager
def _turn() -> Iterator[None]:
    """Waits until no other command downloads or builds."""
    programs.check_workshop()
    home().mkdir(parents=True, exist_ok=True)
    with programs.turn(home()):
        yield


def root(source: Path) -> Path:
    """Returns the root of the ns-3 that a user named."""
    for place in _PLACES:
        if (source / place / _HEADER).is_file():
            return (source / place).resolve()
    if not source.is_dir():
        problem = "no such folder"
    elif (source / "src" / "core").is_dir():
        problem = "this tree is not built: ./ns3 configure -d release && ./ns3 build, there"
    else:
        problem = f"expected an ns-3 with {_HEADER}: an installed one or a built tree"
    raise InputError(problem, key="--source", value=str(source))


def build(source: Path | None, say: Callable[[str], object]) -> Path:
    """Builds the module and its runner; returns the runner's path.

    source: an ns-3; None: the wheel from PyPI. An interrupted build leaves no runner, because a
    linker makes its output executable at the end.
    """
    given = None if source is None else root(source)
    tools = _tools()
    try:
        if given is None:
            say(f"fetching {WHEEL} into {home()}")
            given = wheel() / "ns3"
        programs.check_workshop()
        runner = programs.workshop() / PROGRAM.name
        folder = runner.parent
        folder.mkdir(parents=True, exist_ok=True)
        with _turn():
            runner.unlink(missing_ok=True)
            say(f"building in {folder}")
            _build(given, folder, tools)
    except OSError as error:
        raise RunError(f"{error.filename}: {error.strerror}") from None
    return PROGRAM.find()


def _build(given: Path, folder: Path, tools: dict[str, str]) -> None:
    cmake = tools["cmake"]
    generator = ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={tools['ninja']}"]
    if not tools["ninja"]:
        generator = ["-G", "Unix Makefiles"]
    source = programs.sources() / "ns3"
    shutil.rmtree(folder / "CMakeFiles", ignore_errors=True)
    (folder / "CMakeCache.txt").unlink(missing_ok=True)  # maybe of another ns-3 or compiler
    problem = f"ns3/ can't be built against {given}"
    call([cmake, "-S", str(source), "-B", str(folder), *generator, f"-DNS3_ROOT={given}"], problem)
    jobs = str(len(os.sched_getaffinity(0)))
    call([cmake, "--build", str(folder), "--target", "ww-ns3-runner", "-j", jobs], problem)


def _tools() -> dict[str, str]:
    """Finds the build tools in PATH or next to this Python, where westwood[ns3] installs some."""
    folders = [str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]
    path = os.pathsep.join(folders)
    tool_paths = {name: shutil.which(name, path=path) or "" for name in ("cmake", "ninja", "make")}
    compiler = shutil.which(os.environ.get("CXX", "c++"), path=path) or shutil.which("g++")
    packages = [] if compiler else ["g++"]
    if not tool_paths["cmake"]:
        packages.append("cmake")
    if not tool_paths["ninja"] and not tool_paths["make"]:
        packages.append("ninja-build")
    if packages:
        remedy = f"apt-get install {' '.join(packages)}"
        if set(packages) - {"g++"}:
            least = "apt-get install g++ and " if "g++" in packages else ""
            remedy += f" (or {least}pip install 'westwood[ns3]')"
        names = ", ".join(
            {"g++": "C++ compiler", "ninja-build": "ninja"}.get(p, p) for p in packages
        )
        raise UnavailableError(f"westwood ns3 build: no {names}: {remedy}")
    return tool_paths


def call(command: Iterable[str], problem: str) -> None:
    """Runs a command; raises RunError with `problem` and its error or last line if it fails."""
    done = programs.run(list(command), "", both=True)
    if done.code != 0:
        lines = [line.strip() for line in done.out.splitlines() if line.strip()] or ["no message"]
        wrong = (number for number, line in enumerate(lines) if "error" in line.lower())
        tail = lines[next(wrong, len(lines) - 1) :]
        # CMake prints the message on the line after "CMake Error at FILE:LINE (message):".
        raise RunError(f"{problem}: {one_line(' '.join(tail[: 1 + tail[0].endswith(':')]))}")
