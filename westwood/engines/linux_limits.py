# SPDX-License-Identifier: BSD-3-Clause
"""Refuses, with a one-line error, scenarios that Linux can't run, or this kernel can't.

Linux either obeys a flow setting (OBEYED), sometimes within bounds, or has a fixed value for it
(`fixed`), by default the declared one. A scenario must use the fixed values, even where a profile
sets others; the profile `linux` has them all. docs/linux-path.md lists how settings are applied.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from westwood.control import loading
from westwood.control.catalogue import PROTOCOLS, RECOVERIES, UDP, settings_of_protocol
from westwood.engines import linux_emulated, linux_queues
from westwood.engines.limits import refuse_all, refuse_each
from westwood.engines.linux_queues import refused
from westwood.errors import UnavailableError, show
from westwood.kernel import user_controls, ww_kernel
from westwood.scenario import Scenario
from westwood.scenario.declared import departures, written_defaults
from westwood.scenario.flows import Flow, configured
from westwood.scenario.stacks import is_kernels
from westwood.units import TIME_UNITS, format_size, format_time

RequireFile = Callable[[str, str, dict[str, Any]], object]
# The kernel's congestion controls by protocol.
CONTROLS = {name: protocol.kernel for name, protocol in PROTOCOLS.items() if protocol.kernel}
# The flow settings that linux/path applies, within the bounds that are checked below.
OBEYED = (
    *("start", "start_spread", "stop", "size", "ecn", "packet", "header", "initial_cwnd"),
    *("receive_window", "initial_receive_window", "min_rto", "max_rto", "delayed_ack"),
    *("dupack_threshold", "tso", "compressed_acks"),
)
# Explanations of fixed values, appended to the messages.
_REASONS = {
    "initial_ssthresh": ", the only initial value in Linux",
    "clock_granularity": ", which is min_rto: Linux applies it to the variance",
}
# Fixed values of a flow's cc settings.
_LINUX_HAS = {
    "byte_counting": True,
    "validate_cwnd": True,
    "min_marked_cwnd": 2,
    "cubic_rules": "linux",
}
_MOST_HOSTS = 256
_MOST_FLOWS = 4096
_LEAST_MSS = 88  # bytes: the kernel's tcp_min_snd_mss plus TCP options
_IP, _UDP = 20, 8
_UNSTAMPED, _STAMPED = 40, 52  # headers without and with timestamps (RFC 7323)
_MS = TIME_UNITS["ms"]
_REMEDY = "; --set profile=linux has it"


def check(scenario: Scenario) -> None:
    """Raises InputError for what Linux can't do, UnavailableError for what this kernel lacks."""
    linux_queues.check(scenario)
    check_flows(scenario, user_controls.require)
    if not is_emulated(scenario):
        for control in sorted(controls_of(scenario)):
            require(control)
        for discipline in sorted(linux_queues.disciplines_of(scenario)):
            linux_queues.require(discipline)


def check_flows(scenario: Scenario, require_file: RequireFile) -> None:
    """Raises InputError for flows that no Linux can run.

    require_file: raises an error for a control in a file; it gets its name, what identifies its
    contents, and its parameters.
    """
    flows = scenario.flows
    if len(flows) > _MOST_FLOWS:
        raise refused("flow", len(flows), f"at most {_MOST_FLOWS} flows")
    hosts = {node for flow in flows for node in (flow.from_, flow.to)}
    if len(hosts) > _MOST_HOSTS:
        raise refused("flow", len(hosts), f"at most {_MOST_HOSTS} nodes with senders or receivers")
    refuse_all(*(partial(_check_flow, flow, require_file) for flow in scenario.flow))
    refuse_all(*(partial(_check_rules, flow, scenario.profile) for flow in scenario.flow))
    _check_shared(flows)


def controls_of(scenario: Scenario) -> set[str]:
    """Returns the kernel's congestion controls that a scenario's flows use."""
    return {_control_of(flow) for flow in scenario.flows if flow.cc.name != UDP}


