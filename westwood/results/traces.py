# SPDX-License-Identifier: BSD-3-Clause
"""Makes frames of a run's records over time. docs/traces.md lists the columns and units."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import polars as pl
import polars.selectors as cs

from westwood import _engine
from westwood.control import catalogue
from westwood.errors import InputError
from westwood.results.raw import RawLinkSide, RawResult

if TYPE_CHECKING:
    from westwood.scenario import Scenario

STATES = ("open", "disorder", "recovery", "loss")  # enum ww_phase
_MOST_SAMPLES = 10_000_000
SIDES = ("forward", "backward")
_PIECE = 1 << 16  # rows of a frame
_MOST_SEEN = 1 << 18  # rows of a figure
# The columns of a trace without flow and transfer.
TRACE_COLUMNS = tuple("state" if name == "phase" else name for name in catalogue.WINDOW_COLUMNS)


def windows(scenario: Scenario, raw: RawResult) -> Iterator[pl.DataFrame]:
    """Yields frames of the senders' state.

    Columns: flow, transfer, time_s, cwnd, ssthresh, estimate_bps, sample_bps, rtt_s, srtt_s, rto_s,
    in_flight, state. If a control shows a mode or quantities: pacing_bps, mode and each quantity.
    """
    state = _names(STATES, pl.col("phase")).cast(pl.Enum(STATES)).alias("state")
    for frame in _by_flow(scenario, raw, "windows"):
        named = frame.with_columns(state).drop("phase")
        yield _with_shown(scenario, named) if "mode" in frame.columns else named


def _with_shown(scenario: Scenario, frame: pl.DataFrame) -> pl.DataFrame:
    """Returns the frame with its modes and quantities by their names."""
    flows: dict[catalogue.Shown, list[str]] = {}
    for flow in scenario.flows:
        if flow.cc.name != catalogue.UDP:
            flows.setdefault(catalogue.shown_by(flow.cc.name), []).append(flow.name)
    modes = pl.Enum(list(dict.fromkeys(mode for shown_flow in flows for mode in shown_flow.modes)))
    expressions: dict[str, pl.Expr] = {"mode": pl.lit(None, modes)}
    for shown, names in flows.items():
        is_own = pl.col("flow").is_in(names)
        numbers = list(range(1, len(shown.modes) + 1))
        mode = pl.col("mode").replace_strict(numbers, shown.modes, default=None, return_dtype=modes)
        expressions["mode"] = pl.when(is_own).then(mode).otherwise(expressions["mode"])
        for i, name in enumerate(shown.quantities, start=1):
            other = expressions.get(name, pl.lit(math.nan))
            expressions[name] = pl.when(is_own).then(pl.col(f"quantity_{i}")).otherwise(other)
    return frame.with_columns(**expressions).drop(cs.starts_with("quantity_"))


def events(scenario: Scenario, raw: RawResult) -> Iterator[pl.DataFrame]:
    """Yields frames with flow, transfer, time_s, kind, segment, cwnd, ssthresh."""
    kinds = _engine.EVENT_KINDS
    kind = _names(kinds, pl.col("kind")).cast(pl.Enum(kinds)).alias("kind")
    for frame in _by_flow(scenario, raw, "events"):
        yield frame.with_columns(kind)


def transfers(scenario: Scenario, raw: RawResult) -> Iterator[pl.DataFrame]:
    """Yields frames with a row per connection: flow, transfer, times and measured columns."""
    types = {
        name: pl.Int64() if flow_column.type == "COUNT" else pl.Float64()
        for name, flow_column in catalogue.FLOW_COLUMNS.items()
    }
    named = _Names(scenario, raw)
    completion = pl.col("completed_s") - pl.col("start_s")
    for start in range(0, max(1, named.count), _PIECE):  # one frame, even without transfers
        rows = slice(start, min(start + _PIECE, named.count))
        names = named.of(pl.int_range(rows.start, rows.stop, dtype=pl.UInt32, eager=True))
        columns = {name: list(raw.connections[name][rows]) for name in catalogue.FLOW_COLUMNS}
        frame = pl.concat([names, pl.DataFrame(columns, schema=types)], how="horizontal")
        yield frame.with_columns(completion.alias("completion_s"))


def messages(scenario: Scenario, raw: RawResult) -> pl.DataFrame:
    """Returns a row per response or chunk: flow, transfer, its columns and completion_s."""
    types = {
        name: pl.Int64() if message_column.type == "COUNT" else pl.Float64()
        for name, message_column in catalogue.MESSAGE_COLUMNS.items()
    }
    rows = pl.DataFrame({name: list(raw.messages.get(name, ())) for name in types}, schema=types)
    names = _Names(scenario, raw).of(rows["connection"].cast(pl.UInt32))
    completion = (pl.col("completed_s") - pl.col("start_s")).alias("completion_s")
    whole = pl.concat([names, rows.drop("connection")], how="horizontal")
    return whole.with_columns(completion)


def links(scenario: Scenario, raw: RawResult) -> pl.DataFrame:
    """Returns a row per direction of a link: packets, bytes, drops, waits, utilisation."""
    rows = [
        {
            "link": link,
            "direction": side,
            **{name: getattr(direction, name) for name in catalogue.DIRECTION_COLUMNS},
        }
        for link, side, direction in _directions(scenario, raw)
    ]
    waited = pl.col("waited_s")
    return (
        pl.DataFrame(rows)
        .with_columns(
            (waited / pl.col("packets")).alias("mean_wait_s"),
            (waited / (scenario.duration / 1e12)).alias("mean_queue"),
        )
        .drop(
            name
            for name, direction_column in catalogue.DIRECTION_COLUMNS.items()
            if direction_column.aggregate == "INNER"
        )
    )


def drops(scenario: Scenario, raw: RawResult) -> Iterator[pl.DataFrame]:
    """Yields frames with time_s, link, direction, flow, transfer, packet (PACKET_KINDS), kind."""
    kinds = _engine.DROP_KINDS
    links = [link.name for link in scenario.link]
    named = _Names(scenario, raw)
    channel = pl.col("channel")
    for columns in raw.records.pieces("drops"):
        rows = pl.DataFrame(columns)
        frame = pl.concat([rows.drop("flow"), named.of(rows["flow"])], how="horizontal")
        yield frame.select(
            "time_s",
            _names(links, channel // 2).alias("link"),
            _names(SIDES, channel % 2).alias("direction"),
            "flow",
            "transfer",
            _names(_engine.PACKET_KINDS, pl.col("packet").cast(pl.UInt32)).alias("packet"),
            _names(kinds, pl.col("kind")).cast(pl.Enum(kinds)).alias("kind"),
        )


def queue_states(scenario: Scenario, raw: RawResult) -> Iterator[pl.DataFrame]:
    """Yields frames with link, direction, time_s, column, value: a discipline's columns."""
    links = [link.name for link in scenario.link]
    columns = [columns_of_queue(link.queue.kind) for link in scenario.link]
    first = pl.Series(itertools.accumulate(map(len, columns), initial=0), dtype=pl.UInt32)
    channel = pl.col("channel")
    place = pl.lit(first).gather(channel // 2) + pl.col("column")
    for piece in raw.records.pieces("states"):
        yield pl.DataFrame(piece).select(
            _names(links, channel // 2).alias("link"),
            _names(SIDES, channel % 2).alias("direction"),
            "time_s",
            _names(itertools.chain(*columns), place).alias("column"),
            "value",
        )


def columns_of_queue(kind: str) -> list[str]:
    """Returns the names of a discipline's columns."""
    return (
        [column.name for column in catalogue.QUEUES[kind].columns]
        if kind in catalogue.QUEUES
        else []
    )


def check_every(every_s: float, duration_s: float) -> None:
    """Raises InputError unless a run can be sampled at this interval."""
    if not every_s > 0 or not duration_s / every_s <= _MOST_SAMPLES:
        problem = f"expected more than 0 s, and at most {_MOST_SAMPLES} samples in the run"
        raise InputError(problem, key="every_s", value=every_s)


def sampled(
    trace: Iterable[pl.DataFrame], every_s: float, duration_s: float
) -> Iterator[pl.DataFrame]:
    """Yields the trace's state at multiples of `every_s`, from each flow's first row on."""
    check_every(every_s, duration_s)
    samples = int(duration_s / every_s + 1e-9) + 1
    times = pl.int_range(samples, eager=True).cast(pl.Float64).alias("time_s") * float(every_s)
    grid = times.to_frame()

    def of_connection(rows: pl.DataFrame) -> pl.DataFrame:
        return grid.join_asof(rows, on="time_s").drop_nulls("flow").select(rows.columns)

    held: pl.DataFrame | None = None  # a connection that may continue in the next frame
    for frame in trace:
        for rows in frame.partition_by("flow", "transfer", maintain_order=True):
            # Of the rows between two grid times, only the last can be sampled.
            cell = times.search_sorted(rows["time_s"], side="left")
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
    """Returns the wanted rows within the span for a figure, and the last row before it.

    If they are more than `_MOST_SEEN`, it keeps every second, fourth or so row of each flow, still
    far more than a line can show.
    """
    time_s, (start_s, end_s) = pl.col("time_s"), span_s
    parts: list[pl.DataFrame] = []
    before: list[pl.DataFrame] = []
    step = 1
    for frame in frames:
        keys = [key for key in ("flow", "transfer") if key in frame.columns] or pl.lit(0)
        nth = pl.int_range(pl.len()).over(keys)
        rows = frame.filter(wanted, time_s <= end_s)
        early = rows.filter(time_s < start_s)
        before.append(early.group_by(keys, maintain_order=True).last().select(frame.columns))
        parts.append(rows.filter(time_s >= start_s).filter(nth % step == 0))
        if sum(part.height for part in parts) > _MOST_SEEN:
            parts, step = [pl.concat(parts).filter(nth % 2 == 0)], 2 * step
    return pl.concat([*before, *parts]).sort("time_s", maintain_order=True)


def offered_rate(times_ms: Sequence[int], duration_s: float, step_s: float) -> pl.DataFrame:
    """Returns time_s and bps: the rate of the repeated delivery opportunities in each step."""
    period_s = times_ms[-1] / 1000
    repeats = math.ceil(duration_s / period_s)
    counts = [0] * math.ceil(duration_s / step_s)
    for start_s, time_ms in itertools.product((n * period_s for n in range(repeats)), times_ms):
        at_s = start_s + time_ms / 1000
        if at_s <= len(counts) * step_s:  # the end belongs to the last step
            counts[min(int(at_s / step_s), len(counts) - 1)] += 1
    bps = [8 * catalogue.OPPORTUNITY_BYTES * count / step_s for count in counts]
    return pl.DataFrame({"time_s": [step * step_s for step in range(len(counts))], "bps": bps})


def _names(names: Iterable[str], index: pl.Expr) -> pl.Expr:
    """Returns an expression for the names at these indices."""
    return pl.lit(pl.Series(list(names), dtype=pl.String)).gather(index)


class _Names:
    """Maps a connection to its flow's name and its number within the flow, from 1."""

    def __init__(self, scenario: Scenario, raw: RawResult) -> None:
        self._flows = pl.Series([flow.name for flow in scenario.flows], dtype=pl.String)
        source = raw.connections["source"]
        self._source = pl.Series(list(source), dtype=pl.UInt32)
        first = [bisect.bisect_left(source, flow) for flow in range(len(self._flows))]
        self._first = pl.Series(first, dtype=pl.UInt32)
        self.count = len(self._source)

    def of(self, connection: pl.Series) -> pl.DataFrame:
        """Returns flow and transfer of these connections."""
        source = self._source.gather(connection)
        number = connection + 1 - self._first.gather(source)
        return pl.DataFrame({"flow": self._flows.gather(source), "transfer": number})


def _directions(scenario: Scenario, raw: RawResult) -> Iterator[tuple[str, str, RawLinkSide]]:
    for link, *both in zip(scenario.link, raw.forward, raw.backward, strict=True):
        for side, tables in zip(SIDES, both, strict=True):
            yield link.name, side, tables


def _by_flow(scenario: Scenario, raw: RawResult, table: str) -> Iterator[pl.DataFrame]:
    """Yields a table's rows with the names of their flows."""
    named = _Names(scenario, raw)
    for columns in raw.records.pieces(table):
        rows = pl.DataFrame(columns)
        names = named.of(rows["connection"])
        yield pl.concat([names, rows.drop("connection")], how="horizontal")
