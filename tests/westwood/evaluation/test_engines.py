# SPDX-License-Identifier: BSD-3-Clause
"""An evaluation with another engine: what it refuses, and runs that fail."""

import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from westwood.engines import quic
from westwood.engines.contract import Engine, Job, RunSeed
from westwood.engines.simulator import SIMULATOR, prepare
from westwood.errors import InputError, RunError
from westwood.evaluation import answer, catalogue, text
from westwood.evaluation.answer import Answer
from westwood.evaluation.criterion import QUICK
from westwood.evaluation.draft import suite as draft
from westwood.evaluation.request import Request
from westwood.evaluation.running import Evaluation
from westwood.experiments.control import Control
from westwood.results.columns import Row
from westwood.results.folder import Folder

CONTROL, QUEUES = Control("vegas"), ("2 BDP", "4 BDP")
QUEUE_OF = {"133p": "2 BDP", "267p": "4 BDP"}  # of the criterion `queue`


def queue_of(job: Job) -> str:
    return QUEUE_OF[str(job.scenario.link[0].queue.limit)]


def engine(refuses: Sequence[str] = (), fails: Sequence[str] = ()) -> Engine:
    """Returns the simulator, which now refuses some points and fails at others."""

    def prepared(job: Job) -> RunSeed:
        if queue_of(job) in refuses:
            raise InputError("engine toy expects a shorter queue", key="path.queue.limit")
        run = prepare(job)

        def run_seed(seed: int) -> list[Row]:
            if queue_of(job) in fails:
                raise RunError(f"seed {seed}: this machine stalled")
            return run(seed)

        return run_seed

    return Engine("toy", prepared, SIMULATOR.simulate, title="toy 1.0")


def request(runs_it: Engine) -> Request:
    criteria, _ = catalogue.chosen(("queue",), QUICK)
    (queue,) = criteria["basics"]
    points = [replace(point, in_quick=True) for point in queue.points if point.name in QUEUES]
    few = replace(QUICK, runs=2)
    return Request([CONTROL], Control("cubic"), {"basics": [replace(queue, points=points)]}, [],
                   few, 1, runs_it)  # fmt: skip


def evaluated(
    asked: Request, folder: Path, *, resume: bool = False
) -> tuple[Evaluation, list[Answer]]:
    evaluation = Evaluation(asked, Folder(folder))
    with evaluation.opened(resume=resume):
        evaluation.run_all(1, lambda runs, total: runs)
        return evaluation, evaluation.answers(asked.controls[0])


@pytest.mark.parametrize("how", ["refuses", "fails"])
def test_a_point_without_runs_says_why_and_leaves_the_verdict_open(how, tmp_path):
    reasons = {"refuses": "expects a shorter queue", "fails": "this machine stalled"}
    evaluation, (reply,) = evaluated(request(engine(**{how: ["4 BDP"]})), tmp_path / "page")
    ran, did_not = reply.points
    assert ran.verdict == "meets" and ran.runs == 2
    assert did_not.runs == 0 and reasons[how] in did_not.why_not
    assert reply.verdict == "cannot tell"
    assert f"cannot tell (1 of 2 points: {did_not.why_not})" in text.markdown(
        {CONTROL: [reply]}, evaluation
    )


def test_a_failed_run_is_run_again_when_the_evaluation_continues(tmp_path):
    _, (first,) = evaluated(request(engine(fails=["4 BDP"])), tmp_path / "page")
    _, (again,) = evaluated(request(engine()), tmp_path / "page", resume=True)
    assert first.not_run and not again.not_run


def test_an_engine_that_can_run_no_point_gives_its_reason():
    evaluation = Evaluation(request(engine(refuses=QUEUES)), Folder(Path("page")))
    with pytest.raises(InputError, match="expects a shorter queue"):
        evaluation.check()


def first_points(only: tuple[str, ...], runs_it: Engine, seeds: int) -> Request:
    """Returns a request for the first point of each criterion, against CUBIC."""
    criteria, _ = catalogue.chosen(only, QUICK)
    few = [replace(row, points=row.chosen(QUICK)[:1]) for row in criteria["basics"]]
    return Request([CONTROL], Control("cubic"), {"basics": few}, [], replace(QUICK, runs=seeds),
                   1, runs_it)  # fmt: skip


