# SPDX-License-Identifier: BSD-3-Clause
"""What an agent observes, does and is rewarded for, with the defaults of three published learners.

aurora    Jay, Rotman, Godfrey, Schapira, Tamar: A Deep Reinforcement Learning Perspective on
          Internet Congestion Control, ICML 2019; PCC-RL, src/gym/network_sim.py
orca      Abbasloo, Yen, Chao: Classic Meets Modern, SIGCOMM 2020; Orca, rl-module/envwrapper.py
ns3-gym   Gawlowicz, Zubow: ns-3 meets OpenAI Gym, MSWiM 2019; its example rl-tcp
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from westwood import _engine
from westwood.errors import InputError, suggestion

Numbers: TypeAlias = NDArray[np.float64]
Reward: TypeAlias = Callable[[Mapping[str, Numbers]], Numbers]

# What is measured of a step: its least and largest value as an observation, and what it is.
COLUMNS: Mapping[str, tuple[float, float, str]] = _engine.STEP_COLUMNS


@dataclass(frozen=True)
class Action:
    """What a number from `least` to `most` does to the sender.

    Parameters
    ----------
    steering : {"rate", "cwnd", "cwnd_factor"}
        What an order is: a factor of the pacing rate, cwnd in segments, or a factor of the cwnd
        that the flow's own control goes on from.
    least, most : float
        Bounds of the action.
    orders : callable
        Turns an array of actions into orders.

    Examples
    --------
    >>> from westwood import gym
    >>> doubling = gym.Action("rate", -1, 1, lambda actions: 2.0**actions)
    >>> gym.VectorEnv(2, action=doubling).single_action_space
    Box(-1.0, 1.0, (1,), float32)
    """

    steering: str
    least: float
    most: float
    orders: Callable[[Numbers], Numbers]

    def __post_init__(self) -> None:
        if self.steering not in _engine.STEERINGS:
            problem = f"unknown, {suggestion(self.steering, list(_engine.STEERINGS))}"
            raise InputError(problem, key="action.steering", value=self.steering)
        bounds = (self.least, self.most)
        if not all(isinstance(bound, Real) for bound in bounds) or not self.least < self.most:
            problem = "expected the least and the largest action, such as (-1, 1)"
            raise InputError(problem, key="action", value=bounds)
        if not callable(self.orders):
            raise InputError("expected a function", key="action.orders", value=self.orders)


_DELTA = 0.05  # PCC-RL: config.DELTA_SCALE


def _by_rate(actions: Numbers) -> Numbers:
    return np.where(actions >= 0, 1 + _DELTA * actions, 1 / (1 - _DELTA * actions))


def _by_power_of_4(actions: Numbers) -> Numbers:
    return 4.0**actions


def _as_given(actions: Numbers) -> Numbers:
    return actions


ACTIONS: Mapping[str, Action] = {
    "rate": Action("rate", -1, 1, _by_rate),
    "cwnd-factor": Action("cwnd_factor", -1, 1, _by_power_of_4),
    "cwnd": Action("cwnd", 1, 10_000, _as_given),
}


def _aurora(step: Mapping[str, Numbers]) -> Numbers:
    """Returns 10 throughput - 1000 latency - 2000 loss, in packets/s and s, over 1000."""
    throughput = step["delivered"] / np.maximum(step["duration_s"], 1e-12)
    return 0.01 * throughput - step["rtt_s"] - 2 * step["loss"]


def _orca(step: Mapping[str, Numbers]) -> Numbers:
    """Returns (throughput - 5 lost) / largest throughput, times the delay metric."""
    return (step["delivery_ratio"] - step["loss_cost"]) * step["delay_metric"]


def _ns3_gym(step: Mapping[str, Numbers]) -> Numbers:
    """Returns 2 for each ACK, and -30 for a step with losses."""
    return 2 * step["acks"] - 30 * (step["lost"] > 0)


REWARDS: Mapping[str, Reward] = {"aurora": _aurora, "orca": _orca, "ns3-gym": _ns3_gym}


@dataclass(frozen=True)
class Kind:
    """The defaults of a published learner; see `VectorEnv`."""

    step: str
    observation: tuple[str, ...]
    history: int
    action: str
    reward: str
    steps: int
    first_rate: tuple[float, float] | None = None


KINDS: Mapping[str, Kind] = {
    "aurora": Kind(
        step="0.5rtt",
        observation=("latency_inflation", "latency_ratio", "send_ratio"),
        history=10,
        action="rate",
        reward="aurora",
        steps=400,
        first_rate=(0.3, 1.5),
    ),
    "orca": Kind(
        step="20ms",
        observation=(
            *("delivery_ratio", "pacing_ratio", "loss_cost", "acks_ratio", "duration_s"),
            *("delay_ratio", "delay_metric"),
        ),
        history=10,
        action="cwnd-factor",
        reward="orca",
        steps=1000,
    ),
    "ns3-gym": Kind(
        step="100ms",
        observation=(
            *("ssthresh", "cwnd", "in_flight", "acks", "delivered", "rtt_s"),
            *("min_rtt_s", "delivered_bps"),
        ),
        history=1,
        action="cwnd",
        reward="ns3-gym",
        steps=1000,
    ),
}
