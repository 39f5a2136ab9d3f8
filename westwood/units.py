# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes quantities with units: "2Mbps", "45ms", "100p", "64KiB", "0.5%".

Reading is exact, without binary floating point, and what is written reads back as the same value.
Rates become bit/s, times picoseconds, sizes bytes or packets.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, wraps
from typing import Literal

from westwood.errors import InputError, one_line

PS_PER_S = 10**12  # picoseconds in a second

RATE_UNITS: Mapping[str, int] = {
    "bps": 1,
    "kbps": 10**3,
    "Mbps": 10**6,
    "Gbps": 10**9,
    "Tbps": 10**12,
}
TIME_UNITS: Mapping[str, int] = {
    "ps": 1,
    "ns": 10**3,
    "us": 10**6,
    "ms": 10**9,
    "s": PS_PER_S,
    "min": 60 * PS_PER_S,
    "h": 3600 * PS_PER_S,
}
SIZE_UNITS: Mapping[str, int] = {
    "B": 1,
    "kB": 10**3,
    "KiB": 2**10,
    "MB": 10**6,
    "MiB": 2**20,
    "GB": 10**9,
    "GiB": 2**30,
}
_SPELLINGS = {"b/s": "bps", "bit/s": "bps", "µs": "us", "μs": "us"}
_QUANTITY = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?) ?(\S*)")
_LONGEST = 40  # characters of a quantity
_LONGEST_QUEUE = 3600 * PS_PER_S
_MOST_PRODUCTS = 1000


@dataclass(frozen=True)
class Amount:
    """A length of a queue or window in packets ("p") or bytes ("B"); count None is unlimited."""

    count: int | None
    unit: Literal["p", "B"]

    def __str__(self) -> str:
        if self.count is None:
            return UNLIMITED
        return f"{self.count}p" if self.unit == "p" else format_size(self.count)

    def packets(self, packet_bytes: int) -> int | None:
        """Returns the amount in whole packets of this size; None if unlimited."""
        return self.count if self.count is None or self.unit == "p" else self.count // packet_bytes


UNLIMITED = "unlimited"


@lru_cache(maxsize=1024)
def _product(number: str, factor: int) -> Fraction:
    """Multiplies a number in text by a factor; cached, because every scenario repeats them."""
    return Fraction(number) * factor


def _quantity(text: object, units: Mapping[str, int], expected: str) -> int:
    """Reads a value as a whole, nonnegative number of base units."""
    match = _QUANTITY.fullmatch(text) if isinstance(text, str) and len(text) <= _LONGEST else None
    if not match:
        raise InputError(f"expected {expected}", value=text)
    number, unit = match[1], _standard(match[2])
    if unit not in units:
        problem = f'unknown unit "{one_line(unit)}"' if unit else "a unit is missing"
        raise InputError(f"{problem}, expected {expected}", value=text)
    value = _product(number, units[unit])
    if value < 0:
        raise InputError(f"must not be negative, expected {expected}", value=text)
    if value.denominator != 1:
        base = next(iter(units))
        raise InputError(f"is not a whole number of {base}, expected {expected}", value=text)
    return int(value)


def _standard(unit: str) -> str:
    """Replaces alternative spellings of a unit."""
    for spelling, standard in _SPELLINGS.items():
        if unit.endswith(spelling):
            unit = unit.removesuffix(spelling) + standard
    return unit


def _remembered(read: Callable[[object], int]) -> Callable[[object], int]:
    """Caches the results for text, because most points of a search repeat the same values."""
    known = lru_cache(maxsize=4096)(read)

    @wraps(read)
    def parse(text: object) -> int:
        return known(text) if isinstance(text, str) else read(text)

    return parse


@_remembered
def parse_rate(text: object) -> int:
    """Reads a rate: "2Mbps" gives 2000000 bit/s."""
    return _quantity(text, RATE_UNITS, 'a rate such as "2Mbps"')


@_remembered
def parse_time(text: object) -> int:
    """Reads a time: "45ms" gives 45 * 10**9 ps."""
    return _quantity(text, TIME_UNITS, 'a time such as "45ms"')


@_remembered
def parse_size(text: object) -> int:
    """Reads a size: "64KiB" gives 65536 bytes."""
    return _quantity(text, SIZE_UNITS, 'a size such as "64KiB"')


_AMOUNT = 'packets or bytes such as "100p" or "64KiB"'
QUEUE_LIMIT = f'a queue limit such as "100p", "64KiB", "5ms" or "1bdp", or "{UNLIMITED}"'


