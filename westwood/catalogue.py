# SPDX-License-Identifier: BSD-3-Clause
"""The protocols by name: which window rules and which loss recovery each one means.

A name that fixes its recovery (Tahoe is Reno's window rules with another recovery) carries it here;
the Westwood names of the early papers leave it to the flow or the profile.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Recovery = Literal["tahoe", "reno", "newreno", "sack", "rate-halving", "prr"]
Sampler = Literal["per-ack", "per-rtt", "per-rtt-timer"]
Filter = Literal["none", "ewma", "tustin-constant", "tustin", "ewma-twice"]

UDP = "udp"  # what stands for a protocol where there is no congestion control
RECOVERIES: tuple[str, ...] = get_args(Recovery)


@dataclass(frozen=True)
class Protocol:
    """What a `cc` name stands for."""

    preset: str  # the core's preset of window rules and estimator
    recovery: str | None  # None: the flow's or the profile's
    label: str  # in figures and tables


PROTOCOLS: dict[str, Protocol] = {
    "tahoe": Protocol("reno", "tahoe", "Tahoe"),
    "reno": Protocol("reno", "reno", "Reno"),
    "newreno": Protocol("reno", "newreno", "NewReno"),
    "sack": Protocol("reno", "sack", "NewReno + SACK"),
    "westwood": Protocol("westwood", None, "Westwood"),
    "westwood-ns3": Protocol("westwood-ns3", None, "Westwood (ns-3, 2013)"),
    "westwood+": Protocol("westwood+", None, "Westwood+"),
    "westwood+-ns3": Protocol("westwood+-ns3", None, "Westwood+ (ns-3, 2013)"),
    "westwoodnr": Protocol("westwoodnr", "newreno", "WestwoodNR"),
    "westwoodnr+": Protocol("westwoodnr+", "newreno", "WestwoodNR+"),
    "westwood+-linux24": Protocol("westwood+-linux24", "rate-halving", "Westwood+ (Linux 2.4)"),
    "westwood+-linux": Protocol("westwood+-linux", "prr", "Westwood+ (Linux)"),
    "cubic": Protocol("cubic", "sack", "CUBIC"),
    "vegas": Protocol("vegas", "sack", "Vegas"),
    "bbr": Protocol("bbr", "sack", "BBR"),
}


def label(cc: str) -> str:
    """How a protocol is called in figures and tables."""
    return "UDP" if cc == UDP else PROTOCOLS[cc].label if cc in PROTOCOLS else cc
