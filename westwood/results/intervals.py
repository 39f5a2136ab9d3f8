# SPDX-License-Identifier: BSD-3-Clause
"""Computes distribution-free intervals, by order statistics and by the bootstrap."""

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
    """A value with its 95 % interval; an end is infinite if there are too few data."""

    value: float
    low: float
    high: float

    @property
    def half(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2

    def times(self, factor: float) -> Estimate:
        """Returns it in another unit."""
        return Estimate(self.value * factor, self.low * factor, self.high * factor)


def quantile(values: Sequence[float], share: float) -> Estimate:
    """Returns a quantile with the narrowest 95 % interval of order statistics, 2.5 % a side.

    David and Nagaraja, Order Statistics, 7.1: the number of n independent values at or below the
    quantile is binomial.
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


def bootstrap(
    samples: Sequence[T], statistic: Callable[[Sequence[T]], float], seed: str
) -> Estimate:
    """Returns the statistic of the samples, with its percentile bootstrap interval."""
    if len(samples) < 2:
        return Estimate(statistic(samples) if samples else math.nan, -math.inf, math.inf)
    rng = random.Random(seed)
    statistics = [statistic(rng.choices(samples, k=len(samples))) for _ in range(_RESAMPLES)]
    known = [value for value in statistics if not math.isnan(value)]
    tail = (1 - LEVEL) / 2
    return Estimate(statistic(samples), percentile(known, tail), percentile(known, 1 - tail))


def _binomial(n: int, k: int, share: float) -> float:
    """Returns the binomial probability of k in n; logarithms avoid overflow."""
    choices = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(choices + k * math.log(share) + (n - k) * math.log1p(-share))
