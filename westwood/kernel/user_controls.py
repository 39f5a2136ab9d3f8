# SPDX-License-Identifier: BSD-3-Clause
"""Loads controls of users into this machine's kernel, as ww_NAME: docs/your-own-control.md.

A control is compiled to a BPF object of its own (linux/bpf/own.bpf.c), by clang or by ziglang. The
object is kept in the cache of compiled controls.
"""

from __future__ import annotations

import re
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from westwood import programs
from westwood.control import cache, compiling, loading
from westwood.control.checking import Check, Outcome
from westwood.errors import InputError, RunError, UnavailableError, WestwoodError
from westwood.kernel import ww_kernel

_LONGEST_NAME = 15  # TCP_CA_NAME_MAX - 1
_HELPERS = Path("/usr/include/bpf/bpf_helpers.h")
_FLAGS = ["-mcpu=v3", "-O2", "-g", "-std=gnu11", "-ffreestanding", "-Wno-everything"]
_FLAGS += ["-Werror=implicit-function-declaration", "-Werror=return-type"]
_FUNCTION = re.compile(r"^static inline [\w ]+[ *]+(\w+)\(", re.M)
# A line of the verifier's log before the instructions of a line of source. Linux 6.1 leaves out
# the place.
_SOURCE = re.compile(r"^; (.*?)(?: @ (\S+):(\d+))?$", re.M)
_SIGNED_DIVISION = re.compile(  # of clang 14 and of ziglang's
    r"(?:Error at line |control\.c:)(\d+):.* [Uu]nsupport(?:ed)? signed division"
)
_TOO_LARGE = "BPF program is too large"


def name_of(file: str) -> str:
    """Returns the kernel's name of the control in a file; raises InputError if it has none."""
    name = ww_kernel.PREFIX + Path(file).stem
    if not re.fullmatch(r"[\w.-]+", name, re.ASCII):
        raise InputError(f"{file}: its name in the kernel, {name}, may have letters, digits, _ - .")
    if len(name) > _LONGEST_NAME:
        most = _LONGEST_NAME - len(ww_kernel.PREFIX)
        raise InputError(f"{file}: expected a file name of at most {most} letters before .c")
    if name in ww_kernel.CONTROLS:
        raise InputError(f"{file}: {name} is a control of ours, expected another file name")
    return name


def kernel_name(cc: str) -> str:
    """Returns the kernel's name of a control that may be given as a file."""
    return name_of(cc) if loading.is_file(cc) else cc


def values_of(control: loading.Control, settings: Mapping[str, Any]) -> list[int]:
    """Returns the values of a control's parameters in their order; raises InputError."""
    known = {parameter.name: parameter for parameter in control.parameters}
    for key, value in settings.items():
        if key not in known:
            expected = ", ".join(known) or "none"
            problem = f"expected a parameter of the control: {expected}"
            raise InputError(problem, key=f"cc.{key}", value=value)
        known_parameter = known[key]
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or not known_parameter.least <= value <= known_parameter.most:
            problem = (
                f"expected a whole number from {known_parameter.least} to {known_parameter.most}"
            )
            raise InputError(problem, key=f"cc.{key}", value=value)
    return [settings.get(parameter.name, parameter.fallback) for parameter in control.parameters]


def load(file: str, settings: Mapping[str, Any]) -> list[str]:
    """Loads ours and the control in a file beside them; returns lines for the user.

    If the kernel refuses the control, nothing is loaded that was not loaded before.
    """
    name, control = name_of(file), loading.load(file)
    if file.endswith(loading.PYTHON):
        raise InputError(f"{file}: the kernel runs controls in C only")
    values = values_of(control, settings)
    path = compiled(control, name)
    was_loaded = ww_kernel.status()["loaded"]
    lines = [ww_kernel.load()]
    try:
        words = ("add", ww_kernel.pins(), path, name, control.source, *values)
        lines.append(ww_kernel.call(*words, refused=partial(_refusal, control)).strip())
    except WestwoodError:
        if not was_loaded:
            ww_kernel.unload()
        raise
    return lines


def check(file: str) -> Check:
    """Asks the kernel's verifier about the control in a file; nothing is registered."""
    what = "the kernel's verifier"
    try:
        name, control = name_of(file), loading.load(file)
        words = ("verify", compiled(control, name), name, control.source)
        ww_kernel.call(*words, *values_of(control, {}), refused=partial(_refusal, control))
    except InputError as error:
        return Check(what, Outcome.FAILED, error.problem)
    except WestwoodError as error:
        return Check(what, Outcome.SKIPPED, str(error))
    return Check(what)


def require(file: str, source: str, settings: Mapping[str, Any]) -> str:
    """Returns the kernel's name of a control; raises UnavailableError if it is not loaded so.

    source: identifies the file's contents. settings: values of its parameters.
    """
    name, control = name_of(file), loading.of_source(source, file)
    given = [f"--set cc.{key}={value}" for key, value in settings.items()]
    remedy = " ".join(["westwood kernel load", shlex.quote(file), *given])
    there = {
        kernel_control["name"]: kernel_control
        for kernel_control in ww_kernel.status().get("own", ())
        if kernel_control["registered"]
    }
    if name not in there:
        raise UnavailableError(f"this kernel has no congestion control {name}: {remedy}")
    values = values_of(control, settings)
    same = there[name]["source"] == source and there[name]["parameters"][: len(values)] == values
    if not same:
        problem = f"{name} in this kernel has other contents or parameters"
        raise UnavailableError(f"{problem}: {remedy}")
    return name


