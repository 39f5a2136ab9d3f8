# SPDX-License-Identifier: BSD-3-Clause
"""Declares the base class and field types of links and flows.

Values are stored in base units (bit/s, picoseconds, bytes) and written with their units.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainValidator

from westwood import _engine, units
from westwood.control.catalogue import LONGEST_PS, RECOVERIES, settings_of
from westwood.errors import InputError, suggestion
from westwood.scenario.declared import Quantity, quantity, type_of

if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)  # pydantic does not export it

_MOST_SHOWN = 20  # values of a list in `repr`
NAME_PATTERN = "letters, digits, _, - and +, not starting with a digit"
_NAME_CHARACTERS = frozenset(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+"
)  # no dot: it separates the name from the key in `--set`


class _Shown:
    """Shortens a long list in `repr`."""

    def __init__(self, values: Sequence[object]) -> None:
        self._text = f"({values[0]}, {values[1]}, ... {len(values)} in all)"

    def __repr__(self) -> str:
        return self._text


_OF_PYDANTIC = frozenset(dir(BaseModel))


def _own_names(names: Iterable[str]) -> list[str]:
    """Returns the names without pydantic's, which are not part of our interface."""
    return [name for name in names if not (name in _OF_PYDANTIC or name.startswith("__"))]


class _PartType(ModelMetaclass):
    def __dir__(cls) -> list[str]:
        """Lists what help() and completion show of the class."""
        return _own_names(super().__dir__())


class Part(BaseModel, metaclass=_PartType):
    """Base class of a scenario's parts: immutable, without unknown keys or silent conversions."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        populate_by_name=True,
        serialize_by_alias=True,
        defer_build=True,  # `make_ready` builds the scenario's model; a run needs no other
    )

    def __dir__(self) -> list[str]:
        """Lists what completion shows of an object."""
        return _own_names(super().__dir__())

    def __repr_args__(self) -> Iterator[tuple[str, Any]]:
        """Yields the values that differ from their defaults, with units."""
        written = self.model_dump()
        for name, field in type(self).model_fields.items():
            value, key = getattr(self, name), field.serialization_alias or field.alias or name
            shown = written.get(key, value)
            if field.default in (value, shown):
                continue
            several = value if isinstance(value, tuple) else (value,)
            if any(isinstance(entry, Part) for entry in several):
                yield name, value
            else:
                yield name, _Shown(shown) if len(several) > _MOST_SHOWN else shown

    __str__ = BaseModel.__repr__


def make_ready(model: type[Part]) -> None:
    """Builds a model and its parts without pydantic's slow search for plugins.

    The search reads the metadata of all installed packages.
    """
    key = "PYDANTIC_DISABLE_PLUGINS"
    before = os.environ.get(key)
    os.environ[key] = "__all__"
    try:
        model.model_rebuild()
    finally:
        del os.environ[key]
        if before is not None:
            os.environ[key] = before


def _name(text: object) -> str:
    ok = isinstance(text, str) and 0 < len(text) <= 40 and set(text) <= _NAME_CHARACTERS
    if not ok or str(text)[0].isdigit():
        raise InputError(f"expected a name: {NAME_PATTERN}", value=text)
    return str(text)


def whole_numbers(value: object) -> tuple[int, ...]:
    """Accepts a list of whole numbers, maybe millions; an error names the first wrong one."""
    if not isinstance(value, (list, tuple)):
        raise InputError("expected a list of whole numbers", value=value)
    for number in value:
        if type(number) is not int:
            raise InputError("expected whole numbers", value=number)
    return tuple(value)


Name = Annotated[str, PlainValidator(_name)]
Probability = Annotated[float, PlainValidator(units.parse_fraction)]


def _time(least: int, most: int = LONGEST_PS) -> Quantity:
    return quantity(_engine.TIME, least, most)


Duration = Annotated[int, _time(1)]  # ps
Moment = Annotated[int, _time(0)]  # ps
Span = Annotated[int, _time(units.TIME_UNITS["us"])]  # ps
Chunk = Annotated[int, _time(units.TIME_UNITS["us"], 3600 * units.PS_PER_S)]  # ps
FrameBytes = Annotated[int, quantity(_engine.SIZE, 1, 2**30)]
LayerBytes = Annotated[int, quantity(_engine.SIZE, 0, 2**30)]

if TYPE_CHECKING:
    Bytes = int
    Rate = int
    Delay = int
    RecoveryName = str

    class Settings(Part):
        """Stands for a model with declared keys, which type checkers can't know."""

        def __getattr__(self, name: str) -> Any: ...
else:
    Bytes = type_of(settings_of("flow")["size"])
    Rate = type_of(settings_of("link")["rate"])
    Delay = type_of(settings_of("link")["delay"])
    RecoveryName = Literal[tuple(RECOVERIES)]

Durations = Literal["fixed", "exponential"]


def kind_of(value: Any, default: str | None = None) -> Any:
    """Returns the `kind` of a table, which selects the member of a union."""
    return getattr(value, "kind", None) if isinstance(value, Part) else value.get("kind", default)


def table_of(kinds: tuple[str, ...], what: str, example: str, default: str) -> BeforeValidator:
    """Returns a validator that requires a table of a known kind before a union is tried."""

    def check(value: object) -> object:
        if not isinstance(value, (dict, Part)):
            raise InputError(f"expected a table such as {example}", value=value)
        kind = kind_of(value, default)
        if kind not in kinds:
            raise InputError(f"unknown {what}, {suggestion(kind, kinds)}", key="kind", value=kind)
        return value

    return BeforeValidator(check)
