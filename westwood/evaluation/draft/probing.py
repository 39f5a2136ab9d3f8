# SPDX-License-Identifier: BSD-3-Clause
"""Cases of ProbeBW: its phases UP, DOWN and REFILL."""

from __future__ import annotations

from dataclasses import replace

from westwood.evaluation.draft import measures
from westwood.evaluation.draft.case import Case, Expectation, Moment, Path, Seen
from westwood.evaluation.draft.measures import between, changed, first

_UP, _DOWN, _CRUISE, _REFILL = ("ProbeBW_UP", "ProbeBW_DOWN", "ProbeBW_CRUISE", "ProbeBW_REFILL")
_DOWN_TO_CRUISE = between(_UP, _DOWN, _CRUISE)
_WITHOUT_PROBE_RTT = {"bbr3_probe_rtt": "1h"}


def _limited_and_lost(path: Path, moment: Moment) -> Path:
    limited = measures.limited(0.9)(path, moment)
    return replace(limited, link={"loss": moment.lost(every=10, count=30, after=100)})


def _states_while_limited(seen: Seen) -> str:
    after_s = seen.changed_s + 4 * seen.round_trip_s
    spells = [
        spell for spell in seen.recording.all_in(*seen.recording.states) if spell.end_s > after_s
    ]
    return ", ".join(dict.fromkeys(spell.state for spell in spells))


def _longterm_before(seen: Seen) -> float:
    return seen.recording.before("inflight_longterm", seen.recording.first("lost", seen.changed_s))


def _longterm_after(seen: Seen) -> float:
    """Returns inflight_longterm after ProbeBW_UP over the largest flight in it."""
    spell = seen.recording.spell(_UP, seen.changed_s)
    largest = seen.recording.within("in_flight", spell).max()
    return seen.recording.at("inflight_longterm", spell.end_s) / float(largest)


def _longterm_is_set(seen: Seen) -> float:
    return _longterm_before(seen) / seen.recording.bdp_bytes(seen.changed_s)


def _lost_in_startup_and_up(path: Path, moment: Moment) -> Path:
    up = moment.lost(every=10, count=30)["packets"]
    early = range(60, 160, 10)
    return replace(path, link={"loss": {"kind": "script", "packets": [*early, *up]}})


def _pause(path: Path, moment: Moment) -> Path:
    off = f"{path.round_trip_s * 1e3:.0f}ms"
    return replace(path, app={"kind": "on-off", "on": moment.written(), "off": off})


def _bandwidth_kept(seen: Seen) -> float:
    spell = seen.recording.spell(_REFILL, seen.changed_s)
    before = seen.recording.before("bw_bps", seen.changed_s)
    return seen.recording.at("bw_bps", spell.end_s) / before