def _control_of(flow: Flow) -> str:
    """Returns the kernel's congestion control of a flow."""
    cc = flow.cc
    if is_kernels(cc.stack):
        return cc.control
    return user_controls.name_of(cc.name) if loading.is_file(cc.name) else CONTROLS[cc.name]


def is_emulated(scenario: Scenario) -> bool:
    """Returns whether it needs the emulated machine, and that machine can run it."""
    controls = controls_of(scenario)
    return bool(missing(scenario)) and linux_emulated.missing_reason(controls) is None


def missing(scenario: Scenario) -> list[str]:
    """Returns the kernel's modules that a scenario needs and this kernel lacks."""
    controls = filter(is_missing, controls_of(scenario))
    disciplines = filter(linux_queues.is_missing, linux_queues.disciplines_of(scenario))
    return sorted(
        [f"tcp_{control}" for control in controls]
        + [f"sch_{discipline}" for discipline in disciplines]
    )


def _check_flow(flow: Flow, require_file: RequireFile) -> None:
    name = flow.name
    if flow.app.kind not in ("bulk", UDP):
        raise refused(f"{name}.app", flow.app.kind, '"bulk" or "udp"')
    if flow.cc.name == UDP:
        if flow.header < _IP + _UDP:
            raise refused(f"{name}.header", format_size(flow.header), "at least 28B, IP and UDP")
        return
    _check_control(flow, require_file)
    if flow.recovery == "tahoe":
        raise refused(f"{name}.recovery", flow.recovery, "another recovery: Linux has no Tahoe")
    if flow.header not in (_UNSTAMPED, _STAMPED):
        expected = '"52B" (with timestamps) or "40B" (without)'
        raise refused(f"{name}.header", format_size(flow.header), expected)
    if flow.mss < _LEAST_MSS:
        expected = f"room for a segment of at least {_LEAST_MSS} B"
        raise refused(f"{name}.packet", format_size(flow.packet), expected)


def _check_rules(flow: Flow, profile: str) -> None:
    """Refuses rules that Linux's TCP does not have; the profile, if it has several of them."""
    if flow.cc.name == UDP:
        return
    wrong = list(_wrong(flow))
    if len(wrong) > 1 and not profile.startswith("linux"):
        raise refused("profile", profile, '"linux", the rules of its TCP: --set profile=linux')
    refuse_each(
        refused(f"{flow.name}.{key}", value, expected + _REMEDY) for key, value, expected in wrong
    )


def _wrong(flow: Flow) -> Iterator[tuple[str, object, str]]:
    """Yields the settings that Linux does not have so: key, value and what it expects."""
    fixed_settings = fixed(flow)
    for key, value in departures(flow, "flow", fixed_settings):
        yield key, value, show(fixed_settings[key]) + _REASONS.get(key, "")
    for key, value, right, expected in _bounded(flow):
        if not right:
            yield key, value, expected


def _check_control(flow: Flow, require_file: RequireFile) -> None:
    """Refuses a control that Linux does not have as the flow names it."""
    cc = flow.cc
    if loading.is_file(cc.name):
        require_file(cc.name, str(cc.source), cc.parameters)
    elif cc.name not in CONTROLS:
        known = [*CONTROLS, "a file in C"]
        raise refused(f"{flow.name}.cc", cc.name, "one of " + ", ".join(known))
    chosen = cc.model_dump(
        exclude={"name", "source", "stack", "parameters", "slow_start", *_LINUX_HAS}
    )
    for key, value in chosen.items():
        if value is not None and (key, value) != ("bbr_rules", "linux"):
            raise refused(f"{flow.name}.cc.{key}", value, "the kernel's own, which can't be set")


