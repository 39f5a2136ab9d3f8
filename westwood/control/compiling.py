# SPDX-License-Identifier: BSD-3-Clause
"""Compiles a control to a shared object, with a compiler of this machine or ziglang's.

The compiler runs without a shell, in a temporary folder. The object is kept, under a name that
follows from the file, the headers and the compiler.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import itertools
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from westwood import programs
from westwood.control import cache, lines, objects
from westwood.errors import InputError, UnavailableError, WestwoodError

LONGEST_S = 20  # of the compiler's CPU time; ziglang's first compiles parts of itself
_ZIG_FACTOR = 3
_IDLE_S = 5  # it may wait for so long
_MOST_BYTES, _MOST_WRITTEN = 4 << 30, 64 << 20
SYMBOL = "control.c"  # the file's name in the temporary folder
# What is undefined in C ends the run with the line (bindings/control_watch.cpp).
_CHECKS = "signed-integer-overflow,shift,bounds,integer-divide-by-zero,unreachable,return"
_FLAGS = (
    "-std=c11 -O2 -g1 -fPIC -ffreestanding -fvisibility=hidden -ffp-contract=off"
    " -fno-strict-aliasing -fno-optimize-sibling-calls"  # a failed call has its line
    " -fstack-clash-protection -fstack-protector-strong"  # no frame reaches beyond the stack's end
    " -Wfatal-errors -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers"
    f" -Werror=implicit-function-declaration -Werror=return-type -fsanitize={_CHECKS}"
).split()
# abort() and others of the C library would end the process. The rest is what objects.py expects.
_LINKED = ["-shared", "-nostdlib", "-Wl,-z,defs,-z,relro,-z,now,-z,noexecstack"]
_LINKED += ["-Wl,-Bsymbolic,--hash-style=sysv,--gc-sections"]
_loaded = itertools.count(1)
MEMORY = Path(__file__).with_name("memory.c")
_LACKING = re.compile(
    rf"{re.escape(SYMBOL)}:(\d+): undefined reference to .(\w+)"  # ld
    rf"|undefined symbol: (\w+)\n.* referenced by {re.escape(SYMBOL)}:(\d+)"  # lld
)
_ERROR = re.compile(
    r"^(?P<file>[^\n:]*):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: (?P<what>.*)$", re.M
)


@dataclass(frozen=True)
class Compiler:
    """Describes a C compiler."""

    command: tuple[str, ...]
    version: str

    @property
    def trap(self) -> tuple[str, ...]:
        """Returns the options that make the checks end the program by a signal.

        gcc takes an array at a state's end for one without bounds, unless they are strict.
        """
        if "clang" in self.version:
            return ("-fsanitize-trap=all",)
        return ("-fsanitize=bounds-strict", "-fsanitize-undefined-trap-on-error")


def headers() -> Path:
    """Returns the folder with control.h and the headers that it includes."""
    return programs.sources() / "core"


@functools.cache
def compilers() -> tuple[Compiler, ...]:
    """Returns the compilers of this machine, in the order in which they are tried."""
    return tuple(_installed())


def _installed() -> Iterator[Compiler]:
    named = os.environ.get("CC", "").split()
    for command in (named, ["cc"], ["gcc"], ["clang"]):
        path = programs.system_program(command[0]) if command else None
        if path is not None and (version_text := version([path, *command[1:]])):
            yield Compiler((path, *command[1:]), version_text)
    zig = ziglang()
    if zig and (version_text := version(zig)):
        yield Compiler(zig, version_text)


def ziglang() -> tuple[str, ...]:
    """Returns the command of the compiler from PyPI; empty if it is not installed."""
    # Without -P a folder `ziglang` where we stand would run.
    known = find_spec("ziglang") is not None
    return (sys.executable, "-P", "-m", "ziglang", "cc") if known else ()


def version(command: Sequence[str]) -> str:
    """Returns what a compiler says of its version; empty if it does not run."""
    try:
        limited = _limited([*command, "--version"])
        ended = programs.run(limited, "", timeout_s=LONGEST_S, idle_s=_IDLE_S)
    except (WestwoodError, TimeoutError):
        return ""
    return ended.out.strip() if ended.code == 0 else ""


def compiler() -> Compiler:
    """Returns the compiler that is used; raises UnavailableError if there is none."""
    if candidates := compilers():
        return candidates[0]
    raise UnavailableError(
        "a control from a file needs a C compiler: apt-get install gcc, or "
        "pip install 'westwood[compiler]'"
    )


def compiled(code: bytes, name: str) -> Path:
    """Returns the shared object of a file's bytes; `name` is the file's in messages.

    Raises InputError with the file and the line of the first error.
    """
    _compiled(code, name)
    return cache.folder() / _object(code)


def _compiled(code: bytes, name: str) -> bytes:
    compile_it = functools.partial(_compile, compiler(), code, name)
    return cache.kept_or_made(_object(code), compile_it)


@contextlib.contextmanager
def loadable(code: bytes, name: str) -> Iterator[str]:
    """Yields a path for the loader, of the very bytes that were checked."""
    content = _compiled(code, name)
    _check(objects.check_linked, content, code, name)
    memory = os.memfd_create("westwood-control", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    with os.fdopen(memory, "wb") as file:
        file.write(content)
        file.flush()
        fcntl.fcntl(memory, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SEAL)
        # The loader takes a path that it knows for the same object, so each path is another.
        slashes = "".join("/." if bit == "1" else "/" for bit in f"{next(_loaded):b}")
        yield f"/proc/self/fd{slashes}/{memory}"


def is_kept(code: bytes) -> bool:
    """Returns whether the bytes were compiled before."""
    return cache.is_kept(_object(code))


def _object(code: bytes) -> str:
    parts = [MEMORY.read_bytes(), " ".join((*_FLAGS, *_LINKED)).encode()]
    return f"{key(code, compiler(), parts)}.so"


def key(code: bytes, used: Compiler, others: Sequence[bytes]) -> str:
    """Returns what identifies an object: its file, the core's headers, the compiler and others."""
    parts = [code, *_header_bytes(), used.version.encode(), *others]
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


