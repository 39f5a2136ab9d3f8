# SPDX-License-Identifier: BSD-3-Clause
"""Defines the degradation metrics: how badly a control fares or treats others, from 0 to 1.

Each metric compares runs of one attack with the same random losses. One run has the control in
question, the other a reference: CUBIC, or the best of CUBIC, Reno and BBRv1. The denominator is at
least a tenth of what the path carries, so a path on which no control gets anything is not a
finding.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

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


Assess = Callable[[RunAttack, Attack, str], tuple[float, str]]  # how bad it is, and in words


@dataclass(frozen=True)
class Degradation:
    """A degradation metric: how to measure it, and how to describe it."""

    name: str
    side: str
    what: str
    assess: Assess
    needs: tuple[str, ...] = ()  # features that it requires
    needs_any: tuple[str, ...] = ()  # it requires at least one of these
    without: tuple[str, ...] = ()  # features with which another metric applies

    def measure(self, run: RunAttack, attack: Attack, cc: str) -> float:
        """Returns the degradation of a control, from 0 to 1."""
        return self.assess(run, attack, cc)[0]

    def tell(self, run: RunAttack, attack: Attack, cc: str) -> str:
        """Returns what happens, as a clause."""
        return self.assess(run, attack, cc)[1]


DEGRADATIONS: dict[str, Degradation] = {}


def _metric(
    name: str, side: str, what: str, **features: tuple[str, ...]
) -> Callable[[Assess], Any]:
    """Declares a metric by the function that assesses it."""

    def declare(assess: Assess) -> Assess:
        DEGRADATIONS[name] = Degradation(name, side, what, assess, **features)
        return assess

    return declare


def _mbps(bps: float) -> str:
    return f"{bps / 1e6:.3g} Mb/s"


def _time(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def _part(lost: float, whole: float) -> float:
    """Returns lost over whole, from 0 to 1; 0 if a run did not measure one of them."""
    part = lost / whole if whole > 0 else 0.0
    return 0.0 if math.isnan(part) else min(1.0, max(0.0, part))


def _least_bps(attack: Attack) -> float:
    """Returns the rate below which a goodput counts as nothing on this path."""
    return _LEAST_SHARE * undisturbed(attack).carried_bps


def _below(run: RunAttack, attack: Attack, cc: str, others: tuple[str, ...]) -> tuple[float, str]:
    """Assesses goodput below the best of these controls."""
    best = max(
        (incumbent for incumbent in others if incumbent != cc),
        key=lambda incumbent: run(incumbent).goodput_bps,
        default=INCUMBENT,
    )
    best_bps, own_bps = run(best).goodput_bps, run(cc).goodput_bps
    says = f"{label(cc)} gets {_mbps(own_bps)} where {label(best)} gets {_mbps(best_bps)}"
    return _part(best_bps - own_bps, max(best_bps, _least_bps(attack))), says


@_metric("below-cubic", TO_IT, "its goodput is below CUBIC's on the same path")
def _below_cubic(run: RunAttack, attack: Attack, cc: str) -> tuple[float, str]:
    return _below(run, attack, cc, (INCUMBENT,))


# Beside others it would only find the most aggressive control.
@_metric(
    "below-best",
    TO_IT,
    "its goodput is below the best of CUBIC's, Reno's and BBRv1's",
    without=("beside",),
)
def _below_best(run: RunAttack, attack: Attack, cc: str) -> tuple[float, str]:
    return _below(run, attack, cc, OTHERS)


@_metric("idle", TO_IT, "it leaves capacity idle")
def _idle(run: RunAttack, attack: Attack, cc: str) -> tuple[float, str]:
    carried, total_bps = attack.carried_bps, run(cc).total_bps
    says = f"{label(cc)} gets {_mbps(total_bps)} of the available {_mbps(carried)}"
    return _part(carried - total_bps, max(carried, _least_bps(attack))), says


@_metric(
    "disturbed",
    TO_IT,
    "it loses much more than losses, bursts and dips take",
    needs_any=_ANY_DISTURBING,
)
def _disturbed(run: RunAttack, attack: Attack, cc: str) -> tuple[float, str]:
    """Assesses the loss of goodput beyond the capacity taken, weighted by the capacity left."""
    left = attack.carried_bps / undisturbed(attack).carried_bps
    judged_run, calm = run(cc), run(cc, without=DISTURBING).goodput_bps
    could = left * calm
    says = (
        f"{label(cc)} falls from {_mbps(calm)} to {_mbps(judged_run.goodput_bps)}, with "
        f"{judged_run.timeouts:.0f} timeouts, where {1 - left:.0%} of the capacity is taken"
    )
    lost = _part(could - judged_run.goodput_bps, max(could, _least_bps(attack)))
    return min(left, 1.0) * lost, says


def _later(run: RunAttack, cc: str, without: tuple[str, ...] = ()) -> float:
    """Returns the goodput of the second half of the run."""
    return 2 * run(cc, 1.0, without).goodput_bps - run(cc, 0.5, without).goodput_bps


@_metric("stuck", TO_IT, "it stays slow after the bursts", needs=("bursts, then calm",))
def _stuck(run: RunAttack, attack: Attack, cc: str) -> tuple[float, str]:
    """Assesses the goodput missing after the bursts, against CUBIC and an undisturbed run."""
    other, late_bps = _later(run, INCUMBENT), _later(run, cc)
    could = min(other, _later(run, cc, ("bursts",)))
    says = (
        f"in the second half, without bursts, {label(cc)} gets {_mbps(late_bps)} where {_ITS_NAME} "
        f"gets {_mbps(other)}"
    )
    return _part(could - late_bps, max(could, _least_bps(attack))), says


@_metric("stalled", TO_IT, "it waits for timeouts", needs_any=_ANY_DISTURBING)
def _stalled(run: RunAttack, attack: Attack, cc: str) -> tuple[float, str]:
    """Assesses the minimum share of time spent in timeouts, weighted by the capacity left."""
    left = attack.carried_bps / undisturbed(attack).carried_bps
    judged_run = run(cc)
    # The mean time of a flow in timeouts, without exponential backoff.
    least_us = attack.delay_us + (attack.min_rto_us or MIN_RTO_US)
    waiting_us = least_us * judged_run.timeouts / attack.flows if attack.flows else 0.0
    waiting = _part(waiting_us, attack.duration_us)
    says = (
        f"{label(cc)} spends at least {waiting:.0%} of the time in {judged_run.timeouts:.0f} "
        f"timeouts and gets {_mbps(judged_run.goodput_bps)}, where {1 - left:.0%} of the capacity "
        "is taken"
    )
    return min(left, 1.0) * waiting, says


@_metric("timeouts", TO_IT, "it has more timeouts than CUBIC")
def _timeouts(run: RunAttack, attack: Attack, cc: str) -> tuple[float, str]:
    timeouts, other = run(cc).timeouts, run(INCUMBENT).timeouts
    more = max(0.0, timeouts - other)
    says = f"{label(cc)} has {timeouts:.0f} timeouts where {_ITS_NAME} has {other:.0f}"
    return more / (more + _FEW + other), says


@_metric("unfair", TO_IT, "its flows share less evenly than CUBIC's", needs=("several",))
def _unfair(run: RunAttack, attack: Attack, cc: str) -> tuple[float, str]:
    fairness, other = run(cc).fairness, run(INCUMBENT).fairness
    says = (
        f"{attack.flows} flows of {label(cc)} share with a Jain index of {fairness:.2f}, those of "
        f"{_ITS_NAME} with {other:.2f}"
    )
    return _part(other - fairness, other), says


@_metric("late", TO_IT, "its transfers complete later than CUBIC's", needs=("transfers",))
def _late(run: RunAttack, attack: Attack, cc: str) -> tuple[float, str]:
    time_s, other = run(cc).completion_s, run(INCUMBENT).completion_s
    says = (
        f"transfers of {attack.short_bytes / 1e3:.3g} kB take {_time(time_s)} with {label(cc)}, "
        f"{_time(other)} with {_ITS_NAME}"
    )
    return _part(time_s - other, time_s), says


@_metric("starves", BY_IT, "competing flows keep less than against CUBIC", needs=("beside",))
def _starves(run: RunAttack, attack: Attack, cc: str) -> tuple[float, str]:
    kept, had = run(cc).competing_bps, run(INCUMBENT).competing_bps
    says = (
        f"{label(attack.beside or cc)} keeps {_mbps(kept)} against {label(cc)}, but {_mbps(had)} "
        f"against {_ITS_NAME}"
    )
    return _part(had - kept, max(had, _least_bps(attack))), says


@_metric("losses", BY_IT, "it makes queues drop more than CUBIC does")
def _losses(run: RunAttack, attack: Attack, cc: str) -> tuple[float, str]:
    ratio, other = run(cc).loss_ratio, run(INCUMBENT).loss_ratio
    says = (
        f"the queue drops {ratio:.1%} of the packets of {label(cc)}, {other:.1%} of {_ITS_NAME}'s"
    )
    return max(0.0, 1 - (other + _LEAST_LOSS) / (ratio + _LEAST_LOSS)), says


@_metric("queue", BY_IT, "it makes packets wait longer than CUBIC does")
def _queue(run: RunAttack, attack: Attack, cc: str) -> tuple[float, str]:
    base_s, queue_s, other = attack.delay_us / 1e6, run(cc).queue_s, run(INCUMBENT).queue_s
    says = f"packets wait {_time(queue_s)} with {label(cc)}, {_time(other)} with {_ITS_NAME}"
    return max(0.0, 1 - (base_s + other) / (base_s + queue_s)), says


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
