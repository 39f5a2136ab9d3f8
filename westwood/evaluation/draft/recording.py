# SPDX-License-Identifier: BSD-3-Clause
"""What one connection did over time, from a run or from a log, and questions about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


class LackingError(Exception):
    """Says what the control, or its log, lacks: the question has no answer."""


class UnseenError(Exception):
    """Says what the connection never did."""


@dataclass(frozen=True)
class Spell:
    """The time that a connection spends in a state without interruption."""

    state: str
    start_s: float
    end_s: float
    next: str  # the state after it; empty if the recording ends first

    @property
    def length_s(self) -> float:
        """Returns how long it lasts."""
        return self.end_s - self.start_s


@dataclass(frozen=True)
class Course:
    """A quantity that holds each value from its time on."""

    time_s: Numbers
    value: Numbers

    def at(self, time_s: float) -> float:
        """Returns the value in force at a time, with what changes at that time."""
        return self._before(int(np.searchsorted(self.time_s, time_s, side="right")))

    def before(self, time_s: float) -> float:
        """Returns the value in force just before a time."""
        return self._before(int(np.searchsorted(self.time_s, time_s, side="left")))

    def within(self, start_s: float, end_s: float) -> Numbers:
        """Returns the values from `start_s` until before `end_s`, the one in force first."""
        first = max(0, int(np.searchsorted(self.time_s, start_s, side="right")) - 1)
        last = int(np.searchsorted(self.time_s, end_s, side="left"))
        return self.value[first : max(last, first + 1)]

    def _before(self, place: int) -> float:
        return float(self.value[place - 1]) if place > 0 else float("nan")


@dataclass(frozen=True)
class Recording:
    """A connection: its course of numbers, its states and its events. Volumes are in bytes.

    A course that the control or the log lacks is left out.
    """

    end_s: float
    mss_bytes: int
    courses: Mapping[str, Course]  # cwnd, in_flight, rtt_s, pacing_bps, bw_bps...
    states: Sequence[str] = ()  # those that it can be in; empty: it has none
    spells: Sequence[Spell] = ()
    sent: Course | None = None  # bytes sent so far, with repetitions
    acked: Course | None = None  # bytes acknowledged so far
    events: Mapping[str, Numbers] = field(default_factory=dict)  # recovery, timeout, undo, lost
    host: str = ""  # the QUIC stack that reports only some of this; empty: another host

    def course(self, name: str) -> Course:
        """Returns a course; raises LackingError if there is none."""
        if name not in self.courses:
            raise LackingError(f"no {_CALLED.get(name, name)}")
        return self.courses[name]

    def at(self, name: str, time_s: float) -> float:
        """Returns a course's value at a time."""
        return _known(name, self.course(name).at(time_s))

    def before(self, name: str, time_s: float) -> float:
        """Returns a course's value just before a time."""
        return _known(name, self.course(name).before(time_s))

    def within(self, name: str, spell: Spell) -> Numbers:
        """Returns a course's values in a spell."""
        course = self.course(name)
        if course.time_s[0] >= spell.end_s:
            raise LackingError(f"no {_CALLED.get(name, name)} by then")
        return course.within(spell.start_s, spell.end_s)

    def all_in(self, *states: str) -> list[Spell]:
        """Returns the spells in any of these states; raises LackingError if it has none of them."""
        if not self.states:
            raise LackingError("no states")
        if not set(states) & set(self.states):
            raise LackingError(f"no state {states[0]}")
        return [spell for spell in self.spells if spell.state in states]

    def spell(self, state: str, after_s: float = 0, *, ended: bool = True) -> Spell:
        """Returns the first spell that ends after `after_s`; raises UnseenError without one."""
        for candidate in self.all_in(state):
            if candidate.end_s > after_s:
                if ended and not candidate.next:
                    raise UnseenError(f"{state} did not end")
                return candidate
        raise UnseenError(f"{state} was not entered")

    def state_at(self, time_s: float) -> str:
        """Returns the state at a time."""
        if not self.states:
            raise LackingError("no states")
        states = [spell.state for spell in self.spells if spell.start_s <= time_s < spell.end_s]
        return states[-1] if states else ""

    def first(self, event: str, after_s: float = 0) -> float:
        """Returns when an event comes first after a time; raises UnseenError if never."""
        times = self._times(event)
        place = int(np.searchsorted(times, after_s))
        if place == len(times):
            raise UnseenError(f"no {event}")
        return float(times[place])

    def count(self, event: str, start_s: float, end_s: float) -> int:
        """Returns how often an event comes between two times."""
        times = self._times(event)
        return int(np.searchsorted(times, end_s) - np.searchsorted(times, start_s))

    def _times(self, event: str) -> Numbers:
        if self.host and event not in self.events:
            raise LackingError(f"no {event}")
        return self.events.get(event, np.empty(0))

    def sent_bps(self, start_s: float, end_s: float) -> float:
        """Returns the mean rate of sending between two times."""
        return _rate(self.sent, "segments sent", start_s, end_s)

    def acked_bps(self, start_s: float, end_s: float) -> float:
        """Returns the mean rate of what was acknowledged between two times."""
        return _rate(self.acked, "ACKs", start_s, end_s)

    def rounds(self, start_s: float, end_s: float) -> float:
        """Returns how many round trips pass between two times, each as long as was measured.

        It stops at 1000, since no case expects as many.
        """
        course = self.course("rtt_s")
        now, count = start_s, 0.0
        while now < end_s and count < _MOST_ROUNDS:
            rtt = _round_trip(course, now)
            if not rtt > 0:
                raise LackingError("no round trips")
            count += min(1.0, (end_s - now) / rtt)
            now += rtt
        return count

    def bdp_bytes(self, time_s: float) -> float:
        """Returns the product of the estimated bandwidth and the smallest round trip so far."""
        least = np.nanmin(self.course("rtt_s").within(0, time_s))
        bdp_bytes = self.at("bw_bps", time_s) * float(least) / 8
        if not bdp_bytes > 0:
            raise LackingError("no BDP above 0")
        return bdp_bytes


