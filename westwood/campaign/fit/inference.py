# SPDX-License-Identifier: BSD-3-Clause
"""Approximate Bayesian computation: which parameters make simulated numbers like observed ones.

Parameters theta are uniform in a box, s(theta) are the numbers of a simulation with them, and
s_obs the observed ones. In rounds:

    1. theta_i from the box, s_i = s(theta_i) and a normal error, i = 1..N: the model is not what
       was observed, and how far it may miss each number is said (Wilkinson 2013)
    2. ridge regression theta ~ b0 + B (s, s^2): its prediction t(s) is as many numbers as there
       are parameters, the best summary in the square sense (Fearnhead & Prangle 2012, section 3)
    3. the k draws whose t(s_i) is nearest to t(s_obs), in units of the regression's residuals
    4. the next box is that of these draws, widened: a truncated prior, so that no draw needs a
       weight (Deistler, Goncalves & Macke 2022)

The kept draws are moved along a regression of their own, theta_i + (t(s_obs) - t(s_i)) C, which
corrects for the distance that they still have (Beaumont, Zhang & Balding 2002): where the numbers
say nothing of a parameter C is near 0, and the draws stay as wide as they were. Everything follows
from the seed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

_RIDGE = 0.02  # of the number of draws
_FEWEST = 16  # draws that are kept
_WIDER = 0.15  # of a box's width, on each side
_MOST_SD = 5.0  # of a number that no draw comes near


@dataclass(frozen=True)
class Posterior:
    """Holds parameters that the observed numbers are likely under, a row a draw."""

    draws: Numbers
    simulated: Numbers  # the numbers of these draws
    box: Numbers  # of the prior: lowest and highest


def infer(
    simulate: Callable[[Numbers], Numbers],
    observed: Numbers,
    box: Numbers,
    error: Numbers,
    *,
    draws: int,
    rounds: int,
    keep: float,
    seed: int,
) -> Posterior:
    """`simulate` takes a row of parameters a draw, and gives a row of numbers for each.

    box: lowest and highest of each parameter. error: the model's, of each number.
    """
    random = np.random.default_rng(seed)
    low, high = box[0].copy(), box[1].copy()
    for _ in range(rounds):
        theta = low + (high - low) * latin(random, draws, len(low))
        numbers = simulate(theta)
        unsure = numbers + error * random.standard_normal(numbers.shape)
        nearest, moved = _regressed(theta, unsure, observed, keep)
        kept = np.vstack([theta[nearest], np.clip(moved, low, high)])
        slack = _WIDER * (kept.max(axis=0) - kept.min(axis=0))
        posterior = Posterior(np.clip(moved, box[0], box[1]), numbers[nearest], box)
        low = np.maximum(kept.min(axis=0) - slack, low)
        high = np.minimum(kept.max(axis=0) + slack, high)
    return posterior


def latin(random: np.random.Generator, draws: int, parameters: int) -> Numbers:
    """A Latin hypercube: each parameter's draws are spread evenly (McKay et al. 1979)."""
    places = np.stack([random.permutation(draws) for _ in range(parameters)], axis=1)
    return np.asarray((places + random.random((draws, parameters))) / draws)


def _regressed(
    theta: Numbers, numbers: Numbers, observed: Numbers, keep: float
) -> tuple[NDArray[np.int64], Numbers]:
    """Which draws are nearest to what was observed, and where the regression moves them."""
    mean, sd = numbers.mean(axis=0), numbers.std(axis=0) + 1e-9
    standard = (numbers - mean) / sd
    goal = np.clip((observed - mean) / sd, -_MOST_SD, _MOST_SD)
    features = _features(standard)
    centre = theta.mean(axis=0)
    penalty = _RIDGE * len(theta) * np.eye(features.shape[1])
    penalty[0, 0] = 0.0
    weights = np.linalg.solve(features.T @ features + penalty, features.T @ (theta - centre))
    told = features @ weights
    told_goal = (_features(goal[None, :]) @ weights)[0]
    residual = np.std(theta - centre - told, axis=0) + 1e-12
    distance = np.linalg.norm((told - told_goal) / residual, axis=1)
    nearest = np.argsort(distance, kind="stable")[: max(round(keep * len(theta)), _FEWEST)]
    here = told[nearest] - told[nearest].mean(axis=0)
    centred = theta[nearest] - theta[nearest].mean(axis=0)
    slope = np.linalg.solve(here.T @ here + 1e-12 * np.eye(here.shape[1]), here.T @ centred)
    return nearest, theta[nearest] + (told_goal - told[nearest]) @ slope


def _features(standard: Numbers) -> Numbers:
    ones = np.ones((len(standard), 1))
    return np.hstack([ones, standard, standard**2 / 2])
