# SPDX-License-Identifier: BSD-3-Clause
"""Cases of spurious losses, which reordering and a sudden delay provoke."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from westwood.evaluation.draft.case import Case, Expectation, Measure, Moment, Path, Seen
from westwood.evaluation.draft.recording import LackingError

_NEXT_ACKS = 0.1  # round trips until the ACKs after an undo
_LATER_ROUNDS = 1.5  # of ProbeBW_UP, before the packets are late


def _late(
    delay_ms: float, length_ms: float, *, keeps_order: bool
) -> Callable[[Path, Moment], Path]:
    """Returns a change: for a time packets take a longer way."""

    def change(path: Path, moment: Moment) -> Path:
        detour = {
            "delay": f"{delay_ms:g}ms",
            "start": moment.written(),
            "length": f"{length_ms:g}ms",
            "keeps_order": keeps_order,
        }
        return replace(path, link={"detour": detour})

    return change


def _restored(name: str, event: str, later_rounds: float = 0) -> Measure:
    """Measures a quantity after the undo over that before the recovery."""

    def measure(seen: Seen) -> float:
        before_s, after_s = _episode(seen, event)
        before = seen.recording.before(name, before_s)
        after = seen.recording.at(name, after_s + later_rounds * seen.round_trip_s)
        return 1.0 if after == before else after / before  # both may be unlimited

    return measure


def _episode(seen: Seen, event: str) -> tuple[float, float]:
    begin_s = seen.recording.first(event, seen.changed_s)
    return begin_s, seen.recording.first("undo", begin_s)


def _returned_to(event: str) -> Measure:
    """Measures the state after the undo of a recovery that began in ProbeBW_UP."""

    def measure(seen: Seen) -> str:
        before_s, after_s = _episode(seen, event)
        if seen.recording.state_at(before_s - seen.round_trip_s / 100) != "ProbeBW_UP":
            raise LackingError("not in ProbeBW_UP when the packets are late")
        return seen.recording.state_at(after_s + seen.round_trip_s / 100)

    return measure


def _expected(event: str) -> tuple[Expectation, ...]:
    return (
        Expectation(
            "state after the undo", _returned_to(event), words=("ProbeBW_UP", "ProbeBW_REFILL")
        ),
        Expectation(
            "bandwidth after the undo, over that before",
            _restored("bw_bps", event, _NEXT_ACKS),
            0.98,
            1.3,
        ),
        Expectation(
            "inflight_longterm after it, over that before",
            _restored("inflight_longterm", event),
            1,
            2,
        ),
        Expectation("cwnd after it, over that before", _restored("cwnd", event), 0.9, 1.5),
    )


CASES = (
    Case(
        18,
        "spurious-recovery",
        "Handling Spurious Fast Recovery",
        "Once the transport protocol detects the loss was spurious [...], verify "
        "`BBRHandleSpuriousLossDetection()` restores the saved parameters. Ensure the connection "
        "seamlessly returns to its previous state (e.g., PROBE_UP).",
        Path(duration_s=6),
        _expected("recovery"),
        change=_late(30, 6, keeps_order=False),
        waits_for="ProbeBW_UP",
        later_rounds=_LATER_ROUNDS,
        note="A flow that left ProbeBW_UP returns through ProbeBW_REFILL (5.5.11.2).",
    ),
    Case(
        19,
        "spurious-rto",
        "Handling Spurious RTO Recovery",
        "Once the transport protocol detects the loss was spurious [...], verify "
        "`BBRHandleSpuriousLossDetection()` restores the saved parameters. Ensure the connection "
        "seamlessly returns to its previous state (e.g., PROBE_UP).",
        Path(duration_s=9),
        _expected("timeout"),
        change=_late(2500, 10, keeps_order=True),
        waits_for="ProbeBW_UP",
        later_rounds=_LATER_ROUNDS,
        note="All packets are late, not reordered: so the timer expires before recovery begins.",
    ),
)
