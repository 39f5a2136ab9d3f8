# SPDX-License-Identifier: BSD-3-Clause
"""Measures and changes that several cases have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from westwood.control.catalogue import OPPORTUNITY_BYTES
from westwood.evaluation.draft import case
from westwood.evaluation.draft.recording import LackingError, Numbers, Spell, UnseenError

Choice = Callable[[case.Seen], Spell]
PROBE_BW = ("ProbeBW_DOWN", "ProbeBW_CRUISE", "ProbeBW_REFILL", "ProbeBW_UP")
_OPPORTUNITY_BITS = 8 * OPPORTUNITY_BYTES  # of a line of a recorded rate


def first(state: str) -> Choice:
    """Chooses the first spell in a state that ends."""
    return lambda seen: seen.recording.spell(state)


def changed(state: str) -> Choice:
    """Chooses the first spell in a state that ends after the change of the path."""
    return lambda seen: seen.recording.spell(state, seen.changed_s)


def between(before: str, state: str, after: str) -> Choice:
    """Chooses the first spell in a state after one in another, and before one in a third."""

    def choose(seen: case.Seen) -> Spell:
        start_s = seen.recording.spell(before).end_s
        for spell in seen.recording.all_in(state):
            if spell.start_s >= start_s and spell.next == after:
                return spell
        raise UnseenError(f"no {state} that ends in {after}")

    return choose


def _of_spell(quantity: Callable[[case.Seen, Spell], float]) -> Callable[[Choice], case.Measure]:
    """Makes a quantity of a spell a measure of the spell that a case chooses."""
    return lambda choice: lambda seen: quantity(seen, choice(seen))


@_of_spell
def length(seen: case.Seen, spell: Spell) -> float:
    """Measures how long a spell lasts, in seconds."""
    return spell.length_s


@_of_spell
def rounds(seen: case.Seen, spell: Spell) -> float:
    """Measures how many round trips a spell lasts."""
    return seen.recording.rounds(spell.start_s, spell.end_s)


def rounds_until_end(state: str, event: str) -> case.Measure:
    """Measures the round trips from the first such event after the change to a state's end."""

    def measure(seen: case.Seen) -> float:
        spell = seen.recording.spell(state, seen.changed_s)
        return seen.recording.rounds(seen.recording.first(event, seen.changed_s), spell.end_s)

    return measure


def followed_by(state: str, *words: str, choice: Choice | None = None) -> case.Expectation:
    """Expects one of these states after a spell in a state, by default the first that ends."""
    chosen = choice or first(state)
    return case.Expectation(f"state after {state}", lambda seen: chosen(seen).next, words=words)


def state_before(event: str) -> case.Measure:
    """Measures the state just before the first such event after the change."""
    return lambda seen: seen.recording.state_at(
        seen.recording.first(event, seen.changed_s) - seen.round_trip_s / 100
    )


@_of_spell
def lost(seen: case.Seen, spell: Spell) -> float:
    """Measures how many segments are found lost in a spell."""
    return seen.recording.count("lost", spell.start_s, spell.end_s)


@_of_spell
def pacing_gain(seen: case.Seen, spell: Spell) -> float:
    """Measures the pacing rate over the bandwidth in a spell."""
    pacing = seen.recording.within("pacing_bps", spell)
    return float(np.median(pacing)) / _bandwidth(seen, spell)


@_of_spell
def sending_gain(seen: case.Seen, spell: Spell) -> float:
    """Measures the rate of what is sent over the bandwidth in a spell."""
    return seen.recording.sent_bps(spell.start_s, spell.end_s) / _bandwidth(seen, spell)


def bandwidth_after_startup(seen: case.Seen) -> float:
    """Measures the bandwidth as Startup ends, over the path's."""
    end_s = seen.recording.spell("Startup").end_s
    return seen.recording.at("bw_bps", end_s) / seen.path_bps


def _bandwidth(seen: case.Seen, spell: Spell) -> float:
    bandwidth = float(np.median(seen.recording.within("bw_bps", spell)))
    if not bandwidth > 0:
        raise LackingError("no bandwidth estimate above 0")
    return bandwidth


@_of_spell
def inflight_at_end(seen: case.Seen, spell: Spell) -> float:
    """Measures what is in flight as a spell ends, over the BDP."""
    return seen.recording.at("in_flight", spell.end_s) / seen.recording.bdp_bytes(spell.end_s)


@_of_spell
def least_inflight(seen: case.Seen, spell: Spell) -> float:
    """Measures the least in flight in a spell, over the BDP."""
    least = seen.recording.within("in_flight", spell).min()
    return float(least) / seen.recording.bdp_bytes(spell.start_s)


def slower(share: float) -> Callable[[case.Path, case.Moment], case.Path]:
    """Returns a change: datagrams take this share of the link."""

    def change(path: case.Path, moment: case.Moment) -> case.Path:
        if moment.time_s >= path.duration_s:
            return path
        rate = f"{share * path.rate_bps:.0f}bps"
        return replace(path, beside={"rate": rate, "start": moment.written()})

    return change


def _lines(rate_bps: float, start_s: float, end_s: float) -> list[int]:
    """Returns the lines of a recorded rate, in ms."""
    count = int((end_s - start_s) * rate_bps / _OPPORTUNITY_BITS)
    times = start_s + np.arange(1, count + 1) * _OPPORTUNITY_BITS / rate_bps
    return [round(1e3 * time) for time in times]


def becomes(then_bps: float) -> Callable[[case.Path, case.Moment], case.Path]:
    """Returns a change of the link's rate, written as a recorded rate."""

    def change(path: case.Path, moment: case.Moment) -> case.Path:
        at_s = min(moment.time_s, path.duration_s)
        before = _lines(path.rate_bps, 0, at_s)
        after = _lines(then_bps, at_s, path.duration_s)
        return replace(path, link={"trace": {"forward": before + after}})

    return change


def limited(share: float) -> Callable[[case.Path, case.Moment], case.Path]:
    """Returns a change: the application writes this share of the link's payload."""

    def change(path: case.Path, moment: case.Moment) -> case.Path:
        rate = f"{share * path.payload_bps:.0f}bps"
        return replace(path, app={"kind": "rate", "rate": rate, "bulk": moment.written()})

    return change


def payload(rate_bps: float) -> float:
    """Returns the payload that a link of this rate carries."""
    return rate_bps * case.MSS_BYTES / case.PACKET_BYTES


def first_time(times: Numbers, what: str) -> float:
    """Returns the first of some times; raises UnseenError if there is none."""
    if not len(times):
        raise UnseenError(f"never {what}")
    return float(times[0])
