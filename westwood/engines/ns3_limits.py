# SPDX-License-Identifier: BSD-3-Clause
"""Refuses, with a one-line error, scenarios that ns-3 can't run.

ns-3 either obeys a flow setting (OBEYED) or has a fixed value for it (`fixed`), by default the
declared one.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from westwood.control.catalogue import (
    DROPTAIL,
    IMPAIRMENTS,
    LOSSES,
    NO_LOSS,
    PROTOCOLS,
    QUEUES,
    RECOVERIES,
    SCRIPT,
)
from westwood.engines.limits import Limits, refuse_all
from westwood.errors import show
from westwood.scenario import profiles
from westwood.scenario.declared import written_defaults
from westwood.units import format_size

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from westwood.scenario import Scenario
    from westwood.scenario.flows import Flow
    from westwood.scenario.links import Link

PROFILE = "ns3-3.44"  # ns-3's fixed values and defaults
_OVERHEAD = 2  # bytes: PPP, which ns-3's point-to-point devices add
_LIMITS = Limits(
    "ns3",
    "ns-3",
    most_flows=60_000,  # each has its own port
    queues={kind: queue.ns3 for kind, queue in QUEUES.items()},
    losses=(NO_LOSS, *(kind for kind, loss in LOSSES.items() if loss.counts), SCRIPT),
    # RedQueueDisc::DoEnqueue drops only if it holds more than one packet; its device holds another.
    # Its PIE is as steep as RFC 8033.
    fixed={"red": {"spared": 2}, "pie": {"steep": False}, "fq_pie": {"steep": False}},
    impairments=(
        *("delays", "reroute", "jitter", "reorder"),
        *(kind for kind in IMPAIRMENTS if kind != "ack_filter"),  # its queue drops ACKs that wait
    ),
)
# The recoveries of our module, and mainline's PRR.
_RECOVERIES = [
    recovery.name
    for recovery in RECOVERIES.values()
    if not recovery.uses_rate_reduction or recovery.name == "prr"
]
_OURS = "WwTcpWestwood"  # our module's class, which has the core's settings as attributes
_OF_CWND = ("TcpCubic", "TcpVegas")  # these take ssthresh from cwnd, not from ns-3's pipe
# The flow settings that ns3/runner applies.
OBEYED = (
    *("start", "start_spread", "stop", "size", "ecn", "packet", "initial_cwnd", "initial_ssthresh"),
    *("receive_window", "min_rto", "initial_rto", "delayed_ack", "delayed_ack_timeout"),
    *("dupack_threshold", "limited_transmit", "timestamps"),
)
# ns3/runner refuses other values of these, even those of a profile.
_OF_NO_PROFILE = ("header",)
# The module paces only controls that follow the delivery rate; these slow starts need it.
_PACED_STARTS = ("suss", "careful-resume")
_GROWTH = ("byte_counting", "validate_cwnd")
_OF_PROFILE = (*_GROWTH, "min_marked_cwnd")  # a profile may set them for every flow
# The settings of ns-3's own CUBIC; a profile's other values apply to the simulator only.
_OF_CUBIC: dict[str, tuple[object, ...]] = {
    "slow_start": ("standard", "hystart-ns3"),
    "cubic_rules": ("ns3",),
}


def check(scenario: Scenario) -> None:
    """Raises InputError for what ns-3 can't do."""
    refuse_all(
        partial(_LIMITS.check_network, scenario),
        *(partial(_check_link, link) for link in scenario.link),
        *(partial(_check_whole_flow, flow, scenario.profile) for flow in scenario.flow),
    )


def _check_whole_flow(flow: Flow, profile: str) -> None:
    _check_flow(flow)  # the others need a control and a recovery that ns-3 has
    refuse_all(
        partial(_LIMITS.check_settings, flow, fixed(flow), profile, _OF_NO_PROFILE),
        partial(_check_congestion_control, flow, profile),
    )


