# SPDX-License-Identifier: BSD-3-Clause
"""Writes a connection of a run as qlog, for qvis and other tools for QUIC.

The format is draft-ietf-quic-qlog-main-schema's JSON text sequence, with the events of
draft-ietf-quic-qlog-quic-events by the names that tools read today:

    transport:packet_sent               a segment; each transmission has a packet number of its own
    transport:packet_received           an ACK
    recovery:packet_lost                the last transmission of a segment that is sent again
    recovery:metrics_updated            windows, round trips, pacing rate, and `bandwidth`, our own
    recovery:congestion_state_updated   the control's mode; without modes the sender's state

Times are in ms, volumes in bytes, rates in bit/s.
"""

from __future__ import annotations

import heapq
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from westwood import __version__
from westwood.control.catalogue import UDP
from westwood.errors import InputError
from westwood.results import traces

if TYPE_CHECKING:
    from westwood.engines.result import Result
    from westwood.scenario.flows import Flow

_SEPARATOR = "\x1e"  # RFC 7464
_Event = tuple[float, str, dict[str, Any]]  # ms, name, data
# Columns of a trace: their fields, and what a unit of them is there.
_METRICS = {
    "rtt_s": ("latest_rtt", 1e3),
    "srtt_s": ("smoothed_rtt", 1e3),
    "min_rtt_s": ("min_rtt", 1e3),
    "pacing_bps": ("pacing_rate", 1.0),
    "bw_bps": ("bandwidth", 1.0),
}
_VOLUMES = {"cwnd": "congestion_window", "in_flight": "bytes_in_flight", "ssthresh": "ssthresh"}
_RATES = ("pacing_rate", "bandwidth")


def write(result: Result, path: Path) -> int:
    """Writes the first TCP connection; returns the number of events.

    The run needs a trace and events.
    """
    flow = _flow(result.scenario.flows)
    events = heapq.merge(
        _packets(_rows(traces.events(result.scenario, result.raw), flow), flow),
        _states(_rows(traces.windows(result.scenario, result.raw), flow), flow),
        key=itemgetter(0),
    )
    count = 0
    with path.open("w", encoding="utf-8") as file:
        file.write(_record(_header(result, flow)))
        for time_ms, name, data in events:
            file.write(_record({"time": round(time_ms, 6), "name": name, "data": data}))
            count += 1
    return count


def _flow(flows: Iterable[Flow]) -> Flow:
    for flow in flows:
        if flow.cc.name != UDP:
            return flow
    raise InputError("the scenario has no TCP flow, expected one", key="--qlog")


def _record(content: Mapping[str, Any]) -> str:
    return f"{_SEPARATOR}{json.dumps(content, separators=(',', ':'), allow_nan=False)}\n"


def _header(result: Result, flow: Flow) -> dict[str, Any]:
    common = {"time_format": "relative", "reference_time": 0, "protocol_type": ["QUIC"]}
    return {
        "file_schema": "urn:ietf:params:qlog:file:sequential",
        "serialization_format": "application/qlog+json-seq",
        "qlog_version": "0.3",
        "qlog_format": "JSON-SEQ",
        "title": f"{result.scenario.name}, {flow.name} ({flow.cc.name}), seed {result.seed}",
        "description": f"TCP in the simulator of westwood {__version__}, as QUIC would log it",
        "trace": {
            "vantage_point": {"type": "server"},
            "event_schemas": ["urn:ietf:params:qlog:events:quic"],
            "common_fields": common,
        },
    }


def _rows(frames: Iterable[pl.DataFrame], flow: Flow) -> Iterator[dict[str, Any]]:
    is_own = (pl.col("flow") == flow.name) & (pl.col("transfer") == 1)
    for frame in frames:
        yield from frame.filter(is_own).iter_rows(named=True)


def _packets(rows: Iterable[Mapping[str, Any]], flow: Flow) -> Iterator[_Event]:
    """Yields what was sent, acknowledged and sent again."""
    mss = flow.mss
    numbers: dict[int, int] = {}  # segments in flight, and their last packet number
    count, una = 0, 0
    for row in rows:
        time_ms, kind, segment = 1e3 * row["time_s"], row["kind"], row["segment"]
        if kind in ("send", "retransmit"):
            if kind == "retransmit" and segment in numbers:
                yield time_ms, "recovery:packet_lost", {"header": _number(numbers[segment])}
            frame = {"frame_type": "stream", "stream_id": 0, "offset": segment * mss, "length": mss}
            data = {
                "header": _number(count),
                "raw": {"length": flow.packet, "payload_length": mss},
                "frames": [frame],
            }
            yield time_ms, "transport:packet_sent", data
            numbers[segment] = count
            count += 1
        elif kind == "ack" and segment > una:
            newest = max((numbers.pop(number, 0) for number in range(una, segment)), default=0)
            una = segment
            frame = {"frame_type": "ack", "acked_ranges": [[0, newest]]}
            yield time_ms, "transport:packet_received", {"header": _number(0), "frames": [frame]}


def _number(number: int) -> dict[str, Any]:
    return {"packet_type": "1RTT", "packet_number": number}


def _states(rows: Iterable[Mapping[str, Any]], flow: Flow) -> Iterator[_Event]:
    """Yields changes of the metrics and of the control's state."""
    known: dict[str, int | float] = {}
    state = None
    for row in rows:
        time_ms = 1e3 * row["time_s"]
        now = row["mode"] if row.get("mode") is not None else _phase(row)
        if now != state:
            data = {"new": now} if state is None else {"old": state, "new": now}
            yield time_ms, "recovery:congestion_state_updated", data
            state = now
        metrics = _metrics(row, flow.mss)
        if changed := {key: value for key, value in metrics.items() if known.get(key) != value}:
            yield time_ms, "recovery:metrics_updated", changed
            known |= changed


def _phase(row: Mapping[str, Any]) -> str:
    """Returns RFC 9002's name of the state of a control without modes."""
    if row["state"] in ("recovery", "loss"):
        return "recovery"
    grows_fast = math.isnan(row["ssthresh"]) or row["cwnd"] < row["ssthresh"]
    return "slow_start" if grows_fast else "congestion_avoidance"


def _metrics(row: Mapping[str, Any], mss: int) -> dict[str, int | float]:
    """Returns the fields of a row that are known."""
    metrics: dict[str, int | float] = {}
    for column, (name, unit) in _METRICS.items():
        if math.isfinite(row.get(column, math.nan)):
            value = row[column] * unit
            metrics[name] = round(value) if name in _RATES else round(value, 6)
    for column, name in _VOLUMES.items():
        if math.isfinite(row[column]):
            metrics[name] = round(row[column] * mss)
    return metrics
