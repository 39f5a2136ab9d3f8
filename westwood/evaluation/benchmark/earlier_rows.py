# SPDX-License-Identifier: BSD-3-Clause
"""Defines the rows of the sections in earlier.py."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from westwood.evaluation.benchmark.cases import BBR, CUBIC
from westwood.evaluation.benchmark.earlier import POINTS
from westwood.evaluation.benchmark.targets import (
    CaseRuns,
    OfRan,
    Statistic,
    Target,
    fairness,
    goodput,
    in_cell,
    in_worst_cell,
    kept,
    loss_binds,
    loss_ratio,
    mean,
    median_and_tenth,
    of_role,
    over,
    own_share,
    row,
)
from westwood.results.intervals import bootstrap
from westwood.search import bounds

_POINT_BOUNDS = {"point-lossy": bounds.UPLINK_MBPS}


def _binding(ran: Sequence[CaseRuns]) -> Statistic:
    return Statistic(
        bootstrap([float(loss_binds(case_runs)) for case_runs in ran], mean, "binding")
    )


def _mbps(ran: Sequence[CaseRuns]) -> Statistic:
    means = ", ".join(
        f"{control.cc} {mean([goodput(runs.against[control.cc]) for runs in ran]) / 1e6:.3g}"
        for control in (CUBIC, BBR)
    )
    values = [goodput(runs.control_rows) / 1e6 for runs in ran]
    return Statistic(bootstrap(values, mean, "points"), f"{means}; {len(ran)} runs")


_CLEAN, _LOSS = over(CUBIC, goodput), over(BBR, goodput)


def _of_transfers(column: str) -> OfRan:
    return over(CUBIC, lambda rows: float(of_role(rows, "short")[0][column]))


def _short() -> Iterator[Target]:
    for cell, name in (("alone", "short"), ("beside CUBIC", "shared")):
        for share in ("p50", "p95"):
            taken = _of_transfers(f"completion_{share}_s")
            says = f"completion/CUBIC's, {share}" if cell == "alone" else f"{cell}, {share}"
            yield row(
                "short", f"{name}-{share}", says, taken, bounds.SHORT, at_most=True, cell=cell
            )


def _points() -> Iterator[Target]:
    for name, (mbps, rtt_ms, queue_bdp, loss) in POINTS.items():
        queue = f", {queue_bdp:g}BDP" if queue_bdp != 1 else ""
        says = f"Mb/s: {mbps}, {rtt_ms}ms{queue}" + (f", {loss:.1%}" if loss else "")
        yield Target(name, "point", says, in_cell(name, _mbps), _POINT_BOUNDS.get(name, math.nan))


_QUEUE, _DROPPED = over(CUBIC, lambda rows: float(rows[0]["mean_queue"])), over(CUBIC, loss_ratio)
ROWS = (
    *median_and_tenth(
        "clean", "goodput/CUBIC's, median", _CLEAN, bounds.CLEAN_MEDIAN, bounds.CLEAN_TENTH
    ),
    row("clean", "clean-queue", "queue/CUBIC's, median", _QUEUE, bounds.CLEAN_QUEUE, at_most=True),
    *median_and_tenth(
        "loss", "goodput/BBRv1's, median", _LOSS, bounds.LOSS_MEDIAN, bounds.LOSS_TENTH
    ),
    row(
        "loss",
        "loss-binds",
        "BBRv1's, where loss binds",
        _LOSS,
        bounds.LOSS_BINDS,
        where=loss_binds,
    ),
    Target("loss-share", "loss", "paths where loss binds", _binding),
    *_points(),
    Target(
        "beside-kept", "beside", "CUBIC keeps, worst cell", in_worst_cell(kept), bounds.CUBIC_KEEPS
    ),
    row("beside", "beside-tenth", "CUBIC keeps, worst tenth", lambda r: kept([r]), share=0.1),
    Target(
        "beside-own", "beside", "own/even share, worst", in_worst_cell(own_share), bounds.OWN_SHARE
    ),
    Target(
        "among-worst",
        "among",
        "Jain's index, worst cell",
        in_worst_cell(lambda ran: mean([fairness(case_runs.control_rows) for case_runs in ran])),
        bounds.AMONG,
    ),
    row("mixed", "mixed", "Jain/CUBIC's, 10-160 ms", over(CUBIC, fairness), bounds.DISTANT),
    *_short(),
    row(
        "collapse",
        "collapse-loss",
        "loss/CUBIC's, 100 flows",
        _DROPPED,
        bounds.COLLAPSE,
        at_most=True,
    ),
)
