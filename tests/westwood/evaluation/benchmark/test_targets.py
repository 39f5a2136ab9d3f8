# SPDX-License-Identifier: BSD-3-Clause
"""Targets of a control: figures of invented runs, verdicts, and results of known controls."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from westwood import Scenario, simulate
from westwood.evaluation import catalogue
from westwood.evaluation.answer import Answer
from westwood.evaluation.benchmark.cases import BBR, CUBIC, Case
from westwood.evaluation.benchmark.targets import (
    CaseRuns,
    Target,
    fairness,
    kept,
    own_share,
    ratio,
)
from westwood.evaluation.criterion import USUAL
from westwood.evaluation.paths import SECTIONS, TARGETS
from westwood.evaluation.request import Request
from westwood.evaluation.running import Evaluation
from westwood.experiments.control import control
from westwood.results.folder import Folder
from westwood.scenario import fragments

BESIDE = next(SECTIONS["beside"].cases(5, 10))


def flow(name: str, mbps: float, **more: Any) -> dict[str, Any]:
    defaults = {"cc": "cubic", "mean_queue": 1.0, "queue_drops": 0, "lost": 0, "sent": 100}
    return {"flow": name, "goodput_bps": mbps * 1e6, **defaults, **more}


def ran(
    judged_rows: list[dict[str, Any]],
    cubic: list[dict[str, Any]],
    case: Case = BESIDE,
    **others: Any,
) -> CaseRuns:
    return CaseRuns(
        case, [judged_rows], {"cubic": [cubic], **{key: [rows] for key, rows in others.items()}}
    )


def target(name: str) -> Target:
    return next(target for target in TARGETS if target.name == name)


def test_goodput_is_compared_with_cubics_path_by_path():
    seen = [ran([flow("tcp", mbps)], [flow("tcp", 10)]) for mbps in (9, 12, 5, 10)]
    figure = target("clean-median").of(seen)
    assert figure.estimate.value == pytest.approx(0.95)
    assert [value for value, _ in figure.worst] == pytest.approx([0.5, 0.9, 1.0])


def test_loss_binds_where_bbr_has_twice_what_cubic_has():
    seen = [
        ran([flow("tcp", 6)], [flow("tcp", cubic)], bbr=[flow("tcp", 10)]) for cubic in (4, 6, 5)
    ]
    figure = target("loss-binds").of(seen)
    assert (figure.estimate.value, figure.note) == (pytest.approx(0.6), "2 of 3 paths")
    assert target("loss-share").of(seen).estimate.value == pytest.approx(2 / 3)


def test_cubic_keeps_the_goodput_of_its_competing_flows():
    theirs = [flow("tcp", 5), flow("beside-1", 2), flow("beside-2", 3)]
    ours = [flow("tcp", 6), flow("beside-1", 1), flow("beside-2", 3)]
    assert kept([ran(ours, theirs)]) == pytest.approx(0.8), "4 of 5 Mb/s"
    assert own_share([ran(ours, theirs)]) == pytest.approx(1.8)


def test_a_fast_path_does_not_outvote_a_slow_one():
    """CUBIC keeps all of its tenth of a fast link, and half of its half of a slow one."""
    slow, fast = BESIDE.environment.rate_bps, 100 * BESIDE.environment.rate_bps
    paths = [
        ran([flow("beside-1", keeps * rate / 1e6)], [flow("beside-1", had * rate / 1e6)], case)
        for rate, keeps, had in ((slow, 0.25, 0.5), (fast, 0.1, 0.1))
        for case in [replace(BESIDE, environment=replace(BESIDE.environment, rate_bps=rate))]
    ]
    assert kept(paths) == pytest.approx((0.25 + 0.1) / (0.5 + 0.1))


def test_flows_that_starve_are_not_fair():
    assert fairness([flow("tcp-1", 0), flow("tcp-2", 0)]) == 0
    assert fairness([flow("tcp-1", 1), flow("tcp-2", 1)]) == pytest.approx(1)
    assert (ratio(0, 0), ratio(1, 0), ratio(1, 4)) == (1, math.inf, 0.25)
    assert math.isnan(ratio(math.nan, 1)) and math.isnan(ratio(1, math.nan))


def test_a_path_without_transfers_does_not_count():
    case = next(SECTIONS["short"].cases(5, 10))
    times = (0.2, math.nan, 0.3)
    seen = [
        ran(
            [flow("short", 1, completion_p50_s=time)],
            [flow("short", 1, completion_p50_s=0.2)],
            case,
        )
        for time in times
    ]
    figure = target("short-p50").of(seen)
    assert figure.estimate.value == pytest.approx(1.25) and figure.note == "2 of 3 paths"


def test_rows_are_chosen_by_name_or_section():
    assert {target.section for target in TARGETS} == set(SECTIONS)
    of_losses = "loss-median loss-tenth loss-binds loss-share"
    assert [target.name for target in chosen("loss")] == of_losses.split()
    assert [target.name for target in chosen("mixed", "clean-tenth")] == ["clean-tenth", "mixed"]


def chosen(*names: str) -> list[Any]:
    criteria, _ = catalogue.chosen(names, USUAL, ["benchmark"])
    return list(criteria["benchmark"])


def judged(folder: Path, cc: str, *rows: str) -> dict[str, Answer]:
    effort = replace(USUAL, paths=4)
    request = Request([control(cc)], CUBIC, {"benchmark": chosen(*rows)}, [], effort, 103)
    evaluation = Evaluation(request, Folder(folder))
    with evaluation.opened(resume=False):
        evaluation.run_all(None, lambda runs, total: runs)
        return {reply.criterion: reply for reply in evaluation.answers(control(cc))}


def test_cubic_and_bbr_are_as_good_as_themselves(tmp_path):
    of_cubic = judged(tmp_path / "cubic", "cubic", "clean").values()
    assert {reply.points[0].judged for reply in of_cubic} == {1}
    assert judged(tmp_path / "bbr", "bbr", "loss-median")["loss-median"].points[0].judged == 1


def test_a_row_names_its_worst_paths_in_order(tmp_path):
    reply = judged(tmp_path, "reno", "alone-median")["alone-median"]
    kept = Answer.of(reply.entry())
    assert len(kept.scenarios) == 3 and kept.scenarios == reply.scenarios
    for scenario in kept.scenarios:
        assert fragments.of_scenario(Scenario(**scenario)).startswith("#t=")


def test_bbr_starves_cubic_in_a_shallow_queue():
    cases = [case for case in SECTIONS["beside"].cases(103, 4) if case.cell == "4+4, 0.25 BDP"][:2]
    runs = [
        ran(*(simulate(case.scenario(cc), case.environment.seed).flow_rows for cc in (BBR, CUBIC)))
        for case in cases
    ]
    assert kept(runs) < 0.2