_MOST_ROUNDS = 1000
_CALLED = {
    "bw_bps": "bandwidth estimate",
    "pacing_bps": "pacing rate",
    "inflight_longterm": "inflight_longterm",
    "rtt_s": "round trips",
}


def _known(name: str, value: float) -> float:
    if value != value:
        raise LackingError(f"no {_CALLED.get(name, name)} by then")
    return value


def _rate(course: Course | None, what: str, start_s: float, end_s: float) -> float:
    if course is None:
        raise LackingError(f"no {what}")
    if not end_s > start_s:
        raise UnseenError("no time to measure a rate")
    first, last = np.nan_to_num([course.at(start_s), course.at(end_s)])
    return 8 * float(last - first) / (end_s - start_s)


def _round_trip(course: Course, sent_s: float) -> float:
    """Returns the round trip of what was sent at a time: the first that began after it."""
    began = course.time_s - course.value >= sent_s
    return float(course.value[began.argmax() if began.any() else -1])


def spells_of(
    time_s: Numbers, codes: NDArray[np.int64], names: Sequence[str], end_s: float
) -> list[Spell]:
    """Returns the spells of a course of states; code 0 stands for none, n for names[n - 1]."""
    if not len(codes):
        return []
    starts = np.flatnonzero(np.diff(codes, prepend=codes[0] - 1))
    ends = [*time_s[starts[1:]], end_s]
    spells = []
    for place, (start, end) in enumerate(zip(starts, ends, strict=True)):
        if codes[start] == 0:
            continue
        after = names[codes[starts[place + 1]] - 1] if place + 1 < len(starts) else ""
        spells.append(Spell(names[codes[start] - 1], float(time_s[start]), float(end), after))
    return spells
