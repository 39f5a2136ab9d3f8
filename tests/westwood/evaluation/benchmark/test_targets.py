# SPDX-License-Identifier: BSD-3-Clause
"""Targets of a control: figures of invented runs, verdicts, and results of known controls."""

import dataclasses
import math
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from westwood import simulate
from westwood.errors import InputError
from westwood.evaluation.benchmark import judging
from westwood.evaluation.benchmark.cases import BBR, CUBIC, Case
from westwood.evaluation.benchmark.judging import SECTIONS, TARGETS, JudgePlan, TargetVerdict
from westwood.evaluation.benchmark.targets import (
    CaseRuns,
    Statistic,
    Target,
    fairness,
    kept,
    own_share,
    ratio,
)
from westwood.experiments.control import control
from westwood.results.intervals import Estimate

BESIDE = next(SECTIONS["beside"].cases(5, 10))


def flow(name: str, mbps: float, **more: Any) -> dict[str, Any]:
    defaults = {"cc": "cubic", "mean_queue": 1.0, "queue_drops": 0, "lost": 0, "sent": 100}
    return {"flow": name, "goodput_bps": mbps * 1e6, **defaults, **more}


def ran(
    own: list[dict[str, Any]], cubic: list[dict[str, Any]], case: Case = BESIDE, **others: Any
) -> CaseRuns:
    return CaseRuns(
        case, [own], {"cubic": [cubic], **{key: [rows] for key, rows in others.items()}}
    )


def target(name: str) -> Target:
    return next(one for one in TARGETS if one.name == name)


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
        for case in [
            dataclasses.replace(
                BESIDE, environment=dataclasses.replace(BESIDE.environment, rate_bps=rate)
            )
        ]
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


@pytest.mark.parametrize(
    ("value", "low", "high", "reached", "is_certain"),
    [
        (0.99, 0.98, 1.0, True, True),
        (0.99, 0.97, 1.0, True, False),
        (0.5, 0.4, 0.6, False, True),
        (0.9, -math.inf, 0.99, False, False),
        (math.nan, -math.inf, math.inf, None, False),
    ],
)
def test_a_verdict_is_certain_if_the_interval_is_on_one_side(value, low, high, reached, is_certain):
    verdict = TargetVerdict(target("clean-median"), Statistic(Estimate(value, low, high)), "")
    assert (verdict.reached, verdict.is_certain) == (reached, is_certain)


def test_rows_are_named_once_and_chosen_by_name_or_part():
    assert len({one.name for one in TARGETS}) == len(TARGETS)
    assert {target.section for target in TARGETS} == set(SECTIONS)
    assert {one.name for one in judging.targets(["loss"])} == {
        "loss-median",
        "loss-tenth",
        "loss-binds",
        "loss-share",
    }
    assert [one.name for one in judging.targets(["mixed", "clean-tenth"])] == [
        "clean-tenth",
        "mixed",
    ]
    with pytest.raises(InputError, match="unknown row"):
        judging.targets(["nonsense"])


def judged(cc: str, *rows: str) -> dict[str, TargetVerdict]:
    one = control(cc)
    plan = JudgePlan(judging.targets(rows), seed=103, paths=4)
    found = judging.run(plan, [one], track=lambda runs, total: runs).verdicts(one)
    return {verdict.target.name: verdict for verdict in found}


def test_cubic_and_bbr_are_as_good_as_themselves():
    assert {one.figure.estimate.value for one in judged("cubic", "clean").values()} == {1}
    assert judged("bbr", "loss-median")["loss-median"].figure.estimate.value == 1


def test_the_rows_do_not_depend_on_which_run_ends_first():
    plan = JudgePlan(judging.targets(["clean-median"]), seed=103, paths=2)
    costs = ("cpu_s", "wall_s")

    def rows(track: Any) -> list[dict[str, Any]]:
        found = judging.run(plan, [control("reno")], track=track).flat()
        return [{key: one[key] for key in one if key not in costs} for one in found]

    in_order = rows(lambda runs, total: sorted(runs, key=lambda run: run[0]))
    reversed_order = rows(lambda runs, total: sorted(runs, key=lambda run: run[0], reverse=True))
    assert repr(in_order) == repr(reversed_order)


def test_bbr_starves_cubic_in_a_shallow_queue():
    cases = [one for one in SECTIONS["beside"].cases(103, 4) if one.cell == "4+4, 0.25 BDP"][:2]
    runs = [
        ran(*(simulate(case.scenario(cc), case.environment.seed).flow_rows for cc in (BBR, CUBIC)))
        for case in cases
    ]
    assert kept(runs) < 0.2


@pytest.mark.parametrize(("asked", "used"), [(None, 3), (2, 2)])
def test_the_engine_has_its_number_of_workers_unless_another_is_asked_for(monkeypatch, asked, used):
    counts = []

    def run_jobs(jobs: Any, prepare: Any, *, workers: int, engine: str) -> Iterator[Any]:
        counts.append(workers)
        yield from ()

    monkeypatch.setattr(judging, "run_jobs", run_jobs)
    engine: Any = SimpleNamespace(name="sim", workers=3, prepare=None, check=lambda jobs: None)
    plan: Any = SimpleNamespace(cases=[])
    judging.run(plan, [], track=lambda done, total: done, engine=engine, workers=asked)
    assert counts == [used]
