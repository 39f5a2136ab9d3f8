# SPDX-License-Identifier: BSD-3-Clause
"""Describes controls in files: what their code declares, and what results folders say of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from westwood import _engine
from westwood.errors import STEERING, InputError

ENDING = ".c"
DIGITS = 16  # of `source`: two files share one with a chance of 2^-64
SOURCE = rf"[0-9a-f]{{{DIGITS}}}"
STEERS = "{} has control characters, which terminals obey"
_LONGEST_STEM = 50  # in the names of files in results folders
_LONGEST = 500  # characters of a label or a description
_LONGEST_NAME = 4096
_LARGEST = 2**32 - 1
_IS_NAME = re.compile(r"[A-Za-z_]\w*\Z")
# Keys of a table `cc` and columns of a trace, whose names are taken.
_TAKEN = frozenset({"name", "source", "parameters", "flow", "transfer", "state", "mode"}).union(
    _engine.WINDOW_COLUMNS,
    (row["name"] for row in _engine.SETTINGS if "loaded" in row["algorithms"]),
)


class InRow(ValueError):
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
    kept: Path | None = None  # the file, if no code is loaded, because a folder describes it

    @property
    def file(self) -> str:
        """Returns the name of its file in results folders, which tells its contents."""
        stem = re.sub(r"[^\w.+-]", "_", Path(self.name).stem)[:_LONGEST_STEM]
        return f"{stem}-{self.source}{ENDING}"

    @property
    def facts(self) -> dict[str, Any]:
        """Returns what a results folder says of it, as values for JSON."""
        whole = asdict(self)
        return {key: whole[key] for key in _FACTS}


# What a results folder says of a control, of a parameter and of a quantity.
_FACTS = {"name": str, "source": str, "label": str, "traits": int, "like": int}
_FACTS |= {"parameters": list, "quantities": list}
_PARAMETER = {"name": str, "fallback": int, "least": int, "most": int, "what": str}
_QUANTITY = {"name": str, "unit": str, "what": str}
_MOST_ROWS = 16


def from_json(given: Any, folder: Path) -> Control:
    """Returns the control that a results folder describes; raises InputError if it does not."""
    if not _has(given, _FACTS):
        raise InputError("expected of each control " + ", ".join(_FACTS))
    name, source = given["name"], given["source"]
    if not (name.endswith(ENDING) and name != ENDING and re.fullmatch(SOURCE, source)):
        raise InputError("expected the name and the contents of a C file", value=name)
    rows = (given["parameters"], _PARAMETER), (given["quantities"], _QUANTITY)
    if any(
        len(all_) > _MOST_ROWS or not all(_has(entry, row) for entry in all_) for all_, row in rows
    ):
        raise InputError("expected parameters and quantities as a control has them", value=name)
    try:
        control = control_of(given, name, source, b"")
    except ValueError as error:
        raise InputError(str(error), value=name) from None
    return replace(control, kept=folder.absolute() / control.file)


def _has(given: Any, kinds: Mapping[str, type]) -> bool:
    """Returns whether a table of JSON has these keys with values of these kinds, within bounds."""
    if not isinstance(given, dict):
        return False
    texts = [number for number in given.values() if isinstance(number, str)]
    return (
        given.keys() == kinds.keys()
        and all(type(given[key]) is kind for key, kind in kinds.items())
        and all(0 <= number <= _LARGEST for number in given.values() if isinstance(number, int))
        and not any(_problem_of(text, "", _LONGEST_NAME) for text in texts)
    )


def _problem_of(text: str, what: str, most: int = _LONGEST) -> str:
    if STEERING.search(text):
        return STEERS.format(what)
    return "" if len(text) <= most else f"{what} has more than {most} characters"


def control_of(facts: Mapping[str, Any], name: str, source: str, code: bytes) -> Control:
    """Returns the control with these facts; raises ValueError with what is wrong with them."""
    parameters = tuple(Parameter(**row) for row in facts["parameters"])
    quantities = tuple(Quantity(**row) for row in facts["quantities"])
    taken = set(_TAKEN)
    for identifier in [parameter.name for parameter in parameters] + [
        quantity.name for quantity in quantities
    ]:
        if not _IS_NAME.match(identifier):
            raise InRow(identifier, f'"{identifier}" is no name, expected letters, digits and _')
        if identifier in taken:
            raise InRow(
                identifier, f'"{identifier}" is named twice, or has another meaning in a scenario'
            )
        taken.add(identifier)
    for parameter_ in parameters:
        if not parameter_.least <= parameter_.fallback <= parameter_.most:
            raise InRow(
                parameter_.name, f"the default of {parameter_.name} is not within its bounds"
            )
    label, traits = facts["label"], facts["traits"]
    rows: list[tuple[str, tuple[str, ...]]]
    rows = [(parameter.name, (parameter.what,)) for parameter in parameters]
    rows += [(quantity.name, (quantity.unit, quantity.what)) for quantity in quantities]
    for row, texts in rows:
        if problem := _problem_of("".join(texts), f"the text of {row}"):
            raise InRow(row, problem)
    if problem := _problem_of(label, "its label"):
        raise ValueError(problem)
    state, like = facts.get("state_bytes", 0), facts.get("like", 0)
    calls = tuple(facts.get("calls", ()))
    return Control(name, source, code, label, traits, parameters, quantities, state, like, calls)
