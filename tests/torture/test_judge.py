# SPDX-License-Identifier: BSD-3-Clause
"""The judge works with other rows, seeds and controls each round; its intervals have coverage."""

from typing import Any

from westwood.control.catalogue import PROTOCOLS
from westwood.evaluation.benchmark import judging
from westwood.evaluation.benchmark.judging import SECTIONS, TARGETS, JudgePlan
from westwood.experiments.control import control
from westwood.results.intervals import quantile


def test_a_row_alone_is_the_row_of_the_table_whatever_else_runs(attack):
    quick = ["clean", "point"]
    for choices in attack.rounds():
        seed = choices.randrange(1, 2**63)
        judged = control(choices.choice(list(PROTOCOLS)))
        section = choices.choice(quick if attack.is_short else list(SECTIONS))
        row = choices.choice([target.name for target in TARGETS if target.section == section])
        other = control(choices.choice(list(PROTOCOLS)))

        def found(rows: list[str], *controls: Any, workers: int) -> Any:
            plan = JudgePlan(judging.targets(rows), seed=seed, paths=4)  # noqa: B023
            ran = judging.run(plan, controls, track=lambda runs, total: runs, workers=workers)
            (one,) = (v for v in ran.verdicts(judged) if v.target.name == row)  # noqa: B023
            return one

        alone, both = (
            found([row], judged, workers=1),
            found([section], other, judged, workers=4),
        )
        assert alone == both
        estimate = alone.figure.estimate
        assert not estimate.value < estimate.low and not estimate.value > estimate.high


def test_the_interval_of_a_quantile_holds_it_at_least_19_times_in_20(attack):
    held = total = 0
    for choices in attack.rounds():
        share = choices.choice([0.1, 0.5, 0.9])
        n = choices.randint(10, 400)
        found = quantile([choices.random() for _ in range(n)], share)
        held += found.low <= share <= found.high
        total += 1
    assert held >= 0.93 * total - 5, (held, total)
