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
    shares = {name: sum(one[name] for one in held) / len(held) for name in names}
    numbers = [sum(one.values()) for one in held]
    together = [numbers.count(count) for count in range(len(names) + 1)]
    pairs = [
        [one, two, sum(x[one] and x[two] for x in held)] for one, two in combinations(names, 2)
    ]
    return {"settings": len(held), "shares": shares, "together": together, "pairs": pairs}


@dataclass(frozen=True)
class Pair:
    """Two claims: the settings that have both, and those that independent claims would give."""

    one: str
    two: str
    both: int
    expected: float
    at_most_by_chance: float  # the probability of so few settings with both, or fewer

    @property
    def is_apart(self) -> bool:
        """Returns whether the two hold together less than half as often as by chance."""
        return self.expected >= _EXPECTED and self.both < _RARELY * self.expected


def pairs(found: Mapping[str, Any]) -> list[Pair]:
    """Returns every pair of claims from what `counted` returned."""
    count, shares = found["settings"], found["shares"]
    return [
        Pair(
            one,
            two,
            both,
            shares[one] * shares[two] * count,
            _at_most(both, round(shares[one] * count), round(shares[two] * count), count),
        )
        for one, two, both in found["pairs"]
    ]


def _at_most(both: int, one: int, two: int, count: int) -> float:
    """Returns Fisher's one-sided probability that independent claims share so few settings."""
    ways = math.comb(count, two)
    few = (math.comb(one, n) * math.comb(count - one, two - n) for n in range(min(both, two) + 1))
    return sum(few) / ways


def at_once(shares: Sequence[float]) -> list[float]:
    """Returns the probabilities that 0, 1, 2 ... of independent claims hold at once."""
    found = [1.0]
    for share in shares:
        found = [
            (found[count] * (1 - share) if count < len(found) else 0.0)
            + (found[count - 1] * share if count else 0.0)
            for count in range(len(found) + 1)
        ]
    return found


def expected(shares: Sequence[float], least: int, settings: int) -> float:
    """Returns how many of the settings would hold at least so many independent claims."""
    return settings * math.fsum(at_once(shares)[least:])


def by_chance(shares: Sequence[float], settings: int) -> int:
    """Returns the most claims that the luckiest of so many settings is expected to hold."""
    counts = range(1, len(shares) + 1)
    return sum(expected(shares, count, settings) >= 1 for count in counts)
