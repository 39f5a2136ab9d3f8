# SPDX-License-Identifier: BSD-3-Clause
"""Runs the cases with a control and its references, and says which targets it reaches."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from westwood.control.catalogue import (
    PROTOCOLS,
    label,
)
from westwood.engines.contract import Engine, Job
from westwood.engines.pool import run_jobs
from westwood.engines.simulator import SIMULATOR
from westwood.errors import InputError, suggestion
from westwood.evaluation.benchmark import earlier, earlier_rows, wide, wide_rows
from westwood.evaluation.benchmark.cases import Case, Section
from westwood.evaluation.benchmark.targets import CaseRuns, Statistic, Target
from westwood.experiments.control import Control, control
from westwood.experiments.experiment import Tracker
from westwood.results.columns import Row
from westwood.results.journal import finite_or_none, json_ready
from westwood.scenario import Scenario

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Those of the wide population come first.
SECTIONS: Mapping[str, Section] = {one.name: one for one in (*wide.SECTIONS, *earlier.SECTIONS)}
TARGETS = (*wide_rows.ROWS, *earlier_rows.ROWS)
DEFAULT_SEED, DEFAULT_PATHS = 1, 400
MOST_PATHS = 100_000


@dataclass(frozen=True)
class TargetVerdict:
    """The measured figure of a target."""

    target: Target
    figure: Statistic
    command: str  # command that computes this row alone

    @property
    def reached(self) -> bool | None:
        """Returns whether the figure reaches the bound; None without a bound."""
        return self.target.reached(self.figure.estimate.value)

    @property
    def is_certain(self) -> bool:
        """Returns whether the whole interval is on the figure's side of the bound."""
        estimate = self.figure.estimate
        return {self.target.reached(estimate.low), self.target.reached(estimate.high)} == {
            self.reached
        }

    def entry(self) -> dict[str, Any]:
        """Returns the verdict for JSON."""
        estimate = self.figure.estimate
        return {
            "row": self.target.name,
            "says": self.target.says,
            **json_ready(dataclasses.asdict(estimate)),
            "bound": finite_or_none(self.target.bound),
            "at_most": self.target.at_most,
            "reached": self.reached,
            "certain": self.is_certain,
            "note": self.figure.note,
            "command": self.command,
        }


def targets(only: Sequence[str] = ()) -> list[Target]:
    """Returns the targets with these names or sections; without names all of them."""
    known = dict.fromkeys([*SECTIONS, *(one.name for one in TARGETS)])
    for name in only:
        if name not in known:
            problem = f"unknown row, {suggestion(name, known)}"
            raise InputError(problem, key="--only", value=name)
    return [one for one in TARGETS if not only or {one.name, one.section} & set(only)]


@dataclass(frozen=True)
class JudgePlan:
    """The rows to judge, and the cases that they need."""

    targets: Sequence[Target]
    seed: int = DEFAULT_SEED
    paths: int = DEFAULT_PATHS

    @cached_property
    def cases(self) -> list[Case]:
        """Returns the cases of the rows' sections."""
        sections = {one.section for one in self.targets}
        return [
            case
            for name, section in SECTIONS.items()
            if name in sections
            for case in section.cases(self.seed, self.paths)
        ]

    def check(self) -> None:
        """Raises InputError if a number is out of range."""
        for key, value, most in (("--seed", self.seed, 2**63), ("--paths", self.paths, MOST_PATHS)):
            if not 1 <= value <= most:
                raise InputError(f"expected 1 to {most}", key=key, value=value)

    def command(self, judged: Control, row: str) -> str:
        """Returns the command line that computes one row."""
        numbers = f"--seed {self.seed} --paths {self.paths}"
        return judged.command("control benchmark --cc", numbers, "--only", row)


