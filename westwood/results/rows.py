# SPDX-License-Identifier: BSD-3-Clause
"""Makes a row of results for each flow of a run. columns.py declares the columns.

A flow with arrivals has one row for its many connections, with sums of counters and means of times.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterable
from typing import TYPE_CHECKING

from westwood.catalogue import UDP
from westwood.results import invariants
from westwood.results.columns import OF_RUN, FlowOfRun, Row, Run, row_of_flow
from westwood.results.raw import RawResult
from westwood.units import PS_PER_S

if TYPE_CHECKING:
    import polars as pl

    from westwood.scenario import Scenario


def rows_of_run(
    scenario: Scenario, seed: int, raw: RawResult, cost: dict[str, float], engine: str
) -> list[Row]:
    """Returns a row for each flow of the scenario."""
    source = raw.connections["source"]
    ends = [bisect.bisect_left(source, flow) for flow in range(len(scenario.flows) + 1)]
    simulated_s = scenario.duration / PS_PER_S
    rows = [
        {
            "scenario": scenario.hash,
            "engine": engine,
            "flow": flow.name,
            "cc": flow.cc.name,
            "seed": seed,
            **row_of_flow(FlowOfRun(flow, raw.connections, first, last, simulated_s)),
        }
        for flow, (first, last) in zip(scenario.flows, itertools.pairwise(ends), strict=True)
    ]
    goodputs = [float(row["goodput_bps"]) for row in rows if row["cc"] != UDP]
    run = Run(raw, goodputs, simulated_s)
    whole = [
        {**row, **{column.name: column.of(run, row) for column in OF_RUN}, **cost} for row in rows
    ]
    invariants.report(scenario, seed, raw, whole, engine)
    return whole


LARGEST = 1 << 63  # no measured value is as large; integer columns can't hold it


def is_number(value: object) -> bool:
    """Returns whether a value can be a measurement; NaN, for unknown, counts."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    return value != value or abs(value) < LARGEST


def even(rows: Iterable[Row]) -> list[Row]:
    """Returns the rows with the same columns, each column all floats or all integers.

    A frame would have them like that.
    """
    rows = list(rows)
    names = dict.fromkeys(name for row in rows for name in row)
    fractions = {name for name in names if any(isinstance(row.get(name), float) for row in rows)}
    return [
        {
            name: float(value) if name in fractions and isinstance(value, int) else value
            for name, value in ((name, row.get(name)) for name in names)
        }
        for row in rows
    ]


def rows_frame(rows: list[Row]) -> pl.DataFrame:
    """Returns the rows as a frame."""
    import polars as pl

    return pl.DataFrame(rows, infer_schema_length=None)
