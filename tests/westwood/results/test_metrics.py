# SPDX-License-Identifier: BSD-3-Clause
"""Means, intervals and fairness agree with textbooks and scipy."""

from __future__ import annotations

import math
import random
import statistics

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from westwood import _engine
from westwood.results import metrics
from westwood.results.metrics import compare_pairs, half_width, paired, percentile
from westwood.results.rows import rows_frame, uniform_rows

DOF = st.integers(1, 5000)
LEVELS = st.floats(0.5, 0.999)
SAMPLES = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=40)
ANY_TIME = settings(deadline=None)  # a busy machine makes an example slow


@ANY_TIME
@given(DOF, LEVELS)
def test_t_quantiles_agree_with_scipy(dof, level):
    expected = stats.t.ppf((1 + level) / 2, dof)
    assert _engine.t_quantile(dof, level) == pytest.approx(expected, rel=1e-8)


@ANY_TIME
@given(DOF, st.floats(0, 50))
def test_t_probabilities_agree_with_scipy(dof, t):
    expected = stats.t.cdf(t, dof) - stats.t.cdf(-t, dof)
    assert _engine.t_probability(t, dof) == pytest.approx(expected, abs=1e-9)


@ANY_TIME
@given(SAMPLES)
def test_intervals_agree_with_scipy(values):
    error = stats.sem(values)
    assume(error > 1e-9)
    low, high = stats.t.interval(metrics.LEVEL, len(values) - 1, np.mean(values), error)
    frame = pl.DataFrame({"group": 1, "value": values})
    summary = metrics.summarise(frame, ["group"], ["value"])
    half = summary["value_ci95"][0]
    assert half == pytest.approx((high - low) / 2, rel=1e-6)
    assert summary["value"][0] - half == pytest.approx(low, rel=1e-6, abs=1e-6 * half)


@ANY_TIME
@given(st.lists(st.tuples(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3)), min_size=2, max_size=40))
def test_paired_tests_agree_with_scipy(pairs):
    values, others = zip(*pairs, strict=True)
    assume(np.std(np.subtract(values, others)) > 1e-3)  # otherwise scipy warns of inexact results
    frames = [pl.DataFrame({"seed": range(len(v)), "x": list(v)}) for v in (values, others)]
    comparison = paired(*frames, ["seed"], "x")
    expected = stats.ttest_rel(values, others)
    interval = expected.confidence_interval(metrics.LEVEL)
    assert comparison.mean - comparison.half == pytest.approx(interval.low, rel=1e-6, abs=1e-6)
    assert comparison.p == pytest.approx(expected.pvalue, abs=1e-8)


@pytest.mark.parametrize("dof", [1, 2, 3, 10, 11, 500, 1001])
def test_probability_and_quantile_are_inverse(dof):
    """From 1001 degrees on there is an expansion, which is less exact."""
    share = _engine.t_probability(_engine.t_quantile(dof, metrics.LEVEL), dof)
    assert share == pytest.approx(0.95, abs=1e-9 if dof > 1000 else 1e-10)


def test_a_summary_keeps_order_and_ignores_runs_without_a_value():
    rows = pl.DataFrame(
        {"cc": ["b", "b", "a", "a", "a"], "x": [1.0, 3.0, 5.0, math.nan, 5.0], "n": [1, 2, 3, 4, 5]}
    )
    summary = metrics.summarise(rows, ["cc"], ["x", "n"])
    assert summary["cc"].to_list() == ["b", "a"]
    assert summary["runs"].to_list() == [2, 3]
    assert summary["x"].to_list() == [2.0, 5.0]
    assert summary["x_ci95"].to_list() == pytest.approx(
        [12.706 * math.sqrt(2) / math.sqrt(2), 0.0], abs=1e-3
    )


@pytest.mark.parametrize(("deviation", "runs"), [(1.0, 1), (None, 5), (None, 1)])
def test_an_interval_needs_two_runs_and_a_deviation(deviation, runs):
    assert math.isnan(half_width(deviation, runs))


@pytest.mark.parametrize("dof", [1001, 1500, 3000])
def test_the_expansion_for_many_degrees_has_eleven_digits(dof):
    assert _engine.t_quantile(dof, metrics.LEVEL) == pytest.approx(
        stats.t.ppf(0.975, dof), rel=2e-11
    )


def test_percentiles_are_interpolated():
    assert math.isnan(percentile([], 0.5))
    assert [percentile([7], share) for share in (0, 0.5, 1)] == [7, 7, 7]
    assert [percentile([4, 1, 2], share) for share in (0, 0.25, 0.5, 1)] == [1, 1.5, 2, 4]


def test_jain_has_the_same_bits_as_on_the_page():
    """`make torture` found these rates, whose squared sum glibc's pow rounds wrongly."""
    assert metrics.jain([7920000.0, 1141333.3333333333]) == 0.641175937496807


@pytest.mark.parametrize("runs", [3, 10, 30])
def test_the_interval_has_its_nominal_coverage(runs):
    """95 % of the intervals of normal samples contain the mean, with a fixed seed."""
    draw = random.Random(runs)
    trials, covered = 4000, 0
    for _ in range(trials):
        sample = [draw.gauss(5.0, 2.0) for _ in range(runs)]
        mean = statistics.mean(sample)
        half = half_width(statistics.stdev(sample), runs)
        covered += abs(mean - 5.0) <= half
    # Four standard errors of a share of 4000.
    assert covered / trials == pytest.approx(0.95, abs=4 * math.sqrt(0.95 * 0.05 / trials))


