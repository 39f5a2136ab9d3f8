# SPDX-License-Identifier: BSD-3-Clause
"""Declares the benchmark: rows over held-out paths of the population, and their answers."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from westwood.control.catalogue import label
from westwood.engines.machine import free_memory
from westwood.engines.resources import format_bytes
from westwood.errors import InputError
from westwood.evaluation.answer import Answer, At, bound_fields, not_run_at, verdict_of
from westwood.evaluation.benchmark import earlier, earlier_rows, wide, wide_rows
from westwood.evaluation.benchmark.cases import Case, Section
from westwood.evaluation.benchmark.targets import CaseRuns, Target
from westwood.evaluation.criterion import Part, RunKey
from westwood.experiments.control import Control
from westwood.results.columns import Row
from westwood.results.intervals import Estimate
from westwood.scenario import Scenario, fragments

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "benchmark"
MOST_PATHS = 100_000
_BYTES_A_RUN = 100_000  # of its scenario, its job and its rows; the scenario alone has 52 kB
_USED = 0.8  # of the memory that is free
# Those of the wide population come first.
SECTIONS: Mapping[str, Section] = {
    section.name: section for section in (*wide.SECTIONS, *earlier.SECTIONS)
}
TARGETS = (*wide_rows.ROWS, *earlier_rows.ROWS)
# Where a control's settings were chosen: its verdict there is no evidence.
TUNED: Mapping[str, str] = {
    "westwood-cubic": "its settings were chosen on seeds 201 and 211 of this population, before "
    "anybody saw seed 1 (docs/westwood-cubic.md)."
}
_NOISE = "shared-self"  # the row that shows the benchmark's own
FRONTIER = ("beside-kept", "loss-binds")  # the rows on the frontier's axes


@dataclass(frozen=True)
class SectionRuns:
    """What runs on the cases of a section: by the control's text, then a list for each case."""

    section: Section
    cases: Sequence[Case]
    runs: Mapping[str, Sequence[Sequence[tuple[RunKey, Scenario]]]]
    more_columns = None

    @classmethod
    def drawn(
        cls, section: Section, control: Control, seed: int, paths: int, settings: Mapping[str, Any]
    ) -> SectionRuns:
        """Draws the cases; `settings` are those of the engine."""
        cases = list(section.cases(seed, paths))

        def run(case: Case, judged: Control, number: int) -> tuple[RunKey, Scenario]:
            scenario, seed = case.run(judged, number)
            scenario = scenario.with_settings(settings) if settings else scenario
            return (scenario.hash, seed), scenario

        runs = {
            judged.text: [
                [run(case, judged, number) for number in range(case.seeds)] for case in cases
            ]
            for judged in (*section.against, control)
        }
        return cls(section, cases, runs)

    def each(self) -> Iterator[tuple[RunKey, Scenario]]:
        """Yields every run."""
        for of_control in self.runs.values():
            for of_case in of_control:
                yield from of_case

    def seen(self, control: Control, rows: Mapping[RunKey, list[Row]]) -> list[CaseRuns]:
        """Returns the cases with their rows from this control's point of view."""
        kept = {
            text: [[rows[key] for key, _ in of_case] for of_case in of_control]
            for text, of_control in self.runs.items()
        }
        return [
            CaseRuns(
                case,
                kept[control.text][place],
                {other.text: kept[other.text][place] for other in self.section.against},
            )
            for place, case in enumerate(self.cases)
        ]


def flat(drawn: Iterable[SectionRuns], rows: Mapping[RunKey, list[Row]]) -> Iterator[Row]:
    """Yields a row for each flow, with the properties of its path; a reference's once."""
    runs = {
        (section.section.name, text): (section.cases, of_control)
        for section in drawn
        for text, of_control in section.runs.items()
    }
    for (_, text), (cases, of_control) in runs.items():
        for number, (case, of_case) in enumerate(zip(cases, of_control, strict=True)):
            path = dataclasses.asdict(case.environment)
            place = {"section": case.section, "cell": case.cell, "case": number, **path}
            for key, _ in of_case:
                yield from ({**place, "control": text, **flow} for flow in rows[key])


