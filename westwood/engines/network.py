# SPDX-License-Identifier: BSD-3-Clause
"""Makes the simulator's network of a scenario, and the plan for other hosts: plan/ in C++."""

from __future__ import annotations

from typing import TYPE_CHECKING

from westwood import _engine
from westwood.control import loading
from westwood.errors import InputError
from westwood.scenario.stacks import is_stack

if TYPE_CHECKING:
    from westwood.scenario import Scenario


def plan(scenario: Scenario, *, has_stacks: bool = False) -> _engine.Plan:
    """Returns the network and what separate hosts read (wire/plan.hpp).

    Without `has_stacks` it refuses flows of QUIC stacks.
    """
    has_files = False
    for flow in scenario._parts.flow:
        if is_stack(flow.cc.stack) and not has_stacks:
            problem = "is a control of a QUIC stack, expected --engine quinn or noq"
            raise InputError(problem, key=f"{flow.name}.cc", value=flow.cc.written)
        if loading.is_file(flow.cc.name):
            loading.of_source(flow.cc.source, flow.cc.name)  # its code, if that was only described
            has_files = True
    try:
        return scenario._planned(anew=has_files)
    except ValueError as error:
        raise InputError(f"the simulator refuses it: {error}") from None


def build(scenario: Scenario) -> _engine.Network:
    """Returns the engine's network for the scenario: a copy, which a run may change."""
    return plan(scenario).network
