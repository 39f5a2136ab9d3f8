# SPDX-License-Identifier: BSD-3-Clause
"""Finds by which clauses a QUIC stack's CUBIC differs from ours in TCP.

For each path and figure beyond 10 %, the simulator's TCP gets the stack's clauses in all
combinations. The cause is the smallest one that comes within 10 %, and the closest of these. If
none does, the stack runs again with one packet more, and the earlier end of both counts: then the
last ACK is not delayed. `bench.quic` writes the table.
"""

from __future__ import annotations

import itertools
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from westwood import simulate
from westwood.experiments.validation import quic_grids
from westwood.experiments.validation.compare import OTHER
from westwood.experiments.validation.grid import Grid, Point, scenario
from westwood.scenario import Scenario

Row = Mapping[str, Any]
Place = tuple[str, str, str, float]  # the rate, the delay, the queue and the loss of a path
CONTROL = str(Path(__file__).with_name("cubic_paced.c"))
FAR = 0.1
GOODPUT, MEDIAN, P95 = "goodput_bps", "completion_median_s", "completion_p95_s"
BULK, SHORT = (quic_grids.QUINN[name] for name in ("cubic", "short"))
SIZE, WITH_ONE_MORE = "100kB", "101472B"
LAST_ACK = "last ACK"
# What a clause changes: of the control, and of the simulator's TCP.
CLAUSES: Mapping[str, tuple[Row, Row]] = {
    "pacing": ({"gain": 125}, {}),
    "slow start": ({"hystart": 0}, {}),
    "initial window": ({}, {"initial_cwnd": "8p"}),
    "reduction": ({}, {"ssthresh_from_cwnd": True}),
    "delayed ACKs": ({}, {"delayed_ack_timeout": "25ms"}),
    "timers": ({}, {"min_rto": "1ms"}),
}


def ratio(row: Row, figure: str) -> float:
    """Returns what the stack measured over what ours in TCP did."""
    return float(row[figure + OTHER]) / float(row[figure])


def is_far(value: float) -> bool:
    """Returns whether a ratio is beyond 10 %."""
    return abs(value - 1) > FAR


def _point(place: Place, size: str) -> Point:
    rate, delay, queue, loss = place
    return Point(rate, delay, queue, loss, size=size)


def _path(grid: Grid, point: Point, seed: int, clauses: Iterable[str]) -> Scenario:
    """Returns the scenario of a point for TCP with these clauses."""
    cc: dict[str, Any] = {"name": CONTROL, "gain": 0, "hystart": 1}
    flow: dict[str, Any] = {}
    for clause in clauses:
        cc |= CLAUSES[clause][0]
        flow |= CLAUSES[clause][1]
    path = scenario(replace(grid, protocols={"cubic": flow}), "cubic", point, seed)
    return path.with_settings({"tcp-1.cc": cc})


def _ends(times: Sequence[float]) -> Row:
    each = pl.Series(times)
    return {MEDIAN: each.quantile(0.5, "linear"), P95: each.quantile(0.95, "linear")}


@cache
def _in_tcp(bulk: bool, place: Place, clauses: tuple[str, ...]) -> Row:
    """Returns the figures of TCP with these clauses, as validate computes them."""
    grid, point = (BULK, _point(place, "")) if bulk else (SHORT, _point(place, SIZE))
    seeds = range(1, (grid.seeds if point.is_drawn else 1) + 1)
    rows = [simulate(_path(grid, point, n, clauses), seed=n).flow_rows[0] for n in seeds]
    if bulk:
        return {GOODPUT: statistics.mean(row[GOODPUT] for row in rows)}
    return _ends([row["completion_s"] for row in rows])


@cache
def _undelayed(engine: str, cc: str, place: Place) -> Row:
    """Returns a stack's figures if its last ACK is not delayed."""
    grid = replace(SHORT, protocols={cc: {}})

    def end(size: str, seed: int) -> float:
        path = scenario(grid, cc, _point(place, size), seed)
        taken: float = simulate(path, seed=seed, engine=engine).flow_rows[0]["completion_s"]
        return taken

    seeds = range(1, (SHORT.seeds if place[3] else 1) + 1)
    return _ends([min(end(SIZE, seed), end(WITH_ONE_MORE, seed)) for seed in seeds])


def _closest(figure: str, theirs: float, place: Place) -> tuple[str, ...] | None:
    """Returns the clauses that bring TCP within 10 % of this figure."""
    for size in range(len(CLAUSES) + 1):
        tried = {
            combination: theirs / _in_tcp(figure == GOODPUT, place, combination)[figure]
            for combination in itertools.combinations(CLAUSES, size)
        }
        best = min(tried, key=lambda clauses: abs(tried[clauses] - 1))
        if not is_far(tried[best]):
            return best
    return None


def cause(engine: str, row: Row, figure: str) -> str:
    """Returns the clauses by which a stack differs on a path; "none found" without any."""
    place = (row["rate"], row["delay"], row["queue"], row["loss"])
    clauses = _closest(figure, float(row[figure + OTHER]), place)
    if clauses is None and figure != GOODPUT:
        clauses = _closest(figure, _undelayed(engine, row["cc"], place)[figure], place)
        clauses = None if clauses is None else (*clauses, LAST_ACK)
    return "none found" if clauses is None else " + ".join(clauses)


def causes(engine: str, rows: Iterable[Row], figure: str) -> str:
    """Returns the causes of the paths beyond 10 %, and how many paths each explains."""
    far = [row for row in rows if is_far(ratio(row, figure))]
    counts = Counter(cause(engine, row, figure) for row in far)
    return ", ".join(f"{count} {name}" for name, count in counts.most_common())
