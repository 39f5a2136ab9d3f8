# SPDX-License-Identifier: BSD-3-Clause
"""The columns of a row, each declared once for rows, means, tables, axes and docs/cli.md.

What an engine measures is declared in engine/columns.hpp. What follows from it is declared below,
with the function that computes it.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from westwood.catalogue import FLOW_COLUMNS, UDP, MeasuredColumn
from westwood.errors import InputError, suggestion
from westwood.results.metrics import jain, percentile
from westwood.units import PS_PER_S

if TYPE_CHECKING:
    from westwood.results.raw import Columns, RawResult
    from westwood.scenario.flows import Flow

Row = dict[str, Any]
_AT_A_TIME = 1 << 14  # connections


@dataclass(frozen=True)
class FlowOfRun:
    """A flow of a run, which columns are computed from: several connections if it has arrivals."""

    flow: Flow
    connections: Columns  # of the run,
    first: int  # of which these are the flow's
    last: int
    simulated_s: float

    @property
    def is_tcp(self) -> bool:
        """Is false for a source of datagrams."""
        return self.flow.cc.name != UDP

    @property
    def count(self) -> int:
        """The number of its connections."""
        return self.last - self.first

    @cached_property
    def completions_s(self) -> Sequence[float]:
        """How long the connections took of which all was acknowledged, from their start on."""
        pairs = zip(self.values("completed_s"), self.values("start_s"), strict=True)
        return array("d", (end - start for end, start in pairs if not math.isnan(end)))

    def _own(self, name: str) -> Any:
        return self.connections[name][self.first : self.last]

    def values(self, name: str) -> Iterable[float]:
        """A measured column of the connections."""
        own = self._own(name)
        return own if isinstance(own, list) else _one_by_one(own)

    def total(self, name: str) -> float:
        """The sum of a measured column over the connections."""
        return sum(self.values(name))

    def bit_rate(self, name: str) -> float:
        """A measured number of bytes in bit/s, over the time that the flow was active."""
        active_s = self._active_s()
        return 8.0 * self.total(name) / active_s if active_s > 0 else 0.0

    def _active_s(self) -> float:
        """Seconds from its start to its end, and to the last arrival where data come later.

        It ends when it is complete, at its `stop` or with the run. Transfers that arrive go on
        after `stop`: they end with the run.
        """
        if self.flow.arrivals:
            return self.simulated_s - float(self.flow.start) / PS_PER_S
        (start_s,), (completed_s,) = self.values("start_s"), self.values("completed_s")
        (last_arrival_s,) = self.values("last_arrival_s")
        end = self.simulated_s
        if not math.isnan(completed_s):
            end = completed_s
        elif self.flow.stop is not None:
            end = min(end, self.flow.stop / PS_PER_S)
        if not math.isnan(last_arrival_s):
            end = max(end, last_arrival_s)
        return end - start_s


def _one_by_one(column: memoryview) -> Iterator[float]:
    """Makes numbers of a column of which there may be a million."""
    for start in range(0, len(column), _AT_A_TIME):
        yield from column[start : start + _AT_A_TIME].tolist()


@dataclass(frozen=True)
class Run:
    """A run as a whole, which its columns are computed from."""

    raw: RawResult
    goodputs: Sequence[float]  # of the flows with congestion control, bit/s
    simulated_s: float

    @property
    def mean_goodput(self) -> float:
        """The mean over the flows with congestion control."""
        return sum(self.goodputs) / len(self.goodputs) if self.goodputs else math.nan


@dataclass(frozen=True)
class Column:
    """A column of the rows: what it is, and how it is shown."""

    name: str
    unit: str
    title: str
    what: str
    head: str = field(default="", kw_only=True)  # in the table that a run prints; empty: not there
    scale: float = field(default=1.0, kw_only=True)  # from the column's unit to the table's
    digits: int = field(default=1, kw_only=True)  # after the point in the table
    with_interval: bool = field(default=False, kw_only=True)  # in the table, too
    if_several: bool = field(default=False, kw_only=True)  # in the table only beside other flows
    if_known: bool = field(default=False, kw_only=True)  # in the table only where a flow has it

    def cell(self, value: float | None, half: float = math.nan) -> str:
        """Writes a value, or a mean and half its interval, as tables have it."""
        if value is None or math.isnan(value):
            return "-"
        text = f"{value * self.scale:.{self.digits}f}"
        if not self.with_interval or math.isnan(half):
            return text
        return f"{text} ± {half * self.scale:.{self.digits}f}"


@dataclass(frozen=True)
class FlowColumn(Column):
    """A column that follows from what was measured of a flow."""

    of: Callable[[FlowOfRun], float]


@dataclass(frozen=True)
class RunColumn(Column):
    """A column that follows from the whole run; `row` is that of the flow in question."""

    of: Callable[[Run, Row], float]


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


def _mean(values: Iterable[float]) -> float:
    """The mean of those that are numbers."""
    total, count = 0.0, 0
    for value in values:
        if not math.isnan(value):
            total, count = total + value, count + 1
    return _ratio(total, count)


def _mean_queue(run: Run) -> float:
    ways = [*run.raw.forward, *run.raw.backward]
    busiest = max(ways, key=lambda way: way.utilisation, default=None)
    return busiest.waited_s / run.simulated_s if busiest else math.nan


IDENTITY = (
    Column("scenario", "", "Scenario", "hash of all settings that decide the outcome but the seed"),
    Column("engine", "", "Engine", "what ran it"),
    Column("flow", "", "Flow", "its name in the scenario"),
    Column("cc", "", "Protocol", "its congestion control"),
    Column("seed", "", "Seed", "the seed of the run's random numbers"),
)

RATES = (
    FlowColumn(
        "goodput_bps",
        "bit/s",
        "Goodput",
        "payload delivered in order, over the time the flow was active: from its start until it "
        "is complete, or until `stop`, or to the run's end, and until its last packet arrives",
        lambda flow: flow.bit_rate("delivered_bytes"),
        head="goodput\nMb/s",
        scale=1e-6,
        digits=3,
        with_interval=True,
    ),
    FlowColumn(
        "throughput_bps",
        "bit/s",
        "Throughput",
        "IP packets of the flow's data that reached the sink, over the same time",
        lambda flow: flow.bit_rate("ip_bytes_at_sink"),
        head="throughput\nMb/s",
        scale=1e-6,
        digits=3,
        with_interval=True,
    ),
)

OF_FLOW = (
    FlowColumn(
        "retransmission_ratio",
        "",
        "Retransmitted over sent",
        "retransmitted over sent",
        lambda flow: _ratio(flow.total("retransmitted"), flow.total("sent") * flow.is_tcp),
        head="resent\n%",
        scale=100,
        digits=2,
    ),
    FlowColumn(
        "loss_ratio",
        "",
        "Dropped and lost over sent",
        "queue_drops and lost, over sent",
        lambda flow: _ratio(flow.total("queue_drops") + flow.total("lost"), flow.total("sent")),
    ),
    FlowColumn(
        "transfers",
        "",
        "Transfers",
        "connections of the flow: more than one with `arrivals`",
        lambda flow: flow.count,
    ),
    FlowColumn(
        "completed",
        "",
        "Completed transfers",
        "connections of which all was acknowledged",
        lambda flow: len(flow.completions_s),
    ),
    FlowColumn(
        "completion_s",
        "s",
        "Completion time",
        "from a connection's start until all was acknowledged, the mean of those completed",
        lambda flow: _mean(flow.completions_s),
        head="completion\ns",
        digits=3,
        with_interval=True,
        if_known=True,
    ),
    FlowColumn(
        "completion_p50_s",
        "s",
        "Median completion time",
        "the median of those times, which is the time itself of a flow that is one connection",
        lambda flow: percentile(flow.completions_s, 0.5),
    ),
    FlowColumn(
        "completion_p95_s",
        "s",
        "Completion time, 95th percentile",
        "their 95th percentile",
        lambda flow: percentile(flow.completions_s, 0.95),
    ),
)

OF_RUN = (
    RunColumn(
        "friendliness",
        "",
        "Friendliness",
        "the flow's goodput over the mean of the run's TCP flows: 1 is its fair share",
        lambda run, row: _ratio(float(row["goodput_bps"]), run.mean_goodput * (row["cc"] != UDP)),
        head="share\nof fair",
        digits=2,
        with_interval=True,
        if_several=True,
    ),
    RunColumn(
        "jain",
        "",
        "Jain's index",
        "fairness of the run's TCP flows, 1 when all have the same goodput",
        lambda run, row: jain(run.goodputs),
        head="fairness",
        digits=3,
        if_several=True,
    ),
    RunColumn(
        "utilisation",
        "",
        "Utilisation",
        "of the busiest direction of a link, from the run's start to its end: 0 to 1",
        lambda run, row: max(
            (way.utilisation for way in (*run.raw.forward, *run.raw.backward)), default=math.nan
        ),
    ),
    RunColumn(
        "mean_queue",
        "packets",
        "Mean queue",
        "packets that waited, on average over the run, before the busiest direction of a link",
        lambda run, row: _mean_queue(run),
    ),
    RunColumn(
        "simulated_s", "s", "Simulated time", "length of the run", lambda run, row: run.simulated_s
    ),
)

COST = (
    Column("cpu_s", "s", "CPU time", "what the run cost this machine"),
    Column("wall_s", "s", "Time", "how long the run took here"),
)

_AGGREGATES: Mapping[str, Callable[[Iterable[float]], float]] = {
    "SUM": sum,
    "MEAN": _mean,
    "LEAST": lambda values: min((v for v in values if not math.isnan(v)), default=math.nan),
    "MOST": lambda values: max((v for v in values if not math.isnan(v)), default=math.nan),
}
_OF_CONGESTION_CONTROL = ("MEAN", "LEAST")  # aggregates of what a source of datagrams has not


def _measured() -> list[MeasuredColumn]:
    return [one for one in FLOW_COLUMNS.values() if one.aggregate != "INNER"]


def row_of_flow(flow: FlowOfRun) -> Row:
    """The columns of a flow: what was measured and what follows from it."""
    row: Row = {column.name: column.of(flow) for column in RATES}
    for one in _measured():
        values = flow.values(one.name)
        known = flow.is_tcp or one.aggregate not in _OF_CONGESTION_CONTROL
        row[one.name] = _AGGREGATES[one.aggregate](values) if known else math.nan
    return row | {column.name: column.of(flow) for column in OF_FLOW}


def columns() -> list[Column]:
    """Returns all columns of a row, in order."""
    measured = [
        Column(
            one.name,
            one.unit,
            one.title,
            one.what,
            head=one.head,
            scale=1e3 if _is_in_ms(one) else 1.0,
        )
        for one in _measured()
    ]
    return [*IDENTITY, *RATES, *measured, *OF_FLOW, *OF_RUN, *COST]


def _is_in_ms(column: MeasuredColumn | Column) -> bool:
    """Says whether tables and axes show a column in milliseconds, as round trips are read."""
    return column.name.endswith("rtt_s")


def averaged() -> list[str]:
    """The columns that a summary averages over seeds: all that the seeds decide."""
    constant = {"simulated_s", *(one.name for one in (*IDENTITY, *COST))}
    return [column.name for column in columns() if column.name not in constant]


def check_metric(name: str) -> None:
    """InputError unless a summary has a mean of this column."""
    if name not in averaged():
        problem = f"unknown column, {suggestion(name, averaged())}"
        raise InputError(problem, key="--metric", value=name)


def axis(name: str) -> tuple[str, float]:
    """Returns a column's title with its unit on an axis, and what that unit is in the column's."""
    column = next(one for one in columns() if one.name == name)
    shown, scale = {"bit/s": ("Mb/s", 1e6), "": ("", 1.0)}.get(column.unit, (column.unit, 1.0))
    if _is_in_ms(column):
        shown, scale = "ms", 1e-3
    return f"{column.title} ({shown})" if shown else column.title, scale
