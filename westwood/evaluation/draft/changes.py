# SPDX-License-Identifier: BSD-3-Clause
"""Cases of unusual paths: aggregation, tiny BDPs, changes of the rate, policers."""

from __future__ import annotations

import numpy as np

from westwood.evaluation.draft import measures
from westwood.evaluation.draft.case import Case, Expectation, Measure, Path, Seen

_BURSTS = {"aggregation": {"time": "20ms", "on": "backward"}}
_SLOW_BPS, _FAST_BPS = 10e6, 100e6
_POLICED_BPS = 10e6


def _rounds_to_most(seen: Seen) -> float:
    course = seen.recording.course("bw_bps")
    times_s = course.time_s[course.value >= 0.8 * seen.path_bps]
    at_s = measures.first_time(times_s, "80 % of the bandwidth")
    return seen.recording.rounds(seen.recording.spell("Startup").start_s, at_s)


def _cwnd_in(state: str) -> Measure:
    """Measures the largest cwnd in the first spell in a state, over the path's BDP."""

    def measure(seen: Seen) -> float:
        largest = seen.recording.within("cwnd", seen.recording.spell(state)).max()
        return float(largest) / (seen.path_bps * seen.round_trip_s / 8)

    return measure


def _use(start_s: float, end_s: float, of_bps: float = 0) -> Measure:
    """Measures the share of the payload that the link carries which is acknowledged."""
    return lambda seen: (
        seen.recording.acked_bps(start_s, end_s)
        / (seen.path_bps * (of_bps / seen.path.rate_bps if of_bps and seen.path else 1))
    )


def _least_cwnd(seen: Seen) -> float:
    cwnd = seen.recording.course("cwnd").within(3, seen.recording.end_s)
    return float(cwnd.min()) / seen.recording.mss_bytes


def _cruise_pacing(seen: Seen) -> float:
    spells = seen.recording.all_in("ProbeBW_CRUISE")
    pacing = np.concatenate([seen.recording.within("pacing_bps", spell) for spell in spells])
    return float(np.median(pacing)) / seen.path_bps


def _rounds_to_fast(seen: Seen) -> float:
    """Returns the round trips from the first ProbeBW_UP after the change to 90 % of the rate."""
    spell = seen.recording.spell("ProbeBW_UP", seen.changed_s, ended=False)
    course = seen.recording.course("bw_bps")
    times_s = course.time_s[course.value >= 0.9 * measures.payload(_FAST_BPS)]
    return seen.recording.rounds(
        spell.start_s, measures.first_time(times_s, "90 % of the new bandwidth")
    )


def _growth_in_up(seen: Seen) -> float:
    """Returns how many times the bandwidth grows in the first ProbeBW_UP after the change."""
    spell = seen.recording.spell("ProbeBW_UP", seen.changed_s, ended=False)
    inside = seen.recording.within("bw_bps", spell)
    return float(inside.max() / inside[0])


def _seconds_to(high_bps: float) -> Measure:
    """Measures the time from the change until the bandwidth is no more than this."""

    def measure(seen: Seen) -> float:
        course = seen.recording.course("bw_bps")
        low = (course.time_s > seen.changed_s) & (course.value <= measures.payload(high_bps))
        return measures.first_time(course.time_s[low], "a lower bandwidth") - seen.changed_s

    return measure


def _last_bandwidth(seen: Seen) -> float:
    return seen.recording.at("bw_bps", seen.recording.end_s) / measures.payload(_SLOW_BPS)


def _lost_share(start_s: float, end_s: float) -> Measure:
    """Measures the share of what was sent that was found lost."""

    def measure(seen: Seen) -> float:
        recording = seen.recording
        sent = recording.sent_bps(start_s, end_s) * (end_s - start_s) / 8 / recording.mss_bytes
        return recording.count("lost", start_s, end_s) / sent

    return measure


def _shortterm(seen: Seen) -> float:
    course = seen.recording.course("inflight_shortterm")
    finite = course.value[np.isfinite(course.value)]
    return float(finite.min()) / seen.recording.mss_bytes if len(finite) else float("inf")