def parse_amount(text: object, *, finite: bool = False, expected: str = "") -> Amount:
    """Reads "100p", "64KiB" or, unless `finite`, "unlimited".

    expected: what an error says instead of packets or bytes.
    """
    if not finite and isinstance(text, str) and text == UNLIMITED:
        return Amount(None, "p")
    default = _AMOUNT if finite else f'{_AMOUNT}, or "{UNLIMITED}"'
    count = _quantity(text, {"p": 1, **SIZE_UNITS}, expected or default)
    return Amount(count, "p" if isinstance(text, str) and text.endswith("p") else "B")


def parse_products(text: str) -> Fraction:
    """Reads a number of bandwidth-delay products, such as "0.5bdp"."""
    match = _QUANTITY.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None or match[2] != "bdp" or not 0 < Fraction(match[1]) <= _MOST_PRODUCTS:
        problem = f'expected up to {_MOST_PRODUCTS} bandwidth-delay products, such as "0.5bdp"'
        raise InputError(problem, value=text)
    return Fraction(match[1])


def is_relative_limit(limit: object) -> bool:
    """Returns whether a queue limit is in products or a time; raises InputError if it is wrong."""
    match = _QUANTITY.fullmatch(limit) if isinstance(limit, str) else None
    if match is None or not isinstance(limit, str):
        return False
    if match[2] == "bdp":
        parse_products(limit)
        return True
    is_time = _standard(match[2]) in TIME_UNITS
    if is_time and not 0 < parse_time(limit) <= _LONGEST_QUEUE:
        raise InputError("expected a time of more than 0s and at most 3600s", value=limit)
    return is_time


def parse_fraction(value: object) -> float:
    """Reads 0.005 or "0.5%" as a number from 0 to 1."""
    problem = 'expected a fraction from 0 to 1, such as 0.005 or "0.5%"'
    number = -1.0
    if isinstance(value, int) and not isinstance(value, bool) and value == 1:
        raise InputError('is ambiguous, expected "1%" or "100%"', value=value)
    if isinstance(value, str) and value.endswith("%"):
        match = _QUANTITY.fullmatch(value[:-1].rstrip()) if len(value) <= _LONGEST else None
        number = float(Fraction(match[1]) / 100) if match and not match[2] else -1.0
    elif isinstance(value, (int, float, Decimal)) and not isinstance(value, bool):
        with contextlib.suppress(OverflowError):  # an integer of 400 digits
            number = float(value)
    if not 0 <= number <= 1:  # false for nan, too
        raise InputError(problem, value=value)
    return number + 0.0  # -0.0 becomes 0.0


def _written(value: int, units: Mapping[str, int]) -> str:
    """Writes the value as an exact decimal in the largest unit that does not exceed it."""
    unit, scale = max(
        ((u, s) for u, s in units.items() if s <= max(value, 1)), key=lambda item: item[1]
    )
    number = (Decimal(value) / Decimal(scale)).normalize()
    return f"{number:f}{unit}"


@lru_cache(maxsize=4096)
def format_rate(bps: int) -> str:
    """Writes a rate as `parse_rate` reads it: 2000000 gives "2Mbps"."""
    return _written(bps, RATE_UNITS)


@lru_cache(maxsize=4096)
def format_time(ps: int) -> str:
    """Writes a time as `parse_time` reads it, in ps to s: 45 * 10**9 gives "45ms"."""
    return _written(ps, {u: TIME_UNITS[u] for u in ("ps", "ns", "us", "ms", "s")}) if ps else "0s"


def format_size(size: int) -> str:
    """Writes a size as `parse_size` reads it, in whole binary units: 65536 gives "64KiB"."""
    for unit in ("GiB", "MiB", "KiB"):
        if size and size % SIZE_UNITS[unit] == 0:
            return f"{size // SIZE_UNITS[unit]}{unit}"
    return f"{size}B"


def option_seconds(option: str, text: str | None, default: float) -> float:
    """Reads a time option in seconds; returns the default if the option is missing.

    As in sleep(1), "10m" means ten minutes here.
    """
    if text is None:
        return default
    try:
        minutes = text.endswith("m") and text[:-1].rstrip().isdecimal()
        return parse_time(f"{text}in" if minutes else text) / PS_PER_S
    except InputError as error:
        raise error.located(key=option) from None
