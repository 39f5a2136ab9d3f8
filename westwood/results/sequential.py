# SPDX-License-Identifier: BSD-3-Clause
"""A mean's interval that may be looked at after every value: that it ever misses has chance alpha.

Looking again and again at Student's interval, until it leaves out 0, finds an effect where there is
none in far more than 5 % of experiments. This is the confidence sequence of the t-test under a
mixture: the effect over its deviation, mu / sigma, is drawn from N(0, g) under the alternative, and
sigma has the right Haar prior, which makes the ratio of likelihoods of t a martingale for every
sigma. With u = t^2 / (n - 1),

    ratio(n) = (1 + n g)^(-1/2) ((1 + u) / (1 + u / (1 + n g)))^(n / 2)

and by Ville's inequality P(ratio(n) >= 1 / alpha for any n) <= alpha without an effect. Solved for
the means that are not refused, with r = 1 + n g and k = (r / alpha^2)^(1 / n):

    |mean - mu| < s sqrt(u (n - 1) / n),  u = (k - 1) / (1 - k / r); no bound while k >= r

Wang and Ramdas (2024), "Anytime-valid t-tests and confidence sequences for Gaussian means with
unknown variance", arXiv:2310.03722, of which it is the Gaussian mixture, with g = 1 / c^2; Lai
(1976), "On confidence sequences", Annals of Statistics 4 (2). It is exact for normal values, and
errs less often with heavier tails; tests/westwood/results/test_sequential.py simulates both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from westwood.results.metrics import LEVEL

_PRIOR = 4.0  # g: widths within 10 % of the best for effects from half a deviation to five
FEWEST = 5  # values before the first interval: signs that chance made alike say nothing
MOST = 100_000  # values that anybody waits for


def half_width(deviation: float, count: int, level: float = LEVEL) -> float:
    """Returns half of the interval after `count` values; infinity while there is none."""
    if count < FEWEST:
        return math.inf
    spread = 1 + count * _PRIOR
    k = (spread / (1 - level) ** 2) ** (1 / count)
    if k >= spread:
        return math.inf
    u = (k - 1) / (1 - k / spread)
    return deviation * math.sqrt(u * (count - 1) / count)


@dataclass(frozen=True)
class Estimate:
    """Holds a mean, the deviation of the values, how many they are, and the interval's level."""

    mean: float
    deviation: float
    count: int
    level: float = LEVEL

    @property
    def half(self) -> float:
        """Half of the interval, which holds whenever one stops."""
        return half_width(self.deviation, self.count, self.level)

    @property
    def low(self) -> float:
        """The interval's lower end."""
        return self.mean - self.half

    @property
    def high(self) -> float:
        """The interval's upper end."""
        return self.mean + self.half


def estimate(values: Sequence[float], level: float = LEVEL) -> Estimate:
    """Takes the mean and the deviation of these values; NaN where there are too few."""
    count = len(values)
    mean = math.fsum(values) / count if count else math.nan
    if count < 2:
        return Estimate(mean, math.nan, count, level)
    squares = math.fsum((value - mean) ** 2 for value in values)
    return Estimate(mean, math.sqrt(squares / (count - 1)), count, level)


def count_needed(found: Estimate, half: float) -> int:
    """Returns how many values in all will make half of the interval so small, if they go on so."""
    low, high = max(found.count, FEWEST), max(found.count, FEWEST)
    while half_width(found.deviation, high, found.level) > half and high < MOST:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if half_width(found.deviation, middle, found.level) > half:
            low = middle
        else:
            high = middle
    return min(high, MOST)
