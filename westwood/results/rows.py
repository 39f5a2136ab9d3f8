# SPDX-License-Identifier: BSD-3-Clause
"""Makes a row of results for each flow of a run. metrics/ in C++ computes its columns.

A flow with arrivals has one row for its many connections, with sums of counters and means of times.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, overload

from westwood import _engine
from westwood.results import invariants
from westwood.results.columns import LOST_ON, Row
from westwood.results.raw import RawResult

if TYPE_CHECKING:
    import polars as pl

    from westwood.scenario import Scenario


_MANY = 1000  # flows whose rows are made again each time, to save 2 KiB for each


class FlowRows(Sequence[Row]):
    """The rows of many flows, each made when it is asked for."""

    def __init__(self, flows: Sequence[Any], columns: _engine.Rows, common: Row) -> None:
        self._flows, self._columns, self._common = flows, columns, common

    def __len__(self) -> int:
        return len(self._flows)

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> list[Row]: ...
    def __getitem__(self, place: int | slice) -> Row | list[Row]:
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        number = range(len(self))[place]
        flow, common = self._flows[number], self._common
        return {
            "scenario": common["scenario"],
            "engine": common["engine"],
            "flow": flow.name,
            "cc": flow.cc.written,
            "seed": common["seed"],
            **self._columns[number],
            **common["cost"],
        }

    def __reduce__(self) -> tuple[type[list[Row]], tuple[list[Row]]]:
        """Pickles a list."""
        return list, (list(self),)


def rows_of_run(
    scenario: Scenario, seed: int, raw: RawResult, cost: dict[str, float], engine: str
) -> Sequence[Row]:
    """Returns a row for each flow of the scenario."""
    directions = [(side.utilisation, side.waited_s) for side in (*raw.forward, *raw.backward)]
    columns = _engine.rows(scenario._planned(), raw.connections, raw.messages, directions)
    common = {"scenario": scenario.hash, "engine": engine, "seed": seed, "cost": cost}
    of_flows = FlowRows(scenario._parts.flows, columns, common)
    rows = (
        of_flows if len(of_flows) > _MANY else [of_flows[place] for place in range(len(of_flows))]
    )
    invariants.report(scenario, seed, raw, rows, engine)
    return rows


def lost_by_link(scenario: Scenario, raw: RawResult) -> dict[str, int]:
    """Returns the packets that a run lost on each link, in queues and by errors; {} for one."""
    if len(scenario._parts.link) < 2:
        return {}
    sides = zip(scenario._parts.link, raw.forward, raw.backward, strict=True)
    return {
        f"{LOST_ON}{link.name}": sum(side.queue_drops + side.lost for side in (forward, backward))
        for link, forward, backward in sides
    }


def losing_links(scenario: Scenario, rows: Iterable[Row]) -> list[str]:
    """Returns the columns of all links if one besides the slowest lost packets in these rows."""
    slowest = min(scenario._parts.link, key=lambda link: link.mean_rate_bps("forward")).name
    names = [f"{LOST_ON}{link.name}" for link in scenario._parts.link]
    rows = list(rows)
    losing = [name for name in names if any(row.get(name) for row in rows)]
    return losing if set(losing) - {f"{LOST_ON}{slowest}"} else []


LARGEST = 1 << 63  # no measured value is as large; integer columns can't hold it


def is_number(value: object) -> bool:
    """Returns whether a value can be a measurement; NaN, for unknown, counts."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    return value != value or abs(value) < LARGEST


def uniform_rows(rows: Iterable[Row]) -> list[Row]:
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


def rows_frame(rows: Sequence[Row]) -> pl.DataFrame:
    """Returns the rows as a frame."""
    import polars as pl

    return pl.DataFrame(list(rows), infer_schema_length=None)
