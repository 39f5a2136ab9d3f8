# SPDX-License-Identifier: BSD-3-Clause
"""Loads controls from files and finds them again by name, or by what is in the file."""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from westwood import _engine, files
from westwood.control import command_number, compiling, gallery, lines
from westwood.errors import STEERING, InputError

_ENDING = ".c"
PYTHON = ".py"  # ends the name of a class of PythonControl
_MOST_BYTES = 1 << 20
_DIGITS = 16  # of `source`: two files share one with a chance of 2^-64
_STEERS = "{} has control characters, which terminals obey"
_ENDLESS = "does not return"  # in the problem of an endless loop (bindings/control_watch.cpp)
_IS_NAME = re.compile(r"[A-Za-z_]\w*\Z")
# Keys of a table `cc` and columns of a trace, whose names are taken.
_TAKEN = frozenset({"name", "source", "parameters", "flow", "transfer", "state", "mode"}).union(
    _engine.WINDOW_COLUMNS,
    (row["name"] for row in _engine.SETTINGS if "loaded" in row["algorithms"]),
)


class _InRow(ValueError):
    """Raised for a mistake in the row of a parameter or of a quantity."""

    def __init__(self, row: str, problem: str) -> None:
        super().__init__(problem)
        self.row = row


@dataclass(frozen=True)
class Parameter:
    """Describes a parameter of a control, a whole number."""

    name: str
    fallback: int
    least: int
    most: int
    what: str


@dataclass(frozen=True)
class Quantity:
    """Describes a quantity that a control shows in traces."""

    name: str
    unit: str
    what: str


@dataclass(frozen=True)
class Control:
    """Describes a loaded control."""

    name: str  # as the user named the file
    source: str  # identifies the file's bytes
    code: bytes
    label: str
    traits: int
    parameters: tuple[Parameter, ...]
    quantities: tuple[Quantity, ...]
    state_bytes: int = 0
    like: int = 0  # the protocol whose settings it has
    calls: tuple[str, ...] = ()  # the operations that it has


@dataclass(frozen=True)
class _Named:
    """Holds the control that a name stands for."""

    path: Path
    control: Control
    command: int  # the command that read the file


_by_source: dict[str, Control] = {}
_by_name: dict[str, _Named] = {}


def is_file(name: object) -> bool:
    """Returns whether a control's name is that of a file or a class, not of a protocol."""
    return isinstance(name, str) and len(name) > len(_ENDING) and name.endswith((_ENDING, PYTHON))


def add_class(name: str, source: str, label: str, traits: int, facts: Mapping[str, Any]) -> None:
    """Adds a control in Python, which the engine knows by `source`.

    facts: its parameters and quantities, as those of a compiled control. Raises ValueError with
    what is wrong with them.
    """
    control = _described({**facts, "label": label, "traits": traits}, name, source, b"")
    _by_source[source] = control
    _by_name[name] = _Named(Path(), control, 0)


def load(name: str, folder: Path = Path()) -> Control:
    """Returns the control in the file `name`, a path relative to `folder` or of the gallery.

    Raises InputError with the file and the line if there is a mistake in it, and UnavailableError
    if there is no compiler.
    """
    if any("\udc80" <= character <= "\udcff" for character in name):
        shown = name.encode(errors="replace").decode()
        raise InputError(f"{shown}: has bytes in its name that are not UTF-8")
    if STEERING.search(name):
        raise InputError(f"{name}: {_STEERS.format('its name')}")
    path = gallery.place(name, folder)
    known = _by_name.get(name)
    if name.endswith(PYTHON):
        return known.control if known else _missing_class(name)
    if known is not None and known.path == path and known.command == command_number() > 0:
        return known.control
    return _load(_read(path, name), path, name)


def _missing_class(name: str) -> NoReturn:
    problem = "exists only in the process that defined it, as a class of PythonControl"
    raise InputError(f"{name}: {problem}")


def _read(path: Path, name: str) -> bytes:
    try:
        return files.read(path, _MOST_BYTES)
    except InputError as error:
        hint = gallery.hint(name) if not path.exists() else ""
        raise InputError(f"{name}: {error.problem}{hint}") from None


def _load(code: bytes, path: Path, name: str) -> Control:
    control = _of_code(code, name)
    _by_name[name] = _Named(path, control, command_number())
    return control


