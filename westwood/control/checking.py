# SPDX-License-Identifier: BSD-3-Clause
"""Checks whether a control in a file is fit for all hosts: `westwood evaluate --suite check`."""

from __future__ import annotations

import re
import shlex
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from westwood import programs
from westwood.control import compiling, confined, lines, loading

_CALLS = 200_000  # of one seed
_LONGEST_S = confined.LONGEST_S * programs.BUSY  # of the calls of one seed, by the wall clock
_TOO_LONG = 4  # exit code of any_calls.c
_STRICT = ["-std=c11", "-O2", "-ffreestanding", "-Wall", "-Wextra", "-Wno-unused-parameter"]
_OF_CONTROL = ["-Wno-missing-field-initializers", "-Werror", "-c", "-o", "/dev/null"]
_IR = ["-std=c11", "-O1", "-g", "-ffreestanding", "-w", "-S", "-emit-llvm"]
# Instructions that BPF lacks: it has no floating point, and no signed division before -mcpu=v4.
_NOT_IN_BPF = re.compile(r"= (sdiv|srem|f\w+|[su]itofp|sext.* to double)\b.*!dbg !(\d+)")
_SANITIZED = ["-std=c11", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
_SANITIZED += ["-fsanitize-coverage=trace-pc"]
# In the user's file only: the core's wraps are proven to be meant.
_WRAPS = ["-fsanitize=unsigned-integer-overflow", "-fno-sanitize=undefined"]
_OURS = "[unsigned-integer-overflow]\nsrc:*/core/*\nsrc:*/any_calls.c\nsrc:*/drawn.h\n"
# As tools/prove.py, with its unrolling of loops.
_EVA = ["-c11", "-machdep", "gcc_x86_64", "-eva", "-eva-precision", "0", "-eva-slevel", "8"]
_EVA += ["-eva-auto-loop-unroll", "128", "-eva-print-callstacks"]
_EVA += ["-eva-msg-key=-initial-state,-final-states"]
_FILE = "control.c"
_AT = re.compile(rf"{re.escape(_FILE)}:(\d+)")
_ALARM = re.compile(r"\[eva:alarm\] (\S+):\d+: Warning: (.*?)\. assert")
_UNBOUNDED = re.compile(r"\[eva\] (\S+):\d+: starting to merge loop iterations")
_EVA_LONGEST_S = 30.0
_REFUSED = re.compile(r"^refused (\w+) (.*)$", re.M)


class Outcome(StrEnum):
    """What a check found."""

    PASSED = "passed"
    FAILED = "FAILED"
    UNSURE = "unsure"  # it may be fit, which this check can't show
    SKIPPED = "skipped"


# What each check asks, the quickest first.
QUESTIONS: Mapping[str, str] = {
    "c11-gcc": "freestanding C11 with gcc",
    "c11-clang": "freestanding C11 with clang",
    "integers": "integers only, no signed division",
    "undefined": "no undefined behaviour in any call, with Frama-C",
    "calls": "any calls in any order, with sanitizers",
    "wraps": "no unsigned number wraps around, with clang",
}


@dataclass(frozen=True)
class Check:
    """Describes the outcome of a check."""

    name: str
    outcome: Outcome = Outcome.PASSED
    note: str = ""  # one line: the problem with the file and the line, or what is missing


def checks(
    path: str, seed: int, for_s: float, names: Sequence[str] = tuple(QUESTIONS)
) -> Iterator[Check]:
    """Yields the outcome of each check of a file, the quickest first.

    for_s: how long the control is called in any order. Raises InputError if it can't be loaded.
    """
    control = loading.load(path)
    with tempfile.TemporaryDirectory(prefix="westwood-check-") as folder:
        place = Path(folder)
        source = place / _FILE
        source.write_bytes(control.code)
        strict = [*_STRICT, *_OF_CONTROL]
        calls: Mapping[str, Callable[[], Check]] = {
            "c11-gcc": lambda: _compiled(QUESTIONS["c11-gcc"], "gcc", strict, source, path),
            "c11-clang": lambda: _compiled(QUESTIONS["c11-clang"], "clang", strict, source, path),
            "integers": lambda: _of_integers(source, path),
            "undefined": lambda: _analysed(control, place),
            "calls": lambda: _called(control, place, seed, for_s),
            "wraps": lambda: _wrapped(control, place, seed),
        }
        for name in names:
            yield calls[name]()


def _compiled(what: str, compiler: str, flags: list[str], source: Path, name: str) -> Check:
    program = programs.system_program(compiler)
    if program is None:
        return Check(what, Outcome.SKIPPED, f"needs {compiler}")
    command = [program, *flags, f"-I{compiling.headers()}", str(source)]
    ended = compiling.run(command, name)
    if ended.code == 0:
        return Check(what)
    return Check(what, Outcome.FAILED, compiling.first_error(ended.out, source, name))


def _of_integers(source: Path, name: str) -> Check:
    """Looks for what Linux can't run in the instructions of LLVM."""
    what = QUESTIONS["integers"]
    clang = programs.system_program("clang")
    compiler = [clang] if clang else compiling.ziglang()
    if not compiler:
        return Check(what, Outcome.SKIPPED, "needs clang or ziglang")
    ir_file = source.with_suffix(".ll")
    command = [*compiler, *_IR, f"-I{compiling.headers()}", "-o", str(ir_file), str(source)]
    ended = compiling.run(command, name)
    if ended.code != 0:
        return Check(what, Outcome.SKIPPED, compiling.first_error(ended.out, source, name))
    code = ir_file.read_text()
    match = _NOT_IN_BPF.search(code)
    if match is None:
        return Check(what)
    line = re.search(rf"^!{match[2]} = !DILocation\(line: (\d+)", code, re.M)
    division = match[1] in ("sdiv", "srem")
    problem = "divides signed numbers" if division else "uses floating point"
    return Check(
        what, Outcome.FAILED, f"{name}:{line[1] if line else 0}: {problem}, which Linux lacks"
    )


def _analysed(control: loading.Control, folder: Path) -> Check:
    """Asks Frama-C for what all calls there can be may do. It may suspect what can't happen."""
    what = QUESTIONS["undefined"]
    program = programs.system_program("frama-c")
    if program is None:
        return Check(what, Outcome.SKIPPED, "needs frama-c")
    driver = _driver("all_calls.c", folder)
    headers = f"-cpp-extra-args=-I{shlex.quote(str(compiling.headers()))}"
    try:
        output = programs.run(
            [program, headers, str(driver), *_EVA], "", timeout_s=_EVA_LONGEST_S, both=True
        ).out
    except TimeoutError:
        return Check(what, Outcome.SKIPPED, f"takes more than {_EVA_LONGEST_S:.0f} s")
    if "[eva:summary]" not in output:
        return Check(what, Outcome.SKIPPED, "Frama-C does not read this file")
    for message in re.split(r"\n(?=\[)", output):  # a message goes on in indented lines
        flat = " ".join(message.split())
        suspects = _ALARM.match(flat) or _UNBOUNDED.match(flat)
        if suspects and (line := _AT.search(flat)):  # its own, or where it calls a header
            suspect = suspects[2] if suspects.re is _ALARM else "a loop without a small bound"
            return Check(what, Outcome.UNSURE, f"{control.name}:{line[1]}: {suspect}, not excluded")
    return Check(what)


def _driver(name: str, folder: Path) -> Path:
    """Copies a program that calls the control into its folder."""
    for file in (name, "drawn.h"):
        (folder / file).write_bytes(Path(__file__).with_name(file).read_bytes())
    return folder / name


def _called(control: loading.Control, folder: Path, seed: int, for_s: float) -> Check:
    what = QUESTIONS["calls"]
    program = programs.system_program("gcc") or programs.system_program("clang")
    if program is None:
        return Check(what, Outcome.SKIPPED, "needs gcc or clang")
    driver, binary = _driver("any_calls.c", folder), folder / "any_calls"
    command = [program, *_SANITIZED, f"-I{compiling.headers()}", "-o", str(binary), str(driver)]
    ended = compiling.run(command, control.name)
    if ended.code != 0:
        return Check(what, Outcome.SKIPPED, "needs the sanitizers of the compiler")
    ends_at = time.monotonic() + for_s
    while True:
        if problem := _problem_of(control, binary, seed):
            again = f"again: westwood evaluate {control.name} --only calls --seed {seed}"
            return Check(what, Outcome.FAILED, f"{problem} ({again})")
        if time.monotonic() >= ends_at:
            return Check(what)
        seed += 1


def _wrapped(control: loading.Control, folder: Path, seed: int) -> Check:
    """Looks for unsigned numbers that wrap around: defined in C, and rarely meant."""
    what = QUESTIONS["wraps"]
    program = programs.system_program("clang")
    if program is None:
        return Check(what, Outcome.SKIPPED, "needs clang")
    driver, binary = _driver("any_calls.c", folder), folder / "any_wraps"
    ours = folder / "ours.txt"
    ours.write_text(_OURS)
    flags = [*_SANITIZED, *_WRAPS, f"-fsanitize-ignorelist={ours}", f"-I{compiling.headers()}"]
    ended = compiling.run([program, *flags, "-o", str(binary), str(driver)], control.name)
    if ended.code != 0:
        return Check(what, Outcome.SKIPPED, "needs the sanitizers of clang")
    problem = _problem_of(control, binary, seed)
    if "unsigned integer overflow" not in problem:
        return Check(what)  # the calls have shown anything else
    return Check(what, Outcome.UNSURE, f"{problem}, which may be meant")


def _problem_of(control: loading.Control, program: Path, seed: int) -> str:
    """Returns the problem that the calls of a seed find, with the file and the line."""
    try:
        with confined.starting(program) as (started, options):
            words = [started, str(seed), str(_CALLS)]
            ended = programs.run(words, "", timeout_s=_LONGEST_S, both=True, **options)
    except TimeoutError:
        return f"{control.name}: {_CALLS} calls take more than {_LONGEST_S} s"
    if ended.code == 0:
        return ""
    if ended.code == -signal.SIGXCPU:
        return f"{control.name}: {_CALLS} calls take more than {confined.LONGEST_S} s of a CPU"
    text = control.code.decode()
    if refused := _REFUSED.search(ended.out):
        line = lines.of_call(text, refused[1]) or lines.of_call(text, "on_loss")
        return f"{control.name}:{line}: {refused[1]} {refused[2]}"
    place_match = _AT.search(ended.out)
    line = int(place_match[1]) if place_match else 0
    match = re.search(
        r"(?:runtime error|ERROR: AddressSanitizer): (.*?)(?: on address| \(|\n)", ended.out
    )
    what = match[1].strip() if match else f"it ends with {ended.code}"
    what = what.replace("use-after-poison", "uses memory outside of its state")
    if ended.code == _TOO_LONG:
        what = "a call takes more than 20000 steps, expected loops with small bounds"
        line = lines.of_loop(text, line)
    return f"{control.name}:{line}: {what}" if line else f"{control.name}: {what}"
