# SPDX-License-Identifier: BSD-3-Clause
"""Puts what happened over time into frames. docs/traces.md lists the columns and units."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from westwood import _engine
from westwood.catalogue import (
    DIRECTION_COLUMNS,
    FLOW_COLUMNS,
    OPPORTUNITY_BYTES,
    QUEUE_COLUMNS,
    WINDOW_COLUMNS,
)
from westwood.errors import InputError
from westwood.results.raw import Columns, RawLinkSide, RawResult

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from westwood.scenario import Scenario

STATES = ("open", "disorder", "recovery", "loss")  # enum ww_phase
_MOST_SAMPLES = 10_000_000
SIDES = ("forward", "backward")
_PIECE = 1 << 16  # rows of a frame
_MOST_SEEN = 1 << 18  # rows of a figure
# The columns of a trace, but for the flow and the transfer that a row is of.
TRACE_COLUMNS = tuple("state" if name == "phase" else name for name in WINDOW_COLUMNS)


def windows(scenario: Scenario, raw: RawResult) -> Iterator[pl.DataFrame]:
    """Has flow, transfer, time_s, cwnd, ssthresh, estimate_bps, sample_bps, rtt_s, srtt_s, rto_s,
    in_flight, state."""
    state = _names(STATES, pl.col("phase")).cast(pl.Enum(STATES)).alias("state")
    for frame in _by_flow(scenario, raw, "windows"):
        yield frame.with_columns(state).drop("phase")


def events(scenario: Scenario, raw: RawResult) -> Iterator[pl.DataFrame]:
    """Has flow, transfer, time_s, kind, segment, cwnd, ssthresh."""
    kinds = _engine.EVENT_KINDS
    kind = _names(kinds, pl.col("kind")).cast(pl.Enum(kinds)).alias("kind")
    for frame in _by_flow(scenario, raw, "events"):
        yield frame.with_columns(kind)


def transfers(scenario: Scenario, raw: RawResult) -> Iterator[pl.DataFrame]:
    """Has flow, transfer, start_s, established_s, completed_s, completion_s and what was sent."""
    columns = {name: raw.connections[name] for name in FLOW_COLUMNS}
    named = _Names(scenario, raw)
    completion = pl.col("completed_s") - pl.col("start_s")
    whole = pl.col(pl.UInt64, pl.UInt32).cast(pl.Int64)
    for start in range(0, named.count, _PIECE):
        rows = slice(start, min(start + _PIECE, named.count))
        names = named.of(np.arange(rows.start, rows.stop, dtype=np.uint32))
        numbers = pl.DataFrame({name: column[rows] for name, column in columns.items()})
        frame = pl.concat([names, numbers], how="horizontal")
        yield frame.with_columns(whole, completion.alias("completion_s"))


def links(scenario: Scenario, raw: RawResult) -> pl.DataFrame:
    """Has link, direction, packets, bytes, drops by kind, waits, mean queue, utilisation."""
    rows = [
        {
            "link": link,
            "direction": side,
            **{name: getattr(way, name) for name in DIRECTION_COLUMNS},
        }
        for link, side, way in _directions(scenario, raw)
    ]
    waited = pl.col("waited_s")
    return (
        pl.DataFrame(rows)
        .with_columns(
            (waited / pl.col("packets")).alias("mean_wait_s"),
            (waited / (scenario.duration / 1e12)).alias("mean_queue"),
        )
        .drop(name for name, one in DIRECTION_COLUMNS.items() if one.aggregate == "INNER")
    )


def queues(scenario: Scenario, raw: RawResult) -> Iterator[pl.DataFrame]:
    """Has link, direction, time_s, packets, bytes: what waits from that time on."""
    links = [link.name for link in scenario.link]
    pipe, waiting = -1, _Waiting()
    for columns in raw.records.pieces("queues"):
        edges = np.flatnonzero(np.diff(columns["pipe"])) + 1
        for first, last in itertools.pairwise([0, *edges.tolist(), len(columns["pipe"])]):
            its = int(columns["pipe"][first]) if last else -1
            if its != pipe:
                yield _placed(waiting.rest(), links, pipe)
                pipe, waiting = its, _Waiting()
            part = {name: columns[name][first:last] for name in QUEUE_COLUMNS}
            yield _placed(waiting.lengths(part), links, pipe)
    yield _placed(waiting.rest(), links, pipe)


def _placed(lengths: pl.DataFrame, links: Sequence[str], pipe: int) -> pl.DataFrame:
    """Adds where the queue is."""
    link, side = links[pipe // 2], SIDES[pipe % 2]
    return lengths.select(pl.lit(link).alias("link"), pl.lit(side).alias("direction"), pl.all())


class _Waiting:
    """Counts one more at each arrival, one less at each start; at one instant, starts first.

    What is after the last arrival may change with the next rows, and waits for them.
    """

    def __init__(self) -> None:
        self._time = np.array([], dtype=np.float64)
        self._change = np.array([], dtype=np.int64)  # bytes; less than 0: they start
        self._packets = self._bytes = 0

    def lengths(self, waited: Columns) -> pl.DataFrame:
        """Takes packets that waited, by arrival."""
        size = waited["bytes"].astype(np.int64)
        is_later = self._change > 0  # of those from before, starts come first again
        self._time = np.concatenate(
            [self._time[~is_later], waited["start_s"], self._time[is_later], waited["arrival_s"]]
        )
        self._change = np.concatenate(
            [self._change[~is_later], -size, self._change[is_later], size]
        )
        return self._until(waited["arrival_s"][-1] if len(size) else -math.inf)

    def rest(self) -> pl.DataFrame:
        """Returns what happens after the last rows."""
        return self._until(math.inf)

    def _until(self, end_s: float) -> pl.DataFrame:
        order = np.argsort(self._time, kind="stable")
        time, change = self._time[order], self._change[order]
        done = int(np.searchsorted(time, end_s))
        self._time, self._change = time[done:], change[done:]
        change = change[:done]
        frame = pl.DataFrame(
            {
                "time_s": time[:done],
                "packets": self._packets + np.sign(change).cumsum(),
                "bytes": self._bytes + change.cumsum(),
            }
        )
        if done:
            self._packets, self._bytes = frame["packets"][-1], frame["bytes"][-1]
        return frame.unique("time_s", keep="last", maintain_order=True)


def drops(scenario: Scenario, raw: RawResult) -> Iterator[pl.DataFrame]:
    """Has time_s, link, direction, flow, transfer, packet ("data" or "ack"), kind."""
    kinds = _engine.DROP_KINDS
    links = [link.name for link in scenario.link]
    named = _Names(scenario, raw)
    pipe = pl.col("pipe")
    for columns in raw.records.pieces("drops"):
        frame = pl.concat(
            [pl.DataFrame(columns).drop("flow"), named.of(columns["flow"])], how="horizontal"
        )
        yield frame.select(
            "time_s",
            _names(links, pipe // 2).alias("link"),
            _names(SIDES, pipe % 2).alias("direction"),
            "flow",
            "transfer",
            _names(("data", "ack"), pl.col("ack").cast(pl.UInt32)).alias("packet"),
            _names(kinds, pl.col("kind")).cast(pl.Enum(kinds)).alias("kind"),
        )


def check_every(every_s: float, duration_s: float) -> None:
    """Raises InputError unless that is a time in which to sample a run."""
    if not every_s > 0 or not duration_s / every_s <= _MOST_SAMPLES:
        problem = f"expected more than 0 s, and at most {_MOST_SAMPLES} samples in the run"
        raise InputError(problem, key="every_s", value=every_s)


def sampled(
    trace: Iterable[pl.DataFrame], every_s: float, duration_s: float
) -> Iterator[pl.DataFrame]:
    """Takes the rows in force at multiples of `every_s`; none before a flow's first row."""
    check_every(every_s, duration_s)
    times = np.arange(int(duration_s / every_s + 1e-9) + 1) * float(every_s)
    grid = pl.DataFrame({"time_s": times})

    def of_connection(rows: pl.DataFrame) -> pl.DataFrame:
        return grid.join_asof(rows, on="time_s").drop_nulls("flow").select(rows.columns)

    held: pl.DataFrame | None = None  # of the connection that may go on in the next frame
    for frame in trace:
        for rows in frame.partition_by("flow", "transfer", maintain_order=True):
            # Of the rows between two moments of the grid, only the last is ever in force at one.
            cell = pl.Series("cell", np.searchsorted(times, rows["time_s"].to_numpy()))
            last = rows.filter((cell != cell.shift(-1)).fill_null(value=True))
            if held is not None and held.select("flow", "transfer").row(-1) == last.select(
                "flow", "transfer"
            ).row(0):
                held = held.vstack(last)
                continue
            if held is not None:
                yield of_connection(held)
            held = last
        if held is None:
            held = frame  # without rows
    assert held is not None
    yield of_connection(held) if held.height else held


