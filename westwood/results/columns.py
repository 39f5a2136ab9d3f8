# SPDX-License-Identifier: BSD-3-Clause
"""Declares the columns of a row once for rows, means, tables, axes and docs/cli.md.

engine/columns.hpp declares the columns that engines measure. The columns below are computed from
those, each by its function.
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
LIMITED_LEAST = 0.1  # of the run; a shorter limit is not reported


@dataclass(frozen=True)
class FlowOfRun:
    """A flow of a run, from which columns are computed; with arrivals it is many connections."""

    flow: Flow
    connections: Columns  # of all flows of the run
    first: int  # the flow's connections are first to last - 1
    last: int
    simulated_s: float

    @property
    def is_tcp(self) -> bool:
        """Returns False for a UDP flow."""
        return self.flow.cc.name != UDP

    @property
    def count(self) -> int:
        """Returns the number of its connections."""
        return self.last - self.first

    @cached_property
    def completions_s(self) -> Sequence[float]:
        """Returns the completion times of the connections that completed."""
        pairs = zip(self.values("completed_s"), self.values("start_s"), strict=True)
        return array("d", (end - start for end, start in pairs if not math.isnan(end)))

    def _own(self, name: str) -> Any:
        return self.connections[name][self.first : self.last]

    def values(self, name: str) -> Iterable[float]:
        """Yields a measured column of the connections."""
        own = self._own(name)
        return own if isinstance(own, list) else _one_by_one(own)

    def total(self, name: str) -> float:
        """Returns the sum of a measured column over the connections."""
        return sum(self.values(name))

    def bit_rate(self, name: str) -> float:
        """Returns a measured number of bytes as a rate over the flow's active time."""
        active_s = self._active_s()
        return 8.0 * self.total(name) / active_s if active_s > 0 else 0.0

    def _active_s(self) -> float:
        """Returns the seconds from its start to its end, or to the last arrival if that is later.

        It ends when it completes, at `stop` or with the run. A flow with arrivals ends with the
        run, because its transfers continue after `stop`.
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
    """Yields a column's numbers in blocks, because it may have a million."""
    for start in range(0, len(column), _AT_A_TIME):
        yield from column[start : start + _AT_A_TIME].tolist()


@dataclass(frozen=True)
class Run:
    """A whole run, from which columns are computed."""

    raw: RawResult
    goodputs: Sequence[float]  # of the TCP flows, bit/s
    simulated_s: float

    # Cached, because each of ten thousand flows has a row.
    @cached_property
    def mean_goodput(self) -> float:
        """Returns the mean goodput of the TCP flows."""
        return sum(self.goodputs) / len(self.goodputs) if self.goodputs else math.nan

    @cached_property
    def fairness(self) -> float:
        """Returns Jain's index of the TCP flows."""
        return jain(self.goodputs)

    @cached_property
    def utilisation(self) -> float:
        """Returns the utilisation of the busiest direction of a link; NaN without links."""
        return self._busiest.utilisation if self._busiest else math.nan

    @cached_property
    def mean_queue(self) -> float:
        """Returns the mean queue of that direction, packets; NaN without links."""
        return self._busiest.waited_s / self.simulated_s if self._busiest else math.nan

    @cached_property
    def _busiest(self) -> Any:
        directions = [*self.raw.forward, *self.raw.backward]
        return max(directions, key=lambda one: one.utilisation, default=None)


@dataclass(frozen=True)
class Column:
    """Describes a column of the rows and how tables show it."""

    name: str
    unit: str
    title: str
    what: str
    # How the table that a run prints shows it; an empty heading leaves it out.
    head: str = field(default="", kw_only=True)
    scale: float = field(default=1.0, kw_only=True)  # from the column's unit to the table's
    digits: int = field(default=1, kw_only=True)  # after the decimal point
    with_interval: bool = field(default=False, kw_only=True)
    if_several: bool = field(default=False, kw_only=True)  # only if there are several flows
    if_known: bool = field(default=False, kw_only=True)  # only if a flow has a value

    def cell(self, value: float | None, half: float = math.nan) -> str:
        """Returns a table's text for a value, or for a mean and half its interval."""
        if value is None or math.isnan(value):
            return "-"
        text = f"{value * self.scale:.{self.digits}f}"
        if not self.with_interval or math.isnan(half):
            return text
        return f"{text} ± {half * self.scale:.{self.digits}f}"


