# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes quantities with units: "2Mbps", "45ms", "100p", "64KiB", "0.5%".

plan/quantities.hpp does so for all languages. Here it gives errors of this package. Reading is
exact, and what is written reads back as the same value. Rates become bit/s, times picoseconds,
sizes bytes or packets.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import wraps
from typing import Literal, TypeVar

from westwood import _engine
from westwood.errors import InputError

T = TypeVar("T")
PS_PER_S = 10**12  # picoseconds in a second
TIME_UNITS: Mapping[str, int] = _engine.TIME.units
QUEUE_LIMIT = _engine.QUEUE_LIMIT
UNLIMITED = "unlimited"


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


NOT_CONVERTED = Amount(-1, "p")  # a limit such as "1bdp" without the path that decides it


def explained(read: Callable[[object], T]) -> Callable[[object], T]:
    """Turns the ValueError of one of the engine's readers into an InputError with the value."""

    @wraps(read)
    def parse(value: object) -> T:
        try:
            return read(value)
        except ValueError as error:
            raise InputError(str(error), value=value) from None

    return parse


parse_rate = explained(_engine.RATE.read)  # "2Mbps" gives 2000000 bit/s
parse_time = explained(_engine.TIME.read)  # "45ms" gives 45 * 10**9 ps
parse_size = explained(_engine.SIZE.read)  # "64KiB" gives 65536 bytes
format_rate = _engine.RATE.write  # 2000000 gives "2Mbps"
format_time = _engine.TIME.write  # 45 * 10**9 gives "45ms"
format_size = _engine.SIZE.write  # 65536 gives "64KiB"


def _amount(count: int | None, in_packets: bool) -> Amount:
    return Amount(count, "p" if in_packets else "B")


@explained
def parse_amount(text: object) -> Amount:
    """Reads "100p", "64KiB" or "unlimited"."""
    return _amount(*_engine.amount(text, finite=False))


@explained
def parse_finite_amount(text: object) -> Amount:
    """Reads "100p" or "64KiB"."""
    return _amount(*_engine.amount(text, finite=True))


@explained
def parse_limit(text: object) -> Amount | None:
    """Reads a queue's limit; None for "1bdp" and "5ms", which depend on the link."""
    is_relative, count, in_packets = _engine.limit(text)
    return None if is_relative else _amount(count, in_packets)


def parse_products(text: str) -> float:
    """Reads a number of bandwidth-delay products, such as "0.5bdp"."""
    kind, number = _engine.measure(text)
    if kind != "bdp":
        raise InputError("expected bandwidth-delay products", value=text)
    return number


def number_of(value: object) -> float:
    """Returns a number, or that of a quantity in base units; NaN if it is neither."""
    if isinstance(value, (int, float)):
        return float(value)
    kind, number = _engine.measure(str(value))
    return number if kind else math.nan


@explained
def parse_fraction(value: object) -> float:
    """Reads 0.005 or "0.5%" as a number from 0 to 1."""
    if isinstance(value, int) and not isinstance(value, bool) and value == 1:
        raise ValueError('is ambiguous, expected "1%" or "100%"')
    return _engine.fraction(float(value) if isinstance(value, Decimal) else value)


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
        problem = error.problem.replace('"45ms"', '"10s"')  # that is a delay
        raise InputError(problem, key=option, value=text) from None
