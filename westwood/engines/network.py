# SPDX-License-Identifier: BSD-3-Clause
"""Makes the simulator's network of a scenario, and the plan for other hosts: plan/ in C++."""

from __future__ import annotations

from westwood import _engine
from westwood.control import loading
from westwood.control.catalogue import UDP
from westwood.errors import InputError
from westwood.scenario import Scenario, profiles
from westwood.scenario.stacks import KERNEL, is_kernels, is_stack

BURSTS = "linux-bursts"  # the profile


def plan(scenario: Scenario, *, has_stacks: bool = False, has_kernel: bool = False) -> _engine.Plan:
    """Returns the network and what separate hosts read (wire/plan.hpp).

    Without `has_stacks` it refuses flows of QUIC stacks, without `has_kernel` those with a kernel's
    own control.
    """
    has_files = False
    for flow in scenario._parts.flow:
        if is_stack(flow.cc.stack) and not has_stacks:
            problem = "is a control of a QUIC stack, expected --engine quinn or noq"
            raise InputError(problem, key=f"{flow.name}.cc", value=flow.cc.written)
        if is_kernels(flow.cc.stack) and not has_kernel:
            problem = "is a control of the kernel, expected --engine linux or linux-um"
            raise InputError(problem, key=f"{flow.name}.cc", value=flow.cc.written)
        if loading.is_file(flow.cc.name):
            loading.of_source(flow.cc.source, flow.cc.name)  # its code, if that was only described
            has_files = True
    try:
        return scenario._planned(anew=has_files)
    except ValueError as error:
        raise InputError(f"the simulator refuses it: {error}") from None


def plan_of_kernel(scenario: Scenario) -> str:
    """Returns what the engines of Linux read, the names of the kernel's own controls included.

    A kernel has its bursts and compressed ACKs unless the scenario's profile knows of them.
    """
    if scenario.profile != BURSTS:
        usual = profiles.get(BURSTS).choices["flow"].items()
        names = [flow.name for flow in scenario.flow if flow.cc.name != UDP]
        scenario = scenario.with_settings(
            {f"{name}.{key}": choice.value for name in names for key, choice in usual}
        )
    named = [
        f"stack {number} {KERNEL} own {flow.cc.control}\n"
        for number, flow in enumerate(scenario.flows)
        if is_kernels(flow.cc.stack)
    ]
    return plan(scenario, has_kernel=True).text() + "".join(named)


def build(scenario: Scenario) -> _engine.Network:
    """Returns the engine's network for the scenario: a copy, which a run may change."""
    return plan(scenario).network
