# SPDX-License-Identifier: BSD-3-Clause
"""Reads qlog files of any QUIC stack: JSON text sequences, and files with one JSON object.

Sequences are read record by record, so memory grows with what is kept of a connection, not with the
file. Old and new names of events are known: `recovery:metrics_updated` is now
`quic:recovery_metrics_updated`.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from westwood import files
from westwood.errors import InputError
from westwood.evaluation.draft.case import MSS_BYTES
from westwood.evaluation.draft.recording import Course, Recording, Spell

_MOST_IN_ONE = 64 << 20  # bytes of a file with one object, which is read as a whole
_LONGEST = 1 << 20  # bytes of a record
_MOST_EVENTS = 5_000_000  # that are kept
_MOST = 1e20  # of a number: more than any 64-bit field has
_SEPARATOR = b"\x1e"
# Fields of metrics_updated, the course of each, and its unit there.
_COURSES = {
    "latest_rtt": ("rtt_s", 1e-3),
    "congestion_window": ("cwnd", 1.0),
    "bytes_in_flight": ("in_flight", 1.0),
    "pacing_rate": ("pacing_bps", 1.0),
    "bandwidth": ("bw_bps", 1.0),
}
STATES = {
    "startup": "Startup",
    "drain": "Drain",
    "probebwdown": "ProbeBW_DOWN",
    "probebwcruise": "ProbeBW_CRUISE",
    "probebwrefill": "ProbeBW_REFILL",
    "probebwup": "ProbeBW_UP",
    "probertt": "ProbeRTT",
}


class _Log:
    """What is kept of a connection."""

    def __init__(self) -> None:
        self.courses: dict[str, tuple[array[float], array[float]]] = {}
        self.sent: array[float] = array("d")
        self.sizes: array[float] = array("d")
        self.lost: array[float] = array("d")
        self.states: list[tuple[float, str]] = []
        self.end_s = 0.0
        self.count = 0

    def take(self, time_s: float, name: str, data: Mapping[str, Any]) -> None:
        """Takes an event."""
        self.end_s = time_s
        if name == "metrics_updated":
            self._metrics(time_s, data)
        elif name == "congestion_state_updated":
            known = STATES.get(re.sub(r"^bbr\d?|[^a-z]", "", str(data.get("new", "")).lower()))
            if known and (not self.states or self.states[-1][1] != known):
                self.states.append((time_s, known))
        elif name == "packet_sent":
            self.sent.append(time_s)
            self.sizes.append(_size(data))
        elif name == "packet_lost":
            self.lost.append(time_s)
        self.count += 1
        if self.count > _MOST_EVENTS:
            raise InputError(f"expected at most {_MOST_EVENTS} events")

    def _metrics(self, time_s: float, data: Mapping[str, Any]) -> None:
        for field, (course, unit) in _COURSES.items():
            if field not in data:
                continue
            value = _number(field, data[field])
            times, values = self.courses.setdefault(course, (array("d"), array("d")))
            times.append(time_s)
            values.append(value * unit)

    def recording(self) -> Recording:
        """Returns what was kept as a recording."""
        courses = {
            name: Course(np.array(times), np.array(values))
            for name, (times, values) in self.courses.items()
        }
        ends = [*self.states[1:], (self.end_s, "")][: len(self.states)]
        spells = [
            Spell(state, start_s, end_s, after)
            for (start_s, state), (end_s, after) in zip(self.states, ends, strict=True)
        ]
        sent = Course(np.array(self.sent), np.cumsum(np.array(self.sizes)))
        return Recording(
            self.end_s,
            round(max(self.sizes, default=MSS_BYTES)),
            courses,
            tuple(STATES.values()) if spells else (),
            spells,
            sent if len(self.sent) else None,
            None,
            {"lost": np.array(self.lost)},
        )


def _size(data: Mapping[str, Any]) -> float:
    raw = data.get("raw")
    if isinstance(raw, dict):
        for key in ("payload_length", "length"):
            if raw.get(key) is not None:
                return _number(key, raw[key])
    return float(MSS_BYTES)


def _number(key: str, value: Any) -> float:
    if not _is_number(value) or not 0 <= value <= _MOST:
        raise InputError(f"expected a number from 0 to {_MOST:g}", key=key, value=value)
    return float(value)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def read(path: Path) -> Recording:
    """Reads a file; an error names the file and the record."""
    log = _Log()
    number = 0
    try:
        header, records = _open(path)
        clock = _Clock(header)
        number = 1
        for record in records:
            name = record.get("name")
            if not isinstance(name, str):
                raise InputError("expected an event with a name and a time")
            event = name.rpartition(":")[2].removeprefix("recovery_")
            data = record.get("data")
            log.take(clock.seconds(record), event, data if isinstance(data, dict) else {})
            number += 1
    except InputError as error:
        where = f"{path}, event {number}" if number else str(path)
        raise error.located(source=where) from None
    if not log.count:
        raise InputError("no events, expected those of a connection", source=str(path))
    return log.recording()


class _Clock:
    """Turns an event's time into seconds since the first one."""

    def __init__(self, header: Mapping[str, Any]) -> None:
        trace = header.get("trace", {})
        common = trace.get("common_fields", {}) if isinstance(trace, dict) else {}
        word = common.get("time_format") if isinstance(common, dict) else None
        self._is_delta = word in ("delta", "relative_to_previous_event")
        self._first_ms: float | None = None
        self._last_ms = 0.0

    def seconds(self, record: Mapping[str, Any]) -> float:
        """Returns an event's time; raises InputError if it precedes the one before."""
        time_ms = record.get("time")
        if time_ms is None:
            raise InputError("expected an event with a name and a time")
        if not _is_number(time_ms) or not 0 <= time_ms <= _MOST:
            raise InputError("expected a time in ms, not negative", key="time", value=time_ms)
        if self._is_delta:
            time_ms += self._last_ms
        if self._first_ms is None:
            self._first_ms = self._last_ms = time_ms
        if time_ms < self._last_ms:
            problem = f"the clock runs backwards, expected at least {self._last_ms:g}"
            raise InputError(problem, key="time", value=time_ms)
        self._last_ms = time_ms
        return (time_ms - self._first_ms) / 1e3


