# SPDX-License-Identifier: BSD-3-Clause
"""Means, intervals and fairness are what the textbooks say."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from westwood import metrics

# Student's t, two-sided, from printed tables: degrees of freedom, level, quantile.
TABLE = [
    (1, 0.95, 12.706), (2, 0.95, 4.303), (3, 0.95, 3.182), (4, 0.95, 2.776), (9, 0.95, 2.262),
    (10, 0.95, 2.228), (29, 0.95, 2.045), (30, 0.95, 2.042), (60, 0.95, 2.000),
    (120, 0.95, 1.980), (100_000, 0.95, 1.960),
    (1, 0.99, 63.657), (5, 0.99, 4.032), (29, 0.99, 2.756), (5, 0.90, 2.015),
]  # fmt: skip


@pytest.mark.parametrize(("dof", "level", "quantile"), TABLE)
def test_t_quantiles(dof: int, level: float, quantile: float) -> None:
    assert metrics.t_quantile(dof, level) == pytest.approx(quantile, abs=5.1e-4)


@pytest.mark.parametrize("dof", [1, 2, 3, 10, 11, 500])
def test_probability_and_quantile_are_inverse(dof: int) -> None:
    assert metrics.t_probability(metrics.t_quantile(dof), dof) == pytest.approx(0.95, abs=1e-10)


def test_the_expansion_for_many_degrees_continues_the_exact_sum() -> None:
    assert metrics.t_probability(metrics.t_quantile(1001), 1001) == pytest.approx(0.95, abs=1e-9)


def test_95_of_100_intervals_cover_the_mean() -> None:
    """4000 experiments of 5 normal samples: coverage within 4 standard errors of 95 %."""
    experiments = 4000
    samples = np.random.default_rng(1).normal(3.0, 2.0, (experiments, 5))
    frame = pl.DataFrame({"experiment": np.repeat(np.arange(experiments), 5),
                          "value": samples.ravel()})  # fmt: skip
    summary = metrics.summarise(frame, ["experiment"], ["value"])
    covered = ((summary["value"] - 3.0).abs() <= summary["value_half"]).mean()
    assert covered == pytest.approx(0.95, abs=4 * math.sqrt(0.95 * 0.05 / experiments))


def test_a_summary_keeps_order_and_ignores_runs_without_a_value() -> None:
    rows = pl.DataFrame(
        {"cc": ["b", "b", "a", "a", "a"], "x": [1.0, 3.0, 5.0, math.nan, 5.0], "n": [1, 2, 3, 4, 5]}
    )
    summary = metrics.summarise(rows, ["cc"], ["x", "n"])
    assert summary["cc"].to_list() == ["b", "a"]
    assert summary["runs"].to_list() == [2, 3]
    assert summary["x"].to_list() == [2.0, 5.0]
    assert summary["x_half"].to_list() == pytest.approx([12.706 * math.sqrt(2) / math.sqrt(2), 0.0],
                                                        abs=1e-3)  # fmt: skip


def test_one_run_has_no_interval() -> None:
    summary = metrics.summarise(pl.DataFrame({"cc": ["a"], "x": [1.0]}), ["cc"], ["x"])
    assert math.isnan(summary["x_half"][0])


def test_jain() -> None:
    assert metrics.jain([5.0]) == 1
    assert metrics.jain([2.0, 2.0, 2.0]) == pytest.approx(1)
    assert metrics.jain([1.0, 0.0, 0.0, 0.0]) == pytest.approx(1 / 4)
    assert math.isnan(metrics.jain([0.0, 0.0]))