def test_a_criterion_that_an_engine_cannot_trace_does_not_run_and_the_others_do(tmp_path):
    def prepared(job: Job) -> RunSeed:
        if job.needs_events:
            raise InputError("logs no events")
        return prepare(job)

    toy = Engine("toy", prepared, SIMULATOR.simulate, title="toy 1.0")
    for runs_it, missing in ((toy, {"bursts", "largest-burst"}), (SIMULATOR, set())):
        asked = first_points(("fills", "bursts", "largest-burst"), runs_it, 1)
        _, answers = evaluated(asked, tmp_path / runs_it.name)
        assert {answer.criterion for answer in answers if answer.not_run} == missing
        assert bool(list(text.bursts(answers))) != bool(missing)


@pytest.mark.parametrize("control", ["cubic", "bbr"])
def test_a_control_that_lacks_a_points_setting_does_not_run_there(control, tmp_path):
    criteria, _ = catalogue.chosen(("start-early",), QUICK)
    asked = Request([Control(control)], Control("cubic"), criteria, [], replace(QUICK, runs=1),
                    1, SIMULATOR)  # fmt: skip
    _, (reply,) = evaluated(asked, tmp_path / "page")
    unable = [point for point in reply.points if "slow_start" in point.why_not]
    assert len(unable) == (len(reply.points) if control == "bbr" else 0)
    assert bool(reply.not_run) == (control == "bbr")


def test_a_second_engine_judges_where_a_verdict_of_sharing_was_decided(tmp_path):
    limits: list[object] = []

    def prepared(job: Job) -> RunSeed:
        reno = job.scenario.with_settings({f"{flow.name}.cc": "reno" for flow in job.scenario.flow})
        run = prepare(replace(job, scenario=reno))

        def run_seed(seed: int) -> list[Row]:
            limits.append(job.scenario.link[0].queue.limit)
            return run(seed)

        return run_seed

    toy = Engine("toy", prepared, SIMULATOR.simulate, title="toy 1.0")
    criteria, _ = catalogue.chosen(("harm-cubic", "loss"), QUICK)
    few = replace(QUICK, runs=2)
    asked = Request([CONTROL], Control("bbr"), criteria, [], few, 1, also=toy)
    for resumes, simulated in ((False, 6), (True, 0)):
        evaluation, (harm, loss) = evaluated(asked, tmp_path / "page", resume=resumes)
        second = harm.elsewhere
        assert second and harm.worst and second.name == harm.worst.name and not loss.elsewhere
        assert second.judged == 1 != harm.worst.judged and second.verdict == "meets"
        assert "; toy 1.0 meets: 1 (95 %: 1 to 1)" in text.markdown({CONTROL: [harm]}, evaluation)
        assert len(limits) == simulated and len(set(limits)) <= 1
        limits.clear()


def test_the_second_reference_is_paced_cubic_which_leaves_cubic_less(tmp_path):
    _, (reply,) = evaluated(first_points(("harm-cubic",), SIMULATOR, 3), tmp_path / "page")
    (point,) = reply.points
    assert point.name == "0.05 BDP" and point.paced > 1.3 * point.judged


def test_an_engine_with_a_profile_of_its_own_runs_that():
    of_ns3 = replace(engine(), profile="ns3-3.44")
    evaluation = Evaluation(request(of_ns3), Folder(Path("page")))
    scenario = evaluation.scenario_at("queue", "4 BDP", CONTROL)
    assert scenario is not None and scenario.profile == "ns3-3.44"


def test_a_part_of_the_simulator_only_is_reported():
    reply = answer.not_run(draft.PART, "startup-plateau")
    assert reply.verdict == "not run" and "runs on sim, " in reply.note


def test_the_page_names_the_versions_that_are_built():
    file = Path(__file__).parents[3] / "quic" / "stacks" / "Cargo.toml"
    pinned = tomllib.loads(file.read_text(encoding="utf-8"))["dependencies"]
    for stack, title in quic.TITLES.items():
        name, version = title.split()
        assert name.startswith(stack) and pinned[name]["version"] == f"={version}"