def seen(
    frames: Iterable[pl.DataFrame], wanted: pl.Expr, span_s: tuple[float, float]
) -> pl.DataFrame:
    """Takes the wanted rows within the span for a figure, and the last before it.

    Of more than `_MOST_SEEN` rows it takes every second, fourth... of each flow: far more than a
    line can show.
    """
    time_s, (start_s, end_s) = pl.col("time_s"), span_s
    parts: list[pl.DataFrame] = []
    before: list[pl.DataFrame] = []
    step = 1
    for frame in frames:
        keys = [key for key in ("flow", "transfer") if key in frame.columns] or pl.lit(0)
        nth = pl.int_range(pl.len()).over(keys)
        own = frame.filter(wanted, time_s <= end_s)
        early = own.filter(time_s < start_s)
        before.append(early.group_by(keys, maintain_order=True).last().select(frame.columns))
        parts.append(own.filter(time_s >= start_s).filter(nth % step == 0))
        if sum(part.height for part in parts) > _MOST_SEEN:
            parts, step = [pl.concat(parts).filter(nth % 2 == 0)], 2 * step
    return pl.concat([*before, *parts]).sort("time_s", maintain_order=True)


def offered_rate(times_ms: Sequence[int], duration_s: float, step_s: float) -> pl.DataFrame:
    """Has time_s, bps: what delivery opportunities offer in each step, over and over."""
    period_s = times_ms[-1] / 1000
    repeats = math.ceil(duration_s / period_s)
    once = np.array(times_ms) / 1000
    all_s = (once + period_s * np.arange(repeats)[:, None]).ravel()
    edges = np.arange(math.ceil(duration_s / step_s) + 1) * step_s
    counts, _ = np.histogram(all_s, edges)
    return pl.DataFrame({"time_s": edges[:-1], "bps": 8 * OPPORTUNITY_BYTES * counts / step_s})


