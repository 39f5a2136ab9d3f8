# SPDX-License-Identifier: BSD-3-Clause
"""Refuses in one clear line what ns-3 can't do of a scenario.

A flow setting is obeyed (OBEYED), or ns-3 has one way of its own (`fixed`), which is the
declared default unless it says otherwise. Another way is refused unless it is the profile's: nobody
asked for that one, so a profile still runs here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from westwood.catalogue import PROTOCOLS, RECOVERIES
from westwood.errors import InputError, show
from westwood.scenario import profiles
from westwood.scenario.declared import departures, written_defaults
from westwood.units import format_size

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from westwood.scenario import Scenario
    from westwood.scenario.flows import Flow
    from westwood.scenario.links import Link

PROFILE = "ns3-3.44"  # ns-3's own ways
_OVERHEAD = 2  # bytes: PPP, which ns-3's point-to-point devices add
_SPARED = 2  # packets: RedQueueDisc::DoEnqueue wants more than one in it, and its device has one
_MOST_FLOWS = 60_000  # each has a port of its own
# Those of our module, and mainline's own PRR.
_RECOVERIES = [one.name for one in RECOVERIES.values() if not one.conserves or one.name == "prr"]
_OURS = "WwTcpWestwood"  # the class of our module, which has the core's settings as attributes
_OF_CWND = ("TcpCubic", "TcpVegas")  # these take ssthresh from cwnd, not from ns-3's pipe
# ns3/runner sets these of a flow as the scenario says.
OBEYED = (
    "start",
    "start_spread",
    "stop",
    "size",
    "ecn",
    "packet",
    "initial_cwnd",
    "initial_ssthresh",
    "receive_window",
    "min_rto",
    "initial_rto",
    "delayed_ack",
    "delayed_ack_timeout",
    "dupack_threshold",
    "limited_transmit",
    "timestamps",
)
# ns3/runner refuses another value of these as well, so that a profile's is no exception.
_OF_NO_PROFILE = ("header",)
_OF_PROFILE = ("byte_counting", "validate_cwnd")  # a profile may set them for every flow
# What a flow may say of ns-3's own CUBIC; a profile's other way is for the simulator.
_OF_CUBIC: dict[str, tuple[object, ...]] = {
    "hystart": ("none", "hystart-ns3"),
    "cubic_rules": ("ns3",),
}


def check(scenario: Scenario) -> None:
    """InputError names what ns-3 can't do."""
    if len(scenario.flows) > _MOST_FLOWS:
        raise _refuse("flow", f"{len(scenario.flows)} flows", f"at most {_MOST_FLOWS}")
    for link in scenario.link:
        _check_link(link)
    profile = profiles.get(scenario.profile)
    of_profile, of_cc = profile.defaults("flow"), profile.defaults("cc")
    for flow in scenario.flow:
        _check_flow(flow)
        with_sack = RECOVERIES[flow.recovery].uses_sack
        _check_settings(flow, of_profile | (profile.defaults(profiles.SACK) if with_sack else {}))
        _check_congestion_control(flow, of_cc)


def fixed(flow: Flow) -> dict[str, Any]:
    """What ns-3 does in one way only: settings of a flow as a scenario would write them."""
    takes_cwnd = PROTOCOLS[flow.cc.name].ns3 in _OF_CWND
    return written_defaults("flow", leave_out=OBEYED) | {
        "header": "52B" if flow.timestamps else "40B",
        "forgiven_syns": 1000,
        "syn_ack_timer": True,
        "quick_acks": 1,
        "max_rto": "60s",  # TcpSocketBase doubles its timer up to this
        "clock_granularity": "1ms",  # the runner leaves TcpSocketBase::ClockGranularity alone
        "handshake_rtt": True,
        "flight_excludes_sacked": not takes_cwnd,
        "ssthresh_from_cwnd": takes_cwnd,
        "repeated_timeouts_reduce": True,  # SetSentListLost forgets that the segment timed out
        "pipe_keeps_repaired": True,  # TcpTxBuffer::Update leaves m_retrans as it is
        "full_ack_to_ssthresh": True,
        "stands_after_timeout": True,  # ProcessAck grows by what lies beyond m_recover
        "any_ack_ends_backoff": True,  # TcpSocketBase::NewAck
    }


def _refuse(key: str, value: object, expected: str) -> InputError:
    return InputError(f"--engine ns3 expects {expected}", key=key, value=value)


def _check_link(link: Link) -> None:
    name = link.name
    if link.overhead != _OVERHEAD:
        expected = f'the "2B" of its devices; the profile {PROFILE} has it'
        raise _refuse(f"{name}.overhead", format_size(link.overhead), expected)
    limit = link.queue.limit
    if limit.unit != "p":
        raise _refuse(f"{name}.queue.limit", str(limit), "a limit in packets")
    if link.queue.kind == "red" and (limit.count is None or limit.count < 2):
        raise _refuse(f"{name}.queue.limit", str(limit), "at least 2 packets, one in its device")
    if link.queue.kind == "red" and link.queue.spared != _SPARED:
        raise _refuse(f"{name}.queue.spared", link.queue.spared, f"{_SPARED}, fixed in ns-3")
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
    if flow.app.kind != "bulk" or flow.arrivals:
        raise _refuse(name, flow.app.kind, "a bulk flow without arrivals")


def _check_settings(flow: Flow, of_profile: Mapping[str, Any]) -> None:
    """Refuses what is neither ns-3's own way nor the profile's."""
    own = fixed(flow)
    profiles_own = {key: of_profile.get(key) for key in own if key not in _OF_NO_PROFILE}
    unlike_profile = dict(departures(flow, "flow", profiles_own))
    for key, written in departures(flow, "flow", own):
        if key in _OF_NO_PROFILE or key in unlike_profile:
            raise _refuse(
                f"{flow.name}.{key}", written, f"{show(own[key])}, which is fixed in ns-3"
            )


def _check_congestion_control(flow: Flow, of_profile: Mapping[str, Any]) -> None:
    """Refuses settings of any class but our module's, save what ns-3's CUBIC has."""
    cc, of_class = flow.cc, PROTOCOLS[flow.cc.name].ns3
    if of_class == _OURS:
        return
    for option, value in cc.model_dump(exclude_none=True, exclude={"name", *_OF_PROFILE}).items():
        own = _OF_CUBIC.get(option, ())
        if value in own or (own and value == of_profile.get(option)):
            continue
        expected = f"none: in ns-3 (class {of_class}) this control's settings can't be set"
        if own:
            expected = " or ".join(map(show, own)) + f", which its {of_class} has"
        raise _refuse(f"{flow.name}.cc.{option}", value, expected)
