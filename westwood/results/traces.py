# SPDX-License-Identifier: BSD-3-Clause
"""Puts what happened over time into frames. docs/traces.md lists the columns and units."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from westwood import _engine
from westwood.catalogue import DIRECTION_COLUMNS, FLOW_COLUMNS, OPPORTUNITY_BYTES, WINDOW_COLUMNS
from westwood.results.raw import Columns, RawConnection, RawLinkSide, RawResult

if TYPE_CHECKING:
    from westwood.scenario import Scenario

STATES = ("open", "disorder", "recovery", "loss")  # enum ww_phase
SIDES = ("forward", "backward")
# The columns of a trace, but for the flow and the transfer that a row is of.
TRACE_COLUMNS = tuple("state" if name == "phase" else name for name in WINDOW_COLUMNS)


def windows(scenario: Scenario, raw: RawResult) -> pl.DataFrame:
    """Has flow, transfer, time_s, cwnd, ssthresh, estimate_bps, sample_bps, rtt_s, srtt_s, rto_s,
    in_flight, state."""
    frame = _by_flow(scenario, raw, ((number, flow.trace()) for number, flow in _numbered(raw)))
    state = _names(STATES, pl.col("phase")).cast(pl.Enum(STATES)).alias("state")
    return frame.with_columns(state).drop("phase")


def events(scenario: Scenario, raw: RawResult) -> pl.DataFrame:
    """Has flow, transfer, time_s, kind, segment, cwnd, ssthresh."""
    frame = _by_flow(scenario, raw, ((number, flow.event_log()) for number, flow in _numbered(raw)))
    kinds = _engine.EVENT_KINDS
    return frame.with_columns(_names(kinds, pl.col("kind")).cast(pl.Enum(kinds)).alias("kind"))


def transfers(scenario: Scenario, raw: RawResult) -> pl.DataFrame:
    """Has flow, transfer, start_s, established_s, completed_s, completion_s and what was sent."""
    columns: Columns = {name: [getattr(flow, name) for flow in raw.flows] for name in FLOW_COLUMNS}
    place = {
        "flow": [scenario.flows[flow.source].name for flow in raw.flows],
        "transfer": [number for number, _ in _numbered(raw)],
    }
    frame = pl.DataFrame({**place, **columns})
    completion = pl.col("completed_s") - pl.col("start_s")
    return frame.with_columns(completion.alias("completion_s"))


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


def queues(scenario: Scenario, raw: RawResult) -> pl.DataFrame:
    """Has link, direction, time_s, packets, bytes: what waits from that time on."""
    frames = [
        _lengths(way.queue()).select(
            pl.lit(link).alias("link"), pl.lit(side).alias("direction"), pl.all()
        )
        for link, side, way in _directions(scenario, raw)
    ]
    return pl.concat(frames)


def _lengths(waited: Columns) -> pl.DataFrame:
    """Counts one more at each arrival, one less at each start; at one instant, starts first."""
    arrival, start = waited["arrival_s"], waited["start_s"]
    size = waited["bytes"].astype(np.int64)
    time = np.concatenate([start, arrival])
    order = np.argsort(time, kind="stable")
    ones = np.ones(len(size), dtype=np.int64)
    frame = pl.DataFrame(
        {
            "time_s": time[order],
            "packets": np.concatenate([-ones, ones])[order].cumsum(),
            "bytes": np.concatenate([-size, size])[order].cumsum(),
        }
    )
    return frame.unique("time_s", keep="last", maintain_order=True)


def drops(scenario: Scenario, raw: RawResult) -> pl.DataFrame:
    """Has time_s, link, direction, flow, transfer, packet ("data" or "ack"), kind."""
    columns, kinds = raw.drops(), _engine.DROP_KINDS
    link_names = [link.name for link in scenario.link]
    flow_names = [scenario.flows[flow.source].name for flow in raw.flows]
    numbers = [number for number, _ in _numbered(raw)]
    pipe, flow = pl.col("pipe"), pl.col("flow")
    return pl.DataFrame(columns).select(
        "time_s",
        _names(link_names, pipe // 2).alias("link"),
        _names(SIDES, pipe % 2).alias("direction"),
        _names(flow_names, flow).alias("flow"),
        pl.lit(pl.Series(numbers, dtype=pl.UInt32)).gather(flow).alias("transfer"),
        _names(("data", "ack"), pl.col("ack").cast(pl.UInt32)).alias("packet"),
        _names(kinds, pl.col("kind")).cast(pl.Enum(kinds)).alias("kind"),
    )


def sampled(trace: pl.DataFrame, every_s: float, duration_s: float) -> pl.DataFrame:
    """Takes the rows in force at multiples of `every_s`; none before a flow's first row."""
    if not every_s > 0 or not math.isfinite(every_s):
        raise ValueError("every_s must be positive")
    count = int(duration_s / every_s + 1e-9) + 1
    grid = pl.DataFrame({"time_s": np.arange(count) * float(every_s)})
    frames = [
        grid.join_asof(flow, on="time_s").drop_nulls("flow").select(trace.columns)
        for flow in trace.partition_by("flow", "transfer", maintain_order=True)
    ]
    return pl.concat(frames) if frames else trace


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


def _numbered(raw: RawResult) -> Iterator[tuple[int, RawConnection]]:
    """Numbers each connection among those of its flow, from 1."""
    seen: dict[int, int] = {}
    for flow in raw.flows:
        seen[flow.source] = seen.get(flow.source, 0) + 1
        yield seen[flow.source], flow


def _directions(scenario: Scenario, raw: RawResult) -> Iterator[tuple[str, str, RawLinkSide]]:
    for link, *ways in zip(scenario.link, raw.forward, raw.backward, strict=True):
        for side, way in zip(SIDES, ways, strict=True):
            yield link.name, side, way


def _by_flow(
    scenario: Scenario, raw: RawResult, columns: Iterable[tuple[int, Columns]]
) -> pl.DataFrame:
    """Puts all connections' columns below each other, with the names of their flows."""
    frames = [
        pl.DataFrame(column).select(
            pl.lit(scenario.flows[flow.source].name).alias("flow"),
            pl.lit(number, dtype=pl.UInt32).alias("transfer"),
            pl.all(),
        )
        for flow, (number, column) in zip(raw.flows, columns, strict=True)
    ]
    return pl.concat(frames)
