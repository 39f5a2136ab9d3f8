# SPDX-License-Identifier: BSD-3-Clause
"""Declares the part of the population of paths, which the benchmark has its rows for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from westwood.evaluation.answer import Answer, At
from westwood.evaluation.benchmark import judging
from westwood.evaluation.benchmark.judging import JudgePlan, TargetVerdict
from westwood.evaluation.benchmark.targets import Target
from westwood.evaluation.benchmark.wide import SECTIONS
from westwood.evaluation.criterion import Part, Work
from westwood.experiments.control import Control
from westwood.results.verdicts import Verdict
from westwood.scenario import fragments

_POPULATION = "population"
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


def population(control: Control, work: Work, workers: int | None) -> Iterator[Mapping[str, Any]]:
    """Yields an answer for each target on the paths that nobody tunes on."""
    targets = [target for target in _targets() if f"path-{target.name}" in work.names]
    plan = JudgePlan(targets, work.seed, work.effort.paths)
    judged = judging.run(plan, [control], track=lambda runs, total: runs, workers=workers)
    for verdict in judged.verdicts(control):
        yield _of_target(verdict, control, work.effort.paths).entry()


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


POPULATION = Part(
    _POPULATION,
    "The population of paths",
    "behind control tune, benchmark and stress",
    harness=population,
    names=tuple(f"path-{one.name}" for one in _targets()),
    in_quick=False,
)
