# SPDX-License-Identifier: BSD-3-Clause
"""Loads controls from files and finds them again by name, or by what is in the file.

Code is loaded in two cases only: a user names the file (`load`), or data name contents that were
compiled here before, when a user named them (`of_source`). A results folder describes its controls
(`describe`), so that it can be read without any code.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from westwood import _engine, files
from westwood.control import command_number, compiling, gallery, lines
from westwood.control.facts import DIGITS, ENDING, SOURCE, STEERS, InRow, control_of, from_json
from westwood.control.facts import Control as Control
from westwood.control.facts import Parameter as Parameter
from westwood.errors import STEERING, InputError, one_line

PYTHON = ".py"  # ends the name of a class of PythonControl
_MOST_BYTES = 1 << 20
_PACKAGE = os.fspath(Path(__file__).parents[1])  # has controls that no user names
_KEPT = re.compile(rf"-({SOURCE})\.c\Z")  # ends the name of a file in a results folder
_ENDLESS = "does not return"  # in the problem of an endless loop (bindings/control_watch.cpp)

_by_source: dict[str, Control] = {}
_by_name: dict[str, Control] = {}
_by_path: dict[Path, tuple[int, Control]] = {}  # with the command that read the file
_only_described: ContextVar[bool] = ContextVar("_only_described", default=False)


def is_file(name: object) -> bool:
    """Returns whether a control's name is that of a file or a class, not of a protocol."""
    return isinstance(name, str) and len(name) > len(ENDING) and name.endswith((ENDING, PYTHON))


def add_class(name: str, source: str, label: str, traits: int, facts: Mapping[str, Any]) -> None:
    """Adds a control in Python, which the engine knows by `source`.

    facts: its parameters and quantities, as those of a compiled control. Raises ValueError with
    what is wrong with them.
    """
    control = control_of({**facts, "label": label, "traits": traits}, name, source, b"")
    _by_source[source] = control
    _by_name[name] = control


def load(name: str, folder: Path = Path()) -> Control:
    """Returns the control in the file that a user names, relative to `folder` or of the gallery.

    Raises InputError with the file and the line if there is a mistake in it, and UnavailableError
    if there is no compiler.
    """
    if any("\udc80" <= character <= "\udcff" for character in name):
        shown = name.encode(errors="replace").decode()
        raise InputError(f"{shown}: has bytes in its name that are not UTF-8")
    if STEERING.search(name):
        raise InputError(f"{name}: {STEERS.format('its name')}")
    if name.endswith(PYTHON):
        return _by_name[name] if name in _by_name else _missing_class(name)
    _check_loads(name)
    path = gallery.place(name, folder)
    command, control = _by_path.get(path, (0, None))
    if control is None or command != command_number() or command == 0:
        code = _read(path, name)
        kept = _KEPT.search(name)
        if kept and kept[1] != _source(code):
            problem = f"has other contents than its name says, {_source(code)}"
            raise InputError(f"{name}: {problem}: expected them unchanged, or another name")
        control = _of_code(code, name)
        _by_path[path] = command_number(), control
    return _known(control, name)


def _known(control: Control, name: str) -> Control:
    """Makes a name stand for a control from now on."""
    _by_name[name] = control = replace(control, name=name)
    return control


def _missing_class(name: str) -> NoReturn:
    problem = "exists only in the process that defined it, as a class of PythonControl"
    raise InputError(f"{name}: {problem}")


def _read(path: Path, name: str) -> bytes:
    try:
        return files.read(path, _MOST_BYTES)
    except InputError as error:
        hint = gallery.hint(name) if not path.exists() else ""
        raise InputError(f"{name}: {error.problem}{hint}") from None


def is_known(name: object) -> bool:
    """Returns whether a control of this name was loaded, or described by a results folder."""
    return is_file(name) and name in _by_name


def position(name: str) -> int:
    """Returns a control's place in the alphabet among all that users named."""
    named = {known for known in _by_name if not known.startswith(_PACKAGE)}
    return sorted({*named, name}).index(name)


def named(name: str) -> Control:
    """Returns the control that has this name; it loads nothing."""
    if name not in _by_name:
        raise InputError(f"{name}: no control of this name is loaded")
    return _by_name[name]


def identity(name: str) -> dict[str, str]:
    """Returns what tells a control from others: its name, and a file's contents."""
    file_identity = {"source": named(name).source} if is_file(name) else {}
    return {"cc": name, **file_identity}


def label(name: str) -> str:
    """Returns what figures call a control; its file may be gone since it ran."""
    known = _by_name.get(name)
    return known.label if known else Path(name).stem


def of_source(
    source: str | None, name: str, folder: Path | None = None, *, runs: bool = True
) -> Control:
    """Returns the control with these contents; raises InputError if the file has others.

    What names it is a scenario or a results folder, which may be a stranger's. So its contents must
    have been compiled here before, when somebody named the file. runs: a description is not enough.
    """
    known = _by_source.get(source or "")
    described = known.kept if known else None
    if known is None or (runs and described and not _only_described.get()):
        if name.endswith(PYTHON):
            _missing_class(name)
        _check_loads(name)
        path = _place(name, source, folder or Path()).absolute()
        path = described if described and (folder is None or not path.exists()) else path
        code = _with_source(path, name, source)
        _check_trusted(code, path, name)
        loaded = _of_code(code, name)
        if known and path == described and {**known.facts, "name": name} != loaded.facts:
            raise InputError(f"{name}: is not what its results folder says of it")
        known = loaded
    return _known(known, name)


