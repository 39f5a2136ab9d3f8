# SPDX-License-Identifier: BSD-3-Clause
"""How runs become values with intervals, and values become verdicts."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from westwood.evaluation import answer
from westwood.evaluation.answer import Answer, Sides
from westwood.evaluation.criterion import Criterion, Point, Runs, Threshold
from westwood.results.intervals import Estimate

POINT = Point("here", lambda control: {})
AT_LEAST_ONE = Criterion(
    "row", "says", "source", [POINT], lambda runs: runs["run"][0]["x"], Threshold(1.0, "ours")
)


def runs(*values: float) -> list[Runs]:
    return [{"run": [{"x": value}]} for value in values]


def answered(
    criterion: Criterion, judged: Sequence[float], others: Sequence[float] = (0.0, 0.0, 0.0)
) -> Answer:
    return answer.of_runs(criterion, "part", {"here": Sides(runs(*judged), runs(*others))})


@pytest.mark.parametrize(
    ("estimate", "verdict"),
    [
        (Estimate(1.2, 1.1, 1.3), "meets"),
        (Estimate(1.1, 1.0, 1.3), "meets"),
        (Estimate(0.8, 0.7, 0.9), "fails"),
        (Estimate(1.1, 0.9, 1.3), "cannot tell"),
        (Estimate(0.9, -math.inf, 0.99), "fails"),
        (Estimate(1.1, -math.inf, 1.2), "cannot tell"),
        (Estimate(math.nan, -math.inf, math.inf), "cannot tell"),
    ],
)
def test_an_interval_on_one_side_of_the_threshold_decides(estimate, verdict):
    assert answer.verdict_of(estimate, Threshold(1.0, "ours")) == verdict


def test_a_mean_has_students_interval():
    """Three values with a deviation of 1: t for two degrees of freedom is 4.303."""
    mean = answer.mean_of([1.0, 2.0, 3.0])
    assert mean.value == 2.0
    assert mean.high - mean.value == pytest.approx(4.303 / math.sqrt(3), rel=1e-3)


def test_a_difference_is_paired_by_seed():
    """Both vary by 10 over the seeds, their difference by nothing."""
    criterion = replace(AT_LEAST_ONE, compare="difference")
    (point,) = answered(criterion, (12.0, 22.0, 32.0), (10.0, 20.0, 30.0)).points
    assert (point.judged, point.low, point.high, point.verdict) == (2.0, 2.0, 2.0, "meets")


def test_a_ratio_has_a_geometric_mean_and_an_interval_above_zero():
    """The arithmetic mean is 3.7, and its interval goes from -9.9 to 17.3."""
    criterion = replace(AT_LEAST_ONE, compare="ratio")
    (point,) = answered(criterion, (0.1, 10.0, 1.0), (1.0, 1.0, 1.0)).points
    assert point.judged == pytest.approx(1.0)
    assert 0 < point.low < 1 < point.high
    assert point.low * point.high == pytest.approx(1.0)


def test_a_ratio_of_nothing_fails_for_sure():
    criterion = replace(AT_LEAST_ONE, compare="ratio")
    (point,) = answered(criterion, (0.0, 1.0, 1.0), (1.0, 1.0, 1.0)).points
    assert (point.judged, point.low, point.high, point.verdict) == (0.0, 0.0, 0.0, "fails")


@pytest.mark.parametrize("ratio", [0.1, 10.0])
def test_either_way_takes_the_larger_of_a_ratio_and_its_inverse(ratio):
    at_most = Threshold(8.0, "RFC", at_most=True)
    criterion = replace(AT_LEAST_ONE, threshold=at_most, compare="either way")
    (point,) = answered(criterion, (ratio, ratio, ratio)).points
    assert point.judged == pytest.approx(10.0)
    assert point.verdict == "fails"


KEEPS = replace(AT_LEAST_ONE, threshold=Threshold(0.8, "ours"), compare="kept")


def test_a_control_that_takes_everything_fails_where_the_reference_takes_almost_everything():
    assert answered(KEEPS, (1.0, 1.0, 1.0), (0.93, 0.93, 0.93)).verdict == "fails"
    assert answered(KEEPS, (0.93, 0.93, 0.93), (0.93, 0.93, 0.93)).verdict == "meets"


def test_what_is_kept_is_compared_with_a_second_reference_that_decides_nothing():
    sides = Sides(runs(0.5, 0.5), runs(0.9, 0.9), runs(0.2, 0.2))
    (point,) = answer.of_runs(KEEPS, "part", {"here": sides}).points
    assert point.judged == pytest.approx(5.0) and point.verdict == "meets"
    assert point.paced == pytest.approx(0.5 / 0.8)
    assert math.isnan(answered(KEEPS, (0.5, 0.5), (0.9, 0.9)).points[0].paced)


def test_the_worst_run_counts_where_a_criterion_says_so():
    at_most = Threshold(5.0, "draft", at_most=True)
    criterion = replace(AT_LEAST_ONE, threshold=at_most, is_worst=True)
    assert answered(criterion, (4.0, 4.9, 4.0)).verdict == "meets"
    assert answered(criterion, (4.0, 5.1, 4.0)).verdict == "fails"


def test_a_transfer_that_never_ends_fails():
    at_most = Threshold(5.0, "draft", at_most=True)
    for is_worst in (True, False):
        criterion = replace(AT_LEAST_ONE, threshold=at_most, is_worst=is_worst)
        assert answered(criterion, (4.0, math.inf, 4.0)).verdict == "fails"


def test_the_worst_point_decides():
    near, far, others = runs(2, 2, 2), runs(0.5, 0.5, 0.5), runs(0, 0, 0)
    sides_of = {"near": Sides(near, others), "far": Sides(far, others)}
    reply = answer.of_runs(AT_LEAST_ONE, "part", sides_of)
    assert reply.verdict == "fails"
    assert reply.worst is not None
    assert reply.worst.name == "far"


def test_a_line_has_the_worst_of_its_criteria():
    good = answered(replace(AT_LEAST_ONE, name="good", question="safe"), (2.0, 2.0, 2.0))
    bad = answered(replace(AT_LEAST_ONE, name="bad", question="safe"), (0.0, 0.0, 0.0))
    lines = answer.lines([good, bad])
    assert lines["safe"] == bad
    assert lines["short"] is None


def test_json_keeps_an_answer():
    reply = answered(AT_LEAST_ONE, (2.0, 2.5, 3.0))
    assert Answer.of(reply.entry()) == reply
    in_page = {key: value for key, value in reply.entry().items() if key != "scenarios"}
    assert Answer.of(in_page) == reply, "answers.json has the scenarios as files of their own"


@pytest.mark.parametrize(
    ("values", "scatter"),
    [
        ([1.0, 2.0, 3.0], 0.5),
        ([-1.0, -2.0, -3.0], 0.5),
        ([2.0], math.nan),
        ([-1.0, 1.0], math.nan),
        ([1.0, math.inf], math.nan),
    ],
)
def test_scatter_is_the_deviation_over_the_mean(values, scatter):
    (point,) = answered(AT_LEAST_ONE, values).points
    assert point.scatter == pytest.approx(scatter, nan_ok=True)
