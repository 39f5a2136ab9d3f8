# SPDX-License-Identifier: BSD-3-Clause
"""Says how many claims chance would make hold at once, beside how many really do.

If claims were independent, each with its share of the settings, some of the settings tried would
hold many of them by chance. Only settings that were drawn without knowing any result count.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

_RARELY = 0.5  # of what independent claims would give
_EXPECTED = 5.0  # fewer settings tell nothing


def counted(held: Sequence[Mapping[str, bool]]) -> dict[str, Any]:
    """Returns the shares of the claims, and how often 0, 1, 2 ... of them hold at once."""
    names = list(held[0]) if held else []
    shares = {name: sum(is_held[name] for is_held in held) / len(held) for name in names}
    numbers = [sum(is_held.values()) for is_held in held]
    together = [numbers.count(count) for count in range(len(names) + 1)]
    pairs = [
        [first, second, sum(x[first] and x[second] for x in held)]
        for first, second in combinations(names, 2)
    ]
    return {"settings": len(held), "shares": shares, "together": together, "pairs": pairs}


@dataclass(frozen=True)
class Pair:
    """Two claims: the settings that have both, and those that independent claims would give."""

    first: str
    second: str
    both: int
    expected: float
    at_most_by_chance: float  # the probability of so few settings with both, or fewer

    @property
    def is_apart(self) -> bool:
        """Returns whether the two hold together less than half as often as by chance."""
        return self.expected >= _EXPECTED and self.both < _RARELY * self.expected


def pairs(counts: Mapping[str, Any]) -> list[Pair]:
    """Returns every pair of claims from what `counted` returned."""
    count, shares = counts["settings"], counts["shares"]
    return [
        Pair(
            first,
            second,
            both,
            shares[first] * shares[second] * count,
            _at_most(both, round(shares[first] * count), round(shares[second] * count), count),
        )
        for first, second, both in counts["pairs"]
    ]


def _at_most(both: int, first: int, second: int, count: int) -> float:
    """Returns Fisher's one-sided probability that independent claims share so few settings."""
    ways = math.comb(count, second)
    few = (
        math.comb(first, n) * math.comb(count - first, second - n)
        for n in range(min(both, second) + 1)
    )
    return sum(few) / ways


def at_once(shares: Sequence[float]) -> list[float]:
    """Returns the probabilities that 0, 1, 2 ... of independent claims hold at once."""
    probabilities = [1.0]
    for share in shares:
        probabilities = [
            (probabilities[count] * (1 - share) if count < len(probabilities) else 0.0)
            + (probabilities[count - 1] * share if count else 0.0)
            for count in range(len(probabilities) + 1)
        ]
    return probabilities


def expected(shares: Sequence[float], least: int, settings: int) -> float:
    """Returns how many of the settings would hold at least so many independent claims."""
    return settings * math.fsum(at_once(shares)[least:])


def by_chance(shares: Sequence[float], settings: int) -> int:
    """Returns how many claims are expected to hold under the luckiest of so many settings."""
    counts = range(1, len(shares) + 1)
    return sum(expected(shares, count, settings) >= 1 for count in counts)
