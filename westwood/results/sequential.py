# SPDX-License-Identifier: BSD-3-Clause
"""Computes a mean's confidence sequence: an interval that holds at every sample size at once.

Checking Student's interval after every value, until it excludes 0, finds an effect where there is
none in far more than 5 % of experiments. A confidence sequence ever misses the mean with
probability alpha at most. This one is based on a t-test with a mixture: under the alternative,
mu / sigma is drawn from N(0, g), and sigma has the right Haar prior. The likelihood ratio of t is
then a martingale for every sigma. With u = t^2 / (n - 1),

    ratio(n) = (1 + n g)^(-1/2) ((1 + u) / (1 + u / (1 + n g)))^(n / 2)

and, by Ville's inequality, P(ratio(n) >= 1 / alpha for any n) <= alpha if there is no effect.
Solving for the means that are not rejected, with r = 1 + n g and k = (r / alpha^2)^(1 / n), gives

    |mean - mu| < s sqrt(u (n - 1) / n),  u = (k - 1) / (1 - k / r); no bound while k >= r

This is the Gaussian mixture, with g = 1 / c^2, of Wang and Ramdas (2024), "Anytime-valid t-tests
and confidence sequences for Gaussian means with unknown variance", arXiv:2310.03722. See also Lai
(1976), "On confidence sequences", Annals of Statistics 4 (2). The level is exact for normal values
and conservative for heavier tails; tests/westwood/results/test_sequential.py simulates both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from westwood.results.metrics import LEVEL

_PRIOR = 4.0  # g: within 10 % of the best width for effects of 0.5 to 5 standard deviations
FEWEST = 5  # values before the first interval; fewer can agree in sign by chance
MOST = 100_000  # values beyond which `count_needed` does not search


def half_width(deviation: float, count: int, level: float = LEVEL) -> float:
    """Returns half the interval's width after `count` values; infinity for too few."""
    if count < FEWEST:
        return math.inf
    spread = 1 + count * _PRIOR
    k = (spread / (1 - level) ** 2) ** (1 / count)
    if k >= spread:
        return math.inf
    u = (k - 1) / (1 - k / spread)
    return deviation * math.sqrt(u * (count - 1) / count)


@dataclass(frozen=True)
class Sample:
    """Holds a mean with the values' standard deviation and number, and the interval's level."""

    mean: float
    deviation: float
    count: int
    level: float = LEVEL

    @property
    def half(self) -> float:
        """Half the width of the interval, which is valid whenever sampling stops."""
        return half_width(self.deviation, self.count, self.level)

    @property
    def low(self) -> float:
        """The interval's lower end."""
        return self.mean - self.half

    @property
    def high(self) -> float:
        """The interval's upper end."""
        return self.mean + self.half


def estimate(values: Sequence[float], level: float = LEVEL) -> Sample:
    """Returns the mean and standard deviation of the values; NaN if there are too few."""
    count = len(values)
    mean = math.fsum(values) / count if count else math.nan
    if count < 2:
        return Sample(mean, math.nan, count, level)
    squares = math.fsum((value - mean) ** 2 for value in values)
    return Sample(mean, math.sqrt(squares / (count - 1)), count, level)


def count_needed(sample: Sample, half: float) -> int:
    """Returns how many values in total make the half-width `half`, if their deviation stays."""
    low, high = max(sample.count, FEWEST), max(sample.count, FEWEST)
    while half_width(sample.deviation, high, sample.level) > half and high < MOST:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if half_width(sample.deviation, middle, sample.level) > half:
            low = middle
        else:
            high = middle
    return min(high, MOST)
