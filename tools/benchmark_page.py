# SPDX-License-Identifier: BSD-3-Clause
"""Writes the benchmark of docs/westwood-cubic.md anew: python -m tools.benchmark_page (2 minutes).

tests/tools/test_benchmark_page.py compares cheap rows with a new run.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
from collections.abc import Sequence
from pathlib import Path

from tools.pages import Numbers, quoted, replace, row
from westwood.cli.commands import call

PAGE = Path(__file__).resolve().parent.parent / "docs" / "westwood-cubic.md"
CONTROL = "westwood-cubic"


def measured(*options: str) -> list[Numbers]:
    """Runs the benchmark of Westwood-CUBIC with these options, and returns its rows."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = call(["control", "benchmark", "--cc", CONTROL, "--json", *options])
    if code:
        raise SystemExit(code)
    rows: list[Numbers] = json.loads(out.getvalue())[CONTROL]
    return rows


def table(rows: Sequence[Numbers]) -> str:
    """Returns how many bounds are missed, and the rows; a missed value is bold."""
    bounded = [row for row in rows if row["bound"] is not None]
    missed = [row for row in bounded if not row["reached"]]
    certain = sum(row["certain"] for row in missed)
    lines = [
        f"{len(missed)} of {len(bounded)} bounds are missed, in bold; for {certain} of them the "
        "whole interval is beyond the bound.",
        "",
        "| row | what it measures | value | 95 % interval | bound |",
        "| --- | --- | ---: | --- | --- |",
    ]
    return "\n".join([*lines, *map(line, rows), ""])


def line(entry: Numbers) -> str:
    """Returns a row of the table."""
    value = number(entry["value"])
    interval = f"{number(entry['low'])} to {number(entry['high'])}"
    sense = "at most" if entry["at_most"] else "at least"
    bound = "" if entry["bound"] is None else f"{sense} {entry['bound']:g}"
    shown = f"**{value}**" if entry["reached"] is False else value
    return row(f"`{entry['row']}`", entry["says"], shown, interval, bound)


def number(value: float | None) -> str:
    """Formats a value with four digits or fewer; "-" if there is none."""
    if value is None or not math.isfinite(value):
        return "-"
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}"


def write(rows: Sequence[Numbers]) -> None:
    """Writes the table, and the figures of its rows in the page's text."""
    replace(PAGE, {"benchmark": table(rows)})
    values = {entry["row"]: entry["value"] for entry in rows}
    PAGE.write_text(quoted({"benchmark": values}, PAGE.read_text(encoding="utf-8")), "utf-8")


if __name__ == "__main__":
    write(measured())
