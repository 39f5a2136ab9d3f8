# SPDX-License-Identifier: BSD-3-Clause
"""No loss is repaired endlessly: tools/recoveries.py, on invented events and over random paths."""

import pytest

from tools.recoveries import (
    LINKS,
    Path,
    Spell,
    controls,
    long_spells,
    other_paths,
    paths,
    reason,
    spells,
)
from westwood import Scenario, simulate

FULL_S = 0.2
UNLIMITED = 2**31 - 1
SHORT = Path(0, 2e6, 0.045, 15, 0, 0)


def recorded_spells(*events: tuple[float, str, int, int]) -> list[Spell]:
    return [spell for spell in spells(events, FULL_S) if spell.is_long]


def test_a_segment_that_is_lost_each_round_trip_is_found():
    repeats = [(0.2 * i, "retransmit", 53, 34) for i in range(22)]
    begin = [(0.0, "ack", 53, UNLIMITED), (0.0, "recovery", 53, 34)]
    recovery, pause = recorded_spells(*begin, *repeats, (4.4, "exit", 90, 34), (4.4, "ack", 90, 34))
    assert (recovery.kind, recovery.repairs, recovery.window) == ("recovery", 22, 34)
    assert recovery.round_trips == pause.round_trips == pytest.approx(22)
    assert not reason(recovery, SHORT, "cubic") and not reason(pause, SHORT, "cubic")


def test_a_timeout_or_a_further_reduction_ends_a_spell():
    begin = [(0.0, "ack", 53, UNLIMITED), (0.0, "recovery", 53, 34), (0.0, "retransmit", 53, 34)]
    end = [(1.5, "exit", 90, 17), (1.5, "ack", 90, 17)]
    assert [spell.kind for spell in recorded_spells(*begin, *end)] == ["recovery", "pause"]
    assert recorded_spells(*begin, (1.0, "timeout", 53, 17), *end) == []
    assert [spell.kind for spell in recorded_spells(*begin, (1.0, "recovery", 53, 24), *end)] == [
        "pause"
    ]


def test_a_delayed_acknowledgement_is_no_pause():
    assert recorded_spells((0.0, "ack", 5, 2), (0.0, "send", 5, 2), (0.7, "ack", 6, 2)) == []


def test_a_small_window_repairs_many_losses_slowly():
    slow = Spell("recovery", 0.1, 10, repairs=20, window=2)
    assert reason(slow, SHORT, "westwood") == "its window"
    assert not reason(Spell("recovery", 0.1, 10, repairs=20, window=20), SHORT, "westwood")


def test_reordering_explains_a_quarter_of_a_round_trip_for_each_loss():
    shuffled = Path(0, 2e6, 0.045, 15, 0, 0.005)
    for round_trips, path, is_explained in (
        (3.2, shuffled, 1),
        (3.6, shuffled, 0),
        (3.2, SHORT, 0),
    ):
        pause = Spell("pause", 10, round_trips, repairs=3, window=100)
        assert bool(reason(pause, path, "cubic")) == is_explained


def test_bbr_answers_no_losses_but_a_queue_of_one_bdp_suffices():
    later = Spell("pause", 10, 4, repairs=20, window=UNLIMITED)
    assert reason(later, Path(0, 2e6, 0.045, 14, 0, 0), "bbr")
    assert not reason(later, Path(0, 2e6, 0.045, 16, 0, 0), "bbr")
    assert reason(Spell("pause", 1, 4, 20, UNLIMITED), SHORT, "bbr") == "STARTUP"


def test_bbrv3_may_lose_one_repair_more_in_a_short_queue():
    short, deep = Path(0, 2e6, 0.045, 14, 0, 0), Path(0, 2e6, 0.045, 16, 0, 0)
    one_more, two_more = (Spell("pause", 10, most, 8, UNLIMITED) for most in (3.9, 4.1))
    assert reason(one_more, short, "bbr3")
    assert not reason(two_more, short, "bbr3") and not reason(one_more, deep, "bbr3")


def test_the_guarded_controls_are_those_with_sack():
    assert {"sack", "cubic", "bbr", "bbr3", "westwood-cubic", "westwood+-linux24"} <= set(
        controls()
    )
    assert not {"reno", "newreno", "tahoe", "udp"} & set(controls())


@pytest.mark.parametrize("cc", ["cubic", "sack", "westwood+", "westwood-cubic", "bbr"])
def test_the_first_picture_of_the_laboratory_has_no_long_pause(cc):
    """The overshoot of slow start must not repeat itself: RFC 5681, 4.3; RFC 8985, 6.2."""
    settings = {"duration": "40s", "path.loss.rate": 0.002, "path.queue.limit": "15p"}
    scenario = Scenario.preset("path").with_settings({**settings, "tcp.cc": cc})
    rows = simulate(scenario, events=True).events.select("time_s", "kind", "segment", "ssthresh")
    assert [spell for spell in spells(rows.iter_rows(), SHORT.full_s) if spell.is_long] == []


def test_cubic_resends_no_more_than_linux_on_that_path():
    """Linux 6.18 resends 25 packets of 2000 in 12 s without random loss."""
    settings = {"duration": "12s", "path.loss.rate": 0, "path.queue.limit": "15p"}
    scenario = Scenario.preset("path").with_settings({**settings, "tcp.cc": "cubic"})
    (resent,) = simulate(scenario).rows["retransmitted"]
    assert resent <= 30


def check(path: Path) -> None:
    unexplained = [
        (cc, spell) for cc in controls() for spell, why in long_spells(path, cc) if not why
    ]
    assert unexplained == [], path


@pytest.mark.parametrize("path", list(paths(12)), ids=lambda path: path.number)
def test_repairs_are_quick(path):
    check(path)


@pytest.mark.slow
def test_repairs_are_quick_on_five_hundred_paths():
    for path in paths(500):
        check(path)


@pytest.mark.slow
def test_repairs_are_quick_over_every_kind_of_link():
    chosen = list(other_paths(110))
    assert {path.link for path in chosen} == LINKS.keys() - {"droptail"}
    for path in chosen:
        check(path)
