# SPDX-License-Identifier: BSD-3-Clause
"""Proposes settings to try, with Optuna's TPE in batches of a fixed size.

A batch depends on the seed, its number and earlier trials only, so neither the number of workers
nor an interruption changes it.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

Value = bool | int | str
Values = dict[str, Value]  # values by the setting's key
BATCH = 8  # trials proposed at a time
_AT_RANDOM = 2 * BATCH  # random trials before the estimator starts


class Varied(Protocol):
    """A varied setting with a range from `low` to `high` or with `choices`, like `Parameter`."""

    @property
    def key(self) -> str:
        """Name of the setting."""

    @property
    def default(self) -> Value:
        """Value when it is not varied."""

    @property
    def choices(self) -> tuple[Value, ...]:
        """Allowed words; empty for a number."""

    @property
    def low(self) -> int:
        """Least value."""

    @property
    def high(self) -> int:
        """Largest value."""

    @property
    def is_logarithmic(self) -> bool:
        """Returns whether the search uses the logarithm of the value."""

    def has(self, value: Any, /) -> bool:
        """Returns whether a value is within its range."""


def propose(
    parameters: Sequence[Varied],
    tried: Sequence[tuple[Mapping[str, Any], float]],
    seed: int,
    batch: int,
    count: int = BATCH,
) -> list[Values]:
    """Proposes settings from earlier trials and their costs; the first proposal is the default."""
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
        space = {parameter.key: _distribution(parameter) for parameter in parameters}
        for values, cost in tried:
            kept = {key: values[key] for key in space}
            if not all(parameter.has(kept[parameter.key]) for parameter in parameters):
                continue  # this default lies outside the requested ranges
            trial = optuna.trial.create_trial(params=kept, distributions=space, value=cost)
            study.add_trial(trial)
        proposed = [dict(study.ask(space).params) for _ in range(count)]
    if batch == 0:
        proposed[0] = {parameter.key: parameter.default for parameter in parameters}
    return proposed


def _distribution(parameter: Varied) -> Any:
    from optuna.distributions import CategoricalDistribution, IntDistribution

    if parameter.choices:
        return CategoricalDistribution(parameter.choices)
    return IntDistribution(parameter.low, parameter.high, log=parameter.is_logarithmic)
