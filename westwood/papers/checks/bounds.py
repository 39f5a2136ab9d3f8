# SPDX-License-Identifier: BSD-3-Clause
"""What of a claim a single setting can decide, as data.

A claim is about the points of a figure. At any one setting a ratio of means lies within bounds, or
it does not: the checks read the bounds here, and the laboratory measures the ratios where its
controls stand, on a few seeds.
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
    """Stands for a value of the key in the scenario's sweep, by its place there."""

    place: int


@dataclass(frozen=True)
class Term:
    """Is a mean over the seeds: of a column of the flows with this control, where `at` is set."""

    cc: str
    at: Mapping[str, Any]
    column: str = THROUGHPUT
    flow: str = ""  # of this flow only


@dataclass(frozen=True)
class Bounds:
    """Are what a ratio has to lie within; with `strict`, the bounds themselves are outside."""

    least: float = 0.0
    most: float = math.inf
    strict: bool = False

    def __iter__(self) -> Iterator[float]:
        """Gives the least and the most."""
        return iter((self.least, self.most))


ABOVE = Bounds(1.0, strict=True)


@dataclass(frozen=True)
class Condition:
    """Holds if the product of `of` over that of `over` and `by` is within the bounds.

    A paired one holds unless `of` is below `over` by more than the 95 % interval of their
    difference, seed by seed.
    """

    name: str
    of: Sequence[Term]
    over: Sequence[Term] = ()
    by: float = 1.0
    within: Bounds = ABOVE
    paired: bool = False


@dataclass(frozen=True)
class Among:
    """Are the values of a key that a claim is about."""

    key: str
    least: Any = None
    most: Any = None

    def has(self, value: object) -> bool:
        """Says whether the claim is about this value."""
        x = quantity(value)
        return (self.least is None or x >= quantity(self.least)) and (
            self.most is None or x <= quantity(self.most)
        )


@dataclass(frozen=True)
class SettingBounds:
    """Is what decides a claim at one setting of a scenario."""

    conditions: Sequence[Condition]
    among: Among | None = None


# By claim: for each of its scenarios what decides it there, or why no single setting does.
Decided = Mapping[str, Mapping[str, SettingBounds] | str]


def alone(cc: str, at: Mapping[str, Any] | None = None, column: str = THROUGHPUT) -> Term:
    """Returns the term of a control by itself, where `at` is set."""
    return Term(cc, {CC: cc, **(at or {})}, column)


def ratio(one: str, two: str, within: Bounds = ABOVE, column: str = THROUGHPUT) -> Condition:
    """Returns the condition that holds one control over another."""
    name = f"{label(one)} over {label(two)}"
    return Condition(name, [alone(one, column=column)], [alone(two, column=column)], within=within)


def leading(order: Iterable[tuple[str, str]]) -> list[Condition]:
    """Returns the conditions that every `upper` is above its `lower`."""
    return [ratio(upper, lower) for upper, lower in order]


def not_below(one: str, two: str) -> Condition:
    """Returns the condition that a control is not below another beyond their paired interval."""
    name = f"{label(one)} over {label(two)}"
    return Condition(name, [alone(one)], [alone(two)], within=Bounds(1.0), paired=True)
