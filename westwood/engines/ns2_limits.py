# SPDX-License-Identifier: BSD-3-Clause
"""Says which agents ns-2 has for our protocols, and refuses in one clear line what it can't do.

A flow setting is obeyed (OBEYED), or ns-2 has one way of its own (`fixed`). Another way is refused
unless it is the profile's: nobody asked for that one, so a profile still runs here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from westwood.catalogue import PROTOCOLS, RECOVERIES
from westwood.engines import network
from westwood.errors import InputError, show
from westwood.scenario import profiles
from westwood.scenario.declared import departures, written_defaults
from westwood.units import format_size

if TYPE_CHECKING:
    from westwood import _engine
    from westwood.scenario import Scenario
    from westwood.scenario.flows import Flow
    from westwood.scenario.links import Link

PROFILE = "ns2-2005"
_LARGEST_SIZE = 2**31 - 1  # bytes: `send` of an agent takes an int
_MOST_FLOWS = 10_000
_SINK, _SACK_SINK = "TCPSink", "TCPSink/Sack1"


def _nothing(_cc: _engine.CongestionControl) -> dict[str, Any]:
    return {}


def _of_vegas(cc: _engine.CongestionControl) -> dict[str, Any]:
    return {"v_alpha": cc.vegas_alpha, "v_beta": cc.vegas_beta, "v_gamma": cc.vegas_gamma}


def _of_ucla(cc: _engine.CongestionControl) -> dict[str, Any]:
    even = {10: 1, 15: 2}.get(cc.m, 1)
    return {
        "filter_type": even if cc.filter == "tustin-even" else 3,
        "tau": cc.tau_us / 1e6,
    }


@dataclass(frozen=True)
class Agent:
    """Is what a protocol is in ns-2: classes below Agent, and what it recovers with."""

    agent: str
    recovery: str
    sink: str = _SINK
    select: str = ""  # of Linux's controls, in its TCP-Linux
    counts_segments: bool = False  # an ACK lets cwnd grow by what it acknowledges
    settings: Callable[[_engine.CongestionControl], dict[str, Any]] = _nothing


# By the protocol's name; Reno with any recovery by that.
AGENTS: Mapping[str, Agent] = {
    "tahoe": Agent("TCP", "tahoe"),
    "reno": Agent("TCP/Reno", "reno"),
    "newreno": Agent("TCP/Newreno", "newreno"),
    "sack": Agent("TCP/Sack1", "sack", _SACK_SINK),
    "vegas": Agent("TCP/Vegas", "newreno", settings=_of_vegas),
    "westwood+-linux": Agent("TCP/Linux", "sack", _SACK_SINK, "westwood", True),
    "westwood-ucla": Agent("TCP/WestwoodNR", "newreno", settings=_of_ucla),
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
)
_OWN_WAYS: Mapping[str, Any] = {
    "ssthresh_from_cwnd": True,  # slowdown() halves window()
    "recovery_restarts_rto": True,  # dupack_action() calls reset_rtx_timer()
    "guards_recovery": True,  # bugFix_
    "repeated_timeouts_reduce": True,  # timeout() calls it whenever the timer expires
    "full_ack_to_ssthresh": True,  # exit_recovery_fix_ = 0
}


def agent_of(flow: Flow) -> Agent | None:
    """What the flow is in ns-2; None: nothing."""
    is_reno = PROTOCOLS[flow.cc.name].algorithm == "reno"
    return AGENTS.get(flow.recovery if is_reno else flow.cc.name)


def fixed(_flow: Flow) -> Mapping[str, Any]:
    """What ns-2 does in one way only: settings of a flow as a scenario would write them."""
    return {**written_defaults("flow", leave_out=OBEYED), **_OWN_WAYS}


def check(scenario: Scenario) -> None:
    """InputError names what ns-2 can't do."""
    if len(scenario.flows) > _MOST_FLOWS:
        raise _refuse("flow", f"{len(scenario.flows)} flows", f"at most {_MOST_FLOWS}")
    for link in scenario.link:
        _check_link(link)
    profile = profiles.get(scenario.profile)
    for flow in scenario.flow:
        _check_flow(flow)
        with_sack = RECOVERIES[flow.recovery].uses_sack
        of_sack = profile.defaults(profiles.SACK) if with_sack else {}
        _check_settings(flow, profile.defaults("flow") | of_sack)
    for flow, its in zip(scenario.flows, network.build(scenario).flows, strict=True):
        agent = agent_of(flow)
        assert agent is not None
        own = {"byte_counting": agent.counts_segments, "validate_cwnd": False}
        for key, way in own.items():
            if (value := getattr(its.cc, key)) != way:
                expected = f"{show(way)}, which is fixed in ns-2"
                raise _refuse(f"{flow.name}.cc.{key}", value, expected)


def _refuse(key: str, value: object, expected: str) -> InputError:
    return InputError(f"--engine ns2 expects {expected}", key=key, value=value)


def _check_link(link: Link) -> None:
    name = link.name
    if link.overhead:
        raise _refuse(f"{name}.overhead", format_size(link.overhead), "0B")
    if link.queue.limit.unit != "p":
        raise _refuse(f"{name}.queue.limit", str(link.queue.limit), "a limit in packets")
    if link.queue.kind == "red" and link.queue.spared != 1:
        raise _refuse(f"{name}.queue.spared", link.queue.spared, "1, fixed in ns-2")
    if link.loss.kind not in ("none", "uniform", "script"):
        raise _refuse(f"{name}.loss.kind", link.loss.kind, '"none", "uniform" or "script"')
    if link.trace or link.jitter or link.reorder:
        raise _refuse(name, link.name, "no trace, jitter or reordering")


def _check_flow(flow: Flow) -> None:
    name = flow.name
    if flow.app.kind != "bulk" or flow.arrivals:
        raise _refuse(name, flow.app.kind, "a bulk flow without arrivals")
    agent = agent_of(flow)
    if agent is None and PROTOCOLS[flow.cc.name].algorithm == "reno":
        raise _refuse(f"{name}.recovery", flow.recovery, '"tahoe", "reno", "newreno" or "sack"')
    if agent is None:
        raise _refuse(f"{name}.cc", flow.cc.name, "one of " + ", ".join(AGENTS))
    if flow.recovery != agent.recovery:
        raise _refuse(f"{name}.recovery", flow.recovery, f'"{agent.recovery}" of its agent')
    if flow.delayed_ack > 2:
        raise _refuse(f"{name}.delayed_ack", flow.delayed_ack, "1 or 2")
    if flow.size is not None and flow.size > _LARGEST_SIZE:
        raise _refuse(f"{name}.size", format_size(flow.size), "less than 2 GiB")


def _check_settings(flow: Flow, of_profile: Mapping[str, Any]) -> None:
    """Refuses what is neither ns-2's own way nor the profile's."""
    own = fixed(flow)
    unlike_profile = dict(departures(flow, "flow", {key: of_profile.get(key) for key in own}))
    for key, written in departures(flow, "flow", own):
        if key in unlike_profile:
            expected = f"{show(own[key])}, which is fixed in ns-2"
            raise _refuse(f"{flow.name}.{key}", written, expected)
