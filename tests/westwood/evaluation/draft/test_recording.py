# SPDX-License-Identifier: BSD-3-Clause
"""Questions about a recording, answered by hand."""

import numpy as np
import pytest

from westwood.evaluation.draft.recording import (
    Course,
    LackingError,
    Recording,
    Spell,
    UnseenError,
    spells_of,
)

STATES = ("Startup", "Drain")


def course(*points: tuple[float, float]) -> Course:
    return Course(*(np.array(column, float) for column in zip(*points, strict=True)))


def recording(**courses: Course) -> Recording:
    spells = [Spell("Startup", 0, 2, "Drain"), Spell("Drain", 2, 5, "")]
    events = {"lost": np.array([1.0, 3.0, 3.5])}
    acked = course((0, 0), (1, 1000), (4, 4000))
    return Recording(5, 1000, courses, STATES, spells, None, acked, events)


def test_a_value_holds_from_its_time_on():
    cwnd = course((1, 10), (2, 20))
    assert np.isnan(cwnd.at(0.9)) and cwnd.at(1) == 10 and cwnd.at(1.9) == 10
    assert cwnd.before(2) == 10 and cwnd.at(2) == 20
    assert list(cwnd.within(1.5, 3)) == [10, 20] and list(cwnd.within(2, 3)) == [20]


def test_spells_are_runs_of_a_state():
    codes = np.array([0, 1, 1, 2, 1])
    spells = spells_of(np.arange(5.0), codes, STATES, 6)
    assert spells == [
        Spell("Startup", 1, 3, "Drain"),
        Spell("Drain", 3, 4, "Startup"),
        Spell("Startup", 4, 6, ""),
    ]


def test_the_first_spell_after_a_time_may_have_to_end():
    seen = recording()
    assert seen.spell("Startup").end_s == 2
    with pytest.raises(UnseenError, match="Drain did not end"):
        seen.spell("Drain")
    assert seen.spell("Drain", ended=False).start_s == 2
    with pytest.raises(UnseenError, match="Startup was not entered"):
        seen.spell("Startup", 2)
    with pytest.raises(LackingError, match="no state ProbeRTT"):
        seen.spell("ProbeRTT")


def test_events_are_found_and_counted_from_a_time_on():
    seen = recording()
    assert seen.first("lost", 1.5) == 3 and seen.count("lost", 1, 3.5) == 2
    with pytest.raises(UnseenError, match="no undo"):
        seen.first("undo")


def test_rates_are_bits_over_the_time():
    assert recording().acked_bps(1, 4) == 8000
    with pytest.raises(LackingError, match="no segments sent"):
        recording().sent_bps(1, 4)


def test_a_round_lasts_as_long_as_its_round_trip_was():
    # What is sent from 0 on returns after 1 s, what is sent from 2 on after 0.5 s.
    seen = recording(rtt_s=course((1, 1), (2, 1), (3, 1), (3.1, 0.5), (3.6, 0.5)))
    assert seen.rounds(0, 2) == 2
    assert seen.rounds(2.6, 3.1) == 1
    assert seen.rounds(0, 0.5) == 0.5


def test_a_missing_course_is_named():
    with pytest.raises(LackingError, match="no bandwidth estimate"):
        recording().at("bw_bps", 1)
