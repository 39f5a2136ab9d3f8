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

_OVERHEAD = 2  # bytes: PPP, which ns-3's point-to-point devices add
_RECOVERIES = [one.name for one in RECOVERIES.values() if not one.conserves]
_OURS = "WwTcpWestwood"  # the class of our module, which has the core's settings as attributes
_OF_CWND = ("TcpCubic", "TcpVegas")  # these take ssthresh from cwnd, not from ns-3's pipe
# ns3/runner sets these of a flow as the scenario says.
OBEYED = (
    "start",
    "stop",
    "size",
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
)
# ns3/runner refuses another value of these as well, so that a profile's is no exception.
_OF_NO_PROFILE = ("start_spread", "ecn", "header")
_OF_PROFILE = ("byte_counting", "validate_cwnd", "hystart")  # a profile may set them for every flow


def check(scenario: Scenario) -> None:
    """InputError names what ns-3 can't do."""
    for link in scenario.link:
        _check_link(link)
    of_profile = profiles.get(scenario.profile).defaults("flow")
    for flow in scenario.flow:
        _check_flow(flow)
        _check_settings(flow, of_profile)
        _check_congestion_control(flow)


def fixed(flow: Flow) -> dict[str, Any]:
    """What ns-3 does in one way only: settings of a flow as a scenario would write them."""
    takes_cwnd = PROTOCOLS[flow.cc.name].ns3 in _OF_CWND
    return written_defaults("flow", leave_out=OBEYED) | {
        "start_spread": "0s",
        "ecn": False,
        "header": "40B",
        "max_rto": "60s",  # TcpSocketBase doubles its timer up to this
        "clock_granularity": "1ms",  # the runner leaves TcpSocketBase::ClockGranularity alone
        "handshake_rtt": True,
        "flight_excludes_sacked": not takes_cwnd,
        "ssthresh_from_cwnd": takes_cwnd,
    }


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


def _check_congestion_control(flow: Flow) -> None:
    """Refuses settings of any class but our module's."""
    cc, of_class = flow.cc, PROTOCOLS[flow.cc.name].ns3
    if of_class == _OURS:
        return
    of_profile = {key for key in _OF_PROFILE if key != "hystart" or not cc.hystart}
    for option, value in cc.model_dump(exclude_none=True, exclude={"name", *of_profile}).items():
        expected = f"none: in ns-3 (class {of_class}) this control's settings can't be set"
        raise _refuse(f"{flow.name}.cc.{option}", value, expected)
