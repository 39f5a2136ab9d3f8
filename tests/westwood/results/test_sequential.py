# SPDX-License-Identifier: BSD-3-Clause
"""The confidence sequence ever misses the mean in at most 5 % of experiments.

Student's interval, checked after every value, misses in far more.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from westwood.results import metrics, sequential
from westwood.results.sequential import Sample, count_needed, estimate, half_width

Draw = Callable[[np.random.Generator, tuple[int, int]], NDArray[np.float64]]
EXPERIMENTS, VALUES = 4000, 100
DRAWS: dict[str, Draw] = {
    "normal": lambda random, shape: random.normal(size=shape),
    "uniform": lambda random, shape: random.uniform(-1, 1, shape),
    "laplace": lambda random, shape: random.laplace(size=shape),
    "student3": lambda random, shape: random.standard_t(3, shape),
}


def ever_misses(
    values: NDArray[np.float64], half: Callable[[int], float], mean: float
) -> tuple[float, float]:
    """Returns the shares of experiments in which any interval misses the mean or exceeds it."""
    count = np.arange(1, values.shape[1] + 1)
    means = values.cumsum(1) / count
    squares = (values**2).cumsum(1) - count * means**2
    deviation = np.sqrt(np.maximum(squares, 0) / np.maximum(count - 1, 1))
    first = sequential.FEWEST - 1
    halves = np.array([half(int(n)) for n in count[first:]]) * deviation[:, first:]
    off = means[:, first:] - mean
    return float((abs(off) > halves).any(1).mean()), float((off > halves).any(1).mean())


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("level", [0.95, 0.9])
def test_checking_after_every_value_keeps_the_level(name, level):
    values = DRAWS[name](np.random.default_rng(1), (EXPERIMENTS, VALUES))
    missed, above = ever_misses(values, lambda n: half_width(1, n, level), 0)
    assert missed <= 1 - level
    assert above <= (1 - level) / 2 * 1.3


def test_students_interval_would_miss_in_a_quarter():
    """The same experiments, with the interval for a fixed number of values."""
    values = DRAWS["normal"](np.random.default_rng(1), (EXPERIMENTS, VALUES))
    missed, _ = ever_misses(values, lambda n: metrics.half_width(1, n), 0)
    assert missed > 0.25


def test_an_effect_of_the_order_cancels():
    """The first protocol has a constant advantage; alternating the order cancels it."""
    random = np.random.default_rng(2)
    signs = random.choice([-1.0, 1.0], (EXPERIMENTS, VALUES // 2))
    first = np.stack([signs, -signs], axis=2).reshape(EXPERIMENTS, VALUES)
    values = first + 0.2 * random.normal(size=first.shape)
    missed, _ = ever_misses(values, lambda n: half_width(1, n), 0)
    assert missed <= 0.01


def test_it_solves_the_ratio_of_its_paper_for_the_mean():
    """At the interval's end the mixture's likelihood ratio is 1 / alpha."""
    for count in (5, 10, 40):
        values = np.random.default_rng(count).normal(0.3, 1.0, count)
        interval = estimate(values.tolist())
        assert interval.mean == pytest.approx(values.mean())
        assert interval.deviation == pytest.approx(values.std(ddof=1))
        t2 = count * (interval.half / interval.deviation) ** 2
        u, spread = t2 / (count - 1), 1 + 4 * count
        ratio = spread**-0.5 * ((1 + u) / (1 + u / spread)) ** (count / 2)
        assert ratio == pytest.approx(20)
        assert (interval.low, interval.high) == (
            interval.mean - interval.half,
            interval.mean + interval.half,
        )


def test_few_values_have_no_interval_and_more_narrow_it():
    halves = [half_width(1, count) for count in range(1, 200)]
    assert halves[:4] == [math.inf] * 4
    assert all(half > two for half, two in itertools.pairwise(halves[4:]))
    assert halves[19] == pytest.approx(1.73 * metrics.half_width(1, 20), rel=0.01)
    assert half_width(0, 5) == 0


def test_the_number_of_values_needed_is_just_enough():
    sample = Sample(0.1, 0.5, 7)
    needed = count_needed(sample, 0.2)
    assert half_width(0.5, needed) <= 0.2 < half_width(0.5, needed - 1)
    assert count_needed(sample, 10) == 7
    assert count_needed(sample, 1e-9) == sequential.MOST
