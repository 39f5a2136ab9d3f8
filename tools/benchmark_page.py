# SPDX-License-Identifier: BSD-3-Clause
"""Writes the benchmark of docs/westwood-cubic.md anew: python -m tools.pages benchmark (2 minutes).

tests/tools/test_benchmark_page.py compares cheap rows with a new run.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
from collections.abc import Sequence

from tools.pages import DOCS, Numbers, Page
from tools.pages import table as table_of
from westwood.cli.commands import call

CONTROL = "westwood-cubic"


def measured(*options: str) -> list[Numbers]:
    """Runs the benchmark of Westwood-CUBIC with these options, and returns its answers."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = call(["evaluate", CONTROL, "--suite", "benchmark", "--full", "--json", *options])
    if code:
        raise SystemExit(code)
    answers: list[Numbers] = json.loads(out.getvalue())["answers"][CONTROL]
    return answers


def value(entry: Numbers) -> float | None:
    """Returns what is judged of an answer, whose only point is all paths."""
    (point,) = entry["points"]
    judged: float | None = point["judged"]
    return judged


def misses(entry: Numbers) -> bool:
    """Returns whether a value is on the wrong side of its bound."""
    bound, judged = entry["bound"], value(entry)
    if bound is None or judged is None:
        return False
    return bool(judged > bound if entry["at_most"] else judged < bound)


def table(rows: Sequence[Numbers]) -> str:
    """Returns how many bounds are missed, and the rows; a missed value is bold."""
    bounded = [row for row in rows if row["bound"] is not None]
    missed = [row for row in bounded if misses(row)]
    certain = sum(row["verdict"] == "fails" for row in missed)
    counted = (
        f"{len(missed)} of {len(bounded)} bounds are missed, in bold; for {certain} of them the "
        "whole interval is beyond the bound."
    )
    heads = "row | what it measures | value: | 95 % interval | bound"
    return f"{counted}\n\n{table_of(heads, map(cells, rows))}"


def cells(entry: Numbers) -> Sequence[str]:
    """Returns the cells of a row."""
    (point,) = entry["points"]
    judged = number(point["judged"])
    interval = f"{number(point['low'])} to {number(point['high'])}"
    sense = "at most" if entry["at_most"] else "at least"
    bound = "" if entry["bound"] is None else f"{sense} {entry['bound']:g}"
    shown = f"**{judged}**" if misses(entry) else judged
    says = entry["says"].partition(": ")[2]
    return (f"`{entry['criterion']}`", says, shown, interval, bound)


def number(value: float | None) -> str:
    """Formats a value with four digits or fewer; "-" if there is none."""
    if value is None or not math.isfinite(value):
        return "-"
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}"


PAGE = Page(
    DOCS / "westwood-cubic.md",
    tables=lambda stored: {"benchmark": table(stored["rows"])},
    figures=lambda stored: {
        "benchmark": {entry["criterion"]: value(entry) for entry in stored["rows"]}
    },
    measure=lambda stored, words: [{"rows": measured(*words)}],
)
