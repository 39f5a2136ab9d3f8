# SPDX-License-Identifier: BSD-3-Clause
"""Runs ten scenarios of the evaluation in this kernel, too.

python -m tools.pages kernel [NAME...]    runs all, or these criteria
python -m tools.pages kernel again        repeats the rows that differ

docs/kernel-evaluation.json keeps the runs, and docs/kernel-comparison.md shows them. It needs
`westwood kernel load` before, and takes a quarter of an hour. Both engines lose the same packets.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tools.pages import DOCS, Numbers, Page, Sample, table
from westwood import engines
from westwood.engines.contract import Engine, Job
from westwood.engines.listed_losses import listing
from westwood.engines.pool import run_jobs
from westwood.engines.simulator import SIMULATOR
from westwood.evaluation import measures
from westwood.evaluation.benchmark.targets import of_role
from westwood.evaluation.catalogue import PARTS
from westwood.experiments.control import Control
from westwood.results.columns import Row
from westwood.scenario import Scenario
from westwood.scenario.paths.population import seed_of

NEAR = 0.07
SEEDS = [seed_of("evaluate", 10_000 + number) for number in range(3)]  # the first of look 1
MORE_SEEDS = [seed_of("evaluate", 10_000 + number) for number in range(24)]
_PARALLEL = 6  # paths that two cores carry

Measure = Callable[[Sequence[Row]], float]


def _goodput(rows: Sequence[Row]) -> float:
    return measures.own_goodput(rows) / 1e6


def _others(rows: Sequence[Row]) -> float:
    return measures.others_goodput(rows) / 1e6


def _short(rows: Sequence[Row]) -> float:
    return float(of_role(rows, "short")[0]["completion_s"])


@dataclass(frozen=True)
class Choice:
    """A scenario: the last one of a criterion's point, in which the control is not absent."""

    criterion: str
    point: str
    controls: tuple[str, ...]
    what: str  # is measured
    measure: Measure
    why: str

    def scenario(self, control: str) -> Scenario:
        """Returns the scenario with a control."""
        every = (criterion for part in PARTS.values() for criterion in part.criteria)
        (criterion,) = (known for known in every if known.name == self.criterion)
        (point,) = (known for known in criterion.points if known.name == self.point)
        return list(point.runs(Control(control)).values())[-1]


_MBPS, _VICTIM = "goodput, Mb/s", "goodput of the CUBIC flow, Mb/s"
_ENDS = "completion, s"
_completed = measures.completion("tcp", "completed_s")
# Chosen before the first run of the table, from all parts that run alone. Each control occurs twice
# or more. `cubic`, `bbr` and `sack` are the kernel's own programs, the others ours in the kernel.
CHOICES = (
    Choice("loss", "1%", ("cubic", "bbr", "sack"), _MBPS, _goodput,
           "one of the five lines; losses decide the windows"),
    Choice("harm-cubic", "1 BDP", ("bbr", "westwood-cubic"), _VICTIM, _others,
           "one of the five lines; two controls compete"),
    Choice("harm-short", "1 BDP", ("cubic", "westwood+"), "completion of 100 kB, s", _short,
           "one of the five lines; transfers arrive at random"),
    Choice("wifi", "7 ms", ("cubic", "bbr"), _MBPS, _goodput,
           "jitter confuses HyStart and BBR's smallest round trip"),
    Choice("high-delay", "20 Mb/s, 600 ms", ("sack", "westwood+"), _MBPS, _goodput,
           "the longest round trip"),
    Choice("reroute", "reroute", ("cubic", "bbr3"), _MBPS, _goodput,
           "the delay changes twice"),
    Choice("c4-alone", "alone", ("cubic", "bbr3"), _ENDS, _completed,
           "C4's first test, mostly slow start"),
    Choice("c4-low-and-up", "low-and-up", ("cubic", "westwood+"), _ENDS, _completed,
           "the rate follows a trace"),
    Choice("prudentia-share", "8 Mb/s", ("bbr", "westwood-cubic"), _VICTIM, _others,
           "five minutes next to CUBIC in a deep queue"),
    Choice("stalls", "four bursts", ("cubic", "bbr"), _MBPS, _goodput,
           "a published finding; lost retransmissions"),
)  # fmt: skip