@dataclass(frozen=True)
class Judged:
    """Holds the rows of every run by case and control, a list for each seed."""

    plan: JudgePlan
    rows: list[dict[str, list[list[Row]]]]

    def ran(self, judged: Control, section: str) -> list[CaseRuns]:
        """Returns the runs of a section from this control's point of view."""
        return [
            CaseRuns(
                case,
                rows[judged.text],
                {one.text: rows[one.text] for one in SECTIONS[section].against},
            )
            for case, rows in zip(self.plan.cases, self.rows, strict=True)
            if case.section == section
        ]

    def verdicts(self, judged: Control) -> list[TargetVerdict]:
        """Returns the verdicts on a control."""
        return [
            TargetVerdict(
                one, one.of(self.ran(judged, one.section)), self.plan.command(judged, one.name)
            )
            for one in self.plan.targets
        ]

    def worst(
        self, found: Mapping[Control, Sequence[TargetVerdict]]
    ) -> Iterator[tuple[str, Scenario]]:
        """Yields the worst cases of each control's rows as scenarios, named PLACE-ROW-NUMBER."""
        for place, (judged, verdicts) in enumerate(found.items(), start=1):
            for verdict in verdicts:
                for number, (_, case) in enumerate(verdict.figure.worst, start=1):
                    name = f"{place}-{verdict.target.name}-{number}"
                    yield name, case.scenario(judged)

    def flat(self) -> Iterator[Row]:
        """Yields a row for each flow, with the properties of its path."""
        for number, (case, rows) in enumerate(zip(self.plan.cases, self.rows, strict=True)):
            path = dataclasses.asdict(case.environment)
            place = {"section": case.section, "cell": case.cell, "case": number, **path}
            for text, runs in rows.items():
                flows = (flow for run in runs for flow in run)
                yield from ({**place, "control": text, **flow} for flow in flows)


def run(
    plan: JudgePlan,
    controls: Sequence[Control],
    *,
    track: Tracker,
    engine: Engine = SIMULATOR,
    workers: int | None = None,
    begin: Callable[[], object] = lambda: None,
) -> Judged:
    """Runs every case with these controls and their references.

    `begin` is called after all checks, before the first run.
    """
    runs = [
        (place, one, number)
        for place, case in enumerate(plan.cases)
        for one in {one.text: one for one in (*SECTIONS[case.section].against, *controls)}.values()
        for number in range(case.seeds)
    ]
    found: dict[int, list[Row]] = {}

    def jobs() -> Iterator[Job]:
        for place, one, number in runs:
            scenario, seed = plan.cases[place].run(one, number)
            yield Job(scenario, [seed])

    planned = list(jobs())
    engine.check(planned)
    begin()
    count = engine.workers if workers is None else workers
    with closing(run_jobs(planned, engine.prepare, workers=count, engine=engine.name)) as done:
        found.update(track(done, len(runs)))
    in_order: list[dict[str, list[list[Row]]]] = [{} for _ in plan.cases]
    for at, (place, one, _) in enumerate(runs):
        in_order[place].setdefault(one.text, []).append(found[at])
    return Judged(plan, in_order)


FRONTIER = ("beside-kept", "loss-binds")  # the rows on the frontier's axes
_NOT_ON_FRONTIER = ("tahoe", "reno")  # their loss recovery is obsolete


def of_frontier(
    cc: Sequence[str] = (), varied: Sequence[tuple[str, str, Sequence[Any]]] = ()
) -> list[Control]:
    """Returns the named controls, or all; then the `varied` ones: name, key, values."""
    every = [name for name in PROTOCOLS if name not in _NOT_ON_FRONTIER]
    found = [control(name, key="--cc") for name in dict.fromkeys(cc or every)]
    return found + [
        control(name, {key: one}, key="--vary") for name, key, values in varied for one in values
    ]


def name_of(judged: Control) -> tuple[str, str]:
    """Labels a control in the frontier, with its changed settings on a second line."""
    changed = [one.replace("=", " = ", 1) for one in judged.changed]
    return label(judged.cc), ", ".join(changed)


def draw_frontier(plan: JudgePlan, found: Mapping[Control, Sequence[TargetVerdict]]) -> Figure:
    """Draws the controls over the two rows."""
    from westwood.draw.frontier import FrontierAxis, Mark, frontier

    places = [[one.name for one in plan.targets].index(name) for name in FRONTIER]
    sides = [plan.targets[place] for place in places]
    marks = [
        Mark(
            "\n".join(filter(None, name_of(one))),
            one.cc,
            *(verdicts[place].figure.estimate for place in places),
        )
        for one, verdicts in found.items()
    ]
    x = FrontierAxis("What CUBIC keeps against it, worst cell", sides[0].bound)
    y = FrontierAxis("Goodput over BBRv1's where loss binds, median", sides[1].bound)
    title = f"Goodput under loss and harm to CUBIC: {plan.paths} paths, seed {plan.seed}"
    return frontier(marks, x, y, title)
