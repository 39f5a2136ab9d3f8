# SPDX-License-Identifier: BSD-3-Clause
"""Reads, checks and writes the keys of a scenario that follow from the engine's declarations.

A model's value is in base units (bit/s, picoseconds, bytes); the engine's field may be in another,
to which plan/ converts. core/settings.h and engine/settings.hpp say what each kind is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal

from westwood import _engine, units
from westwood.control.catalogue import Setting, settings_of
from westwood.errors import InputError

if TYPE_CHECKING:
    from pydantic import BaseModel, TypeAdapter
    from pydantic_core import core_schema

_PS_PER_US = units.TIME_UNITS["us"]
_THOUSANDTHS = 1000
_MOST_AMOUNT = 2**30  # packets or bytes


@dataclass(frozen=True)
class Quantity:
    """Tells pydantic how to read and write a value that is text with a unit."""

    read: Callable[[object], Any]
    write: Callable[[Any], Any]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> core_schema.CoreSchema:
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(
            self.read, serialization=core_schema.plain_serializer_function_ser_schema(self.write)
        )


def quantity(kind: _engine.Kind, low: int, high: int) -> Quantity:
    """Reads and writes a quantity that lies from `low` to `high`, in base units."""
    return Quantity(units.explained(lambda value: kind.read(value, low, high)), kind.write)


def _span(setting: Setting) -> Callable[[object], int]:
    """Reads a time that the core stores in whole microseconds."""
    within = quantity(_engine.TIME, setting.least * _PS_PER_US, setting.most * _PS_PER_US)

    def read(value: object) -> int:
        number = int(within.read(value))
        if number % _PS_PER_US:
            raise InputError("expected a whole number of us", value=value)
        return number

    return read


def _thousandths(setting: Setting) -> Callable[[object], float]:
    """Reads a fraction or factor that the core stores in whole thousandths."""
    none = setting.kind.endswith("_OR_NONE")
    low, high = setting.least / _THOUSANDTHS, setting.most / _THOUSANDTHS
    expected = f"expected {'0 (none) or ' if none else ''}from {low:g} to {high:g}"

    def read(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float, str)):
            raise InputError("expected a number", value=value)
        if isinstance(value, str):
            value = units.parse_fraction(value)
        if not (low <= value <= high or (none and value == 0)):  # false for nan, too
            raise InputError(expected, value=value)
        if (Fraction(str(value)) * _THOUSANDTHS).denominator != 1:
            raise InputError("expected at most three decimals", value=value)
        return float(value)

    return read


def _count_or_none(setting: Setting) -> Callable[[object], int]:
    """Reads a whole number; 0 means none."""

    def read(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise InputError("expected a whole number", value=value)
        if value != 0 and not setting.least <= value <= setting.most:
            problem = f"expected 0 (none) or {setting.least} to {setting.most}"
            raise InputError(problem, value=value)
        return value

    return read


def _segments(
    setting: Setting, parse: Callable[[object], units.Amount]
) -> Callable[[object], units.Amount]:
    """Reads a window. Sizes in bytes aren't checked: plan/ rounds and clamps them."""
    low, high = setting.least, _most_segments(setting)

    def read(value: object) -> units.Amount:
        amount = parse(value)
        if amount.unit == "p" and amount.count is not None and not low <= amount.count <= high:
            raise InputError(f"expected at least {low}p and at most {high}p", value=str(amount))
        return amount

    return read


def _most_segments(setting: Setting) -> int:
    return min(int(setting.most), _MOST_AMOUNT)


def queue_limit(value: object) -> units.Amount:
    """Reads a queue's limit; NOT_CONVERTED for what depends on a path that plan/ has refused."""
    return units.parse_limit(value) or units.NOT_CONVERTED


QueueLimit = Annotated[units.Amount, Quantity(queue_limit, str)]


def _of_kind(kind: _engine.Kind) -> Callable[[Setting], Any]:
    return lambda setting: Annotated[int, quantity(kind, setting.least, setting.most)]


def _number(value: float) -> float:
    return value


def _between(kind: type, setting: Setting) -> Any:
    from pydantic import Field

    return Annotated[kind, Field(ge=setting.least, le=setting.most)]


# The type of each kind of setting in a model.
_TYPES: Mapping[str, Callable[[Setting], Any]] = {
    "SWITCH": lambda setting: bool,
    "COUNT": lambda setting: _between(int, setting),
    "COUNT_OR_NONE": lambda setting: Annotated[int, Quantity(_count_or_none(setting), _number)],
    "SPAN": lambda setting: Annotated[int, Quantity(_span(setting), units.format_time)],
    "FACTOR_OR_NONE": lambda setting: Annotated[float, Quantity(_thousandths(setting), _number)],
    "CHOICE": lambda setting: Literal[setting.choices],
    "PACKETS": lambda setting: _between(float, setting),
    "RATE": _of_kind(_engine.RATE),
    "TIME": _of_kind(_engine.TIME),
    "TIME_OR_NEVER": _of_kind(_engine.TIME),
    "BYTES": _of_kind(_engine.SIZE),
    "SIZE_OR_ALL": _of_kind(_engine.SIZE),
    "SEGMENTS": lambda setting: Annotated[
        units.Amount, Quantity(_segments(setting, units.parse_finite_amount), str)
    ],
    "SSTHRESH": lambda setting: Annotated[
        units.Amount, Quantity(_segments(setting, units.parse_amount), str)
    ],
}