_PHASES = (
    Case(
        5,
        "up-plateau",
        "Exiting PROBE_UP on Bandwidth Plateau",
        "Verify that `BBRIsTimeToGoDown()` triggers when `BBR.full_bw_now` is set to `true` after "
        "3 consecutive rounds where the delivery rate grows by less than 25% (i.e., when "
        "BBR.full_bw_count reaches 3).",
        Path(duration_s=6),
        (
            Expectation("rounds in ProbeBW_UP", measures.rounds(first(_UP)), 2.9, 6),
            Expectation("segments lost in it", measures.lost(first(_UP)), 0, 0, is_condition=True),
            measures.followed_by(_UP, _DOWN),
        ),
        in_logs=True,
    ),
    Case(
        8,
        "down-inflight",
        "Exiting PROBE_DOWN on Inflight",
        "Wait for the queue to drain and `C.inflight` to fall below or equal to both "
        "`BBRInflightWithHeadroom()` and `BBRInflight(1.0)`. Verify the connection transitions to "
        "PROBE_CRUISE.",
        Path(duration_s=6),
        (
            Expectation(
                "pacing rate in ProbeBW_DOWN, over bandwidth",
                measures.pacing_gain(_DOWN_TO_CRUISE),
                0.88,
                0.9,
            ),
            Expectation(
                "rate of sending in it, over bandwidth",
                measures.sending_gain(_DOWN_TO_CRUISE),
                0.85,
                0.93,
            ),
            Expectation(
                "in flight as it ends, over the BDP",
                measures.inflight_at_end(_DOWN_TO_CRUISE),
                0.8,
                1.05,
            ),
            measures.followed_by(_DOWN, _CRUISE, choice=_DOWN_TO_CRUISE),
        ),
        in_logs=True,
    ),
    Case(
        9,
        "down-time",
        "Exiting PROBE_DOWN After Max Time",
        "Verify that after `BBR.bw_probe_wait` time elapses, `BBRIsTimeToProbeBW()` returns "
        "`true`. Verify the connection transitions directly to PROBE_REFILL, bypassing "
        "PROBE_CRUISE.",
        Path(delay_ms=50, queue="400p", duration_s=14),
        (
            Expectation("time in ProbeBW_DOWN", measures.length(changed(_DOWN)), 2, 3.2, "s"),
            Expectation(
                "least in flight in it, over the BDP", measures.least_inflight(changed(_DOWN)), 1
            ),
            measures.followed_by(_DOWN, _REFILL, choice=changed(_DOWN)),
        ),
        change=measures.slower(0.1),
        waits_for=_UP,
        settings=_WITHOUT_PROBE_RTT,
        note="ProbeRTT, which would end ProbeBW_DOWN, is turned off (bbr3_probe_rtt).",
    ),
)
_PROVOKED = (
    Case(
        6,
        "up-loss-limited",
        "Exiting PROBE_UP on Loss When Application-Limited",
        "Verify the connection transitions to PROBE_DOWN and `BBR.inflight_longterm` is updated "
        "appropriately, regardless of the application-limited state.",
        Path(duration_s=8),
        (
            Expectation("state before the losses", measures.state_before("lost"), words=(_UP,)),
            Expectation(
                "rounds of losses until it ends", measures.rounds_until_end(_UP, "lost"), 0, 2
            ),
            measures.followed_by(_UP, _DOWN, _CRUISE, choice=changed(_UP)),
        ),
        change=_limited_and_lost,
        waits_for=_UP,
        settings=_WITHOUT_PROBE_RTT,
        note="Section 5.5.10.2 sets inflight_longterm only if the samples are not "
        "application-limited, so it stays. Without a queue ProbeBW_DOWN can end at once.",
    ),
    Case(
        7,
        "up-limited-stays",
        "Never Exiting PROBE_UP (or STARTUP) When Application-Limited With No Loss",
        "Verify that as long as there is no loss and the rounds are application-limited, the "
        "connection stays in PROBE_UP (or STARTUP) indefinitely.",
        Path(duration_s=25),
        (Expectation("states until the end", _states_while_limited, words=(_UP,)),),
        change=measures.limited(0.5),
        waits_for=_UP,
        settings=_WITHOUT_PROBE_RTT,
        note="ProbeRTT, which interrupts every state, is turned off (bbr3_probe_rtt).",
    ),
    Case(
        21,
        "up-loss",
        "Handling Loss During PROBE_UP After inflight_longterm is Set",
        "Verify that the loss causes `BBRHandleInflightTooHigh()` to execute, scaling down "
        "`BBR.inflight_longterm` based on `BBR.Beta`. Verify the connection aborts PROBE_UP and "
        "immediately transitions to PROBE_DOWN.",
        Path(duration_s=8),
        (
            Expectation("inflight_longterm before, over the BDP", _longterm_is_set, 0.5, 4),
            Expectation("inflight_longterm after, over the flight", _longterm_after, 0.7, 1),
            Expectation(
                "rounds of losses until it ends", measures.rounds_until_end(_UP, "lost"), 0, 1
            ),
            measures.followed_by(_UP, _DOWN, choice=changed(_UP)),
        ),
        change=_lost_in_startup_and_up,
        waits_for=_UP,
    ),
    Case(
        22,
        "refill-limited",
        "Handling Application-Limited Sending During PROBE_REFILL",
        "Verify that because the bandwidth samples during this round are marked as "
        "application-limited and are lower than `BBR.max_bw` (`RS.delivery_rate` < `BBR.max_bw`), "
        "BBR does not update its max bandwidth estimate with these artificially low values.",
        Path(duration_s=8),
        (
            Expectation("bandwidth after the pause, over that before", _bandwidth_kept, 0.99, 1.01),
            measures.followed_by(_REFILL, _UP, choice=changed(_REFILL)),
            measures.followed_by(_UP, _DOWN, choice=changed(_UP)),
        ),
        change=_pause,
        waits_for=_REFILL,
        settings=_WITHOUT_PROBE_RTT,
    ),
)
CASES = (*_PHASES, *_PROVOKED)
