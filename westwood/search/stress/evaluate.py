# SPDX-License-Identifier: BSD-3-Clause
"""Measures the degradation that attacks cause, over one seed or several."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

from westwood import _engine, stopping
from westwood.control import loading
from westwood.scenario.completion import plan_of
from westwood.search.stress import attack as attacks
from westwood.search.stress.attack import Attack
from westwood.search.stress.degradation import Degradation, RunAttack
from westwood.search.stress.figures import Figures, of_run
from westwood.search.stress.scenarios import as_data
from westwood.units import PS_PER_S


@dataclass
class Runner:
    """Runs attacks in the simulator, in one thread, and counts them."""

    evaluated: int = 0
    runs: int = 0

    def run(self, attack: Attack, protocol: str, part: float = 1.0) -> Figures:
        """Runs an attack on this control, for this fraction of its duration."""
        plan = plan_of(as_data(attack, protocol))
        network = plan.network
        network.duration = round(network.duration * part)
        self.runs += 1
        with loading.located_failures():
            outcome = _engine.simulate(network, attack.seed, stopping.of_thread())
        duration_s = network.duration / PS_PER_S
        return of_run(
            plan.flows, outcome.connections(), outcome.forward[0], duration_s, attack.rate_bps
        )

    def remembering(self, attack: Attack) -> RunAttack:
        """Returns a function that runs an attack with any control, each once."""
        known: dict[tuple[str, float, tuple[str, ...]], Figures] = {}

        def run(protocol: str, part: float = 1.0, without: tuple[str, ...] = ()) -> Figures:
            key = protocol, part, without
            if key not in known:
                known[key] = self.run(attacks.without(attack, without), protocol, part)
            return known[key]

        return run

    def degradation(self, metric: Degradation, attack: Attack, protocol: str) -> float:
        """Returns the degradation with the attack's own seed, from 0 to 1."""
        self.evaluated += 1
        return metric.measure(self.remembering(attack), attack, protocol)

    def median(
        self, metric: Degradation, attack: Attack, protocol: str, seeds: Sequence[int]
    ) -> float:
        """Returns the median degradation over these seeds."""
        return statistics.median(
            self.degradation(metric, replace(attack, seed=seed), protocol) for seed in seeds
        )
