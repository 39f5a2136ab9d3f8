# SPDX-License-Identifier: BSD-3-Clause
"""What links and flows are made of: named parts and quantities, each one checked.

Held in base units (bit/s, picoseconds, bytes); written back with their units. Every limit below is
there to keep the simulator's integers from overflowing or to catch a slip of the unit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer, PlainValidator

from westwood import units
from westwood.errors import InputError, suggestion

NAME_PATTERN = "letters, digits, _, - and +, not starting with a digit"
_NAME_CHARACTERS = frozenset(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+"
)  # no dot: it separates the name from the key in `--set`
LONGEST_RUN = 30 * 24 * 3600 * units.PS_PER_S


class Part(BaseModel):
    """Base of everything in a scenario: no unknown keys, no silent conversions, never changed."""

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, populate_by_name=True, serialize_by_alias=True
    )


def _name(text: object) -> str:
    ok = isinstance(text, str) and 0 < len(text) <= 40 and set(text) <= _NAME_CHARACTERS
    if not ok or str(text)[0].isdigit():
        raise InputError(f"expected a name: {NAME_PATTERN}", value=text)
    return str(text)


def _between(
    parse: Callable[[object], int], low: int, high: int, write: Callable[[int], str]
) -> PlainValidator:
    """Reads a quantity and checks that it lies from `low` to `high`, in base units."""

    def check(value: object) -> int:
        number = parse(value)
        if not low <= number <= high:
            lowest = f"at least {write(low)}" if low != 1 else f"more than {write(0)}"
            raise InputError(f"expected {lowest} and at most {write(high)}", value=value)
        return number

    return PlainValidator(check)


def _written(write: Callable[[Any], str]) -> PlainSerializer:
    return PlainSerializer(write, return_type=str)


_us = units.TIME_UNITS["us"]
_hour = units.TIME_UNITS["h"]
_AsTime = _written(units.format_time)
_AsSize = _written(units.format_size)

Name = Annotated[str, PlainValidator(_name)]
Rate = Annotated[
    int,
    _between(units.parse_rate, 1000, 10**12, units.format_rate),
    _written(units.format_rate),
]
Delay = Annotated[int, _between(units.parse_time, 0, _hour, units.format_time), _AsTime]
Moment = Annotated[int, _between(units.parse_time, 0, LONGEST_RUN, units.format_time), _AsTime]
Duration = Annotated[int, _between(units.parse_time, 1, LONGEST_RUN, units.format_time), _AsTime]
Span = Annotated[int, _between(units.parse_time, _us, LONGEST_RUN, units.format_time), _AsTime]
Timer = Annotated[int, _between(units.parse_time, _us, _hour, units.format_time), _AsTime]
FilterTime = Annotated[
    int, _between(units.parse_time, _us, 60 * units.PS_PER_S, units.format_time), _AsTime
]
PacketSize = Annotated[int, _between(units.parse_size, 21, 65535, units.format_size), _AsSize]
HeaderSize = Annotated[int, _between(units.parse_size, 20, 255, units.format_size), _AsSize]
Overhead = Annotated[int, _between(units.parse_size, 0, 1000, units.format_size), _AsSize]
Bytes = Annotated[int, _between(units.parse_size, 1, 2**50, units.format_size), _AsSize]
WindowBytes = Annotated[int, _between(units.parse_size, 1, 2**30, units.format_size), _AsSize]
Probability = Annotated[float, PlainValidator(units.parse_fraction)]


def _amount(value: object) -> units.Amount:
    amount = units.parse_amount(value)
    if amount.count is not None and not 1 <= amount.count <= 2**30:
        raise InputError("expected at least one packet or byte and at most 2^30", value=value)
    return amount


def _finite(amount: units.Amount) -> units.Amount:
    if amount.count is None:
        raise InputError('expected packets or bytes such as "10p"', value=str(amount))
    return amount


Amount = Annotated[units.Amount, PlainValidator(_amount), _written(str)]
FiniteAmount = Annotated[units.Amount, PlainValidator(lambda v: _finite(_amount(v))), _written(str)]

Durations = Literal["fixed", "exponential"]


def kind_of(value: Any, default: str | None = None) -> Any:
    """Which arm of a union of tables is meant: the table's `kind`."""
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
