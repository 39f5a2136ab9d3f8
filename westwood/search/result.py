# SPDX-License-Identifier: BSD-3-Clause
"""What is searched, and what is finished of it: trials, and the ablation of the best."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from westwood.errors import InputError
from westwood.search import evaluation, population, space
from westwood.search.evaluation import Control
from westwood.search.objective import TARGETS
from westwood.search.outcome import Outcome
from westwood.search.space import Parameter, Value, Values

MOST_PATHS = 10_000
TOGETHER = "*"  # in the place of a setting's key: all that can't be shown to matter
NUMBERS = ("effect", "low", "high")  # of an ablation


@dataclass(frozen=True)
class Search:
    """What is searched: the settings of a control, and the paths that they are tried on."""

    protocol: str
    parameters: tuple[Parameter, ...]
    held: Mapping[str, Any]  # settings of the control that stay
    paths: int
    seed: int
    packets: int = 150_000  # of a run, at most: 40 round trips say much of what 400 would

    def __post_init__(self) -> None:
        for key, value, least, most in (
            ("--paths", self.paths, evaluation.LEAST_PATHS, MOST_PATHS),
            ("--seed", self.seed, 0, 2**63 - 1),
            ("--packets", self.packets, population.PACKETS_LEAST, population.PACKETS_MOST),
        ):
            if not least <= value <= most:
                raise InputError(f"expected from {least} to {most}", key=key, value=value)

    def state(self) -> dict[str, Any]:
        """What another search would have otherwise."""
        ranges = {
            one.key: [one.default, one.low, one.high, *one.choices] for one in self.parameters
        }
        return {
            "cc": self.protocol,
            "held": dict(self.held),
            "ranges": ranges,
            "paths": self.paths,
            "packets": self.packets,
            "seed": self.seed,
            "targets": {one.name: [one.bound, one.weight, one.scale] for one in TARGETS},
        }

    def control(self, values: Mapping[str, space.Value]) -> Control:
        """The control with these values."""
        return Control(self.protocol, space.settings(values, self.parameters, self.held))


@dataclass(frozen=True)
class Trial:
    """Settings that were tried, in the core's units, and what came of them."""

    number: int
    values: Values
    targets: Mapping[str, float]
    cost: float


@dataclass(frozen=True)
class Ablation:
    """What it costs to set settings of the best trial back: the difference, and its interval."""

    keys: tuple[str, ...]
    effect: float
    low: float
    high: float


@dataclass
class SearchResult:
    """Holds what is finished of a search."""

    search: Search
    references: dict[str, list[Outcome]] = field(default_factory=dict)
    trials: dict[int, Trial] = field(default_factory=dict)
    ablations: dict[tuple[int, str], Ablation] = field(default_factory=dict)  # by trial and key
    runs: int = 0  # that this process made

    @property
    def best(self) -> Trial:
        """The trial that costs least; the first of those that cost the same."""
        return min(self.trials.values(), key=lambda one: (one.cost, one.number))

    def changed(self) -> list[Parameter]:
        """The settings that the best trial has otherwise than the default."""
        return [one for one in self.search.parameters if self.best.values[one.key] != one.default]

    def ablation(self) -> list[tuple[Parameter, Ablation]]:
        """What setting each of those back costs, the dearest first."""
        number = self.best.number
        known = [(one, self.ablations[number, one.key]) for one in self.changed()]
        return sorted(known, key=lambda pair: -pair[1].effect)

    def idle(self) -> list[str]:
        """The settings that the ablation can't show to matter: their intervals reach 0."""
        return [one.key for one, made in self.ablation() if made.low <= 0]

    @property
    def simpler(self) -> Ablation | None:
        """What it costs to set all of those back together, if there are several."""
        return self.ablations.get((self.best.number, TOGETHER))

    def end_effects(self) -> list[tuple[Parameter, Value, Ablation]]:
        """What moving a setting of the best trial to an end of its range costs, if that was run."""
        known = [
            (parameter, end, self.ablations[self.best.number, end_name(parameter, end)])
            for parameter in self.search.parameters
            for end in parameter.ends()
            if (self.best.number, end_name(parameter, end)) in self.ablations
        ]
        return sorted(known, key=lambda one: -abs(one[2].effect))

    def chosen(self) -> list[Parameter]:
        """The settings to keep: without the idle ones, if together they don't matter either."""
        together = self.simpler
        left_out = set(together.keys) if together and together.low <= 0 else set()
        return [one for one in self.changed() if one.key not in left_out]

    def entry(self) -> dict[str, Any]:
        """Returns the best settings, and every target before and after, as JSON takes them."""
        first, best, search = self.trials[0], self.best, self.search
        return {
            "cc": search.protocol,
            "settings": space.settings(best.values, self.chosen(), search.held),
            "values": space.settings(best.values, search.parameters, search.held),
            "trial": best.number,
            "trials": len(self.trials),
            "cost": best.cost,
            "default_cost": first.cost,
            "targets": {
                one.name: {
                    "bound": one.bound,
                    "at_most": one.at_most,
                    "default": _plain(first.targets[one.name]),
                    "best": _plain(best.targets[one.name]),
                }
                for one in TARGETS
            },
            "ablation": [
                {"setting": one.key, "back": list(made.keys), **numbers_of(made)}
                for one, made in self.ablation()
            ],
            "ends": [
                {"setting": one.key, "at": one.written(end), **numbers_of(made)}
                for one, end, made in self.end_effects()
            ],
        }


def end_name(parameter: Parameter, end: Value) -> str:
    """Names the ablation that moves a setting there."""
    return f"{parameter.key}={end}"


def numbers_of(made: Ablation) -> dict[str, float]:
    """The effect and its interval, by name."""
    return {key: getattr(made, key) for key in NUMBERS}


def _plain(value: float) -> float | None:
    return None if math.isnan(value) else value