def named(name: str) -> Control:
    """Returns the control that was last loaded by this name, or loads it."""
    known = _by_name.get(name)
    return known.control if known and known.command == command_number() else load(name)


def identity(name: str) -> dict[str, str]:
    """Returns what tells a control from others: its name, and a file's contents."""
    own = {"source": named(name).source} if is_file(name) else {}
    return {"cc": name, **own}


def label(name: str) -> str:
    """Returns what figures call a control; its file may be gone since it ran."""
    known = _by_name.get(name)
    return known.control.label if known else Path(name).stem


def of_source(source: str, name: str, folder: Path = Path()) -> Control:
    """Returns the control with these contents; raises InputError if the file has others.

    What writes `source` is a results folder, which may be a stranger's. So its control must have
    been compiled here before, when somebody named the file.
    """
    path, known = gallery.place(name, folder), _by_source.get(source)
    if known is None:
        if name.endswith(PYTHON):
            _missing_class(name)
        code = _read(path, name)
        if (found := _source(code)) != source:
            problem = f"expected the contents {source}, and it has {found}"
            raise InputError(f"{name}: has changed: {problem}")
        if path.parent != gallery.folder() and not compiling.is_kept(code):
            problem = "a control runs with your rights. Read it, then name it once"
            raise InputError(f"{name}: {problem}: westwood run path --cc {path}")
        known = _load(code, path, name)
    known = replace(known, name=name)
    _by_name.setdefault(name, _Named(path, known, command_number()))
    return known


def _source(code: bytes) -> str:
    return hashlib.sha256(code).hexdigest()[:_DIGITS]


def _of_code(code: bytes, name: str) -> Control:
    source = _source(code)
    if source in _by_source:
        return replace(_by_source[source], name=name)
    _check_text(code, name)
    try:
        with compiling.loadable(code, name) as path:
            facts = _engine.load_control(path, source)
        control = _described(facts, name, source, code)
    except InputError:
        raise
    except _InRow as error:
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
        code.decode()
    except UnicodeDecodeError as error:
        line = code[: error.start].count(b"\n") + 1
        raise InputError(f"{name}:{line}: is not UTF-8") from None


def _described(facts: Mapping[str, Any], name: str, source: str, code: bytes) -> Control:
    parameters = tuple(Parameter(**row) for row in facts["parameters"])
    quantities = tuple(Quantity(**row) for row in facts["quantities"])
    taken = set(_TAKEN)
    for its in [one.name for one in parameters] + [one.name for one in quantities]:
        if not _IS_NAME.match(its):
            raise _InRow(its, f'"{its}" is no name, expected letters, digits and _')
        if its in taken:
            raise _InRow(its, f'"{its}" is named twice, or has another meaning in a scenario')
        taken.add(its)
    for one in parameters:
        if not one.least <= one.fallback <= one.most:
            raise _InRow(one.name, f"the default of {one.name} is not within its bounds")
    label, traits = facts["label"], facts["traits"]
    for row, texts in _texts(parameters, quantities):
        if any(map(STEERING.search, texts)):
            raise _InRow(row, _STEERS.format(f"the text of {row}"))
    if STEERING.search(label):
        raise ValueError(_STEERS.format("its label"))
    state, like = facts.get("state_bytes", 0), facts.get("like", 0)
    calls = tuple(facts.get("calls", ()))
    return Control(name, source, code, label, traits, parameters, quantities, state, like, calls)


def _texts(
    parameters: Iterable[Parameter], quantities: Iterable[Quantity]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yields the name and the texts of each row."""
    yield from ((one.name, (one.what,)) for one in parameters)
    yield from ((one.name, (one.unit, one.what)) for one in quantities)


def located(failure: str) -> InputError:
    """Returns the error for a control that failed during a run, with the file and the line.

    failure: the four fields of _engine.ControlFailed.
    """
    source, call, place, problem = failure.split("\t", 3)
    control = _by_source[source]
    if call:
        line = lines.of_call(control.code.decode(), call)
    else:
        line = compiling.line_at(control.code, int(place))
        if line and _ENDLESS in problem:
            line = lines.of_loop(control.code.decode(), line)
    at = f"{control.name}:{line}" if line else control.name
    return InputError(f"{at}: {call or 'the control'} {problem}")


@contextlib.contextmanager
def located_failures() -> Iterator[None]:
    """Turns the failure of a control in the block into an InputError with its line."""
    try:
        yield
    except _engine.ControlFailed as error:
        raise located(str(error)) from None
