# SPDX-License-Identifier: BSD-3-Clause
"""Proposes settings to try: Optuna's TPE, asked in batches of a fixed size.

A batch follows from the seed, its number and the trials of the batches before it, whatever the
number of workers and however often the search was interrupted.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from westwood.search.space import Value, Values

BATCH = 8  # trials that are proposed at a time
_AT_RANDOM = 2 * BATCH  # trials before the estimator has something to go by


class Varied(Protocol):
    """Is a setting that is varied, from `low` to `high` or among `choices`, as a `Parameter` is."""

    @property
    def key(self) -> str:
        """Its name."""

    @property
    def default(self) -> Value:
        """What it is if it isn't varied."""

    @property
    def choices(self) -> tuple[Value, ...]:
        """Its words, or none."""

    @property
    def low(self) -> int:
        """Its least value."""

    @property
    def high(self) -> int:
        """Its largest value."""

    @property
    def is_logarithmic(self) -> bool:
        """Says whether equal ratios count alike."""

    def has(self, value: Any, /) -> bool:
        """Says whether a value is within its range."""


def propose(
    parameters: Sequence[Varied],
    tried: Sequence[tuple[Mapping[str, Any], float]],
    seed: int,
    batch: int,
    count: int = BATCH,
) -> list[Values]:
    """Proposes settings after what was tried, with its costs; the very first is the default."""
    import optuna

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        sampler = optuna.samplers.TPESampler(
            n_startup_trials=_AT_RANDOM,
            multivariate=True,
            constant_liar=True,
            seed=int.from_bytes(hashlib.sha256(f"trials {seed} {batch}".encode()).digest()[:4]),
        )
        study = optuna.create_study(sampler=sampler)
        space = {one.key: _distribution(one) for one in parameters}
        for values, cost in tried:
            kept = {key: values[key] for key in space}
            if not all(one.has(kept[one.key]) for one in parameters):
                continue  # a default outside of the ranges asked for
            trial = optuna.trial.create_trial(params=kept, distributions=space, value=cost)
            study.add_trial(trial)
        proposed = [dict(study.ask(space).params) for _ in range(count)]
    if batch == 0:
        proposed[0] = {one.key: one.default for one in parameters}
    return proposed


def _distribution(parameter: Varied) -> Any:
    from optuna.distributions import CategoricalDistribution, IntDistribution

    if parameter.choices:
        return CategoricalDistribution(parameter.choices)
    return IntDistribution(parameter.low, parameter.high, log=parameter.is_logarithmic)
