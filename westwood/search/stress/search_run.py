# SPDX-License-Identifier: BSD-3-Clause
"""Searches one combination of features for one degradation, then shrinks the worst attack.

It draws some attacks at random and climbs from the worst with CMA-ES (Hansen 2016; the package
`cmaes`). An attack that stays bad with other seeds is shrunk and reported. A search run follows
from the hunt's seed and its own number alone. Runs can therefore finish in any order, and an
interrupted hunt can be resumed.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from westwood.scenario.paths.population import seed_of
from westwood.search.stress import attack as attacks
from westwood.search.stress import shrink
from westwood.search.stress.attack import FEATURES, OF_HOSTS, Attack
from westwood.search.stress.degradation import Degradation
from westwood.search.stress.evaluate import Runner

if TYPE_CHECKING:
    from cmaes import CMA

LEAST = 0.25  # a smaller degradation is not a finding
_DRAWS, _POPULATION, _GENERATIONS = 40, 10, 12
_HOPELESS, _ENOUGH = 0.05, 0.97
_IDLE, _BETTER = 4, 0.01  # stops after 4 generations that improve by less than 0.01
_SIGMA = 0.15
_CHECKS, _JUDGES = 3, 5  # seeds while shrinking, and for the reported value
_PACKETS = (4_000, 10_000, 40_000), (12, 6, 1)  # most packets per run, and their weights
_FEATURES = (0, 1, 2), (3, 4, 3)  # number of extra features, and their weights


@dataclass(frozen=True)
class Finding:
    """A shrunk attack and the degradation that it causes."""

    attack: Attack
    harm: str
    cc: str
    value: float  # the median over seeds
    least: float
    most: float
    says: str  # about the run with the median
    without: dict[str, float]  # the degradation after each single change

    @property
    def kind(self) -> tuple[str, ...]:
        """Returns what findings of one kind share: all but the numbers."""
        queue = self.attack.queue_bdp
        lengths = {0.1: "short", 0.7: "shallow", 2.5: "usual", math.inf: "deep"}
        length = next(name for most, name in lengths.items() if queue < most)
        return (self.harm, *attacks.features(self.attack), length)

    def as_json(self) -> dict[str, Any]:
        """Returns the finding for JSON."""
        return asdict(self)

    @classmethod
    def of(cls, data: dict[str, Any]) -> Finding:
        """Reads what `as_json` returned."""
        return cls(**{**data, "attack": Attack(**data["attack"])})


class SearchRun:
    """A search run, whose number decides its metric and features."""

    def __init__(self, cc: str, metrics: Sequence[Degradation], seed: int, number: int) -> None:
        text = f"westwood hunt {seed} {number}"
        self._choices = random.Random(hashlib.sha256(text.encode()).digest())
        self._cc, self._metric = cc, metrics[number % len(metrics)]
        self._features = self._corner()
        (self._packets_most,) = self._choices.choices(*_PACKETS)
        self.runner = Runner()

    def find(self) -> Finding | None:
        """Returns the finding, if it is bad enough with other seeds as well."""
        attack = self._climbed()
        if attack is None:
            return None
        seeds = self._seeds(_CHECKS)
        worst = self._median(attack, seeds)
        if worst < LEAST:
            return None
        enough = max(shrink.KEEP * worst, LEAST)
        simple = shrink.shrink(
            attack, lambda candidate: self._is_bad(candidate, seeds, enough), self._metric.needs
        )
        return self._finding(simple)

    def _corner(self) -> list[str]:
        needs = self._metric.needs
        taken = {*needs, *self._metric.without, *OF_HOSTS}
        free = [name for name in FEATURES if name not in taken]
        while True:
            (count,) = self._choices.choices(*_FEATURES)
            chosen = [*needs, *self._choices.sample(free, count)]
            chosen += [name for name in OF_HOSTS if self._choices.random() < 0.5]
            wanted = self._metric.needs_any
            if attacks.fit_together(chosen) and (not wanted or set(wanted) & set(chosen)):
                return chosen

    def _seeds(self, count: int) -> list[int]:
        return [seed_of("hunt", self._choices.getrandbits(40)) for _ in range(count)]

    def _climbed(self) -> Attack | None:
        """Returns the worst attack that it finds; None if no drawn attack is bad enough."""
        (seed,) = self._seeds(1)
        genes = attacks.genes(self._features)
        drawn = [[self._choices.random() for _ in range(genes)] for _ in range(_DRAWS)]
        worst, best_place = max((self._at(place, seed), place) for place in drawn)
        if worst < _HOPELESS:
            return None
        climber, idle = self._climber(best_place), 0
        for _ in range(_GENERATIONS):
            if worst > _ENOUGH or idle >= _IDLE:
                break
            before, ratings = worst, []
            for _ in range(climber.population_size):
                place = climber.ask()
                value = self._at(place.tolist(), seed)
                ratings.append((place, -value))
                if value > worst:
                    worst, best_place = value, place.tolist()
            climber.tell(ratings)
            idle = idle + 1 if worst < before + _BETTER else 0
        return self._drawn(best_place, seed)

    def _climber(self, start: Sequence[float]) -> CMA:
        import numpy as np
        from cmaes import CMA

        return CMA(
            mean=np.array(start),
            sigma=_SIGMA,
            bounds=np.array([[0.0, 1.0]] * len(start)),
            seed=self._choices.getrandbits(32),
            population_size=_POPULATION,
        )

    def _at(self, place: Sequence[float], seed: int) -> float:
        return self.runner.degradation(self._metric, self._drawn(place, seed), self._cc)

    def _drawn(self, place: Sequence[float], seed: int) -> Attack:
        return attacks.drawn(self._features, place, seed, self._packets_most)

    def _median(self, attack: Attack, seeds: Sequence[int]) -> float:
        return self.runner.median(self._metric, attack, self._cc, seeds)

    def _is_bad(self, attack: Attack, seeds: Sequence[int], enough: float) -> bool:
        """Returns whether most seeds reach `enough`; stops as soon as that is decided."""
        good = bad = 0
        for seed in seeds:
            value = self.runner.degradation(self._metric, replace(attack, seed=seed), self._cc)
            good, bad = good + (value < enough), bad + (value >= enough)
            if 2 * max(good, bad) > len(seeds):
                break
        return bad > good

    def _finding(self, attack: Attack) -> Finding | None:
        seeds = self._seeds(_JUDGES)
        degradations = sorted(
            (self.runner.degradation(self._metric, replace(attack, seed=seed), self._cc), seed)
            for seed in seeds
        )
        values = [value for value, _ in degradations]
        value, seed = degradations[len(degradations) // 2]
        if value < LEAST:
            return None
        attack = replace(attack, seed=seed)
        run = self.runner.remembering(attack)
        says = self._metric.tell(run, attack, self._cc)
        return Finding(
            attack,
            self._metric.name,
            self._cc,
            value,
            values[0],
            values[-1],
            says,
            self._hangs_on(attack, seeds),
        )

    def _hangs_on(self, attack: Attack, seeds: Sequence[int]) -> dict[str, float]:
        """Returns the degradation without each feature: low values mark essential ones."""
        others = {
            name: attacks.without(attack, (name,))
            for name in attacks.features(attack)
            if name not in self._metric.needs
        }
        others["with four times the queue"] = replace(
            attack, queue_packets=4 * attack.queue_packets
        )
        others["with a quarter of the delay"] = shrink.with_path(
            attack, attack.rate_bps, max(1, attack.delay_us // 4)
        )
        return {name: self._median(variant, seeds) for name, variant in others.items()}