@functools.cache
def _header_bytes() -> tuple[bytes, ...]:
    return tuple(path.read_bytes() for path in sorted(headers().glob("*.h")))


def _compile(used: Compiler, code: bytes, name: str, path: Path) -> None:
    """Compiles and checks the file, then links it: no section of it replaces one of the linker."""
    source, parts = path.with_name(SYMBOL), []
    source.write_bytes(code)
    for file in (source, MEMORY):
        parts.append(path.with_name(file.stem + ".o"))
        command = [*used.command, *_FLAGS, *used.trap, f"-I{headers()}", "-c", str(file)]
        _make([*command, "-o", str(parts[-1])], parts[-1], source, name)
    _check(objects.check_compiled, parts[0].read_bytes(), code, name)
    command = [*used.command, *_LINKED, *map(str, parts), "-lgcc", "-o", str(path)]
    _make(command, path, source, name)
    _check(objects.check_linked, path.read_bytes(), code, name)


def _make(command: Sequence[str], path: Path, source: Path, name: str) -> None:
    ended = run(command, name)
    if ended.code != 0 or not path.exists():
        raise InputError(first_error(ended.out, source, name))


def _check(check: Callable[[bytes], None], compiled: bytes, code: bytes, name: str) -> None:
    """Raises InputError with the file and the line if the object is not fit to be loaded."""
    try:
        check(compiled)
    except objects.Refused as refused:
        text = code.decode(errors="replace")
        line = lines.of_start(text) if str(refused) == objects.AT_LOAD else 0
        line = line or lines.of_name(text, refused.word)
        raise InputError(f"{name}:{line}: {refused}" if line else f"{name}: {refused}") from None


def run(command: Sequence[str], name: str) -> programs.Ended:
    """Runs a compiler within limits; raises InputError if it takes more.

    They also hold for what goes on when this process is killed. The wall clock of a busy machine is
    not limited, up to a multiple.
    """
    most_s = _cpu_s(command)
    try:
        longest_s = most_s * programs.BUSY
        limited = _limited(command)
        ended = programs.run(limited, "", timeout_s=longest_s, idle_s=_IDLE_S, both=True)
    except TimeoutError as error:
        raise InputError(f"{name}: the compiler {command[0]} {error}") from None
    if _is_cut_off(ended):
        raise InputError(f"{name}: takes more than {most_s} s to compile")
    return ended


def _limited(command: Sequence[str]) -> list[str]:
    limits = programs.system_program("prlimit")
    most = (f"--cpu={_cpu_s(command)}", f"--as={_MOST_BYTES}", f"--fsize={_MOST_WRITTEN}")
    return [limits, *most, "--core=0", *command] if limits else list(command)


def _cpu_s(command: Sequence[str]) -> int:
    return LONGEST_S * (_ZIG_FACTOR if "ziglang" in command else 1)


def _is_cut_off(ended: programs.Ended) -> bool:
    """Returns whether the limit on CPU time ended the compiler, or one that it started."""
    killed = (-signal.SIGXCPU, -signal.SIGKILL)
    told = ("CPU time limit exceeded", "Killed signal terminated")
    return ended.code in killed or (ended.code != 0 and any(text in ended.out for text in told))


def first_error(output: str, source: Path, name: str) -> str:
    """Returns the compiler's first error with the user's file and its line.

    Raises RunError if the compiler found no room for what it writes.
    """
    if not _ERROR.search(output) or str(source) not in output:
        cache.check_room(output)
    match = _ERROR.search(output)
    if missing := _LACKING.search(output):
        line, called = missing[1] or missing[4], missing[2] or missing[3]
        return f"{name}:{line}: {called} is not there, expected functions of the file or control.h"
    if match is None:
        lines = [line for line in output.replace(str(source), name).splitlines() if line.strip()]
        errors = [line for line in lines if "error:" in line.lower()]
        said_last = (errors or lines or ["the compiler fails"])[-1]
        return f"{name}: does not compile: {said_last}"
    here = match["file"] == str(source)
    line = int(match["line"]) if here else _line_of_use(output, source, match)
    what = match["what"].replace(str(source), name)
    return f"{name}:{line}: {what}" if line else f"{name}: {what}"


def _line_of_use(output: str, source: Path, error: re.Match[str]) -> int:
    """Returns the line of the user's file that leads to an error in another file; 0 if unknown.

    The compiler names the use of a macro after the error, and an #include before it.
    """
    line = re.compile(rf"{re.escape(str(source))}:(\d+)")
    of_ours = error["file"].startswith(str(headers()))
    match = (of_ours and line.search(output, error.end())) or line.search(output)
    return int(match[1]) if match else 0


def line_at(code: bytes, places: Sequence[int]) -> int:
    """Returns the line of the file at the first place in its shared object that has one, or 0."""
    program = programs.system_program("addr2line")
    if program is None or not places:
        return 0
    command = [program, "-i", "-e", str(cache.folder() / _object(code)), *map(hex, places)]
    ended = programs.run(command, "", timeout_s=LONGEST_S)
    match = re.search(rf"{SYMBOL}:(\d+)", ended.out)
    return int(match[1]) if match else 0
