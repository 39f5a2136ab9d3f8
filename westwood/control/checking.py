# SPDX-License-Identifier: BSD-3-Clause
"""Checks whether a control in a file is fit for all hosts: `westwood control check`."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from westwood import programs
from westwood.control import compiling, loading

_CALLS = 200_000  # of one seed
_LONGEST_S = 60.0  # of the calls of one seed
_TOO_LATE = 4  # exit code of any_calls.c
_STRICT = ["-std=c11", "-O2", "-ffreestanding", "-Wall", "-Wextra", "-Wno-unused-parameter"]
_OF_CONTROL = ["-Wno-missing-field-initializers", "-Werror", "-c", "-o", "/dev/null"]
_IR = ["-std=c11", "-O1", "-g", "-ffreestanding", "-w", "-S", "-emit-llvm", "-o", "-"]
# Instructions that BPF lacks: it has no floating point, and no signed division before -mcpu=v4.
_NOT_IN_BPF = re.compile(r"= (sdiv|srem|f\w+|[su]itofp|sext.* to double)\b.*!dbg !(\d+)")
_SANITIZED = ["-std=c11", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
_FILE = "control.c"
_AT = re.compile(rf"{re.escape(_FILE)}:(\d+)")
_REFUSED = re.compile(r"^refused (\w+) (.*)$", re.M)


@dataclass(frozen=True)
class Check:
    """Describes the outcome of a check."""

    name: str
    problem: str = ""  # one line with the file and the line; empty: none
    skipped: str = ""  # what is missing; empty: the check ran


def checks(path: str, seed: int, for_s: float) -> Iterator[Check]:
    """Yields the outcome of each check of a file, the quickest first.

    for_s: how long the control is called in any order. Raises InputError if it can't be loaded.
    """
    control = loading.load(path)
    with tempfile.TemporaryDirectory(prefix="westwood-check-") as folder:
        source = Path(folder) / _FILE
        source.write_bytes(control.code)
        for name in ("gcc", "clang"):
            yield _compiled(
                f"freestanding C11 with {name}", name, [*_STRICT, *_OF_CONTROL], source, path
            )
        yield _of_integers(source, path)
        yield _called(control, Path(folder), seed, for_s)


def _compiled(what: str, compiler: str, flags: list[str], source: Path, name: str) -> Check:
    program = programs.system_program(compiler)
    if program is None:
        return Check(what, skipped=f"needs {compiler}")
    command = [program, *flags, f"-I{compiling.headers()}", str(source)]
    ended = programs.run(command, "", timeout_s=60, both=True)
    if ended.code == 0:
        return Check(what)
    return Check(what, problem=compiling.first_error(ended.out, source, name))


def _of_integers(source: Path, name: str) -> Check:
    """Looks for what Linux can't run in the instructions of LLVM."""
    what = "integers only, no signed division"
    program = programs.system_program("clang")
    if program is None:
        return Check(what, skipped="needs clang")
    command = [program, *_IR, f"-I{compiling.headers()}", str(source)]
    code = programs.run(command, "", timeout_s=60).out
    found = _NOT_IN_BPF.search(code)
    if found is None:
        return Check(what)
    line = re.search(rf"^!{found[2]} = !DILocation\(line: (\d+)", code, re.M)
    division = found[1] in ("sdiv", "srem")
    problem = "divides signed numbers" if division else "uses floating point"
    return Check(what, problem=f"{name}:{line[1] if line else 0}: {problem}, which Linux lacks")


def _called(control: loading.Control, folder: Path, seed: int, for_s: float) -> Check:
    what = "any calls in any order, with sanitizers"
    program = programs.system_program("gcc") or programs.system_program("clang")
    if program is None:
        return Check(what, skipped="needs gcc or clang")
    driver, made = folder / "any_calls.c", folder / "any_calls"
    driver.write_bytes(Path(__file__).with_name("any_calls.c").read_bytes())
    command = [program, *_SANITIZED, f"-I{compiling.headers()}", "-o", str(made), str(driver)]
    ended = programs.run(command, "", timeout_s=60, both=True)
    if ended.code != 0:
        return Check(what, skipped="needs the sanitizers of the compiler")
    ends_at = time.monotonic() + for_s
    while True:
        if problem := _problem_of(control, made, seed):
            again = f"again: westwood control check {control.name} --seed {seed}"
            return Check(what, problem=f"{problem} ({again})")
        if time.monotonic() >= ends_at:
            return Check(what)
        seed += 1


def _problem_of(control: loading.Control, program: Path, seed: int) -> str:
    """Returns the problem that the calls of a seed find, with the file and the line."""
    try:
        ended = programs.run([program, str(seed), str(_CALLS)], "", timeout_s=_LONGEST_S, both=True)
    except TimeoutError:
        return f"{control.name}: {_CALLS} calls take more than {_LONGEST_S:.0f} s"
    if ended.code == 0:
        return ""
    if refused := _REFUSED.search(ended.out):
        text = control.code.decode()
        line = loading.line_of_call(text, refused[1]) or loading.line_of_call(text, "on_loss")
        return f"{control.name}:{line}: {refused[1]} {refused[2]}"
    at = _AT.search(ended.out)
    said = re.search(
        r"(?:runtime error|ERROR: AddressSanitizer): (.*?)(?: on address| \(|\n)", ended.out
    )
    what = said[1].strip() if said else f"it ends with {ended.code}"
    if ended.code == _TOO_LATE:
        what = "an action does not return"
    return f"{control.name}:{at[1]}: {what}" if at else f"{control.name}: {what}"
