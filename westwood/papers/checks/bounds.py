# SPDX-License-Identifier: BSD-3-Clause
"""Declares the bounds that decide a claim at a single setting.

At one setting each word of a claim asks that the 95 % interval of a ratio lies within bounds
(words.py). The laboratory measures the ratios at its current setting with a few seeds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from westwood.control.catalogue import label
from westwood.papers.checks import words
from westwood.papers.checks.common import THROUGHPUT

CC = "tcp.cc"


@dataclass(frozen=True)
class Swept:
    """Stands for the value with this index in the scenario's sweep of the key."""

    place: int


@dataclass(frozen=True)
class Term:
    """The mean over seeds of a column, for this control's flows under the these settings."""

    cc: str
    at: Mapping[str, Any]
    column: str = THROUGHPUT
    flow: str = ""  # only of this flow


@dataclass(frozen=True)
class Bounds:
    """Bounds of an interval; `strict` excludes the bounds themselves."""

    least: float = 0.0
    most: float = math.inf
    strict: bool = False

    def __iter__(self) -> Iterator[float]:
        """Yields the smallest and the largest value."""
        return iter((self.least, self.most))


ABOVE = Bounds(1.0, strict=True)


ALIKE = Bounds(1 / (1 + words.ALIKE), 1 + words.ALIKE)
NOT_MORE = Bounds(most=1.0)


def around(published: float = 1.0, within: float = words.NEAR) -> Bounds:
    """Returns the bounds of a quantity that is near a published number."""
    return Bounds((1 - within) * published, (1 + within) * published)


@dataclass(frozen=True)
class Condition:
    """Holds if the 95 % interval of `of` is within the bounds; or that of its ratio to `over`.

    A ratio compares run by run. It is divided by `by`.
    """

    name: str
    of: Term
    over: Term | None = None
    by: float = 1.0
    within: Bounds = ABOVE


@dataclass(frozen=True)
class ValueRange:
    """The values of a key that a claim is about."""

    key: str
    least: Any = None
    most: Any = None


@dataclass(frozen=True)
class SettingBounds:
    """What decides a claim at one setting of a scenario."""

    conditions: Sequence[Condition]
    among: ValueRange | None = None


# By claim and scenario: the bounds at one setting, or why no single setting decides.
Decided = Mapping[str, Mapping[str, SettingBounds | str] | str]


def alone(cc: str, settings: Mapping[str, Any] | None = None, column: str = THROUGHPUT) -> Term:
    """Returns the term of a control that runs alone, under the these settings."""
    return Term(cc, {CC: cc, **(settings or {})}, column)


def ratio(upper: str, lower: str, within: Bounds = ABOVE, column: str = THROUGHPUT) -> Condition:
    """Returns the condition on one control over another."""
    name = f"{label(upper)} over {label(lower)}"
    return Condition(name, alone(upper, column=column), alone(lower, column=column), within=within)


def leading(pairs: Iterable[tuple[str, str, float]]) -> list[Condition]:
    """Returns the conditions that each first control is above the second by the third entry."""
    return [ratio(upper, lower, Bounds(1 + by, strict=True)) for upper, lower, by in pairs]
