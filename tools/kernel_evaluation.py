# SPDX-License-Identifier: BSD-3-Clause
"""Runs ten scenarios of the evaluation in this kernel, too: python -m tools.kernel_evaluation.

python -m tools.kernel_evaluation [NAME...] [--workers N]    runs all, or these criteria
python -m tools.kernel_evaluation --again                    repeats the rows that differ

docs/kernel-evaluation.json keeps the runs, and docs/kernel-comparison.md shows them. It needs
`westwood kernel load` before, and takes a quarter of an hour. Both engines lose the same packets.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools import pages
from tools.claim_tables import row
from westwood import engines
from westwood.engines.contract import Engine, Job
from westwood.engines.listed_losses import listing
from westwood.engines.pool import run_jobs
from westwood.engines.simulator import SIMULATOR
from westwood.evaluation import measures
from westwood.evaluation.catalogue import PARTS
from westwood.judge.cases import Control
from westwood.judge.targets import of_role
from westwood.paths.population import seed_of
from westwood.results.columns import Row
from westwood.scenario import Scenario

DOCS = Path(__file__).resolve().parent.parent / "docs"
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
        every = (one for part in PARTS.values() for one in part.criteria)
        (criterion,) = (one for one in every if one.name == self.criterion)
        (point,) = (one for one in criterion.points if one.name == self.point)
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
    choice: Choice, controls: Sequence[str], engine: Engine, seeds: Sequence[int], workers: int
) -> dict[str, list[float]]:
    """Returns what each run measured, by control."""
    jobs = [Job(choice.scenario(one), seeds) for one in controls]
    found = dict(run_jobs(jobs, listing(engine).prepare, workers=workers))
    values = [choice.measure(found[place]) for place in range(len(found))]
    count = len(seeds)
    return {one: values[n * count : (n + 1) * count] for n, one in enumerate(controls)}


def _compared(choice: Choice, kernel: Engine, workers: int) -> pages.Numbers:
    in_kernel = _runs(choice, choice.controls, kernel, SEEDS, workers)
    simulated = _runs(choice, choice.controls, SIMULATOR, MORE_SEEDS, 1)
    return {
        one: {
            "simulator": simulated[one][: len(SEEDS)],
            "kernel": in_kernel[one],
            "least": min(simulated[one]),
            "most": max(simulated[one]),
        }
        for one in choice.controls
    }


def off(found: Mapping[str, Any], runs: str = "kernel") -> float:
    """Returns how far the simulator's median is from the kernel's."""
    return statistics.median(found["simulator"]) / statistics.median(found[runs]) - 1


def measure(names: Sequence[str], workers: int) -> None:
    """Runs the choices with these names, or all, and writes each into the page as it ends."""
    kernel = engines.find("linux")
    for choice in CHOICES:
        if not names or choice.criterion in names:
            stored = PAGE.read() if PAGE.file.exists() else {}
            stored[choice.criterion] = pages.rounded(_compared(choice, kernel, workers))
            PAGE.write(stored)


def repeat(workers: int) -> None:
    """Repeats the kernel's runs of the rows that differ, and keeps both."""
    kernel, stored = engines.find("linux"), PAGE.read()
    for choice in CHOICES:
        of_choice = stored[choice.criterion]
        far = [one for one in choice.controls if abs(off(of_choice[one])) > NEAR]
        if far:
            for one, values in _runs(choice, far, kernel, SEEDS, workers).items():
                of_choice[one]["again"] = pages.rounded(values)
            PAGE.write(stored)


def tables(stored: pages.Numbers) -> dict[str, str]:
    """Returns the page's table."""
    return {"evaluation": "".join(f"{line}\n" for line in _lines(stored))}


def _lines(stored: pages.Numbers) -> Iterator[str]:
    heads = ("criterion, point", "measured", "control", "simulator", "kernel", "difference")
    yield row(*heads, "24 seeds of the simulator")
    yield row(*["---"] * (len(heads) + 1))
    for choice in CHOICES:
        for control, found in stored.get(choice.criterion, {}).items():
            own, theirs = (statistics.median(found[key]) for key in ("simulator", "kernel"))
            differs = _percent(off(found))
            if "again" in found:
                differs += f"; repeated {_percent(off(found, 'again'))}"
            place = f"`{choice.criterion}`, {choice.point}"
            spread = f"{found['least']:.3g} to {found['most']:.3g}"
            yield row(
                place, choice.what, f"`{control}`", f"{own:.3g}", f"{theirs:.3g}", differs, spread
            )


def _percent(share: float) -> str:
    text = f"{share:+.1%}"
    return f"**{text}**" if abs(share) > NEAR else text


def figures(stored: pages.Numbers) -> pages.Numbers:
    """Returns what the page's sentences quote."""
    rows = [off(found) for of in stored.values() for found in of.values()]
    whole = [all(abs(off(found)) <= NEAR for found in of.values()) for of in stored.values()]
    near = sum(abs(one) <= NEAR for one in rows)
    return {"evaluation": {"rows": len(rows), "near": near, "whole": sum(whole)}}


PAGE = pages.Page(DOCS / "kernel-comparison.md", DOCS / "kernel-evaluation.json", tables, figures)

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="*", help="criteria; default: all")
    parser.add_argument("--again", action="store_true", help="repeat the rows that differ")
    parser.add_argument("--workers", type=int, default=_PARALLEL)
    given = parser.parse_args()
    if unknown := set(given.name) - {one.criterion for one in CHOICES}:
        parser.error(f"no such criterion: {', '.join(sorted(unknown))}")
    if given.again:
        repeat(given.workers)
    else:
        measure(given.name, given.workers)