def remarks(scenario: Scenario) -> Iterator[str]:
    """Yields what the user should know: ns-3's controls do not grow as the profile asks."""
    profile = profiles.get(scenario.profile)
    asked = [key for key in _GROWTH if profile.defaults("cc").get(key, True)]
    if asked and any(PROTOCOLS[flow.cc.name].ns3 != _OURS for flow in scenario.flow):
        yield (
            f"the profile {scenario.profile} has {' and '.join(asked)}, but ns-3 grows windows "
            f"once per ACK, full or not; the profile {PROFILE} makes the simulator grow so, too"
        )


def fixed(flow: Flow) -> dict[str, Any]:
    """Returns ns-3's fixed values of flow settings, as a scenario would write them."""
    takes_cwnd = PROTOCOLS[flow.cc.name].ns3 in _OF_CWND
    return written_defaults("flow", leave_out=OBEYED) | {
        "header": "52B" if flow.timestamps else "40B",
        "forgiven_syns": 1000,
        "syn_ack_timer": True,
        "quick_acks": 1,
        "idle_restart": False,
        "max_rto": "60s",  # TcpSocketBase doubles its timer up to this
        "clock_granularity": "1ms",  # the runner leaves TcpSocketBase::ClockGranularity alone
        "handshake_rtt": True,
        "flight_excludes_sacked": not takes_cwnd,
        "ssthresh_from_cwnd": takes_cwnd,
        "repeated_timeouts_reduce": True,  # SetSentListLost loses the mark of a timed-out segment
        "pipe_keeps_repaired": True,  # TcpTxBuffer::Update does not change m_retrans
        "full_ack_to_ssthresh": True,
        "stands_after_timeout": True,  # ProcessAck grows cwnd only for data beyond m_recover
        "any_ack_ends_backoff": True,  # TcpSocketBase::NewAck
    }


def _check_link(link: Link) -> None:
    """Refuses links that ns-3's devices can't model."""
    name, limit = link.name, link.queue.limit
    if link.overhead != _OVERHEAD:
        expected = f'"2B", as its devices have; the profile {PROFILE} sets it'
        raise _LIMITS.refuse(f"{name}.overhead", format_size(link.overhead), expected)
    if link.queue.kind != DROPTAIL and getattr(link, "policer", None):
        raise _LIMITS.refuse(f"{name}.queue.kind", link.queue.kind, "droptail behind a policer")
    if link.queue.kind != DROPTAIL and (limit.count is None or limit.count < 2):
        expected = "at least 2 packets, one in its device"
        raise _LIMITS.refuse(f"{name}.queue.limit", str(limit), expected)


def _check_flow(flow: Flow) -> None:
    name = flow.name
    if flow.app.kind != "udp" and not PROTOCOLS[flow.cc.name].ns3:
        known = [*(protocol.name for protocol in PROTOCOLS.values() if protocol.ns3), "a file in C"]
        raise _LIMITS.refuse(f"{name}.cc", flow.cc.name, "one of " + ", ".join(known))
    if flow.recovery not in _RECOVERIES:
        raise _LIMITS.refuse(f"{name}.recovery", flow.recovery, "one of " + ", ".join(_RECOVERIES))
    _LIMITS.check_app(flow)


def _check_congestion_control(flow: Flow, profile: str) -> None:
    """Refuses settings of ns-3's own classes, except those that its CUBIC has."""
    cc, of_class = flow.cc, PROTOCOLS[flow.cc.name].ns3
    if of_class == _OURS:
        if cc.slow_start in _PACED_STARTS:
            expected = "one that needs no pacing, which this control does not have in ns-3"
            raise _LIMITS.refuse(f"{flow.name}.cc.slow_start", cc.slow_start, expected)
        return
    of_profile = profiles.get(profile).supplied.cc(cc.name)
    for option, value in cc.model_dump(exclude_none=True, exclude={"name", *_OF_PROFILE}).items():
        options = _OF_CUBIC.get(option, ()) if cc.name == "cubic" else ()
        if value in options or (options and value == of_profile.get(option)):
            continue
        expected = f"none: in ns-3 (class {of_class}) this control's settings can't be set"
        if options:
            expected = " or ".join(map(show, options)) + f", which its {of_class} has"
        raise _LIMITS.refuse(f"{flow.name}.cc.{option}", value, expected)
