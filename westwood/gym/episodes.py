# SPDX-License-Identifier: BSD-3-Clause
"""The runs of an environment, which copies repeat.

A run of the engine has no copy. But it is decided by its path, its seed and the orders that it was
given, so these are kept for the episode of each sub-environment, and a copy gives them again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from westwood import _engine
from westwood.control.loading import located_failures
from westwood.engines.network import build
from westwood.errors import RunError
from westwood.scenario import Scenario

Which = NDArray[np.bool_]


class Episodes:
    """Episodes that continue together; `settings` are those of `_engine.Environments`."""

    def __init__(self, paths: Sequence[Scenario], environments: int, *settings: Any) -> None:
        self._made_of: tuple[Any, ...] = paths, environments, *settings
        self._runs = self._made()
        self._begun = np.zeros(environments, bool)
        self._unknown = np.zeros(environments, bool)  # after a failed or an interrupted step
        self._start: tuple[Any, Any, Any] = (
            np.zeros(environments, np.uint32),
            np.zeros(environments, np.uint64),
            np.zeros(environments),
        )
        self._since = np.zeros(environments, np.int64)  # the first step of each one's episode
        self._first = 0  # the step that `_steps` begins with
        self._steps: list[tuple[Which, NDArray[np.float64]]] = []

    def _made(self) -> _engine.Environments:
        paths, *settings = self._made_of
        return _engine.Environments([build(path) for path in paths], *settings)

    def begin(
        self,
        which: Which,
        paths: NDArray[np.uint32],
        seeds: NDArray[np.uint64],
        shares: NDArray[np.float64],
        observations: NDArray[np.float32],
    ) -> None:
        """Begins episodes: the numbers of their paths, their seeds, the shares of first rates."""
        self._unknown |= which
        with located_failures():
            self._runs.reset(which, paths, seeds, shares, observations)
        self._unknown &= ~which
        self._begun |= which
        start: tuple[NDArray[Any], ...] = (paths, seeds, shares)
        for kept, given in zip(self._start, start, strict=True):
            kept[which] = given[which]
        self._since[which] = self._first + len(self._steps)
        done = int(self._since[self._begun].min()) - self._first
        del self._steps[:done]
        self._first += done

    def step(self, which: Which, orders: NDArray[np.float64], *into: NDArray[Any]) -> None:
        """Runs a step; `into` gets what was measured, observations and which episodes are over."""
        self._unknown |= which
        with located_failures():
            self._runs.step(which, orders, *into)
        self._unknown &= ~which
        self._steps.append((which, orders))

    def __getstate__(self) -> dict[str, Any]:
        if self._unknown.any():
            problem = "an environment has no copy after a failed or an interrupted step: reset() it"
            raise RunError(problem)
        return {name: value for name, value in self.__dict__.items() if name != "_runs"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._runs = self._made()
        count, columns, history = self._made_of[1], self._made_of[-1], self._made_of[-2]
        observations = np.empty((count, len(columns) * history), np.float32)
        rows, over = np.empty((count, len(_engine.STEP_COLUMNS))), np.empty((2, count), bool)
        with located_failures():
            self._runs.reset(self._begun, *self._start, observations)
            for number, (which, orders) in enumerate(self._steps, self._first):
                again = which & self._begun & (self._since <= number)
                self._runs.step(again, orders, rows, observations, *over)
