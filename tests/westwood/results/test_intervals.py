# SPDX-License-Identifier: BSD-3-Clause
"""Distribution-free intervals: of quantiles, and by the bootstrap."""

import math
import random

import pytest
from scipy import stats

from westwood.results.intervals import bootstrap, quantile
from westwood.results.metrics import percentile


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("n", [1, 5, 29, 80, 400, 5000])
def test_the_ends_are_the_order_statistics_of_the_binomial(n, share):
    interval = quantile([float(k) for k in range(1, n + 1)], share)

    inside = stats.binom(n, share)
    ends = [k for k in range(1, n + 1) if inside.cdf(k - 1) <= 0.025]
    assert interval.low == (max(ends) if ends else -math.inf)
    ends = [k for k in range(1, n + 1) if inside.cdf(k - 1) >= 0.975]
    assert interval.high == (min(ends) if ends else math.inf)
    assert interval.value == percentile(range(1, n + 1), share)


def test_a_quantile_of_few_values_has_no_lower_end_and_of_none_is_nan():
    few = quantile([3.0, 1.0, 2.0, 5.0, 4.0], 0.1)
    assert few.low == -math.inf and few.value == pytest.approx(1.4)
    none = quantile([], 0.5)
    assert math.isnan(none.value) and (none.low, none.high) == (-math.inf, math.inf)


def test_the_bootstrap_of_a_mean_is_near_the_normal_interval_and_the_same_every_time():
    rng = random.Random(7)
    values = [rng.gauss(10, 2) for _ in range(200)]

    def mean(those: list[float]) -> float:
        return math.fsum(those) / len(those)

    interval = bootstrap(values, mean, "a")
    half = 1.96 * 2 / math.sqrt(200)
    assert interval.value == pytest.approx(mean(values))
    assert interval.value - interval.low == pytest.approx(half, rel=0.25)
    assert interval.high - interval.value == pytest.approx(half, rel=0.25)
    assert interval == bootstrap(values, mean, "a") != bootstrap(values, mean, "b")


def test_one_value_has_no_interval():
    interval = bootstrap([4.0], lambda values: values[0], "a")
    assert (interval.value, interval.low, interval.high) == (4.0, -math.inf, math.inf)