def replay(
    control: loading.Control | None, protocol: int, values: Sequence[int], calls: str
) -> str:
    """Returns the windows after each call of a recording, made in a BPF program of this kernel.

    control: that of a file; without one, `protocol` is a number of the catalogue. Raises InputError
    if the verifier refuses it, and UnavailableError if this machine lacks what that takes.
    """
    ww_kernel.program()
    path = _replaying(control, protocol)
    source = control.source if control else "0"
    words = ("replay", path, "replay", source, *values)
    try:
        return ww_kernel.call(*words, given=f"{calls}end\n", refused=partial(_refusal, control))
    except RunError as error:
        message = f"{error}, as {shlex.join(compiler().command)} compiles it"
        raise UnavailableError(message) from None


def _refusal(control: loading.Control | None, output: str) -> str:
    """Returns what the verifier refuses, with the file and its line; empty if it did not."""
    if control is None:
        return ""
    log = [line for line in output.splitlines()[:-1] if line.strip()]
    reasons = [line for line in log if not re.match(r"(\d+: |; |processed |R\d+=|from )", line)]
    if not reasons:
        return ""
    reason, line = reasons[-1].strip(), _line_of(output, control.code.decode())
    if reason.startswith(_TOO_LARGE):
        reason = "more than a million instructions, such as a loop without a small bound"
    place = f"{control.name}:{line}" if line else control.name
    return f"{place}: the kernel's verifier refuses it: {reason}"


def _line_of(log: str, text: str) -> int:
    """Returns the last line of the file that the log has before the refusal; 0 if none."""
    lines = [line.strip() for line in text.splitlines()]
    for source, file, number in reversed(_SOURCE.findall(log)):
        if file == compiling.SYMBOL:
            return int(number)
        if not file and lines.count(source.strip()) == 1:
            return lines.index(source.strip()) + 1
    return 0


def compiled(control: loading.Control, name: str) -> Path:
    """Returns the BPF object of a control; raises InputError with the file and the line."""
    return _object("own.bpf.c", control, [f'-DWW_OWN_NAME="{name}"'])


def _replaying(control: loading.Control | None, protocol: int) -> Path:
    """Returns the BPF object in which the calls of a control can be repeated."""
    return _object("replay.bpf.c", control, [] if control else [f"-DWW_PROTOCOL={protocol}"])


def _object(program: str, control: loading.Control | None, options: Sequence[str]) -> Path:
    used, folder = compiler(), programs.sources() / "linux" / "bpf"
    others = [path.read_bytes() for path in sorted(folder.glob("*.[hc]"))]
    others += [program.encode(), " ".join((*used.command, *_FLAGS, *options)).encode()]
    name = compiling.key(control.code if control else b"", used, others) + ".bpf.o"
    cache.kept_or_made(name, lambda path: _compile(used, folder / program, control, options, path))
    return cache.folder() / name


def compiler() -> compiling.Compiler:
    """Returns a compiler for BPF; raises UnavailableError with the remedy if there is none."""
    if not _HELPERS.exists():
        problem = f"a control for the kernel needs {_HELPERS}: apt-get install libbpf-dev"
        raise UnavailableError(problem)
    clang = programs.system_program("clang")
    candidates = (((clang,) if clang else (), "bpf"), (compiling.ziglang(), "bpfel-freestanding"))
    for command, target in candidates:
        if command and (version := compiling.version(command)):
            return compiling.Compiler((*command, "-target", target), version)
    raise UnavailableError(
        "a control for the kernel needs clang, or ziglang: apt-get install clang, or "
        "pip install 'westwood[compiler]'"
    )


def _compile(
    used: compiling.Compiler,
    program: Path,
    control: loading.Control | None,
    options: Sequence[str],
    path: Path,
) -> None:
    name = control.name if control else program.name
    with tempfile.TemporaryDirectory(prefix="westwood-bpf-") as workplace:
        source, host = Path(workplace) / compiling.SYMBOL, Path(workplace) / "host.h"
        host.write_text(_renamed(program.parent))
        command = [*used.command, *_FLAGS, *options, f"-I{compiling.headers()}"]
        command.append(f'-DWW_OWN_HOST="{host}"')
        if control:
            source.write_bytes(control.code)
            command.append(f'-DWW_OWN_FILE="{source}"')
        for include in ("/usr/include", *map(str, Path("/usr/include").glob("*-linux-gnu"))):
            command += ["-idirafter", include]
        ended = compiling.run([*command, "-c", str(program), "-o", str(path)], name)
        if divides := _SIGNED_DIVISION.search(ended.out):
            raise InputError(f"{name}:{divides[1]}: divides signed numbers")
        if ended.code != 0 or not path.exists():
            raise InputError(compiling.first_error(ended.out, source, name))


def _renamed(folder: Path) -> str:
    """Returns macros that rename our functions, so that a control may have the same names.

    Those of own.h come before the macros, and begin with ww_.
    """
    headers = [path for path in sorted(folder.glob("*.h")) if path.name != "own.h"]
    text = "".join(path.read_text() for path in headers)
    names = sorted(set(_FUNCTION.findall(text)))
    return "".join(f"#define {name}(...) ww_kernel_{name}(__VA_ARGS__)\n" for name in names)