@dataclass(frozen=True)
class FlowColumn(Column):
    """A column computed from a flow's measurements."""

    of: Callable[[FlowOfRun], float]


@dataclass(frozen=True)
class RunColumn(Column):
    """A column computed from the whole run and the flow's row."""

    of: Callable[[Run, Row], float]


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


def _mean(values: Iterable[float]) -> float:
    """Returns the mean of the values that are not NaN."""
    total, count = 0.0, 0
    for value in values:
        if not math.isnan(value):
            total, count = total + value, count + 1
    return _ratio(total, count)


def _receiver_limited(flow: FlowOfRun) -> float:
    share = _mean(flow.values("receiver_limited_s")) / flow.simulated_s
    return share if share > LIMITED_LEAST else math.nan


IDENTITY = (
    Column(
        "scenario", "", "Scenario", "hash of all settings that affect the outcome, except the seed"
    ),
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
        "receiver_limited",
        "",
        "Limited by the receiver",
        "share of the run in which its receive window held back data, if that is over a tenth; "
        "raise its receive_window",
        _receiver_limited,
        head="receiver\nlimited %",
        scale=100,
        digits=0,
        if_known=True,
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
        "connections whose data were all acknowledged",
        lambda flow: len(flow.completions_s),
    ),
    FlowColumn(
        "completion_s",
        "s",
        "Completion time",
        "mean time from a connection's start until all its data are acknowledged, if they are",
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
        "median of those times; for a flow with one connection, its time",
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
        lambda run, row: run.fairness,
        head="fairness",
        digits=3,
        if_several=True,
    ),
    RunColumn(
        "utilisation",
        "",
        "Utilisation",
        "of the busiest direction of a link, from the run's start to its end: 0 to 1",
        lambda run, row: run.utilisation,
    ),
    RunColumn(
        "mean_queue",
        "packets",
        "Mean queue",
        "mean number of packets waiting for the busiest direction of a link, over the run",
        lambda run, row: run.mean_queue,
    ),
    RunColumn(
        "simulated_s", "s", "Simulated time", "length of the run", lambda run, row: run.simulated_s
    ),
)

COST = (
    Column("cpu_s", "s", "CPU time", "CPU time of the run"),
    Column("wall_s", "s", "Time", "wall-clock time of the run"),
)

_AGGREGATES: Mapping[str, Callable[[Iterable[float]], float]] = {
    "SUM": sum,
    "MEAN": _mean,
    "LEAST": lambda values: min((v for v in values if not math.isnan(v)), default=math.nan),
    "MOST": lambda values: max((v for v in values if not math.isnan(v)), default=math.nan),
}
_OF_CONGESTION_CONTROL = ("MEAN", "LEAST")  # aggregates of columns that UDP flows lack


def _measured() -> list[MeasuredColumn]:
    return [one for one in FLOW_COLUMNS.values() if one.aggregate != "INNER"]


def row_of_flow(flow: FlowOfRun) -> Row:
    """Returns a flow's measured and computed columns."""
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
    """Returns whether tables and axes show a column in milliseconds, as is usual for RTTs."""
    return column.name.endswith("rtt_s")


def averaged() -> list[str]:
    """Returns the columns that depend on the seed, which a summary averages."""
    constant = {"simulated_s", *(one.name for one in (*IDENTITY, *COST))}
    return [column.name for column in columns() if column.name not in constant]


def check_metric(name: str, key: str = "--metric") -> None:
    """Raises InputError unless a summary has a mean of this column."""
    if name not in averaged():
        problem = f"unknown column, {suggestion(name, averaged())}"
        raise InputError(problem, key=key, value=name)


def axis(name: str) -> tuple[str, float]:
    """Returns a column's axis label, and the label's unit in units of the column."""
    column = next(one for one in columns() if one.name == name)
    shown, scale = {"bit/s": ("Mb/s", 1e6), "": ("", 1.0)}.get(column.unit, (column.unit, 1.0))
    if _is_in_ms(column):
        shown, scale = "ms", 1e-3
    return f"{column.title} ({shown})" if shown else column.title, scale
