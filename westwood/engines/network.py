# SPDX-License-Identifier: BSD-3-Clause
"""Makes the simulator's network of a scenario, and the plan for other hosts: plan/ in C++."""

from __future__ import annotations

from typing import TYPE_CHECKING

from westwood import _engine
from westwood.errors import InputError

if TYPE_CHECKING:
    from westwood.scenario import Scenario


def plan(scenario: Scenario) -> _engine.Plan:
    """Returns the network and what separate hosts read (wire/plan.hpp)."""
    try:
        return _engine.plan(scenario.model_dump(exclude={"sweep"}))
    except ValueError as error:
        raise InputError(f"the simulator refuses it: {error}") from None


def build(scenario: Scenario) -> _engine.Network:
    """Returns the engine's network for the scenario."""
    return plan(scenario).network