def _open(path: Path) -> tuple[Mapping[str, Any], Iterator[Mapping[str, Any]]]:
    """Returns a file's header and its events."""
    size = files.check(path)
    if _is_sequence(path):
        records = _sequence(path)
        return next(records, {}), records
    if size > _MOST_IN_ONE:
        problem = f"a file of one object, expected at most {_MOST_IN_ONE >> 20} MiB"
        raise InputError(f"{problem}, or a JSON text sequence (.sqlog)")
    return _contained(_parsed(path.read_bytes()))


def _is_sequence(path: Path) -> bool:
    """Returns whether a record follows a record: after RFC 7464's separator, or on lines."""
    with path.open("rb") as file:
        line = file.readline(_LONGEST)
    if line.startswith(_SEPARATOR):
        return True
    try:
        return "trace" in json.loads(line)
    except (ValueError, RecursionError, TypeError):
        return False


def _sequence(path: Path) -> Iterator[Mapping[str, Any]]:
    """Yields the records of a JSON text sequence."""
    with path.open("rb") as file:
        while line := file.readline(_LONGEST + 1):
            if len(line) > _LONGEST:
                raise InputError(f"expected records of at most {_LONGEST >> 20} MiB")
            if text := line.strip(_SEPARATOR + b" \t\r\n"):
                yield _parsed(text)


def _parsed(text: bytes) -> Mapping[str, Any]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError("expected a JSON object of qlog") from None
    if not isinstance(content, dict):
        raise InputError("expected a JSON object of qlog")
    return content


def _contained(whole: Mapping[str, Any]) -> tuple[Mapping[str, Any], Iterator[Mapping[str, Any]]]:
    traces = whole.get("traces")
    if not isinstance(traces, list) or len(traces) != 1 or not isinstance(traces[0], dict):
        raise InputError("expected qlog with one trace", key="traces")
    events = traces[0].get("events")
    if not isinstance(events, list):
        raise InputError("expected a list", key="events")
    return {"trace": traces[0]}, iter(_objects(events))


def _objects(events: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    for event in events:
        if not isinstance(event, dict):
            raise InputError("expected an event with a name and a time")
        yield event
