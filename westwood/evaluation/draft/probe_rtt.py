# SPDX-License-Identifier: BSD-3-Clause
"""Cases of ProbeRTT."""

from __future__ import annotations

from dataclasses import replace

from westwood.evaluation.draft import measures
from westwood.evaluation.draft.case import Case, Expectation, Path, Seen
from westwood.evaluation.draft.measures import first
from westwood.evaluation.draft.recording import LackingError


def _wait(seen: Seen) -> float:
    """Returns the time from the last new smallest round trip to ProbeRTT."""
    spell = seen.recording.spell("ProbeRTT")
    course = seen.recording.course("rtt_s")
    earlier = course.time_s < spell.start_s
    if not earlier.any():
        raise LackingError("no round trips before ProbeRTT")
    least = course.value[earlier].min()
    return spell.start_s - float(course.time_s[(course.value <= least).argmax()])


def _cwnd_in_probe_rtt(seen: Seen) -> float:
    spell = seen.recording.spell("ProbeRTT")
    bdp = seen.recording.bdp_bytes(spell.start_s)
    return float(seen.recording.within("cwnd", spell).min()) / bdp


def _cwnd_after(seen: Seen) -> float:
    spell = seen.recording.spell("ProbeRTT")
    after = seen.recording.at("cwnd", spell.end_s + 4 * seen.round_trip_s)
    return after / seen.recording.before("cwnd", spell.start_s)


def _probes_after_idling(seen: Seen) -> float:
    restart_s = _restart(seen)
    spells = seen.recording.all_in("ProbeRTT")
    return sum(restart_s <= spell.start_s < restart_s + 1 for spell in spells)


def _restart(seen: Seen) -> float:
    """Returns when the flow sends again: at the end of its longest silence."""
    sent = seen.recording.sent
    assert sent is not None
    gaps = sent.time_s[1:] - sent.time_s[:-1]
    return float(sent.time_s[1 + gaps.argmax()])


def _silence(seen: Seen) -> float:
    sent = seen.recording.sent
    assert sent is not None
    return float((sent.time_s[1:] - sent.time_s[:-1]).max())


def _restart_gain(seen: Seen) -> float:
    at_s = _restart(seen) + seen.round_trip_s / 2
    return seen.recording.at("pacing_bps", at_s) / seen.recording.at("bw_bps", at_s)


CASES = (
    Case(
        10,
        "probe-rtt",
        "Entering and Exiting PROBE_RTT",
        "Verify the connection enters PROBE_RTT and sets `BBR.cwnd_gain` to "
        "`BBR.ProbeRTTCwndGain` (0.5). Wait for at least `BBR.ProbeRTTDuration` (200 ms) and one "
        "round trip. Verify the connection correctly exits PROBE_RTT, transitions back to "
        "PROBE_BW and resumes sending.",
        Path(duration_s=12),
        (
            Expectation("time from the last smaller RTT to ProbeRTT", _wait, 5, 5.5, "s"),
            Expectation("cwnd in ProbeRTT, over the BDP", _cwnd_in_probe_rtt, 0.4, 0.6),
            Expectation("time in ProbeRTT", measures.length(first("ProbeRTT")), 0.2, 0.5, "s"),
            measures.followed_by("ProbeRTT", *measures.PROBE_BW),
            Expectation("cwnd 4 round trips later, over that before", _cwnd_after, 0.8, 1.3),
        ),
        in_logs=True,
    ),
    Case(
        11,
        "probe-rtt-idle",
        "Skipping PROBE_RTT Due to Application-Limited Sending",
        "Verify the connection skips entering PROBE_RTT because `BBR.idle_restart` is `true` and "
        "idleness is deemed a sufficient attempt to drain the queue.",
        Path(duration_s=13),
        (
            Expectation("longest silence", _silence, 5.5, 7, "s", is_condition=True),
            Expectation("pacing rate after it, over bandwidth", _restart_gain, 0.98, 1),
            Expectation("ProbeRTT in the second after it", _probes_after_idling, 0, 0),
        ),
        change=lambda path, moment: replace(
            path, app={"kind": "on-off", "on": moment.written(), "off": "6s"}
        ),
        waits_for="ProbeBW_CRUISE",
    ),
    Case(
        20,
        "probe-rtt-startup",
        "Entering and Exiting PROBE_RTT During STARTUP",
        "Verify that upon exiting PROBE_RTT, the connection correctly transitions back to STARTUP "
        "rather than PROBE_BW, allowing it to continue searching for the max bandwidth.",
        Path(duration_s=8, app={"kind": "rate", "rate": "3Mbps"}),
        (
            Expectation(
                "state before ProbeRTT",
                lambda seen: seen.recording.state_at(
                    seen.recording.spell("ProbeRTT").start_s - seen.round_trip_s / 100
                ),
                words=("Startup",),
            ),
            measures.followed_by("ProbeRTT", "Startup"),
        ),
    ),
)
