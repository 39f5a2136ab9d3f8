# SPDX-License-Identifier: BSD-3-Clause
"""Holds what is searched, and the finished trials and ablations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from westwood.control import loading
from westwood.errors import InputError
from westwood.experiments.control import Control
from westwood.experiments.optimiser import Value, Values
from westwood.results.journal import finite_or_none
from westwood.scenario.paths import population
from westwood.scenario.paths.families import PACKETS_LEAST
from westwood.search import evaluation, space
from westwood.search.objective import TARGETS
from westwood.search.outcome import Outcome
from westwood.search.space import Parameter

MOST_PATHS = 10_000
TOGETHER = "*"  # in place of a setting's key: all settings without a proven effect
NUMBERS = ("effect", "low", "high")  # fields of an ablation


@dataclass(frozen=True)
class Search:
    """The settings of a control to search, and the paths to try them on."""

    protocol: str
    parameters: tuple[Parameter, ...]
    held: Mapping[str, Any]  # settings of the control that stay fixed
    paths: int
    seed: int
    packets: int = 150_000  # most packets per run: 40 round trips tell nearly as much as 400

    def __post_init__(self) -> None:
        for key, value, least, most in (
            ("--paths", self.paths, evaluation.LEAST_PATHS, MOST_PATHS),
            ("--seed", self.seed, 0, 2**63 - 1),
            ("--packets", self.packets, PACKETS_LEAST, population.PACKETS_MOST),
        ):
            if not least <= value <= most:
                raise InputError(f"expected from {least} to {most}", key=key, value=value)

    def state(self) -> dict[str, Any]:
        """Returns what distinguishes this search from another."""
        ranges = {
            parameter.key: [parameter.default, parameter.low, parameter.high, *parameter.choices]
            for parameter in self.parameters
        }
        return {
            **loading.identity(self.protocol),
            "held": dict(self.held),
            "ranges": ranges,
            "paths": self.paths,
            "packets": self.packets,
            "seed": self.seed,
            "targets": {
                target.name: [target.bound, target.weight, target.quantity.scale]
                for target in TARGETS
            },
        }

    def control(self, values: Mapping[str, Value]) -> Control:
        """Returns the control with these values."""
        return Control(self.protocol, space.settings(values, self.parameters, self.held))


@dataclass(frozen=True)
class Trial:
    """A tried set of values in the core's units, with its targets and cost."""

    number: int
    values: Values
    targets: Mapping[str, float]
    cost: float


@dataclass(frozen=True)
class Ablation:
    """The cost of resetting settings of the best trial: the difference and its interval."""

    keys: tuple[str, ...]
    effect: float
    low: float
    high: float


@dataclass
class SearchResult:
    """Holds the finished parts of a search."""

    search: Search
    references: dict[str, list[Outcome]] = field(default_factory=dict)
    trials: dict[int, Trial] = field(default_factory=dict)
    # Ablations by trial and key.
    ablations: dict[tuple[int, str], Ablation] = field(default_factory=dict)
    runs: int = 0  # made by this process

    @property
    def best(self) -> Trial:
        """Cheapest trial; the first of equal ones."""
        return min(self.trials.values(), key=lambda trial: (trial.cost, trial.number))

    def changed(self) -> list[Parameter]:
        """Returns the settings that the best trial changed."""
        return [
            parameter
            for parameter in self.search.parameters
            if self.best.values[parameter.key] != parameter.default
        ]

    def ablation(self) -> list[tuple[Parameter, Ablation]]:
        """Returns the cost of resetting each changed setting, largest first."""
        number = self.best.number
        known = [(parameter, self.ablations[number, parameter.key]) for parameter in self.changed()]
        return sorted(known, key=lambda pair: -pair[1].effect)

    def ablation_rows(self) -> list[dict[str, Any]]:
        """Returns the ablation as rows, for ablation.parquet and best.json."""
        return [
            {"setting": parameter.key, "back": list(ablation.keys), **_numbers(ablation)}
            for parameter, ablation in self.ablation()
        ]

    def idle(self) -> list[str]:
        """Returns the settings without a proven effect: their intervals include 0."""
        return [parameter.key for parameter, ablation in self.ablation() if ablation.low <= 0]

    @property
    def simpler(self) -> Ablation | None:
        """Cost of resetting all of these together, if there are several."""
        return self.ablations.get((self.best.number, TOGETHER))

    def end_effects(self) -> list[tuple[Parameter, Value, Ablation]]:
        """Returns the cost of moving each setting to an end of its range, as far as it ran."""
        known = [
            (parameter, end, self.ablations[self.best.number, end_name(parameter, end)])
            for parameter in self.search.parameters
            for end in parameter.ends()
            if (self.best.number, end_name(parameter, end)) in self.ablations
        ]
        return sorted(known, key=lambda end_effect: -abs(end_effect[2].effect))

    def chosen(self) -> list[Parameter]:
        """Returns the settings to keep: without those that have no effect even together."""
        together = self.simpler
        left_out = set(together.keys) if together and together.low <= 0 else set()
        return [parameter for parameter in self.changed() if parameter.key not in left_out]

    def entry(self) -> dict[str, Any]:
        """Returns the best settings, and every target before and after, for JSON."""
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
                target.name: {
                    "bound": target.bound,
                    "at_most": target.quantity.at_most,
                    "default": finite_or_none(first.targets[target.name]),
                    "best": finite_or_none(best.targets[target.name]),
                }
                for target in TARGETS
            },
            "ablation": self.ablation_rows(),
            "ends": [
                {"setting": parameter.key, "at": parameter.written(end), **_numbers(effect)}
                for parameter, end, effect in self.end_effects()
            ],
        }


def end_name(parameter: Parameter, end: Value) -> str:
    """Returns the name of the ablation that moves a setting to this end of its range."""
    return f"{parameter.key}={end}"


def _numbers(ablation: Ablation) -> dict[str, float]:
    """Returns the effect and its interval by name."""
    return {key: getattr(ablation, key) for key in NUMBERS}
