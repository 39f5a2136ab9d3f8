# SPDX-License-Identifier: BSD-3-Clause
"""Decides whether Westwood-CUBIC is still experimental: python -m tools.pages readiness WORD VALUE.

benchmark SEED     runs the benchmark on paths of a seed that nobody has looked at
stress TIME        continues `westwood control stress` in build/stress, and adds its CPU time
kernel FOLDER      reads what `westwood validate --engine linux-um --only short-queues,lossy` wrote

docs/westwood-cubic.json keeps the evidence, and docs/westwood-cubic.md shows it. It counts only for
the control that it was measured of. The warning is the first sentence of a row in core/catalogue.h.
`path compare` leaves controls with a warning out, and pages print it. A test compares it with
`is_ready`.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from tools import benchmark_page, pages
from tools.pages import DOCS, Numbers
from westwood import simulate
from westwood.cli.commands import call
from westwood.evaluation import basics
from westwood.experiments.control import Control

CONTROL = benchmark_page.CONTROL
STRESS = DOCS.parent / "build" / "stress"
WEEK_H = 7 * 24
HALF = 0.5  # what a finding of stress may take of CUBIC's goodput
NEAR = 0.07  # of the simulator's goodput
_SECONDS_AN_H = 3600
Condition = tuple[str, str, bool]  # what is asked, what was measured, whether it holds


def conditions(stored: Numbers) -> Iterator[Condition]:
    """Yields the rule: all conditions must hold."""
    bench = stored.get("benchmark", {})
    missed = bench.get("missed", {})
    named = ", ".join(f"`{name}` {value:.3g}" for name, value in missed.items())
    yield (
        "All bounds of the benchmark on paths that nobody has looked at",
        f"seed {bench['seed']}: {len(missed)} of {bench['bounds']} missed"
        f"{': ' if missed else ''}{named}"
        if bench
        else "not measured",
        bool(bench) and not missed,
    )
    kernel = stored.get("kernel", {})
    unexplained = kernel.get("points", 0) - kernel.get("near", 0) - kernel.get("explained", 0)
    yield (
        f"Goodput in the kernel within {NEAR * 100:.0f} % of the simulator's, or explained",
        f"{kernel['points']} points: {kernel['near']} within, {kernel['explained']} explained"
        if kernel
        else "not measured",
        bool(kernel) and not unexplained,
    )
    stress = stored.get("stress", {})
    worst = [finding for finding in stress.get("starves", ()) if finding["value"] > HALF]
    hours = stress.get("cpu_s", 0) / _SECONDS_AN_H
    yield (
        f"{WEEK_H} hours of CPU time of `control stress`, and no finding leaves CUBIC under half",
        f"{hours:.2f} h, findings: {len(worst)}" if stress else "not measured",
        hours >= WEEK_H and not worst,
    )


def is_ready(stored: Numbers) -> bool:
    """Returns whether the rule holds, by evidence of today's control."""
    current = fingerprint()
    of_today = (part.get("of") == current for part in stored.values())
    return all(of_today) and all(holds for _, _, holds in conditions(stored))


def fingerprint() -> str:
    """Returns a fingerprint of the control: two short runs beside CUBIC."""
    runs = (
        basics.scenario(
            basics.path(10, 40, 0.5, 30, loss="uniform", loss_rate=rate, beside="cubic",
                        beside_flows=1),
            Control(CONTROL),
        )
        for rate in (0.0, 0.01)
    )  # fmt: skip
    return pages.fingerprint(simulate(run).rows["goodput_bps"].to_list() for run in runs)


def tables(stored: Numbers) -> dict[str, str]:
    """Returns the page's table: the conditions, and what follows."""
    rows = [
        (asked, measured, "yes" if holds else "no") for asked, measured, holds in conditions(stored)
    ]
    lacks = sum(holds == "no" for _, _, holds in rows)
    verdict = f"{lacks} of {len(rows)} conditions do not hold, so it is experimental."
    if not lacks:
        verdict = f"All {len(rows)} conditions hold."
    shown = pages.table("condition | measured | holds", rows)
    return {"readiness": f"{verdict}\n\n{shown}"}


def measured(stored: Numbers, words: Sequence[str]) -> Iterator[Numbers]:
    """Measures a part of the evidence anew; without words it yields what is kept."""
    if words:
        part, value = words
        measures = {"benchmark": _benchmark, "stress": _stress, "kernel": _kernel}
        current = fingerprint()
        kept = stored.get(part, {})
        same = kept if kept.get("of") == current else {}
        stored = {**stored, part: {**measures[part](same, value), "of": current}}
    yield stored


def _benchmark(kept: Numbers, seed: str) -> Numbers:
    rows = [row for row in benchmark_page.measured("--seed", seed) if row["bound"] is not None]
    missed = {
        row["criterion"]: benchmark_page.value(row) for row in rows if benchmark_page.misses(row)
    }
    return {"seed": int(seed), "bounds": len(rows), "missed": missed}


def _stress(kept: Numbers, length: str) -> Numbers:
    """Continues the search; one of another control begins anew."""
    if not kept:
        shutil.rmtree(STRESS, ignore_errors=True)
    options = ["--cc", CONTROL, "--harm", "by-it", "--for", length, "--out", str(STRESS)]
    resume = ["--resume"] if STRESS.exists() else []
    began = time.process_time()
    if code := call(["control", "stress", *options, *resume]):
        raise SystemExit(code)
    cpu_s = kept.get("cpu_s", 0.0) + time.process_time() - began
    findings = json.loads((STRESS / "findings.json").read_text(encoding="utf-8"))
    starves = [
        {"value": finding["value"], "says": finding["says"]}
        for finding in findings
        if finding["harm"] == "starves"
    ]
    return {"cpu_s": cpu_s, "starves": starves}


def _kernel(kept: Numbers, folder: str) -> Numbers:
    points = pl.read_csv(Path(folder) / "validation.csv", schema_overrides={"grid": pl.String})
    is_near = (points["goodput_ratio"] - 1).abs() <= NEAR
    reasons = points["reason"].fill_null("")
    return {
        "points": len(points),
        "near": int(is_near.sum()),
        "explained": int((~is_near & (reasons != "")).sum()),
    }


PAGE = pages.Page(benchmark_page.PAGE.page, DOCS / "westwood-cubic.json", tables, None, measured)
