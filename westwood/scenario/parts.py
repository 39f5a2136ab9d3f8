# SPDX-License-Identifier: BSD-3-Clause
"""Declares what links and flows are made of: named parts and quantities, each one checked.

They are held in base units (bit/s, picoseconds, bytes) and written back with their units.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainValidator

from westwood import units
from westwood.catalogue import LONGEST_PS, RECOVERIES, settings_of
from westwood.errors import InputError, suggestion
from westwood.scenario.declared import Quantity, between, type_of

_MOST_SHOWN = 20  # values of a list in `repr`
NAME_PATTERN = "letters, digits, _, - and +, not starting with a digit"
_NAME_CHARACTERS = frozenset(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+"
)  # no dot: it separates the name from the key in `--set`


class _Shown:
    """Is a long list in `repr`."""

    def __init__(self, values: Sequence[object]) -> None:
        self._text = f"({values[0]}, {values[1]}, ... {len(values)} in all)"

    def __repr__(self) -> str:
        return self._text


class Part(BaseModel):
    """Is the base of all of a scenario: no unknown keys, no silent conversions, never changed."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        populate_by_name=True,
        serialize_by_alias=True,
        defer_build=True,  # of all models a run only needs the whole: `make_ready`
    )

    def __repr_args__(self) -> Iterator[tuple[str, Any]]:
        """What `repr` shows: values with their units, but for those that are everybody's."""
        written = self.model_dump()
        for name, field in type(self).model_fields.items():
            value, key = getattr(self, name), field.serialization_alias or field.alias or name
            if field.default in (value, written[key]):
                continue
            several = value if isinstance(value, tuple) else (value,)
            if any(isinstance(one, Part) for one in several):
                yield name, value
            else:
                yield name, _Shown(written[key]) if len(several) > _MOST_SHOWN else written[key]

    __str__ = BaseModel.__repr__


def make_ready(model: type[Part]) -> None:
    """Makes a model ready, with what it holds, and without pydantic's search for its plugins.

    That would read the metadata of all that is installed.
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


Name = Annotated[str, PlainValidator(_name)]
Probability = Annotated[float, PlainValidator(units.parse_fraction)]


def _time(least: int) -> Quantity:
    read = between(units.parse_time, least, LONGEST_PS, units.format_time)
    return Quantity(read, units.format_time)


Duration = Annotated[int, _time(1)]  # ps
Span = Annotated[int, _time(units.TIME_UNITS["us"])]  # ps

if TYPE_CHECKING:
    Bytes = int
    Rate = int
    Delay = int
    RecoveryName = str

    class Settings(Part):
        """A model whose keys follow from declarations: type checkers can't know them."""

        def __getattr__(self, name: str) -> Any: ...
else:
    Bytes = type_of(settings_of("flow")["size"])
    Rate = type_of(settings_of("link")["rate"])
    Delay = type_of(settings_of("link")["delay"])
    RecoveryName = Literal[tuple(RECOVERIES)]

Durations = Literal["fixed", "exponential"]


def kind_of(value: Any, default: str | None = None) -> Any:
    """Returns which arm of a union of tables is meant: the table's `kind`."""
    return getattr(value, "kind", None) if isinstance(value, Part) else value.get("kind", default)


def table_of(kinds: tuple[str, ...], what: str, example: str, default: str) -> BeforeValidator:
    """Checks, before a union of tables is tried, that there is a table of a known kind."""

    def check(value: object) -> object:
        if not isinstance(value, (dict, Part)):
            raise InputError(f"expected a table such as {example}", value=value)
        kind = kind_of(value, default)
        if kind not in kinds:
            raise InputError(f"unknown {what}, {suggestion(kind, kinds)}", key="kind", value=kind)
        return value

    return BeforeValidator(check)
