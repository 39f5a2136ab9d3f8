# SPDX-License-Identifier: BSD-3-Clause
"""Refuses, with a one-line error, scenarios that the QUIC stacks can't run.

A stack has no word for most settings of a TCP sender. Such a setting is refused, unless it comes
from the profile: users did not ask for it, and profiles must still run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from westwood.control import loading
from westwood.control.catalogue import OF_STACKS, UDP, controls_of_stack
from westwood.engines.limits import Limits, refuse_all, refuse_each
from westwood.errors import InputError, show
from westwood.scenario import profiles
from westwood.scenario.declared import departures, written_defaults
from westwood.scenario.stacks import TCP, engine_of
from westwood.units import format_size

if TYPE_CHECKING:
    from westwood.scenario import Scenario
    from westwood.scenario.flows import Flow

# The flow settings that quic/runner applies.
OBEYED = ("start", "start_spread", "stop", "size", "ecn", "packet", "receive_window")
_HEADERS = 28  # bytes: IP and UDP
_LEAST_DATAGRAM = 1200  # RFC 9000, 14.1
_LARGEST_DATAGRAM = 1 << 14  # quinn panics when a handshake packet's length needs more than 14 bits


def stack_of(flow: Flow, engine: str) -> str | None:
    """Returns the stack of a flow's connections; None for those of the simulator."""
    if flow.cc.name == UDP or flow.cc.stack == TCP:
        return None
    return engine_of(flow.cc.stack) if flow.cc.stack else engine


def check(scenario: Scenario, engine: str) -> None:
    """Raises InputError for what a stack can't do."""
    stacks = [(flow, stack_of(flow, engine)) for flow in scenario.flow]
    refuse_all(
        *(partial(_check_flow, flow, stack, scenario.profile) for flow, stack in stacks if stack)
    )
    has_tcp = any(stack is None and flow.cc.name != UDP for flow, stack in stacks)
    for link in scenario.link:
        if link.ack_filter and not has_tcp:
            problem = "has no effect, expected a flow of TCP: QUIC's ACKs are encrypted"
            raise InputError(problem, key=f"{link.name}.ack_filter")


def _check_flow(flow: Flow, stack: str, profile: str) -> None:
    limits = Limits(stack, stack, most_flows=10_000, queues={}, losses=(), fixed={})
    _check_control(flow, limits, profile)
    _check_sizes(flow, limits)
    takes_back = flow.app.kind in ("on-off", "media")
    if takes_back or (flow.app.kind == "rate" and flow.app.bulk):
        key = "app" if takes_back else "app.bulk"
        expected = "an application that does not take back what it has written"
        raise limits.refuse(f"{flow.name}.{key}", flow.app.kind, expected)
    usual = fixed(flow, profile)
    own_rules = "the profile's, since a stack has its own rules"
    refuse_each(
        limits.refuse(f"{flow.name}.{key}", written, f"{show(usual[key])}, {own_rules}")
        for key, written in departures(flow, "flow", usual)
    )


def _check_sizes(flow: Flow, limits: Limits) -> None:
    datagram = flow.packet - _HEADERS
    if not _LEAST_DATAGRAM <= datagram <= _LARGEST_DATAGRAM:
        least, most = (format_size(n + _HEADERS) for n in (_LEAST_DATAGRAM, _LARGEST_DATAGRAM))
        expected = f"at least {least} and at most {most}"
        raise limits.refuse(f"{flow.name}.packet", format_size(flow.packet), expected)
    if flow.receive_window < datagram:
        expected = f"at least {format_size(datagram)}, the payload of a packet"
        written = format_size(flow.receive_window)
        raise limits.refuse(f"{flow.name}.receive_window", written, expected)


def fixed(flow: Flow, profile: str) -> Mapping[str, object]:
    """Returns the profile's settings of a TCP sender, which mean nothing to a stack."""
    supplied = profiles.get(profile).supplied.flow(flow.cc.name, flow.recovery)
    settings = written_defaults("flow", leave_out=OBEYED)
    return {key: supplied.get(key, value) for key, value in settings.items()}


def _check_control(flow: Flow, limits: Limits, profile: str) -> None:
    cc = flow.cc
    if loading.is_file(cc.name):
        problem = "is a control from a file, which no QUIC stack runs"
        raise InputError(problem, key=f"{flow.name}.cc", value=cc.name)
    if cc.stack and cc.stack in OF_STACKS and cc.name not in OF_STACKS[cc.stack]:
        known = ", ".join(controls_of_stack(cc.stack))
        raise limits.refuse(f"{flow.name}.cc", cc.written, f"one of {known}, or one of ours")
    for key, value in _set_by_user(flow, profile):
        expected = "none: in a stack a control has its defaults"
        raise limits.refuse(f"{flow.name}.cc.{key}", value, expected)
    usual = profiles.get(profile).supplied.flow(cc.name, None)["recovery"]
    if flow.recovery != usual:
        raise limits.refuse_fixed(f"{flow.name}.recovery", flow.recovery, usual)


def _set_by_user(flow: Flow, profile: str) -> Iterator[tuple[str, object]]:
    of_profile = profiles.get(profile).supplied.cc(flow.cc.name)
    for key, value in flow.cc.model_dump(
        exclude_none=True, exclude={"name", "stack", "source", "parameters"}
    ).items():
        if value != of_profile.get(key):
            yield key, value
