# SPDX-License-Identifier: BSD-3-Clause
"""Declares the bounds that decide a claim at a single setting.

A claim is about the points of a figure. At each point a ratio of means must lie within bounds. The
checks read the bounds here. The laboratory measures the ratios at its current setting with a few
seeds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from westwood.catalogue import label
from westwood.papers.checks.common import THROUGHPUT, quantity

CC = "tcp.cc"


@dataclass(frozen=True)
class Swept:
    """Stands for the value with this index in the scenario's sweep of the key."""

    place: int


@dataclass(frozen=True)
class Term:
    """The mean over seeds of a column, for this control's flows under the settings `at`."""

    cc: str
    at: Mapping[str, Any]
    column: str = THROUGHPUT
    flow: str = ""  # only of this flow


@dataclass(frozen=True)
class Bounds:
    """Bounds of a ratio; `strict` excludes the bounds themselves."""

    least: float = 0.0
    most: float = math.inf
    strict: bool = False

    def __iter__(self) -> Iterator[float]:
        """Yields the smallest and the largest value."""
        return iter((self.least, self.most))


ABOVE = Bounds(1.0, strict=True)


@dataclass(frozen=True)
class Condition:
    """Holds if the product of `of`, over that of `over` and over `by`, is within the bounds.

    A paired one fails only if `of` is below `over` by more than the 95 % interval of their
    difference, seed by seed.
    """

    name: str
    of: Sequence[Term]
    over: Sequence[Term] = ()
    by: float = 1.0
    within: Bounds = ABOVE
    paired: bool = False


@dataclass(frozen=True)
class ValueRange:
    """The values of a key that a claim is about."""

    key: str
    least: Any = None
    most: Any = None

    def has(self, value: object) -> bool:
        """Returns whether the claim is about this value."""
        x = quantity(value)
        return (self.least is None or x >= quantity(self.least)) and (
            self.most is None or x <= quantity(self.most)
        )


@dataclass(frozen=True)
class SettingBounds:
    """What decides a claim at one setting of a scenario."""

    conditions: Sequence[Condition]
    among: ValueRange | None = None


# By claim and scenario: the bounds at one setting, or why no single setting decides.
Decided = Mapping[str, Mapping[str, SettingBounds] | str]


def alone(cc: str, at: Mapping[str, Any] | None = None, column: str = THROUGHPUT) -> Term:
    """Returns the term of a control that runs alone, under the settings `at`."""
    return Term(cc, {CC: cc, **(at or {})}, column)


def ratio(one: str, two: str, within: Bounds = ABOVE, column: str = THROUGHPUT) -> Condition:
    """Returns the condition on one control over another."""
    name = f"{label(one)} over {label(two)}"
    return Condition(name, [alone(one, column=column)], [alone(two, column=column)], within=within)


def leading(order: Iterable[tuple[str, str]]) -> list[Condition]:
    """Returns the conditions that each `upper` is above its `lower`."""
    return [ratio(upper, lower) for upper, lower in order]


def not_below(one: str, two: str) -> Condition:
    """Returns the condition that one control is not below another beyond their paired interval."""
    name = f"{label(one)} over {label(two)}"
    return Condition(name, [alone(one)], [alone(two)], within=Bounds(1.0), paired=True)
