# SPDX-License-Identifier: BSD-3-Clause
"""The environments: many that step together, and one."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from westwood import units
from westwood.control.arguments import checked, number, optional, text, whole
from westwood.errors import InputError, suggestion
from westwood.gym import paths as drawn_paths
from westwood.gym.choices import ACTIONS, COLUMNS, KINDS, REWARDS, Action, Kind, Numbers, Reward
from westwood.gym.episodes import Episodes
from westwood.gym.paths import Path
from westwood.scenario import Scenario

T = TypeVar("T")
Observations = NDArray[np.float32]
MOST_ENVIRONMENTS, MOST_STEPS, MOST_HISTORY = 100_000, 10**9, 10_000
_RTT = "rtt"
_SEED = whole(0, 2**64 - 1)
_share = number(0, 1e6, above=True)


class VectorEnv(gymnasium.vector.VectorEnv[Observations, NDArray[Any], NDArray[Any]]):
    """Environments that step together, each a run in which the agent controls one flow.

    An episode is a new run on one of the paths. After a round trip and one step the agent takes
    over. A sub-environment that is over begins anew with the next step (`AutoresetMode.NEXT_STEP`).
    The same seed and actions give the same numbers on any machine. A copy, or what a pickle is read
    into, goes on from the same step: it runs the episodes again up to there.

    Parameters
    ----------
    num_envs : int, default 1
        Number of sub-environments.
    paths : Scenario, str, path or sequence of them, optional
        The paths to draw from: scenarios, names of presets or files. One with a sweep stands for
        its points. Without it, `aurora_paths()`.
    like : {"aurora", "orca", "ns3-gym"}, default "aurora"
        The learner whose defaults the following have.
    flow : str, optional
        Name of the agent's flow, for paths with several TCP flows. The others keep their controls.
    step : str, optional
        Length of a step: a time such as "20ms", or a number of round trips such as "0.5rtt", by
        the mean RTT of the step before.
    observation : sequence of str, optional
        What is observed of a step: names of `COLUMNS`.
    history : int, optional
        Number of the last steps that an observation has, the latest last.
    action : str or Action, optional
        What an action does: a name of `ACTIONS`, or one of your own.
    reward : str or callable, optional
        A name of `REWARDS`, or a function. It gets a mapping from the names of `COLUMNS` to arrays,
        one number for each sub-environment, and returns such an array.
    steps : int, optional
        Steps of an episode.
    first_rate : pair of float, optional
        Bounds of the first pacing rate, as shares of the rate of the slowest link. Without it, the
        initial window in a round trip.

    Raises
    ------
    InputError
        If an argument is wrong: one line with its name.

    Examples
    --------
    >>> from westwood import gym
    >>> environments = gym.VectorEnv(
    ...     2,
    ...     paths="path",
    ...     step="1rtt",
    ...     observation=["loss", "latency_ratio"],
    ...     history=1,
    ...     reward=lambda step: step["delivered_bps"] / 1e6 - step["rtt_s"],
    ... )
    >>> observations, _ = environments.reset(seed=7)
    >>> observations.shape
    (2, 2)
    """

    metadata: dict[str, Any] = {  # noqa: RUF012
        "render_modes": [],
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    @checked(
        num_envs=whole(1, MOST_ENVIRONMENTS),
        flow=optional(text),
        step=optional(text),
        history=optional(whole(1, MOST_HISTORY)),
        steps=optional(whole(1, MOST_STEPS)),
    )
    def __init__(
        self,
        num_envs: int = 1,
        paths: Path | Sequence[Path] | None = None,
        *,
        like: str = "aurora",
        flow: str | None = None,
        step: str | None = None,
        observation: Sequence[str] | None = None,
        history: int | None = None,
        action: str | Action | None = None,
        reward: str | Reward | None = None,
        steps: int | None = None,
        first_rate: tuple[float, float] | None = None,
    ) -> None:
        kind: Kind = _chosen("like", like, KINDS)
        scenarios = drawn_paths.loaded(paths)
        columns = _columns(kind.observation if observation is None else observation)
        length = kind.history if history is None else history
        self._action: Action = _chosen("action", kind.action if action is None else action, ACTIONS)
        self._reward: Reward = _chosen("reward", kind.reward if reward is None else reward, REWARDS)
        self._first_rate = _pair(kind.first_rate if first_rate is None else first_rate)
        interval_ps, rtts = _interval(kind.step if step is None else step)
        self.num_envs = num_envs
        self._paths = len(scenarios)
        number_of_flow = _number_of_flow(flow, scenarios)
        self._spaces(columns, length)
        try:
            self._runs = Episodes(
                scenarios,
                num_envs,
                number_of_flow,
                self._action.steering,
                interval_ps,
                rtts,
                kind.steps if steps is None else steps,
                length,
                columns,
            )
        except ValueError as error:
            raise InputError(f"the simulator refuses it: {error}", key="paths") from None
        self._rows: Numbers = np.zeros((num_envs, len(COLUMNS)))
        self._over = np.ones(num_envs, bool)

    def _spaces(self, columns: Sequence[str], history: int) -> None:
        least = np.array([COLUMNS[name][0] for name in columns] * history, np.float32)
        most = np.array([COLUMNS[name][1] for name in columns] * history, np.float32)
        bounds = (self._action.least, self._action.most)
        self.single_observation_space = Box(least, most)
        self.single_action_space = Box(*bounds, (1,), np.float32)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def __copy__(self) -> VectorEnv:
        return copy.deepcopy(self)

    @property
    def measured(self) -> Mapping[str, Numbers]:
        """What was measured of the last step, by the names of `COLUMNS`."""
        return {name: self._rows[:, place] for place, name in enumerate(COLUMNS)}

    @checked(seed=optional(_SEED))
    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, dict[str, Any]]:
        """Begins an episode in every sub-environment.

        `options["path"]` may have the number of each one's path, and `infos["path"]` has it.
        """
        super().reset(seed=seed)
        observations = self._new_observations()
        paths = self._numbers_of(_path_in(options))
        self._over[:] = True  # until all have begun
        chosen = self._begin(np.ones(self.num_envs, bool), observations, paths)
        self._over[:] = False
        return observations, {"path": chosen}

    def step(
        self, actions: NDArray[Any]
    ) -> tuple[Observations, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Gives each agent its action and runs one step in every sub-environment."""
        orders = self._orders(actions)
        observations = self._new_observations()
        self._rows = np.zeros_like(self._rows)
        terminated, truncated = np.zeros((2, self.num_envs), bool)
        again, infos = self._over, {}
        if again.any():
            infos["path"] = self._begin(again, observations)
        self._runs.step(~again, orders, self._rows, observations, terminated, truncated)
        self._over = terminated | truncated
        rewards = self._rewards(again)
        return observations, rewards, terminated, truncated, infos

    def _new_observations(self) -> Observations:
        return np.empty(self.observation_space.shape or (), np.float32)

    def _numbers_of(self, given: Any) -> NDArray[np.uint32] | None:
        if given is None:
            return None
        expected, key = f"{self.num_envs} whole numbers below {self._paths}", 'options["path"]'
        numbers = _array(key, given, expected, None)
        is_whole = numbers.dtype.kind in "iu" and numbers.shape == (self.num_envs,)
        if not is_whole or numbers.min() < 0 or numbers.max() >= self._paths:
            raise InputError(f"expected {expected}", key=key, value=given)
        return numbers.astype(np.uint32)

    def _begin(
        self,
        which: NDArray[np.bool_],
        observations: Observations,
        paths: NDArray[np.uint32] | None = None,
    ) -> NDArray[np.uint32]:
        draw, count = self.np_random, self.num_envs
        drawn = draw.integers(self._paths, size=count, dtype=np.uint32)
        chosen = drawn if paths is None else paths
        seeds = draw.integers(2**63, size=count, dtype=np.uint64)
        shares = draw.uniform(*self._first_rate, size=count)
        self._runs.begin(which, chosen, seeds, shares, observations)
        return chosen

    def _orders(self, actions: NDArray[Any]) -> Numbers:
        given = _array("actions", actions, f"{self.num_envs} actions").reshape(-1)
        if given.shape != (self.num_envs,):
            problem = f"expected {self.num_envs} actions"
            raise InputError(problem, key="actions", value=np.shape(actions))
        if not np.isfinite(given).all():
            place = int(np.flatnonzero(~np.isfinite(given))[0])
            raise InputError(
                f"expected a number, of sub-environment {place}",
                key="actions",
                value=str(given[place]),
            )
        orders = self._action.orders(np.clip(given, self._action.least, self._action.most))
        expected = f"{self.num_envs} finite orders"
        array = np.ascontiguousarray(_array("action.orders", orders, expected))
        if array.shape != given.shape or not np.isfinite(array).all():
            raise InputError(f"expected {expected}", key="action.orders", value=str(array.tolist()))
        return array

    def _rewards(self, again: NDArray[np.bool_]) -> Numbers:
        expected = f"{self.num_envs} finite numbers"
        array = _array("reward", self._reward(self.measured), expected)
        if array.shape in ((), again.shape):
            array = np.where(again, 0.0, array)
            if np.isfinite(array).all():
                return array
        raise InputError(f"expected {expected}", key="reward", value=str(array.tolist()))


