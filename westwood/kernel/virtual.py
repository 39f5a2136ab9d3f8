# SPDX-License-Identifier: BSD-3-Clause
"""Builds the machine of --engine linux-um: Linux as a program, with our links inside.

linux/um has its parts. It is User-Mode Linux with virtual time, from Debian's source package. The
program and the kernel's objects stay in the user's cache for all versions of this package.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from westwood import programs
from westwood.errors import InputError, RunError, UnavailableError, one_line

BUILD = "westwood kernel build"
SOURCE = Path("/usr/src/linux-source-6.12.tar.xz")
VARIABLE = "WESTWOOD_LINUX_UM"
# Tools of the build, and Debian's packages that have them.
_TOOLS = {"gcc": "gcc", "g++": "g++", "make": "make", "ld": "binutils", "patch": "patch"}
_TOOLS |= {name: name for name in ("flex", "bison", "bc", "tar")} | {"xz": "xz-utils"}
_OF_KERNEL = ("kernel.config", "kernel.patch")
_ROOMS = (
    *(("linux/um", "*"), ("linux/path", "*"), ("linux/bpf", "*.h")),
    *(("engine", "**/*.hpp"), ("wire", "*"), ("core", "*.h")),
)
_NEEDS_BYTES = 2 << 30


def cache() -> Path:
    """Returns the folder of machines and of the kernel's objects."""
    return programs.user_cache() / "linux-um"


def program() -> Path:
    """Returns the machine's program; raises UnavailableError with the remedy if it is missing."""
    if named := os.environ.get(VARIABLE):
        if os.access(named, os.X_OK) and Path(named).is_file():
            return Path(named)
        raise UnavailableError(f"{VARIABLE} names no program")
    if os.uname().machine != "x86_64":
        raise UnavailableError("engine linux-um needs x86_64")
    built = cache() / _key() / "linux"
    if built.is_file():
        os.close(programs.opened_private(cache()))
        return built
    problem = "engine linux-um needs its machine, and it is not built"
    raise UnavailableError(f"{problem}: {'make linux-um' if programs.CHECKOUT else BUILD}")


def version() -> str:
    """Returns the version of the kernel inside; empty if that is unknown."""
    with contextlib.suppress(OSError):
        return program().with_name("version").read_text().strip()
    return ""


@functools.cache
def controls() -> tuple[str, ...]:
    """Returns the kernel's own congestion controls."""
    text = (programs.sources() / "linux/um/kernel.config").read_text()
    built = {name.lower() for name in re.findall(r"^CONFIG_TCP_CONG_(\w+)=y", text, re.MULTILINE)}
    built = (built - {"advanced", "hstcp"}) | {"reno", "highspeed"}  # HSTCP has another name
    return tuple(sorted(built))


@functools.cache
def _key() -> str:
    """Returns what identifies a machine: all files that it is built from, apart from the kernel."""
    root, parts = programs.sources(), hashlib.sha256()
    script = (root / "linux/um/build.sh").read_text()
    files = {root / f"{name}.cpp" for name in re.findall(r"\bengine/[\w/]+", script)}
    for room, pattern in _ROOMS:
        files |= {path for path in (root / room).glob(pattern) if path.is_file()}
    for path in sorted(files):
        content = hashlib.sha256(path.read_bytes()).digest()
        parts.update(str(path.relative_to(root)).encode() + b"\0" + content)
    return parts.hexdigest()[:16]


def build(source: Path | None, say: Callable[[str], object]) -> Path:
    """Builds the machine, unless it is there; returns its program.

    source: the kernel's source, Linux 6.12 as a .tar.xz; None: Debian's package. A build that was
    interrupted goes on where it was.
    """
    tarball = _checked(source)
    try:
        os.close(programs.opened_private(cache()))
        with programs.turn(cache()):
            return _build(tarball, say)
    except OSError as error:
        raise RunError(f"{error.filename or cache()}: {error.strerror}") from None


def _checked(source: Path | None) -> Path:
    """Returns the source; raises an error with what the build lacks."""
    if os.uname().machine != "x86_64":
        raise UnavailableError("engine linux-um needs x86_64")
    if source is not None and not source.is_file():
        problem = "expected the source of Linux 6.12, a .tar.xz"
        raise InputError(problem, key="--source", value=str(source))
    lacks = {name: package for name, package in _TOOLS.items() if not programs.system_program(name)}
    if source is None and not SOURCE.is_file():
        lacks[SOURCE.name] = "linux-source-6.12"
    if not lacks:
        return source or SOURCE
    packages = " ".join(sorted(set(lacks.values())))
    remedy = f"apt-get install {packages}"
    if source is None and SOURCE.name in lacks:
        remedy += f" (Debian 12 and 13), or {BUILD} --source FILE with Linux 6.12 of kernel.org"
    raise UnavailableError(
        f"the machine of linux-um can't be built: no {', '.join(lacks)}: {remedy}"
    )


def _build(tarball: Path, say: Callable[[str], object]) -> Path:
    folder = cache() / _key()
    built = folder / "linux"
    tree = cache() / f"tree-{_kernel_key(tarball)}"
    if built.is_file() and (folder / "tree").read_text() == tree.name:
        return built
    for old in cache().glob("tree-*"):
        if old != tree:
            shutil.rmtree(old, ignore_errors=True)
    if not tree.exists() and (free := shutil.disk_usage(cache()).free) < _NEEDS_BYTES:
        problem = f"{cache()} has {free >> 20} MB free, and the build takes {_NEEDS_BYTES >> 20} MB"
        raise RunError(problem)
    say(f"building Linux in {tree}: about ten minutes on two cores, once")
    script = programs.sources() / "linux" / "um" / "build.sh"
    jobs = str(len(os.sched_getaffinity(0)))
    program = tree / "linux"
    command = ["sh", str(script), str(tarball), str(tree), str(program)]
    done = programs.run(command, "", env={**os.environ, "JOBS": jobs, "LC_ALL": "C"})
    if done.code != 0:
        lines = [line.strip() for line in done.errors.splitlines() if line.strip()]
        # make only repeats that a step failed; the linker's message has no word for an error
        reasons = [line for line in lines if not line.startswith("make")] or [done.problem]
        wrong = next((line for line in reasons if "error" in line.lower()), reasons[-1])
        raise RunError(f"the machine of linux-um can't be built: {one_line(wrong)}")
    release = (tree / "build/include/config/kernel.release").read_text()
    folder.mkdir(exist_ok=True)
    (folder / "version").write_text(release.strip().removesuffix("-westwood"))
    (folder / "tree").write_text(tree.name)
    program.replace(built)  # last, so that a program in the cache is whole
    return built


def _kernel_key(tarball: Path) -> str:
    """Returns what identifies the kernel's objects: its source, our configuration and patches."""
    with tarball.open("rb") as file:
        parts = hashlib.file_digest(file, "sha256")
    for name in _OF_KERNEL:
        parts.update((programs.sources() / "linux/um" / name).read_bytes())
    return parts.hexdigest()[:16]
