# SPDX-License-Identifier: BSD-3-Clause
"""Refuses in one clear line what ns-3 can't do of a scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING

from westwood.catalogue import PROTOCOLS, RECOVERIES, settings_of_protocol
from westwood.errors import InputError
from westwood.units import format_size

if TYPE_CHECKING:
    from westwood.scenario import Scenario
    from westwood.scenario.flows import Flow
    from westwood.scenario.links import Link

_OVERHEAD = 2  # bytes: PPP, which ns-3's point-to-point devices add
_RECOVERIES = [one.name for one in RECOVERIES.values() if not one.conserves]
_OURS = "WwTcpWestwood"  # the class of our module, which has the core's settings as attributes
_OF_PROFILE = ("byte_counting", "validate_cwnd", "hystart")  # a profile may set them for every flow


def check(scenario: Scenario) -> None:
    """InputError names what ns-3 can't do."""
    for link in scenario.link:
        _check_link(link)
    for flow in scenario.flow:
        _check_flow(flow)


def _refuse(key: str, value: object, expected: str) -> InputError:
    return InputError(f"--engine ns3 expects {expected}", key=key, value=value)


def _check_link(link: Link) -> None:
    name = link.name
    if link.overhead != _OVERHEAD:
        raise _refuse(f"{name}.overhead", format_size(link.overhead), 'the "2B" of its devices')
    if link.queue.kind != "droptail" or link.queue.limit.unit != "p":
        raise _refuse(f"{name}.queue", link.queue.kind, "drop-tail with a limit in packets")
    if link.loss.kind not in ("none", "uniform", "script"):
        raise _refuse(f"{name}.loss.kind", link.loss.kind, '"none", "uniform" or "script"')
    if link.trace or link.jitter or link.reorder:
        raise _refuse(name, link.name, "no trace, jitter or reordering")


def _check_flow(flow: Flow) -> None:
    name = flow.name
    known = [protocol.name for protocol in PROTOCOLS.values() if protocol.ns3]
    if flow.app.kind == "bulk" and flow.cc.name not in known:
        raise _refuse(f"{name}.cc", flow.cc.name, "one of " + ", ".join(known))
    if flow.recovery not in _RECOVERIES:
        raise _refuse(f"{name}.recovery", flow.recovery, "one of " + ", ".join(_RECOVERIES))
    if flow.app.kind != "bulk" or flow.arrivals or flow.ecn or flow.start_spread:
        raise _refuse(name, flow.app.kind, "a bulk flow without arrivals, ECN and spread starts")
    if flow.header != 40:
        raise _refuse(f"{name}.header", format_size(flow.header), '"40B"')
    _check_congestion_control(flow)


def _check_congestion_control(flow: Flow) -> None:
    """Refuses settings of any class but our module's."""
    cc = flow.cc
    if PROTOCOLS[cc.name].ns3 == _OURS:
        return
    of_profile = {key for key in _OF_PROFILE if key != "hystart" or not cc.hystart}
    for option, value in cc.model_dump(exclude_none=True, exclude={"name", *of_profile}).items():
        problem = "options of Westwood and its family only: "
        problem += ", ".join(settings_of_protocol("westwood"))
        raise _refuse(f"{flow.name}.cc.{option}", value, problem)