def _place(name: str, source: str | None, folder: Path) -> Path:
    """Returns where the file is: under its name in a results folder, or under its own."""
    kept = folder / Control(name, source or "", b"", "", 0, (), ()).file
    return kept if source and kept.exists() else gallery.place(name, folder)


def _with_source(path: Path, name: str, source: str | None) -> bytes:
    code = _read(path, name)
    source_text = _source(code)
    if source not in (None, source_text):
        problem = f"expected the contents {source}, and it has {source_text}"
        raise InputError(f"{name}: has changed: {problem}")
    return code


def check_runs(control: Control, path: Path) -> None:
    """Raises InputError unless a file of a results folder has a control's contents, and may run."""
    _check_trusted(_with_source(path, control.name, control.source), path, control.name)


def _check_trusted(code: bytes, path: Path, name: str) -> None:
    """Raises InputError unless a user named these contents before, or they are of the gallery."""
    ours, known = gallery.folder() / Path(name).name, _by_source.get(_source(code))
    if (ours.is_file() and ours.read_bytes() == code) or (known and known.code == code):
        return
    if compiling.is_kept(code):
        return
    problem = "a control runs with your rights. Read it, then name it once"
    raise InputError(f"{name}: {problem}: westwood run path --cc {shlex.quote(str(path))}")


@contextlib.contextmanager
def only_described() -> Iterator[None]:
    """Reads a results folder in the block: no code is compiled or loaded."""
    before = _only_described.set(True)
    try:
        yield
    finally:
        _only_described.reset(before)


def _check_loads(name: str) -> None:
    if _only_described.get():
        raise InputError(f"{name}: is not described in the results folder, and nothing is loaded")


def describe(given: object, folder: Path) -> dict[str, Control]:
    """Makes the controls known that a results folder describes; returns them by name.

    Raises InputError if it does not say what `Control.facts` does.
    """
    if not isinstance(given, list):
        raise InputError("expected a list of controls")
    controls: dict[str, Control] = {}
    for entry in given:
        control = from_json(entry, folder)
        if control.name in controls:
            raise InputError("expected each control once", value=control.name)
        controls[control.name] = control
    for control in controls.values():
        known = _by_source.get(control.source)
        if known is None or known.kept is not None:
            _describe(control)
        _known(_by_source[control.source], control.name)
    return controls


def _describe(control: Control) -> None:
    """Lets scenarios name a control of which no code is loaded."""
    numbers = [
        (parameter.name, parameter.fallback, parameter.least, parameter.most)
        for parameter in control.parameters
    ]
    facts_ = control.label, control.traits, control.like, numbers
    try:
        _engine.describe_control(control.source, *facts_)
    except ValueError as error:
        raise InputError(str(error), value=control.name) from None
    _by_source[control.source] = control


def text_of(control: Control) -> str:
    """Returns the contents of a control's file."""
    code = control.code
    if control.kept is not None:
        code = _with_source(control.kept, control.name, control.source)
        _check_text(code, control.name)
    return code.decode()


def _source(code: bytes) -> str:
    return hashlib.sha256(code).hexdigest()[:DIGITS]


def _of_code(code: bytes, name: str) -> Control:
    source = _source(code)
    known = _by_source.get(source)
    if known and known.kept is None:
        return replace(known, name=name)
    _check_loads(name)
    _check_text(code, name)
    try:
        with compiling.loadable(code, name) as path:
            facts = _engine.load_control(path, source, name)
        control = control_of(facts, name, source, code)
    except InputError:
        raise
    except InRow as error:
        line = lines.of_row(code.decode(), error.row)
        raise InputError(f"{name}:{line}: {error}" if line else f"{name}: {error}") from None
    except UnicodeDecodeError:
        problem = "its label or a description is not UTF-8"
        raise InputError(f"{name}:{lines.of_table(code.decode())}: {problem}") from None
    except ValueError as error:
        raise InputError(f"{name}:{lines.of_table(code.decode())}: {error}") from None
    _by_source[source] = control
    return control


def _check_text(code: bytes, name: str) -> None:
    try:
        text = code.decode()
    except UnicodeDecodeError as error:
        line = code[: error.start].count(b"\n") + 1
        raise InputError(f"{name}:{line}: is not UTF-8") from None
    line, operand = lines.of_foreign_include(text)
    if line:
        problem = f"includes {one_line(operand)}, expected a header of the core or the compiler"
        raise InputError(f"{name}:{line}: {problem}")


def located(failure: str) -> InputError:
    """Returns the error for a control that failed during a run, with the file and the line.

    failure: the four fields of _engine.ControlFailed.
    """
    source, call, place, problem = failure.split("\t", 3)
    control = _by_source[source]
    if call:
        line = lines.of_call(control.code.decode(), call)
    else:
        line = compiling.line_at(control.code, list(map(int, place.split())))
        if line and _ENDLESS in problem:
            line = lines.of_loop(control.code.decode(), line)
    prefix = f"{control.name}:{line}" if line else control.name
    return InputError(f"{prefix}: {call or 'the control'} {problem}")


@contextlib.contextmanager
def located_failures() -> Iterator[None]:
    """Turns the failure of a control in the block into an InputError with its line."""
    try:
        yield
    except _engine.ControlFailed as error:
        raise located(str(error)) from None
