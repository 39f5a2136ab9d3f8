# SPDX-License-Identifier: BSD-3-Clause
"""Lists the queues that a drawn path may have; a new AQM is one more row.

A row gives the queue of the scenario's link and how often it is drawn. Two numbers of an
environment tune it: `aqm_us`, the delay at which it begins to act, and `aqm_span`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from westwood.scenario.paths.numbers import log_uniform

if TYPE_CHECKING:
    from westwood.scenario.paths.environment import Environment

_RED_LEAST = (0.05, 0.5)  # RED's lower threshold as a fraction of the queue
_RED_SPAN = (1.5, 5)  # RED's upper threshold over the lower one


@dataclass(frozen=True)
class Aqm:
    """A kind of queue: its name, its table in a scenario, how often it is drawn, its numbers."""

    called: str
    queue: Callable[[Environment], dict[str, Any]]
    weight: float
    tuned: Callable[[random.Random, int], dict[str, Any]] = lambda choices, queue_us: {}
    asks_ecn: bool = False  # needs ECN in all flows


def red_least(environment: Environment) -> float:
    """Returns RED's lower threshold in packets: from `aqm_us`, or a sixth of the queue."""
    if not environment.aqm_us:
        return max(1.0, round(environment.queue_packets / 6, 1))
    return max(
        1.0,
        min(round(environment.packets_in(environment.aqm_us), 1), float(environment.queue_packets)),
    )


def _limit(environment: Environment) -> str:
    return f"{environment.queue_packets}p"


def _droptail(environment: Environment) -> dict[str, Any]:
    return {"kind": "droptail", "limit": _limit(environment)}


def _red(environment: Environment) -> dict[str, Any]:
    """Returns a RED queue; Floyd advises an upper threshold of three times the lower."""
    least = red_least(environment)
    thresholds = {"min": least, "max": environment.aqm_span * least}
    return {"kind": "red", "limit": _limit(environment), **thresholds, "gentle": True}


def _red_ecn(environment: Environment) -> dict[str, Any]:
    return _red(environment) | {"ecn": True}


def _red_tuned(choices: random.Random, queue_us: int) -> dict[str, Any]:
    least_us = max(1, round(log_uniform(choices, *_RED_LEAST) * queue_us))
    return {"aqm_us": least_us, "aqm_span": log_uniform(choices, *_RED_SPAN)}


AQMS: Mapping[str, Aqm] = {
    "droptail": Aqm("drop-tail", _droptail, 6),
    "red": Aqm("RED", _red, 1, _red_tuned),
    "red-ecn": Aqm("RED with ECN", _red_ecn, 1, _red_tuned, asks_ecn=True),
}


def drawn(choices: random.Random, queue_us: int) -> dict[str, Any]:
    """Draws a kind of queue with its numbers, for a queue of this many microseconds."""
    (name,) = choices.choices(list(AQMS), [aqm.weight for aqm in AQMS.values()])
    return {"aqm": name, **AQMS[name].tuned(choices, queue_us)}
