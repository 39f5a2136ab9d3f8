# SPDX-License-Identifier: BSD-3-Clause
"""Declares a test case: a sentence of the draft, a path, a change, and what must be seen."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from westwood.evaluation.draft.recording import LackingError, Recording
from westwood.scenario import Scenario
from westwood.scenario.one_link import one_link
from westwood.units import PS_PER_S, format_time

_HEADERS_BYTES = 52  # IPv4, TCP and timestamps
PACKET_BYTES = 1500
MSS_BYTES = PACKET_BYTES - _HEADERS_BYTES
_NEVER_S = 3600.0


@dataclass(frozen=True)
class Moment:
    """When something changes on a path."""

    time_s: float
    packets: int | None  # that the sender has sent by then, with the handshake's; None: unknown

    def written(self, after_s: float = 0) -> str:
        """Returns the time as a scenario has it."""
        return format_time(round((self.time_s + after_s) * 1e6) * (PS_PER_S // 1_000_000))

    def lost(self, every: int, count: int, after: int = 0) -> dict[str, Any]:
        """Returns the loss of every so many packets, `count` in all."""
        if self.packets is None:
            raise LackingError("no segments sent, which place the case's losses")
        first = self.packets + 1 + after
        return {"kind": "script", "packets": [first + every * n for n in range(count)]}


@dataclass(frozen=True)
class Path:
    """A link, what the application writes, and who else uses the link; as in scenario files."""

    rate_bps: float = 10e6
    delay_ms: float = 20  # one way
    queue: str = "100p"
    duration_s: float = 8
    app: Mapping[str, Any] | str = "bulk"
    link: Mapping[str, Any] = field(default_factory=dict)  # further keys of the link
    flow: Mapping[str, Any] = field(default_factory=dict)  # further keys of the flow
    beside: Mapping[str, Any] | None = None  # a flow of datagrams: its rate, start, stop

    @property
    def payload_bps(self) -> float:
        """Returns the rate of the link in payload."""
        return self.rate_bps * MSS_BYTES / PACKET_BYTES

    @property
    def round_trip_s(self) -> float:
        """Returns the round trip of an empty path."""
        return 2 * self.delay_ms / 1e3 + 8 * PACKET_BYTES / self.rate_bps

    def scenario(self, name: str, cc: Mapping[str, Any]) -> Scenario:
        """Returns the scenario of this path with a control."""
        link = {
            "name": "bottleneck",
            "rate": f"{self.rate_bps:.0f}bps",
            "delay": f"{self.delay_ms:g}ms",
            "queue": {"kind": "droptail", "limit": self.queue},
            **self.link,
        }
        flows = [{"name": "tcp", "cc": dict(cc), "app": self.app, **self.flow}]
        if self.beside:
            start = {key: self.beside[key] for key in ("start", "stop") if key in self.beside}
            app = {"kind": "udp", "rate": self.beside["rate"]}
            flows.append({"name": "udp", "app": app, **start})
        return one_link(name, f"{self.duration_s:g}s", link, *flows)


@dataclass(frozen=True)
class Seen:
    """A recording, and what is known of the path."""

    recording: Recording
    path: Path | None = None  # None: of somebody else's log
    change: Moment | None = None

    @property
    def path_bps(self) -> float:
        """Returns the rate of the path in payload."""
        return self._path.payload_bps

    @property
    def round_trip_s(self) -> float:
        """Returns the round trip of the empty path."""
        return self._path.round_trip_s

    @property
    def _path(self) -> Path:
        if self.path is None:
            raise LackingError("no rate of the path")
        return self.path

    @property
    def changed_s(self) -> float:
        """Returns when the path changed; raises LackingError if the case did not change it."""
        if self.change is None:
            raise LackingError("no change of the path that a log tells")
        return self.change.time_s


Value = float | str
Measure = Callable[[Seen], Value]


@dataclass(frozen=True)
class Expectation:
    """A measured value and its bounds, or the words that it may be."""

    what: str
    measure: Measure
    low: float = -math.inf
    high: float = math.inf
    unit: str = ""
    words: tuple[str, ...] = ()
    is_condition: bool = False  # without it the case shows nothing; it does not pass a case

    def holds(self, value: Value) -> bool:
        """Returns whether a value is as expected."""
        if isinstance(value, str):
            return value in self.words
        return self.low <= value <= self.high

    @cached_property
    def expected(self) -> str:
        """Returns the bounds as text."""
        if self.words:
            return " or ".join(self.words)
        low, high = (written(bound, self.unit) for bound in (self.low, self.high))
        if math.isinf(self.high):
            return f"at least {low}"
        if math.isinf(self.low):
            return f"at most {high}"
        if self.low == self.high:
            return low
        return f"{written(self.low)} to {high}"


def written(value: Value, unit: str = "") -> str:
    """Returns a value with its unit."""
    if isinstance(value, str):
        return value or "-"
    scaled = value / 1e6 if unit == "Mb/s" else value
    return (
        f"{scaled:.3g} {unit}".rstrip() if abs(scaled) < 1000 else f"{scaled:.0f} {unit}".rstrip()
    )


@dataclass(frozen=True)
class Case:
    """A test case of the draft."""

    number: int
    name: str
    title: str  # the draft's
    sentence: str  # the draft's
    path: Path
    expected: tuple[Expectation, ...]
    change: Callable[[Path, Moment], Path] | None = None
    waits_for: str = ""  # the change comes when this state begins ...
    otherwise_s: float = 3.0  # ... or at this time, for a control without it
    later_rounds: float = 0  # round trips from then to the change
    settings: Mapping[str, Any] = field(default_factory=dict)  # of a control that has them
    note: str = ""  # where it differs from the draft, and why
    in_logs: bool = False  # whether a log of any path decides it, if it has the states

    def changed(self, moment: Moment | None) -> Path:
        """Returns the path with its change at a moment; None: after the end."""
        if self.change is None:
            return self.path
        return self.change(self.path, moment or Moment(_NEVER_S, 1 << 40))

    def moment(self, recording: Recording) -> Moment | None:
        """Returns when the change must come, from a recording without it."""
        if self.change is None:
            return None
        time_s = self.otherwise_s
        if self.waits_for and recording.states:
            time_s = recording.spell(self.waits_for, ended=False).start_s
        time_s += self.later_rounds * self.path.round_trip_s
        if recording.sent is None:
            return Moment(time_s, None)
        sent = recording.sent.at(time_s)
        return Moment(time_s, 1 + math.ceil((sent if sent == sent else 0) / recording.mss_bytes))