def is_usual(target: Target) -> bool:
    """Returns whether a row is judged without being asked for: with a bound, on wide paths."""
    is_wide = any(target.section == section.name for section in wide.SECTIONS)
    return is_wide and target.threshold is not None and target.name != _NOISE


def check_memory(targets: Sequence[Target], controls: int, paths: int) -> None:
    """Raises InputError if the runs of these rows do not fit into this machine's memory."""
    sections = {target.section for target in targets}
    runs = sum(SECTIONS[name].runs(paths, controls) for name in sections)
    needed, free = runs * _BYTES_A_RUN, free_memory()
    if needed > _USED * free:
        takes = f"{runs} runs take about {format_bytes(needed)} of memory"
        problem = f"{takes}, and {format_bytes(free)} are free here"
        raise InputError(problem, key="--paths", value=paths)


def answer_of(target: Target, control: Control, seen: Sequence[CaseRuns], paths: int) -> Answer:
    """Returns the answer of a row from its section's runs."""
    statistic = target.of(seen)
    estimate = statistic.estimate
    verdict = verdict_of(estimate, target.threshold)
    ends: Mapping[str, Any] = {"low": estimate.low, "high": estimate.high, "runs": paths}
    name, value = statistic.note or "all paths", estimate.value
    measured = At(name, value, judged=value, verdict=verdict, **ends)
    scenarios = tuple(fragments.plain(case.scenario(control)) for _, case in statistic.worst)
    return _answer(target, control, measured, scenarios)


def not_run(target: Target, control: Control, why: str) -> Answer:
    """Returns the answer of a row without runs."""
    return _answer(target, control, not_run_at("all paths", why))


def _answer(
    target: Target, control: Control, measured: At, scenarios: tuple[Mapping[str, Any], ...] = ()
) -> Answer:
    return Answer(
        target.name,
        NAME,
        says=f"{target.section}: {target.says}",
        source="the benchmark's population of paths (docs/control-reference.md)",
        axis="paths",
        **{"at_most": target.at_most, **bound_fields(target.threshold)},
        points=(measured,),
        tuned="" if control.settings else TUNED.get(control.cc, ""),
        scenarios=scenarios,
        statistic="",  # the target says it
    )


def frontier(answers: Mapping[Control, Mapping[str, Answer]]) -> Figure | None:
    """Draws the controls over the two rows of the frontier; None unless both are there."""
    from westwood.draw.frontier import FrontierAxis, Mark
    from westwood.draw.frontier import frontier as draw

    pairs = {
        control: [of_control[name] for name in FRONTIER]
        for control, of_control in answers.items()
        if all(name in of_control and not of_control[name].not_run for name in FRONTIER)
    }
    if not pairs:
        return None
    marks = [
        Mark("\n".join(filter(None, name_of(control))), control.cc, *map(_estimate, pair))
        for control, pair in pairs.items()
    ]
    kept, gained = next(iter(pairs.values()))
    keeps = "What CUBIC keeps next to it, worst combination of flows and queue"
    gains = "Goodput ÷ BBRv1's where loss limits CUBIC, median"
    x = FrontierAxis(keeps, kept.bound or math.nan)
    y = FrontierAxis(gains, gained.bound or math.nan)
    paths = kept.points[0].runs
    return draw(marks, x, y, f"Goodput under loss and harm to CUBIC: {paths} paths")


def _estimate(answer: Answer) -> Estimate:
    (measured,) = answer.points
    return Estimate(measured.judged, measured.low, measured.high)


def name_of(control: Control) -> tuple[str, str]:
    """Labels a control in the frontier, with its changed settings on a second line."""
    changed = [setting.replace("=", " = ", 1) for setting in control.changed]
    return label(control.cc), ", ".join(changed)


PART = Part(
    NAME,
    "The population of paths",
    "behind control tune and stress",
    rows=TARGETS,
    in_quick=False,
    picture=frontier,
)
