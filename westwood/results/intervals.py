# SPDX-License-Identifier: BSD-3-Clause
"""Computes intervals that assume no distribution: by order statistics and by the bootstrap."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from westwood.results.metrics import LEVEL, percentile

T = TypeVar("T")
_RESAMPLES = 1000


@dataclass(frozen=True)
class Estimate:
    """Is a figure with its 95 % interval, whose ends are infinite where the data can't tell."""

    value: float
    low: float
    high: float


def quantile(values: Sequence[float], share: float) -> Estimate:
    """Returns a quantile and the narrowest order statistics that hold it at 95 %, 2.5 % a side.

    David and Nagaraja, Order Statistics, 7.1: of n independent values those at or below the
    quantile are binomial.
    """
    ordered = sorted(values)
    n = len(ordered)
    tail, low, high = (1 - LEVEL) / 2, -math.inf, math.inf
    below = 0.0  # P(fewer than k values lie below the quantile)
    for k, value in enumerate(ordered, start=1):
        below += _binomial(n, k - 1, share)
        if below <= tail:
            low = value
        if below >= 1 - tail:
            high = value
            break
    return Estimate(percentile(ordered, share), low, high)


def bootstrap(samples: Sequence[T], of: Callable[[Sequence[T]], float], seed: str) -> Estimate:
    """Returns what `of` says of the samples, and the percentile interval of resampling them."""
    if len(samples) < 2:
        return Estimate(of(samples) if samples else math.nan, -math.inf, math.inf)
    rng = random.Random(seed)
    found = [of(rng.choices(samples, k=len(samples))) for _ in range(_RESAMPLES)]
    known = [value for value in found if not math.isnan(value)]
    tail = (1 - LEVEL) / 2
    return Estimate(of(samples), percentile(known, tail), percentile(known, 1 - tail))


def _binomial(n: int, k: int, share: float) -> float:
    """The probability of k in n; in logarithms, for the factors alone leave a float's range."""
    ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(ways + k * math.log(share) + (n - k) * math.log1p(-share))