def _names(names: Iterable[str], index: pl.Expr) -> pl.Expr:
    """Takes the names at these places."""
    return pl.lit(pl.Series(list(names), dtype=pl.String)).gather(index)


class _Names:
    """Knows the name of each connection's flow, and the connection's number in it, from 1."""

    def __init__(self, scenario: Scenario, raw: RawResult) -> None:
        self._flows = pl.Series([flow.name for flow in scenario.flows], dtype=pl.String)
        self._source = np.asarray(raw.connections["source"], dtype=np.uint32)
        self.count = len(self._source)
        first = self._source.searchsorted(np.arange(len(self._flows)))
        self._first = first.astype(np.uint32)

    def of(self, connection: NDArray[np.uint32]) -> pl.DataFrame:
        """Has flow and transfer of these connections."""
        source = self._source[connection]
        number = connection + np.uint32(1) - self._first[source]
        return pl.DataFrame({"flow": self._flows.gather(source), "transfer": number})


def _directions(scenario: Scenario, raw: RawResult) -> Iterator[tuple[str, str, RawLinkSide]]:
    for link, *ways in zip(scenario.link, raw.forward, raw.backward, strict=True):
        for side, way in zip(SIDES, ways, strict=True):
            yield link.name, side, way


def _by_flow(scenario: Scenario, raw: RawResult, table: str) -> Iterator[pl.DataFrame]:
    """Yields a table's rows with the names of their flows."""
    named = _Names(scenario, raw)
    for columns in raw.records.pieces(table):
        rows = pl.DataFrame(columns)
        names = named.of(columns["connection"])
        yield pl.concat([names, rows.drop("connection")], how="horizontal")
