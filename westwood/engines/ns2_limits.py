# SPDX-License-Identifier: BSD-3-Clause
"""Maps our protocols to ns-2's agents, and refuses scenarios that ns-2 can't run.

ns-2 either obeys a flow setting (OBEYED) or has a fixed value for it (`fixed`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from westwood.control.catalogue import PROTOCOLS, QUEUES, UDP
from westwood.engines import network
from westwood.engines.limits import Limits
from westwood.scenario.declared import written_defaults
from westwood.units import format_size

if TYPE_CHECKING:
    from westwood import _engine
    from westwood.scenario import Scenario
    from westwood.scenario.flows import Flow

PROFILE = "ns2-2005"
_LARGEST_SIZE = 2**31 - 1  # bytes: `send` of an agent takes an int
_LIMITS = Limits(
    "ns2",
    "ns-2",
    most_flows=10_000,
    queues={kind: queue.ns2 for kind, queue in QUEUES.items()},
    losses=("none", "uniform", "script"),
    fixed={"red": {"spared": 1}},
)
_SINK, _SACK_SINK = "TCPSink", "TCPSink/Sack1"


# Each ns-2 2.35 option restores a NewReno rule from before 2003, and is on if our setting is off.
_OF_NEWRENO = {
    "partial_acks_restart_rto": "newreno_changes1",
    "partial_acks_end_inflation": "partial_window_deflation",
    "guarded_duplicates_inflate": "exitFastRetrans",
}


def _of_vegas(flow: _engine.Flow) -> dict[str, Any]:
    cc = flow.cc
    return {"v_alpha": cc.vegas_alpha, "v_beta": cc.vegas_beta, "v_gamma": cc.vegas_gamma}


def _of_newreno(flow: _engine.Flow) -> dict[str, Any]:
    return {theirs: not getattr(flow, ours) for ours, theirs in _OF_NEWRENO.items()}


def _of_ucla(flow: _engine.Flow) -> dict[str, Any]:
    even_filter = {10: 1, 15: 2}.get(flow.cc.m, 1)
    return {
        **_of_newreno(flow),
        "filter_type": even_filter if flow.cc.filter == "tustin-even" else 3,
        "tau": flow.cc.tau_us / 1e6,
    }


@dataclass(frozen=True)
class Agent:
    """Describes a protocol in ns-2: its subclasses of Agent, and its recovery."""

    agent: str
    recovery: str
    sink: str = _SINK
    select: str = ""  # the control of TCP-Linux
    counts_segments: bool = False  # cwnd grows by the segments that an ACK acknowledges
    settings: Callable[[_engine.Flow], dict[str, Any]] = lambda _: {}
    is_a_module: bool = False  # missing from Debian's ns-2


# By protocol name, or by recovery for protocols with Reno's window rules.
AGENTS: Mapping[str, Agent] = {
    "tahoe": Agent("TCP", "tahoe"),
    "reno": Agent("TCP/Reno", "reno"),
    "newreno": Agent("TCP/Newreno", "newreno", settings=_of_newreno),
    "sack": Agent("TCP/Sack1", "sack", _SACK_SINK),
    "vegas": Agent("TCP/Vegas", "newreno", settings=_of_vegas),
    "westwood+-linux": Agent("TCP/Linux", "sack", _SACK_SINK, "westwood", True),
    "westwood-ucla": Agent("TCP/WestwoodNR", "newreno", settings=_of_ucla, is_a_module=True),
}
OBEYED = (
    "start",
    "size",
    "ecn",
    "packet",
    "header",
    "initial_cwnd",
    "initial_ssthresh",
    "receive_window",
    "min_rto",
    "max_rto",
    "initial_rto",
    "clock_granularity",
    "delayed_ack",
    "delayed_ack_timeout",
    "dupack_threshold",
    "limited_transmit",
    "handshake_rtt",
    "timestamps",
    *_OF_NEWRENO,  # without effect in other recoveries
)
_FIXED: Mapping[str, Any] = {
    "ssthresh_from_cwnd": True,  # slowdown() halves window()
    "recovery_restarts_rto": True,  # dupack_action() calls reset_rtx_timer()
    "guards_recovery": True,  # bugFix_
    "repeated_timeouts_reduce": True,  # timeout() calls it whenever the timer expires
    "grows_at_exit": True,  # recv_newack_helper() calls opencwnd()
    "full_ack_to_ssthresh": True,  # exit_recovery_fix_ = 0
}


def agent_of(flow: Flow) -> Agent | None:
    """Returns the agent for a flow; None if ns-2 has none."""
    if flow.cc.name == UDP:
        return None
    is_reno = PROTOCOLS[flow.cc.name].algorithm == "reno"
    return AGENTS.get(flow.recovery if is_reno else flow.cc.name)


def fixed(_flow: Flow) -> Mapping[str, Any]:
    """Returns ns-2's fixed values of flow settings, as a scenario would write them."""
    return {**written_defaults("flow", leave_out=OBEYED), **_FIXED}


def check(scenario: Scenario) -> None:
    """Raises InputError for what ns-2 can't do."""
    _LIMITS.check_network(scenario)
    for link in scenario.link:
        if link.overhead:
            raise _LIMITS.refuse(f"{link.name}.overhead", format_size(link.overhead), "0B")
    for flow in scenario.flow:
        _check_flow(flow)
        _LIMITS.check_settings(flow, fixed(flow), scenario.profile)
    for flow, built_flow in zip(scenario.flows, network.build(scenario).flows, strict=True):
        agent = agent_of(flow)
        assert agent is not None
        fixed_settings = {"byte_counting": agent.counts_segments, "validate_cwnd": False}
        if agent.counts_segments:  # TCP-Linux has no fractions of a segment
            fixed_settings["fractional_cwnd"] = False
        for key, expected in fixed_settings.items():
            if (value := getattr(built_flow.cc, key)) != expected:
                raise _LIMITS.refuse_fixed(f"{flow.name}.cc.{key}", value, expected)


def _check_flow(flow: Flow) -> None:
    name = flow.name
    _LIMITS.check_app(flow)
    agent = agent_of(flow)
    if agent is None and PROTOCOLS[flow.cc.name].algorithm == "reno":
        raise _LIMITS.refuse(
            f"{name}.recovery", flow.recovery, '"tahoe", "reno", "newreno" or "sack"'
        )
    if agent is None:
        raise _LIMITS.refuse(f"{name}.cc", flow.cc.name, "one of " + ", ".join(AGENTS))
    if flow.recovery != agent.recovery:
        raise _LIMITS.refuse(f"{name}.recovery", flow.recovery, f'"{agent.recovery}" of its agent')
    if flow.delayed_ack > 2:
        raise _LIMITS.refuse(f"{name}.delayed_ack", flow.delayed_ack, "1 or 2")
    if flow.size is not None and flow.size > _LARGEST_SIZE:
        raise _LIMITS.refuse(f"{name}.size", format_size(flow.size), "less than 2 GiB")
