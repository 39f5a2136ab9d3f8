# SPDX-License-Identifier: BSD-3-Clause
"""Cases of Startup and Drain."""

from __future__ import annotations

from dataclasses import replace

from westwood.evaluation.draft import measures
from westwood.evaluation.draft.case import Case, Expectation, Path, Seen
from westwood.evaluation.draft.measures import changed, first


def _rounds_on_plateau(seen: Seen) -> float:
    """Returns the round trips since the bandwidth grew by 25 % for the last time."""
    spell = seen.recording.spell("Startup")
    course = seen.recording.course("bw_bps")
    estimates_bps = seen.recording.at("bw_bps", spell.end_s)
    is_flat = (course.time_s >= spell.start_s) & (course.value > estimates_bps / 1.25)
    return seen.recording.rounds(float(course.time_s[is_flat.argmax()]), spell.end_s)


CASES = (
    Case(
        1,
        "startup-plateau",
        "Exiting STARTUP on Bandwidth Plateau",
        "Verify that after 3 consecutive rounds where the delivery rate grows by less than 25% "
        "(i.e., when BBR.full_bw_count reaches 3), `BBR.full_bw_now` and `BBR.full_bw_reached` "
        "are set to `true`.",
        Path(duration_s=3),
        (
            Expectation(
                "segments lost in it", measures.lost(first("Startup")), 0, 0, is_condition=True
            ),
            Expectation(
                "bandwidth as Startup ends, over the path's",
                measures.bandwidth_after_startup,
                0.98,
                1.02,
            ),
            Expectation("rounds from the plateau to its end", _rounds_on_plateau, 2.9, 5),
            measures.followed_by("Startup", "Drain"),
        ),
        in_logs=True,
    ),
    Case(
        2,
        "startup-loss",
        "Exiting STARTUP on Loss When Application-Limited",
        "Verify the connection sets `BBR.full_bw_now` and `BBR.full_bw_reached` to `true`, exits "
        "STARTUP, and transitions to DRAIN, demonstrating that loss triggers the end of STARTUP "
        "even when bandwidth samples are application-limited.",
        Path(duration_s=4, app={"kind": "rate", "rate": "5Mbps"}),
        (
            Expectation(
                "state before the losses", measures.state_before("lost"), words=("Startup",)
            ),
            Expectation(
                "rounds of losses until it ends", measures.rounds_until_end("Startup", "lost"), 0, 3
            ),
            measures.followed_by(
                "Startup", "Drain", "ProbeBW_DOWN", "ProbeBW_CRUISE", choice=changed("Startup")
            ),
        ),
        change=lambda path, moment: replace(path, link={"loss": moment.lost(every=3, count=60)}),
        otherwise_s=2,
        note="An application-limited flow has less in flight than the BDP, so Drain ends at once.",
    ),
    Case(
        3,
        "drain-inflight",
        "Exiting DRAIN Based on Inflight",
        "Verify that when `C.inflight` drops below or equal to `BBRInflight(1.0)`, the connection "
        "exits DRAIN and transitions to PROBE_BW.",
        Path(duration_s=3),
        (
            Expectation(
                "pacing rate in Drain, over bandwidth",
                measures.pacing_gain(first("Drain")),
                0.49,
                0.5,
            ),
            Expectation(
                "rate of sending in Drain, over bandwidth",
                measures.sending_gain(first("Drain")),
                0.4,
                0.55,
            ),
            Expectation(
                "in flight as Drain ends, over the BDP",
                measures.inflight_at_end(first("Drain")),
                0.8,
                1.05,
            ),
            measures.followed_by("Drain", *measures.PROBE_BW),
        ),
        in_logs=True,
    ),
    Case(
        4,
        "drain-time",
        "Exiting DRAIN Based on Time",
        "Verify that after 3 round trips in DRAIN, the connection exits DRAIN and transitions to "
        "PROBE_BW even though `C.inflight` has not reached the target BDP.",
        Path(duration_s=4, queue="400p"),
        (
            Expectation("rounds in Drain", measures.rounds(first("Drain")), 3, 4.5),
            Expectation(
                "in flight as Drain ends, over the BDP",
                measures.inflight_at_end(first("Drain")),
                1.05,
            ),
            measures.followed_by("Drain", *measures.PROBE_BW),
        ),
        change=measures.becomes(4e6),
        waits_for="Drain",
        note="The draft takes 10 % of the bandwidth away. Then a flow that sends half of what it "
        "did has emptied the queue after 1.2 rounds, so 60 % are taken here.",
    ),
)
