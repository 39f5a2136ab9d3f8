# SPDX-License-Identifier: BSD-3-Clause
"""Declares the parts that other commands run: the population of paths, and BBRv3's cases."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from westwood.conform import catalogue as cases
from westwood.conform import judging as conforming
from westwood.conform.judging import Judgement
from westwood.evaluation.answer import Answer, At
from westwood.evaluation.criterion import Effort, Part
from westwood.judge import judging
from westwood.judge.judging import JudgePlan, TargetVerdict
from westwood.judge.targets import Target
from westwood.judge.wide import SECTIONS
from westwood.results.verdicts import Verdict
from westwood.scenario import fragments
from westwood.study.control import Control

_POPULATION, _CONFORM = "population", "conform"
_OF_CUBIC = "shared-self"  # the row that shows the benchmark's own noise
# Where a control's settings were chosen: its verdict there is no evidence.
TUNED: Mapping[str, str] = {
    "westwood-cubic": "its settings were chosen on seeds 201 and 211 of this population, before "
    "anybody saw seed 1 (docs/westwood-cubic.md).",
}


def _targets() -> list[Target]:
    wide = {one.name for one in SECTIONS}
    of_control = [one for one in judging.targets() if one.name != _OF_CUBIC]
    return [one for one in of_control if one.section in wide and not math.isnan(one.bound)]


def population(
    control: Control, effort: Effort, seed: int, workers: int | None
) -> Iterator[Mapping[str, Any]]:
    """Yields an answer for each target on the paths that nobody tunes on."""
    plan = JudgePlan(_targets(), seed, effort.paths)
    judged = judging.run(plan, [control], track=lambda runs, total: runs, workers=workers)
    for verdict in judged.verdicts(control):
        yield _of_target(verdict, control, effort.paths).entry()


def _of_target(found: TargetVerdict, control: Control, paths: int) -> Answer:
    estimate, target = found.figure.estimate, found.target
    verdict = Verdict.CANNOT_TELL
    if found.reached is not None and found.is_certain:
        verdict = Verdict.of(not found.reached)
    at = At(
        found.figure.note or "all paths",
        estimate.value,
        math.nan,
        math.nan,
        estimate.value,
        estimate.low,
        estimate.high,
        verdict,
        paths,
    )
    return Answer(
        f"path-{target.name}",
        _POPULATION,
        "",
        f"{target.section}: {target.says}",
        "the benchmark's population of paths (docs/control-reference.md)",
        "",
        "value",
        "paths",
        target.bound,
        target.at_most,
        "westwood/search/bounds.py, written before any search on these paths",
        (at,),
        command=found.command,
        tuned="" if control.settings else TUNED.get(control.cc, ""),
        scenario=next(
            (fragments.plain(case.scenario(control)) for _, case in found.figure.worst), None
        ),
        statistic="",  # the target says it
    )


def conform(
    control: Control, effort: Effort, seed: int, workers: int | None
) -> Iterator[Mapping[str, Any]]:
    """Yields one answer, whose points are the cases of BBRv3's draft."""
    subject = conforming.control(control.cc, control.settings)
    ran = conforming.run_all(list(cases.CASES.values()), [subject], workers)
    yield _of_cases([one for _, one in ran], control).entry()


def _of_cases(judgements: Sequence[Judgement], control: Control) -> Answer:
    words: Mapping[str, Verdict] = {"pass": Verdict.MEETS, "FAIL": Verdict.FAILS}
    lacking = next((one.lacks for one in judgements if one.lacks), "")
    points = tuple(_at(one, words[one.verdict]) for one in judgements if one.verdict in words)
    note = f"It lacks what the cases look at: {lacking}." if lacking else ""
    return Answer(
        _CONFORM,
        _CONFORM,
        "",
        "The 22 test cases of BBRv3's draft",
        cases.DRAFT,
        "",
        "value",
        "case",
        None,
        False,
        "",
        () if lacking else points,
        note,
        f"westwood conform {control.cc}",
        scenario=None if lacking else _first_scenario(judgements),
    )


def _first_scenario(judgements: Sequence[Judgement]) -> Mapping[str, Any] | None:
    """Returns the scenario of the first case that fails; if none does, of the first one."""
    ran = sorted(judgements, key=lambda one: one.verdict != "FAIL")
    return next((fragments.plain(one.scenario) for one in ran if one.scenario), None)


def _at(one: Judgement, verdict: Verdict) -> At:
    nan = math.nan
    return At(one.case.title, nan, nan, nan, nan, nan, nan, verdict, 1)


def not_run(part: Part) -> Answer:
    """Returns the answer of such a part with another engine than the simulator."""
    return Answer(
        part.name,
        part.name,
        "",
        part.title,
        part.source,
        "",
        "value",
        "",
        None,
        False,
        "",
        (),
        "Not run: this part uses the simulator only.",
    )


POPULATION = Part(
    _POPULATION,
    "The population of paths",
    "behind control tune, benchmark and stress",
    harness=population,
    names=tuple(f"path-{one.name}" for one in _targets()),
    in_quick=False,
)
CONFORM = Part(_CONFORM, "BBRv3's cases", cases.DRAFT, harness=conform, in_quick=False)
