# SPDX-License-Identifier: BSD-3-Clause
"""Environments of Gymnasium in which an agent controls the congestion of one flow.

>>> from westwood import gym
>>> environments = gym.VectorEnv(4, like="aurora")
>>> observations, _ = environments.reset(seed=1)
>>> observations.shape
(4, 30)
>>> actions = environments.action_space.sample()
>>> observations, rewards, terminated, truncated, _ = environments.step(actions)
>>> rewards.shape
(4,)

`gymnasium.make("westwood.gym:westwood/Path-v0")` and `make_vec` make them too. docs/gym.md has the
observations, actions and rewards.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from westwood import extras

if TYPE_CHECKING:
    from westwood.gym.choices import ACTIONS, COLUMNS, KINDS, REWARDS, Action, Kind
    from westwood.gym.environments import Env, VectorEnv
    from westwood.gym.exporting import export
    from westwood.gym.paths import aurora_paths

ID = "westwood/Path-v0"

__all__ = [
    "ACTIONS",
    "COLUMNS",
    "ID",
    "KINDS",
    "REWARDS",
    "Action",
    "Env",
    "Kind",
    "VectorEnv",
    "aurora_paths",
    "export",
]

_HOMES = {
    "Env": "environments",
    "VectorEnv": "environments",
    "aurora_paths": "paths",
    "export": "exporting",
}


# Without the extra, the first use of a name says what to install.
def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'westwood.gym' has no attribute {name!r}")
    extras.need("gymnasium", f"westwood.gym.{name}")
    return getattr(import_module(f"westwood.gym.{_HOMES.get(name, 'choices')}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)


def _register() -> None:
    import gymnasium

    if ID not in gymnasium.registry:
        env_name, many = "westwood.gym:Env", "westwood.gym:VectorEnv"
        gymnasium.register(ID, entry_point=env_name, vector_entry_point=many)


if extras.has("gymnasium"):
    _register()
