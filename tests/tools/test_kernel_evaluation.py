# SPDX-License-Identifier: BSD-3-Clause
"""The simulator's part of the ten scenarios in docs/kernel-comparison.md is of today."""

from __future__ import annotations

import pytest

from tools import kernel_evaluation
from tools.kernel_evaluation import CHOICES, SEEDS, Choice
from westwood.engines.contract import Job
from westwood.engines.listed_losses import listing
from westwood.engines.simulator import SIMULATOR

STORED = kernel_evaluation.PAGE.read()
CURE = "run: python -m tools.kernel_evaluation"


def test_the_page_agrees_with_its_file() -> None:
    assert kernel_evaluation.PAGE.is_written(STORED), CURE


@pytest.mark.parametrize("choice", CHOICES, ids=lambda one: one.criterion)
def test_the_simulators_first_run_is_that_of_the_page(choice: Choice) -> None:
    run = listing(SIMULATOR).prepare(Job(choice.scenario(choice.controls[0]), SEEDS[:1]))
    stored = STORED[choice.criterion][choice.controls[0]]["simulator"][0]
    assert choice.measure(run(SEEDS[0])) == pytest.approx(stored, rel=1e-5), CURE
