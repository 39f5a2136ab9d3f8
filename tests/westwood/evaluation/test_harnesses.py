# SPDX-License-Identifier: BSD-3-Clause
"""Answers of other commands' harnesses name the worst scenario, which the laboratory opens."""

from westwood.evaluation import harnesses
from westwood.evaluation.answer import Answer
from westwood.evaluation.benchmark import judging
from westwood.evaluation.benchmark.judging import JudgePlan
from westwood.experiments.control import Control
from westwood.scenario import Scenario, fragments


def test_a_target_names_its_worst_path():
    control = Control("reno")
    plan = JudgePlan(judging.targets(["alone-median"]), paths=4)
    judged = judging.run(plan, [control], track=lambda runs, total: runs, workers=1)
    (verdict,) = judged.verdicts(control)
    kept = Answer.of(harnesses._of_target(verdict, control, 4).entry())
    assert kept.scenario is not None
    _, worst = verdict.figure.worst[0]
    assert Scenario(**kept.scenario) == worst.scenario(control)
    assert fragments.of_scenario(Scenario(**kept.scenario)).startswith("#t=")