def type_of(setting: Setting) -> Any:
    """Returns a setting's type in a model, which reads, checks and writes its value."""
    if setting.kind == "SHARE":
        read = _thousandths(setting) if _in_thousandths(setting) else units.parse_fraction
        return Annotated[float, Quantity(read, _number)]
    return _TYPES[setting.kind](setting)


def _unchanged(value: object) -> object:
    return value


@cache
def plain_reader(section: str, key: str) -> Quantity:
    """Reads and writes a setting's values as its type does, if plan/ has accepted them."""
    setting = settings_of(section)[key]
    match setting.kind:
        case "SWITCH" | "COUNT" | "CHOICE":
            return Quantity(_unchanged, _unchanged)
        case "PACKETS":
            return Quantity(float, _unchanged)  # type: ignore[arg-type]
    return next(data for data in type_of(setting).__metadata__ if isinstance(data, Quantity))


def read(setting: Setting, written: Any) -> Any:
    """Reads a value of a scenario or profile as a model does; None, for no value, stays None."""
    return None if written is None else _reader(setting).validate_python(written)


def departures(
    model: BaseModel, section: str, values: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    """Yields the key and written value of each setting that differs from `values`."""
    settings = settings_of(section)
    for key, value in values.items():
        if getattr(model, key) != read(settings[key], value):
            yield key, model.model_dump(include={key})[key]


@cache
def _reader(setting: Setting) -> TypeAdapter[Any]:
    """Caches the adapters, which are slow to make; a network may have thousands of flows."""
    from pydantic import TypeAdapter

    return TypeAdapter(type_of(setting))


def _in_thousandths(setting: Setting) -> bool:
    return setting.field.endswith("_permille")


def written_default(setting: Setting) -> Any:
    """Returns the default as a scenario writes it; None if a scenario omits the key."""
    return written_field(setting, setting.fallback)


def written_field(setting: Setting, value: Any) -> Any:
    """Returns a field's value as a scenario writes it; None if a scenario omits the key."""
    match setting.kind:
        case "TIME":
            return units.format_time(value)
        case "SPAN":
            return units.format_time(value * _PS_PER_US)
        case "BYTES" | "SIZE":
            return units.format_size(value)
        case "RATE":
            return units.format_rate(value)
        case "RATES":
            return [units.format_rate(value << doubled) for doubled in range(3)]
        case "SEGMENTS":
            return f"{value}p"
        case "SSTHRESH":
            return units.UNLIMITED if value == setting.most else f"{value}p"
        case "CHOICE" | "SPREAD":
            return setting.choices[value]
        case "TIME_OR_NEVER" | "SIZE_OR_ALL":
            return None
    return value / _THOUSANDTHS if _in_thousandths(setting) else value


def written_defaults(section: str, *, leave_out: Iterable[str] = ()) -> dict[str, Any]:
    """Returns the defaults of a section's settings as a scenario writes them."""
    left_out, settings = set(leave_out), settings_of(section).items()
    return {key: written_default(setting) for key, setting in settings if key not in left_out}


def to_field(setting: Setting, value: Any) -> Any:
    """Converts a model's value of a `cc` setting to the unit of the core's field."""
    if setting.kind == "SPAN":
        return value // _PS_PER_US
    return round(_THOUSANDTHS * value) if _in_thousandths(setting) else value


def with_settings(
    base: type[BaseModel], section: str, *, optional: bool = False, leave_out: tuple[str, ...] = ()
) -> Any:
    """Adds a section's keys to the model with their declared defaults, except `leave_out`.

    With `optional`, every key defaults to None.
    """
    from pydantic import Field, create_model

    fields: dict[str, Any] = {}
    for name, setting in settings_of(section).items():
        default = None if optional else written_default(setting)
        if name in leave_out:
            continue
        if not setting.why:
            fields[name] = (type_of(setting), ...)
        elif default is None:
            fields[name] = (type_of(setting) | None, None)
        else:
            fields[name] = (type_of(setting), Field(default=default, validate_default=True))
    return create_model(f"{base.__name__.lstrip('_')}Settings", __base__=base, **fields)


def accepted(setting: Setting) -> str:
    """Describes the values that a scenario may give a setting, for messages and tables."""
    low, high = setting.least, setting.most
    match setting.kind:
        case "SWITCH":
            return "`true` or `false`"
        case "CHOICE" | "SPREAD":
            return ", ".join(f'`"{word}"`' for word in setting.choices)
        case "TIME" | "TIME_OR_NEVER":
            return f"{units.format_time(low)} to {units.format_time(high)}"
        case "SPAN":
            low, high = low * _PS_PER_US, high * _PS_PER_US
            return f"{units.format_time(low)} to {units.format_time(high)}, in whole us"
        case "BYTES" | "SIZE" | "SIZE_OR_ALL":
            return f"{units.format_size(low)} to {units.format_size(high)}"
        case "RATE":
            return f"{units.format_rate(low)} to {units.format_rate(high)}"
        case "RATES":
            return f"ascending, {units.format_rate(low)} to {units.format_rate(high)}"
        case "SEGMENTS":
            return f"{low}p to {_most_segments(setting)}p, or bytes"
        case "SSTHRESH":
            return f"{low}p to {_most_segments(setting)}p, bytes or unlimited"
        case "PACKETS":
            return f"{low:g} to {high:g} packets"
    if _in_thousandths(setting):
        low, high = low / _THOUSANDTHS, high / _THOUSANDTHS
    none = "0 (none) or " if setting.kind.endswith("_OR_NONE") else ""
    return f"{none}{low:g} to {high:{'d' if isinstance(high, int) else 'g'}}"