class Env(gymnasium.Env[Observations, NDArray[Any]]):
    """One environment; its parameters are those of `VectorEnv`, without the number.

    Examples
    --------
    >>> from westwood import gym
    >>> environment = gym.Env("path", like="orca")
    >>> observation, info = environment.reset(seed=1)
    >>> observation, reward, terminated, truncated, info = environment.step([0.1])
    >>> sorted(info)[:3]
    ['acks', 'acks_ratio', 'best_bps']
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    @checked()
    def __init__(self, paths: Path | Sequence[Path] | None = None, **parameters: Any) -> None:
        if "num_envs" in parameters:
            problem = "expected none: Env is one environment, VectorEnv has several"
            raise InputError(problem, key="num_envs", value=parameters["num_envs"])
        self._all = VectorEnv(1, paths, **parameters)
        self.observation_space = self._all.single_observation_space
        self.action_space = self._all.single_action_space
        self._over = True

    def __copy__(self) -> Env:
        return copy.deepcopy(self)

    @checked(seed=optional(_SEED))
    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, dict[str, Any]]:
        """Begins an episode; `info["path"]` is the number of its path."""
        super().reset(seed=seed)
        self._all.np_random = self.np_random
        path = _path_in(options)
        self._over = True
        observations, infos = self._all.reset(options=None if path is None else {"path": [path]})
        self._over = False
        return observations[0], {"path": int(infos["path"][0])}

    def step(self, action: Any) -> tuple[Observations, float, bool, bool, dict[str, Any]]:
        """Runs one step; `info` has what was measured of it, by the names of `COLUMNS`."""
        if self._over:
            raise gymnasium.error.ResetNeeded("the episode is over, expected reset()")
        observations, rewards, terminated, truncated, _ = self._all.step(action)
        info = {name: float(values[0]) for name, values in self._all.measured.items()}
        self._over = bool(terminated[0] or truncated[0])
        return observations[0], float(rewards[0]), bool(terminated[0]), bool(truncated[0]), info


def _chosen(key: str, given: object, known: Mapping[str, T]) -> Any:
    """Returns what the name stands for; what is no name must be what its user made."""
    if isinstance(given, str) and given in known:
        return known[given]
    is_own = isinstance(given, Action) if key == "action" else key == "reward" and callable(given)
    if not is_own:
        raise InputError(f"unknown, {suggestion(given, list(known))}", key=key, value=given)
    return given


def _array(key: str, given: Any, expected: str, dtype: type | None = np.float64) -> NDArray[Any]:
    try:
        return np.asarray(given, dtype)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"expected {expected}", key=key, value=given) from None


def _path_in(options: object) -> Any:
    if options is not None and not isinstance(options, Mapping):
        raise InputError('expected a mapping such as {"path": 3}', key="options", value=options)
    for key in options or {}:
        if key != "path":
            raise InputError('no such option, expected "path"', key="options", value=key)
    return (options or {}).get("path")


def _columns(names: object) -> list[str]:
    if isinstance(names, str) or not isinstance(names, Sequence) or not names:
        raise InputError("expected names of columns", key="observation", value=names)
    for name in names:
        if not isinstance(name, str) or name not in COLUMNS:
            problem = f"no such column, {suggestion(name, list(COLUMNS))}"
            raise InputError(problem, key="observation", value=name)
    return list(names)


def _pair(given: object) -> tuple[float, float]:
    if given is None:
        return 0.0, 0.0
    try:
        low, high = map(_share, given)  # type: ignore[call-overload]
    except (TypeError, ValueError, InputError):
        low, high = 1.0, 0.0
    if low > high:
        problem = "expected the least and the largest share, such as (0.3, 1.5)"
        raise InputError(problem, key="first_rate", value=given)
    return low, high


def _interval(step: str) -> tuple[int, float]:
    """Returns a step's length in picoseconds, or 0 and its length in round trips."""
    try:
        if step.endswith(_RTT):
            return 0, number(0, 1e6, above=True)(float(step.removesuffix(_RTT)))
        interval_ps = units.parse_time(step)
    except (ValueError, InputError):
        interval_ps = 0
    if interval_ps <= 0:
        problem = 'expected a time such as "20ms", or round trips such as "0.5rtt"'
        raise InputError(problem, key="step", value=step)
    return interval_ps, 1.0


def _number_of_flow(name: str | None, scenarios: Sequence[Scenario]) -> int:
    """Returns the place of the agent's flow, which all paths have in common."""
    places = set()
    for scenario in scenarios:
        names = [flow.name for flow in scenario.flows]
        known = [flow.name for flow in scenario.flows if flow.app.kind != "udp"]
        if not known:
            raise InputError(
                f"{scenario.name} has only datagrams, expected a TCP flow", key="paths"
            )
        if name is None and len(known) > 1:
            problem = f"is missing: {scenario.name} has {len(known)} TCP flows"
            raise InputError(f"{problem}, {suggestion('', known)}", key="flow")
        chosen = known[0] if name is None else name
        if chosen not in known:
            raise InputError(f"no such flow, {suggestion(name, known)}", key="flow", value=name)
        places.add(names.index(chosen))
    if len(places) > 1:
        problem = "expected the flow at the same place in all paths"
        raise InputError(problem, key="flow", value=name)
    return places.pop()
