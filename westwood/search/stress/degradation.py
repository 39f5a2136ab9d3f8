# SPDX-License-Identifier: BSD-3-Clause
"""Defines the degradation metrics: how badly a control fares or treats others, from 0 to 1.

Each metric compares runs of one attack with the same random losses. One run has the control in
question, the other a reference: CUBIC, or the best of CUBIC, Reno and BBRv1. The denominator is at
least a tenth of what the path carries, so a path on which no control gets anything is not a
finding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from westwood.control.catalogue import label
from westwood.errors import InputError, suggestion
from westwood.search.stress.attack import DISTURBING, MIN_RTO_US, Attack, undisturbed
from westwood.search.stress.figures import Figures

TO_IT, BY_IT = "to-it", "by-it"
INCUMBENT = "cubic"
_ITS_NAME = label(INCUMBENT)
OTHERS = ("cubic", "sack", "bbr")
_ANY_DISTURBING = ("bursts, then calm", "fading", *DISTURBING)
_LEAST_SHARE = 0.1  # share of the path's carried rate
_LEAST_LOSS = 0.01
_FEW = 5  # this many extra timeouts give a degradation of one half


class RunAttack(Protocol):
    """Runs an attack with any protocol, each combination once."""

    def __call__(self, protocol: str, part: float = 1.0, without: tuple[str, ...] = ()) -> Figures:
        """Runs the attack for a fraction of its duration, without the named features."""


@dataclass(frozen=True)
class Degradation:
    """A degradation metric: how to measure it, and how to describe it."""

    name: str
    side: str
    what: str
    measure: Callable[[RunAttack, Attack, str], float]
    tell: Callable[[RunAttack, Attack, str], str]
    needs: tuple[str, ...] = ()  # features that it requires
    needs_any: tuple[str, ...] = ()  # it requires at least one of these
    without: tuple[str, ...] = ()  # features with which another metric applies


def _mbps(bps: float) -> str:
    return f"{bps / 1e6:.3g} Mb/s"


def _time(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def _part(lost: float, whole: float) -> float:
    return min(1.0, max(0.0, lost / whole)) if whole > 0 else 0.0


def _least_bps(attack: Attack) -> float:
    """Returns the rate below which a goodput counts as nothing on this path."""
    return _LEAST_SHARE * undisturbed(attack).carried_bps


def _below(others: tuple[str, ...]) -> Callable[[RunAttack, Attack, str], float]:
    def measure(run: RunAttack, attack: Attack, cc: str) -> float:
        best = run(_best(run, others, cc)).goodput_bps
        return _part(best - run(cc).goodput_bps, max(best, _least_bps(attack)))

    return measure


def _best(run: RunAttack, others: tuple[str, ...], cc: str) -> str:
    return max(
        (incumbent for incumbent in others if incumbent != cc),
        key=lambda incumbent: run(incumbent).goodput_bps,
        default=INCUMBENT,
    )


def _tell_below(others: tuple[str, ...]) -> Callable[[RunAttack, Attack, str], str]:
    def tell(run: RunAttack, attack: Attack, cc: str) -> str:
        best = _best(run, others, cc)
        judged_run, best_run = run(cc), run(best)
        return (
            f"{label(cc)} gets {_mbps(judged_run.goodput_bps)} where {label(best)} gets "
            f"{_mbps(best_run.goodput_bps)}"
        )

    return tell


def _idle(run: RunAttack, attack: Attack, cc: str) -> float:
    carried = attack.carried_bps
    return _part(carried - run(cc).total_bps, max(carried, _least_bps(attack)))


def _tell_idle(run: RunAttack, attack: Attack, cc: str) -> str:
    total_bps = run(cc).total_bps
    return f"{label(cc)} gets {_mbps(total_bps)} of the available {_mbps(attack.carried_bps)}"


def _disturbed(run: RunAttack, attack: Attack, cc: str) -> float:
    """Returns the loss of goodput beyond the capacity taken, weighted by the capacity left."""
    left = attack.carried_bps / undisturbed(attack).carried_bps
    could = left * run(cc, without=DISTURBING).goodput_bps
    return min(left, 1.0) * _part(could - run(cc).goodput_bps, max(could, _least_bps(attack)))


def _tell_disturbed(run: RunAttack, attack: Attack, cc: str) -> str:
    judged_run, calm = run(cc), run(cc, without=DISTURBING).goodput_bps
    taken = 1 - attack.carried_bps / undisturbed(attack).carried_bps
    return (
        f"{label(cc)} falls from {_mbps(calm)} to {_mbps(judged_run.goodput_bps)}, with "
        f"{judged_run.timeouts:.0f} timeouts, where {taken:.0%} of the capacity is taken"
    )


def _later(run: RunAttack, cc: str, without: tuple[str, ...] = ()) -> float:
    """Returns the goodput of the second half of the run."""
    return 2 * run(cc, 1.0, without).goodput_bps - run(cc, 0.5, without).goodput_bps


def _stuck(run: RunAttack, attack: Attack, cc: str) -> float:
    """Returns the goodput missing after the bursts, against CUBIC and an undisturbed run."""
    could = min(_later(run, INCUMBENT), _later(run, cc, ("bursts",)))
    return _part(could - _later(run, cc), max(could, _least_bps(attack)))


def _tell_stuck(run: RunAttack, attack: Attack, cc: str) -> str:
    late_bps, other = _later(run, cc), _later(run, INCUMBENT)
    return (
        f"in the second half, without bursts, {label(cc)} gets {_mbps(late_bps)} where {_ITS_NAME} "
        f"gets {_mbps(other)}"
    )


def _stalled(run: RunAttack, attack: Attack, cc: str) -> float:
    """Returns the minimum share of time spent in timeouts, weighted by the capacity left."""
    left = attack.carried_bps / undisturbed(attack).carried_bps
    return min(left, 1.0) * _part(_waiting_us(run, attack, cc), attack.duration_us)


def _waiting_us(run: RunAttack, attack: Attack, cc: str) -> float:
    """Returns the mean time that a flow spends in timeouts, without exponential backoff."""
    least_us = attack.delay_us + (attack.min_rto_us or MIN_RTO_US)
    return least_us * run(cc).timeouts / attack.flows if attack.flows else 0.0


def _tell_stalled(run: RunAttack, attack: Attack, cc: str) -> str:
    waiting = min(1.0, _waiting_us(run, attack, cc) / attack.duration_us)
    taken = 1 - attack.carried_bps / undisturbed(attack).carried_bps
    judged_run = run(cc)
    return (
        f"{label(cc)} spends at least {waiting:.0%} of the time in {judged_run.timeouts:.0f} "
        f"timeouts and gets {_mbps(judged_run.goodput_bps)}, where {taken:.0%} of the capacity "
        "is taken"
    )


def _timeouts(run: RunAttack, attack: Attack, cc: str) -> float:
    more = run(cc).timeouts - run(INCUMBENT).timeouts
    return max(0.0, more) / (max(0.0, more) + _FEW + run(INCUMBENT).timeouts)


def _tell_timeouts(run: RunAttack, attack: Attack, cc: str) -> str:
    timeouts, other = run(cc).timeouts, run(INCUMBENT).timeouts
    return f"{label(cc)} has {timeouts:.0f} timeouts where {_ITS_NAME} has {other:.0f}"


def _unfair(run: RunAttack, attack: Attack, cc: str) -> float:
    fairness, other = run(cc).fairness, run(INCUMBENT).fairness
    return 0.0 if math.isnan(fairness) or math.isnan(other) else _part(other - fairness, other)


def _tell_unfair(run: RunAttack, attack: Attack, cc: str) -> str:
    fairness, other = run(cc).fairness, run(INCUMBENT).fairness
    return (
        f"{attack.flows} flows of {label(cc)} share with a Jain index of {fairness:.2f}, those of "
        f"{_ITS_NAME} with {other:.2f}"
    )


def _late(run: RunAttack, attack: Attack, cc: str) -> float:
    time_s, other = run(cc).completion_s, run(INCUMBENT).completion_s
    return 0.0 if math.isnan(time_s) or math.isnan(other) else _part(time_s - other, time_s)


def _tell_late(run: RunAttack, attack: Attack, cc: str) -> str:
    time_s, other = run(cc).completion_s, run(INCUMBENT).completion_s
    size = attack.short_bytes / 1e3
    return (
        f"transfers of {size:.3g} kB take {_time(time_s)} with {label(cc)}, {_time(other)} with "
        f"{_ITS_NAME}"
    )


def _starves(run: RunAttack, attack: Attack, cc: str) -> float:
    kept, had = run(cc).competing_bps, run(INCUMBENT).competing_bps
    return _part(had - kept, max(had, _least_bps(attack)))


def _tell_starves(run: RunAttack, attack: Attack, cc: str) -> str:
    kept, had = run(cc).competing_bps, run(INCUMBENT).competing_bps
    return (
        f"{label(attack.beside or cc)} keeps {_mbps(kept)} against {label(cc)}, but {_mbps(had)} "
        f"against {_ITS_NAME}"
    )


def _losses(run: RunAttack, attack: Attack, cc: str) -> float:
    loss_ratio, other = run(cc).loss_ratio, run(INCUMBENT).loss_ratio
    return max(0.0, 1 - (other + _LEAST_LOSS) / (loss_ratio + _LEAST_LOSS))


def _tell_losses(run: RunAttack, attack: Attack, cc: str) -> str:
    loss_ratio, other = run(cc).loss_ratio, run(INCUMBENT).loss_ratio
    name = label(cc)
    return (
        f"the queue drops {loss_ratio:.1%} of the packets of {name}, {other:.1%} of {_ITS_NAME}'s"
    )


def _queue(run: RunAttack, attack: Attack, cc: str) -> float:
    base_s = attack.delay_us / 1e6
    queue_s, other = run(cc).queue_s, run(INCUMBENT).queue_s
    return max(0.0, 1 - (base_s + other) / (base_s + queue_s))


def _tell_queue(run: RunAttack, attack: Attack, cc: str) -> str:
    queue_s, other = run(cc).queue_s, run(INCUMBENT).queue_s
    return f"packets wait {_time(queue_s)} with {label(cc)}, {_time(other)} with {_ITS_NAME}"


DEGRADATIONS: Mapping[str, Degradation] = {
    degradation.name: degradation
    for degradation in (
        Degradation(
            "below-cubic",
            TO_IT,
            "its goodput is below CUBIC's on the same path",
            _below((INCUMBENT,)),
            _tell_below((INCUMBENT,)),
        ),
        Degradation(
            "below-best",
            TO_IT,
            "its goodput is below the best of CUBIC's, Reno's and BBRv1's",
            _below(OTHERS),
            _tell_below(OTHERS),
            without=("beside",),  # it would only find the most aggressive control
        ),
        Degradation("idle", TO_IT, "it leaves capacity idle", _idle, _tell_idle),
        Degradation(
            "disturbed",
            TO_IT,
            "it loses much more than losses, bursts and dips take",
            _disturbed,
            _tell_disturbed,
            needs_any=_ANY_DISTURBING,
        ),
        Degradation(
            "stuck",
            TO_IT,
            "it stays slow after the bursts",
            _stuck,
            _tell_stuck,
            ("bursts, then calm",),
        ),
        Degradation(
            "stalled",
            TO_IT,
            "it waits for timeouts",
            _stalled,
            _tell_stalled,
            needs_any=_ANY_DISTURBING,
        ),
        Degradation(
            "timeouts", TO_IT, "it has more timeouts than CUBIC", _timeouts, _tell_timeouts
        ),
        Degradation(
            "unfair",
            TO_IT,
            "its flows share less evenly than CUBIC's",
            _unfair,
            _tell_unfair,
            ("several",),
        ),
        Degradation(
            "late",
            TO_IT,
            "its transfers complete later than CUBIC's",
            _late,
            _tell_late,
            ("transfers",),
        ),
        Degradation(
            "starves",
            BY_IT,
            "competing flows keep less than against CUBIC",
            _starves,
            _tell_starves,
            ("beside",),
        ),
        Degradation(
            "losses", BY_IT, "it makes queues drop more than CUBIC does", _losses, _tell_losses
        ),
        Degradation(
            "queue", BY_IT, "it makes packets wait longer than CUBIC does", _queue, _tell_queue
        ),
    )
}


def chosen(names: tuple[str, ...]) -> list[Degradation]:
    """Returns the metrics with these names or sides; without names all of them."""
    known = [TO_IT, BY_IT, *DEGRADATIONS]
    for name in names:
        if name not in known:
            raise InputError(f"no such harm, {suggestion(name, known)}", key="--harm", value=name)
    return [
        degradation
        for degradation in DEGRADATIONS.values()
        if not names or degradation.name in names or degradation.side in names
    ]
