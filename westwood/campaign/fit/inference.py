# SPDX-License-Identifier: BSD-3-Clause
"""Approximate Bayesian computation: finds parameters whose simulation resembles observations.

Parameters theta are uniform in a box, s(theta) are the numbers of a simulation with them, and s_obs
the observed ones. In rounds:

    1. theta_i from the box, s_i = s(theta_i) plus a normal error, i = 1..N: the error models how
       far the model may miss each number (Wilkinson 2013)
    2. ridge regression theta ~ b0 + B (s, s^2): its prediction t(s) has as many numbers as there
       are parameters, the best summary by squared error (Fearnhead & Prangle 2012, section 3)
    3. the k draws whose t(s_i) is nearest to t(s_obs), in units of the regression's residuals
    4. the next box is that of these draws, widened: a truncated prior, so that no draw needs a
       weight (Deistler, Goncalves & Macke 2022)

A second regression shifts the kept draws, theta_i + (t(s_obs) - t(s_i)) C, which corrects for their
remaining distance (Beaumont, Zhang & Balding 2002). Where the numbers say nothing about a
parameter, C is near 0 and the draws keep their width. Everything depends only on the seed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

_RIDGE = 0.02  # relative to the number of draws
_FEWEST = 16  # minimum number of draws that are kept
_WIDER = 0.15  # share of a box's width added on each side
_MOST_SD = 5.0  # limit for a number that no draw comes near


@dataclass(frozen=True)
class Posterior:
    """Parameters that are likely given the observed numbers, one draw per row."""

    draws: Numbers
    simulated: Numbers  # the numbers of these draws
    box: Numbers  # lowest and highest values of the prior


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
    """Infers parameters; `simulate` maps rows of parameters to rows of numbers.

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
    """Draws a Latin hypercube, which spreads each parameter evenly (McKay et al. 1979)."""
    places = np.stack([random.permutation(draws) for _ in range(parameters)], axis=1)
    return np.asarray((places + random.random((draws, parameters))) / draws)


def _regressed(
    theta: Numbers, numbers: Numbers, observed: Numbers, keep: float
) -> tuple[NDArray[np.int64], Numbers]:
    """Returns the draws nearest to the observation, and where the regression shifts them."""
    mean, sd = numbers.mean(axis=0), numbers.std(axis=0) + 1e-9
    standard = (numbers - mean) / sd
    goal = np.clip((observed - mean) / sd, -_MOST_SD, _MOST_SD)
    features = _features(standard)
    centre = theta.mean(axis=0)
    penalty = _RIDGE * len(theta) * np.eye(features.shape[1])
    penalty[0, 0] = 0.0
    weights = np.linalg.solve(features.T @ features + penalty, features.T @ (theta - centre))
    prediction = features @ weights
    goal_prediction = (_features(goal[None, :]) @ weights)[0]
    residual = np.std(theta - centre - prediction, axis=0) + 1e-12
    distance = np.linalg.norm((prediction - goal_prediction) / residual, axis=1)
    nearest = np.argsort(distance, kind="stable")[: max(round(keep * len(theta)), _FEWEST)]
    deviations = prediction[nearest] - prediction[nearest].mean(axis=0)
    centred = theta[nearest] - theta[nearest].mean(axis=0)
    ridge = 1e-12 * np.eye(deviations.shape[1])
    slope = np.linalg.solve(deviations.T @ deviations + ridge, deviations.T @ centred)
    return nearest, theta[nearest] + (goal_prediction - prediction[nearest]) @ slope


def _features(standard: Numbers) -> Numbers:
    ones = np.ones((len(standard), 1))
    return np.hstack([ones, standard, standard**2 / 2])