CASES = (
    Case(
        12,
        "startup-aggregation",
        "Achieving Expected STARTUP Bandwidth on a Link With Aggregation",
        "Verify that `BBR.extra_acked` is calculated correctly from the bursty ACK arrivals and "
        "that `C.cwnd` > 2 * BDP. Ensure that [...] the connection still successfully doubles its "
        "sending rate to discover the full bottleneck bandwidth.",
        Path(duration_s=4, link=_BURSTS),
        (
            Expectation(
                "bandwidth as Startup ends, over the path's",
                measures.bandwidth_after_startup,
                0.9,
                1.2,
            ),
            Expectation("largest cwnd in Startup, over the BDP", _cwnd_in("Startup"), 2),
            Expectation("rounds until 80 % of the bandwidth", _rounds_to_most, 1, 7),
        ),
    ),
    Case(
        13,
        "cruise-aggregation",
        "Achieving Expected Cruise Bandwidth on a Link With Aggregation",
        "Verify that `C.cwnd` is augmented by `BBR.extra_acked`, preventing the connection from "
        "stalling during inter-ACK silences and maintaining full utilization.",
        Path(duration_s=12, link=_BURSTS),
        (
            Expectation(
                "largest cwnd in ProbeBW_CRUISE, over the BDP", _cwnd_in("ProbeBW_CRUISE"), 2
            ),
            Expectation("share of the link from 2 to 5 s", _use(2, 5), 0.9),
        ),
    ),
    Case(
        14,
        "sub-packet-bdp",
        "Correctly Managing Sub-Packet BDPs",
        "Verify that `BBR.MinPipeCwnd` (4 packets) acts as a floor for `C.cwnd`. Ensure the pacing "
        "rate correctly matches the low bandwidth, while the 4-packet cwnd allows for delayed "
        "ACKs without stalling the pipeline.",
        Path(rate_bps=100e3, delay_ms=10, duration_s=30),
        (
            Expectation("least cwnd", _least_cwnd, 4, unit="segments"),
            Expectation("pacing rate in ProbeBW_CRUISE, over the path's", _cruise_pacing, 0.9, 1.1),
            Expectation("share of the link from 3 to 30 s", _use(3, 30), 0.9),
        ),
    ),
    Case(
        15,
        "rate-up",
        "Increasing Bandwidth 10x and Ensuring Full Bandwidth is Reached",
        "Ensure the connection discovers the full 100 Mbit/s bandwidth within a reasonable number "
        "of round trips (O(log(BDP))).",
        Path(_SLOW_BPS, duration_s=12),
        (
            Expectation(
                "growth of the bandwidth in the next ProbeBW_UP", _growth_in_up, 2, unit="times"
            ),
            Expectation("rounds from its start to 90 % of the new rate", _rounds_to_fast, 0, 30),
            Expectation("share of the new rate in the last 3 s", _use(9, 12, _FAST_BPS), 0.8),
        ),
        change=measures.becomes(_FAST_BPS),
        otherwise_s=2,
    ),
    Case(
        16,
        "rate-down",
        "Decreasing Bandwidth 10x and Ensuring Max Bandwidth Adapts Down",
        "Verify that `BBR.bw_shortterm` rapidly adapts downwards due to the resulting packet loss. "
        "Verify that after the `BBR.max_bw` window expires (2 PROBE_BW cycles, or "
        "`BBR.MaxBwFilterLen`), `BBR.max_bw` drops to the new 10 Mbit/s limit, matching the path's "
        "delivery rate.",
        Path(_FAST_BPS, queue="100p", duration_s=14),
        (
            Expectation(
                "time until the bandwidth is at most 20 Mb/s", _seconds_to(20e6), 0, 3, "s"
            ),
            Expectation("bandwidth at the end, over the path's", _last_bandwidth, 0.9, 1.1),
        ),
        change=measures.becomes(_SLOW_BPS),
        otherwise_s=2,
    ),
    Case(
        17,
        "policer",
        "Handling Token Bucket Policers",
        "Verify that when the burst size is exhausted and the policer drops packets, BBR reacts to "
        "the loss by adapting `BBR.inflight_shortterm` and `BBR.bw_shortterm`. Ensure BBR "
        "eventually reaches a stable operating point that conforms to the token rate without "
        "excessive continuous packet loss.",
        Path(
            2 * _POLICED_BPS,
            queue="200p",
            duration_s=20,
            link={"policer": {"rate": f"{_POLICED_BPS:.0f}bps", "burst": "2MB"}},
        ),
        (
            Expectation("least inflight_shortterm", _shortterm, 4, 100, "segments"),
            Expectation(
                "share of the tokens from 10 to 20 s", _use(10, 20, _POLICED_BPS), 0.7, 1.02
            ),
            Expectation("share lost from 10 to 20 s", _lost_share(10, 20), 0, 0.1),
        ),
        note="The draft names no bound for the losses. A probe for bandwidth passes until the "
        "bucket is empty, so each one ends with losses.",
    ),
)