def test_a_pair_is_compared_on_its_common_seeds():
    left_frame = pl.DataFrame({"seed": [1, 2, 3, 4], "x": [10.0, 12.0, 15.0, 11.0]})
    two = pl.DataFrame({"seed": [4, 3, 2, 1, 9], "x": [9.0, 12.0, 11.0, 8.0, 100.0]})
    comparison = paired(left_frame, two, ["seed"], "x")  # differences 2, 1, 3, 2
    assert (comparison.runs, comparison.mean) == (4, 2.0)
    deviation = statistics.stdev([2, 1, 3, 2])
    assert comparison.half == pytest.approx(3.182446 * deviation / 2, rel=1e-6)
    assert comparison.effect == pytest.approx(2.0 / deviation)
    assert comparison.p == pytest.approx(0.0163, abs=5e-4), "t = 4.899 with 3 degrees of freedom"


def test_a_pair_is_narrower_than_two_intervals_where_seeds_make_the_difference():
    draw = random.Random(1)
    hard = [draw.gauss(0, 5) for _ in range(20)]  # the effect of a seed on both
    left_frame = pl.DataFrame({"seed": range(20), "x": [100 + h + draw.gauss(0, 1) for h in hard]})
    two = pl.DataFrame({"seed": range(20), "x": [98 + h + draw.gauss(0, 1) for h in hard]})
    comparison = paired(left_frame, two, ["seed"], "x")
    alone = half_width(left_frame["x"].std(), 20)  # type: ignore[arg-type]
    assert comparison.half < alone / 2 and comparison.p < 0.001 < comparison.effect


def test_a_ratio_of_means_has_the_interval_of_the_ratio_estimator():
    comparison = compare_pairs([(3.0, 1.0), (5.0, 2.0), (7.0, 3.0)])
    assert (comparison.ratio, comparison.minus_mean) == (2.5, 2.0)
    # The residuals of first - 2.5 * second are 0.5, 0 and -0.5, with a deviation of 0.5.
    assert comparison.ratio_ci95 == pytest.approx(4.302653 * 0.5 / math.sqrt(3) / 2, rel=1e-6)


def test_a_ratio_is_certain_where_one_is_a_multiple_of_the_other():
    comparison = compare_pairs([(2.0 * value, value) for value in (1.0, 5.0, 2.0)])
    assert (comparison.ratio, comparison.ratio_ci95) == (2.0, 0.0) and comparison.half > 1


def test_the_interval_of_a_ratio_covers_the_truth_as_often_as_it_says():
    draw, trials, covered = random.Random(2), 2000, 0
    for _ in range(trials):
        hard = [draw.gauss(10, 1) for _ in range(10)]
        comparison = compare_pairs([(1.2 * h + draw.gauss(0, 0.3), h) for h in hard])
        covered += abs(comparison.ratio - 1.2) <= comparison.ratio_ci95
    assert covered / trials == pytest.approx(0.95, abs=0.02)


def test_a_pair_without_a_number_does_not_count():
    comparison = compare_pairs([(1.0, 2.0), (math.nan, 3.0), (2.0, math.nan)])
    assert (comparison.runs, comparison.mean, comparison.ratio) == (1, -1.0, 0.5)
    assert compare_pairs([]).runs == 0


def test_nothing_is_a_multiple_of_zero():
    comparison = compare_pairs([(1.0, 0.0), (2.0, 0.0)])
    assert (
        comparison.mean == 1.5
        and math.isnan(comparison.ratio)
        and comparison.entry()["ratio"] is None
    )


def test_a_single_pair_has_no_interval():
    frame = pl.DataFrame({"seed": [1], "x": [3.0]})
    comparison = paired(frame, frame, ["seed"], "x")
    assert (
        math.isnan(comparison.half) and comparison.bound == 0 and comparison.entry()["half"] is None
    )


# Adding 0.0 makes -0.0 positive: no result of a run has that sign, and polars alone keeps it.
NUMBERS = st.floats(-1e9, 1e9).map(lambda number: number + 0.0)
VALUES = st.one_of(NUMBERS, st.integers(-(2**40), 2**40), st.just(math.nan))
ROWS = st.lists(
    st.fixed_dictionaries(
        {"cc": st.sampled_from(["a", "b"]), "x": VALUES, "n": st.integers(0, 9), "y": VALUES}
    ),
    min_size=1,
    max_size=60,
)


@ANY_TIME
@given(ROWS)
def test_means_are_those_of_a_frame_to_the_last_bit(rows):
    frame = metrics.summarise(rows_frame(rows), ["cc"], ["x", "n", "y"])
    means = metrics.means(uniform_rows(rows), ["cc"], ["x", "n", "y"])
    assert [list(row) for row in means] == [frame.columns] * frame.height
    assert str(means) == str(frame.to_dicts())  # as text, because NaN != NaN


def test_even_rows_have_the_columns_and_the_numbers_of_a_frame():
    rows = [{"a": 1, "b": "x", "c": True}, {"a": 0.5, "d": 2}, {"a": 3, "b": None}]
    assert str(uniform_rows(rows)) == str(rows_frame(rows).to_dicts())
