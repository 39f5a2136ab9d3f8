# SPDX-License-Identifier: BSD-3-Clause
"""Compiles a control to WebAssembly for the laboratory's page: frame.c is its side of a call."""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from westwood import programs
from westwood.control import cache, compiling, loading
from westwood.control.compiling import Compiler
from westwood.errors import InputError, UnavailableError

_FRAME = Path(__file__).with_name("frame.c")
# What is undefined in C ends the run. WebAssembly has memory at 0, so `null` is checked, too.
_CHECKS = "signed-integer-overflow,shift,bounds,integer-divide-by-zero,unreachable,return,null"
_FLAGS = (
    "--target=wasm32-freestanding -std=c11 -O2 -ffreestanding -fvisibility=hidden"
    " -ffp-contract=off -fno-strict-aliasing -w"
    f" -fsanitize={_CHECKS} -fsanitize-trap=all -nostdlib -Wl,--no-entry,-s"
).split()


@functools.cache
def compiler() -> Compiler:
    """Returns the compiler that is used; raises UnavailableError if there is none.

    clang needs the linker wasm-ld, which is why each is tried.
    """
    for candidate in _installed():
        with tempfile.TemporaryDirectory(prefix="westwood-wasm-") as folder:
            command = [*candidate.command, *_FLAGS, "-o", str(Path(folder) / "tried.wasm")]
            if compiling.run([*command, str(compiling.MEMORY)], "a compiler").code == 0:
                return candidate
    raise UnavailableError(
        "a control on the page needs a compiler for WebAssembly: apt-get install clang lld, or "
        "pip install 'westwood[compiler]'"
    )


def _installed() -> Iterator[Compiler]:
    named = os.environ.get("CC", "").split()
    for command in (named, ["clang"]):
        path = programs.system_program(command[0]) if command else None
        if path is not None and (version_text := compiling.version([path, *command[1:]])):
            yield Compiler((path, *command[1:]), version_text)
    zig = compiling.ziglang()
    if zig and (version_text := compiling.version(zig)):
        yield Compiler(zig, version_text)


def compiled(control: loading.Control) -> bytes:
    """Returns the WebAssembly module of a control that was loaded.

    Raises InputError if it can't be compiled, and UnavailableError if there is no compiler.
    """
    if control.name.endswith(loading.PYTHON):
        raise InputError(f"{control.name}: the page runs controls in C only")
    used = compiler()
    others = [_FRAME.read_bytes(), compiling.MEMORY.read_bytes(), " ".join(_FLAGS).encode()]
    kept = f"{compiling.key(control.code, used, others)}.wasm"
    return cache.kept_or_made(kept, functools.partial(_compile, used, control))


def _compile(used: Compiler, control: loading.Control, path: Path) -> None:
    source = path.with_name(compiling.SYMBOL)
    source.write_bytes(control.code)
    command = [*used.command, *_FLAGS, f"-I{compiling.headers()}", "-o", str(path)]
    ended = compiling.run([*command, str(source), str(_FRAME), str(compiling.MEMORY)], control.name)
    if ended.code != 0 or not path.exists():
        raise InputError(compiling.first_error(ended.out, source, control.name))
