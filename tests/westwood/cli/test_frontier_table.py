# SPDX-License-Identifier: BSD-3-Clause
"""Tables of the benchmark have a heading, a rule, rows, and a legend where it is needed."""

import pytest

from westwood.cli.control_benchmark import _frontier_table, _table
from westwood.evaluation.benchmark import judging
from westwood.evaluation.benchmark.judging import JudgePlan, TargetVerdict
from westwood.evaluation.benchmark.targets import Statistic
from westwood.experiments.control import Control
from westwood.results.intervals import Estimate


def test_a_control_has_its_figures_in_columns_and_its_settings_below():
    plan = JudgePlan(judging.targets(list(judging.FRONTIER)), seed=3, paths=40)
    figures = (Estimate(0.9, 0.8, 0.95), Estimate(1.2, 1.1, 1.3))
    verdicts = [
        TargetVerdict(target, Statistic(figure), "")
        for target, figure in zip(plan.targets, figures, strict=True)
    ]
    found = {Control("cubic"): verdicts, Control("vegas", {"vegas_beta": 4}): verdicts}
    first, *says, blank, head, rule, cubic, vegas, changed = _frontier_table(plan, found)
    assert first == "40 paths, seed 3:" and len(says) == 2 and blank == ""
    assert head.split()[0] == plan.targets[0].name and head.count("95 % interval") == 2
    assert set(rule) == {"-", " "} and len(rule) == max(len(cubic), len(head), len(vegas))
    assert cubic.startswith("CUBIC") and "0.9" in cubic and "1.2" in cubic
    assert cubic.removeprefix("CUBIC").strip() == vegas.removeprefix("Vegas").strip()
    assert changed == "  vegas_beta = 4"


@pytest.mark.parametrize(("low", "is_told"), [(0.2, True), (0.98, False)])
def test_an_interval_that_has_the_target_in_it_is_explained(low, is_told):
    """CUBIC keeps at least 0.9 or so; a row without a bound needs no legend."""
    bound, free = (
        next(
            one for one in judging.targets() if (one.bound == one.bound) is has and not one.at_most
        )
        for has in (True, False)
    )
    plan = JudgePlan([bound, free])
    figures = (Estimate(bound.bound * 1.05, bound.bound * (low + 0.05), 9.0), Estimate(1, 0, 2))
    verdicts = [
        TargetVerdict(target, Statistic(figure), "")
        for target, figure in zip(plan.targets, figures, strict=True)
    ]
    lines = list(_table(Control("cubic"), plan, verdicts))
    assert ("?: the interval has the target in it." in lines) is is_told