def _runs(
    choice: Choice, controls: Sequence[str], engine: Engine, seeds: Sequence[int]
) -> dict[str, list[float]]:
    """Returns what each run measured, by control."""
    jobs = [Job(choice.scenario(control), seeds) for control in controls]
    workers = _PARALLEL if engine.real_time else 1
    rows = dict(run_jobs(jobs, listing(engine).prepare, workers=workers))
    values = [choice.measure(rows[place]) for place in range(len(rows))]
    count = len(seeds)
    return {cc: values[n * count : (n + 1) * count] for n, cc in enumerate(controls)}


def _compared(choice: Choice, kernel: Engine) -> Numbers:
    in_kernel = _runs(choice, choice.controls, kernel, SEEDS)
    simulated = _runs(choice, choice.controls, SIMULATOR, MORE_SEEDS)
    return {
        control: {
            "simulator": simulated[control][: len(SEEDS)],
            "kernel": in_kernel[control],
            "least": min(simulated[control]),
            "most": max(simulated[control]),
        }
        for control in choice.controls
    }


def off(compared: Mapping[str, Any], runs: str = "kernel") -> float:
    """Returns how far the simulator's median is from the kernel's."""
    return statistics.median(compared["simulator"]) / statistics.median(compared[runs]) - 1


def measured(stored: Numbers, words: Sequence[str]) -> Iterator[Numbers]:
    """Runs the choices with these names, or all; `again` repeats the rows that differ."""
    if unknown := set(words) - {choice.criterion for choice in CHOICES} - {"again"}:
        raise SystemExit(f"no such criterion: {', '.join(sorted(unknown))}")
    kernel = engines.find("linux")
    for choice in CHOICES:
        if "again" in words:
            kept = stored[choice.criterion]
            far = [control for control in choice.controls if abs(off(kept[control])) > NEAR]
            for control, values in _runs(choice, far, kernel, SEEDS).items() if far else ():
                kept[control]["again"] = values
        elif not words or choice.criterion in words:
            stored[choice.criterion] = _compared(choice, kernel)
        yield stored


def tables(stored: Numbers) -> dict[str, str]:
    """Returns the page's table."""
    heads = "criterion, point | measured | control | simulator | kernel | difference"
    return {"evaluation": table(f"{heads} | 24 seeds of the simulator", _rows(stored))}


def _rows(stored: Numbers) -> Iterator[Sequence[str]]:
    for choice in CHOICES:
        for control, runs in stored.get(choice.criterion, {}).items():
            ours, theirs = (statistics.median(runs[key]) for key in ("simulator", "kernel"))
            differs = _percent(off(runs))
            if "again" in runs:
                differs += f"; repeated {_percent(off(runs, 'again'))}"
            place = f"`{choice.criterion}`, {choice.point}"
            spread = f"{runs['least']:.3g} to {runs['most']:.3g}"
            cells = (f"`{control}`", f"{ours:.3g}", f"{theirs:.3g}", differs, spread)
            yield (place, choice.what, *cells)


def _percent(share: float) -> str:
    text = f"{share:+.1%}"
    return f"**{text}**" if abs(share) > NEAR else text


def figures(stored: Numbers) -> Numbers:
    """Returns what the page's sentences quote."""
    rows = [off(compared) for controls in stored.values() for compared in controls.values()]
    whole = [
        all(abs(off(compared)) <= NEAR for compared in controls.values())
        for controls in stored.values()
    ]
    near = sum(abs(row) <= NEAR for row in rows)
    return {"evaluation": {"rows": len(rows), "near": near, "whole": sum(whole)}}


def first_run(choice: Choice) -> Callable[[Numbers], Sample]:
    """Returns what repeats the simulator's first run of a choice."""

    def sample(stored: Numbers) -> Sample:
        run = listing(SIMULATOR).prepare(Job(choice.scenario(choice.controls[0]), SEEDS[:1]))
        kept = stored[choice.criterion][choice.controls[0]]["simulator"][0]
        return choice.measure(run(SEEDS[0])), kept

    return sample


PAGE = Page(
    DOCS / "kernel-comparison.md",
    DOCS / "kernel-evaluation.json",
    tables,
    figures,
    measured,
    {choice.criterion: first_run(choice) for choice in CHOICES},
)