def fixed(flow: Flow) -> dict[str, Any]:
    """Returns Linux's fixed values of flow settings, as a scenario would write them."""
    with_sack = RECOVERIES[flow.recovery].uses_sack
    return written_defaults("flow", leave_out=OBEYED) | {
        "timestamps": with_sack and flow.header == _STAMPED,
        "rack": with_sack,
        "frto": with_sack,
        "undo": with_sack,
        "forgiven_syns": 1,
        "syn_ack_timer": True,
        "idle_decay": True,
        "initial_ssthresh": "unlimited",
        "initial_rto": "1s",
        "clock_granularity": format_time(flow.min_rto),
        "delayed_ack_timeout": "200ms",
        "min_delayed_ack_timeout": "40ms",
        "quick_acks": 16,
        "quick_acks_again": True,
        "limited_transmit": True,
        "handshake_rtt": True,
        "flight_excludes_sacked": True,
        "ssthresh_from_cwnd": True,
        "recovery_holds_ssthresh": True,
        "rack_slack": "2ms",
        "timed_syn": True,
        "rearms_rto": True,
    }


def _bounded(flow: Flow) -> Iterator[tuple[str, object, bool, str]]:
    """Yields the settings with bounds: key, value, whether it is within them, and the bounds."""
    built, obeyed = configured(flow.cc), settings_of_protocol(flow.cc.name)
    slow_start = {"slow_start": "hystart" if flow.cc.name == "cubic" else "standard"}
    for key, linux_value in (_LINUX_HAS | slow_start).items():
        value = getattr(built, key)
        yield f"cc.{key}", value, value == linux_value or key not in obeyed, show(linux_value)
    yield "delayed_ack", flow.delayed_ack, flow.delayed_ack in (1, 2), "1 or 2"
    least, most = flow.min_rto, flow.max_rto
    yield "min_rto", format_time(least), least % _MS == 0, "whole milliseconds"
    yield (
        "max_rto",
        format_time(most),
        most % _MS == 0 and 1000 * _MS <= most <= 120_000 * _MS,
        "1s to 120s",
    )
    yield "dupack_threshold", flow.dupack_threshold, flow.dupack_threshold <= 300, "at most 300"


def _check_shared(flows: Iterable[Flow]) -> None:
    """Refuses different values of a setting that a host has only once."""
    seen: dict[tuple[str, str], object] = {}
    for flow in flows:
        if flow.cc.name == UDP:
            continue
        for key, side, value, shown in (
            ("header", "from", flow.header, format_size(flow.header)),
            ("recovery", "from", _sack(flow), flow.recovery),
            ("dupack_threshold", "from", flow.dupack_threshold, flow.dupack_threshold),
            ("tso", "from", flow.tso, flow.tso),
            ("compressed_acks", "to", flow.compressed_acks, flow.compressed_acks),
        ):
            host = flow.to if side == "to" else flow.from_
            if seen.setdefault((host, key), value) != value:
                what = "with or without SACK" if key == "recovery" else "the same"
                expected = f"{what} for all flows {side} {host}, since its host shares it"
                raise refused(f"{flow.name}.{key}", shown, expected)


def _sack(flow: Flow) -> bool:
    """Returns whether the flow's host uses SACK; linux/path/plan.hpp gives the reason."""
    return flow.recovery != "newreno"


def is_missing(control: str) -> bool:
    """Returns whether this kernel lacks a congestion control."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        try:
            probe.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
        except OSError as error:
            # EPERM: it exists, and our namespaces may use it.
            return error.errno != errno.EPERM
    return False


def require(control: str) -> None:
    """Raises UnavailableError with the remedy if this kernel lacks a congestion control."""
    if not is_missing(control):
        return
    remedy = "westwood kernel load" if control in ww_kernel.CONTROLS else f"modprobe tcp_{control}"
    if control in linux_emulated.MODULES:
        remedy += f"; or {linux_emulated.REMEDY}"
    problem = f"engine linux: this kernel has no congestion control {control}"
    raise UnavailableError(f"{problem}: {remedy}")
