# SPDX-License-Identifier: BSD-3-Clause
"""A scenario in the words of ns3/runner, and what ns-3 can't do: one clear line each."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from westwood.errors import InputError
from westwood.units import PS_PER_S, format_size

if TYPE_CHECKING:
    from westwood.scenario import Scenario
    from westwood.scenario.flows import CongestionControl, Flow
    from westwood.scenario.links import Link

SIDES = ("forward", "backward")
_OVERHEAD = 2  # bytes: PPP, which ns-3's point-to-point devices add
_UNLIMITED = 2**32 - 1
_RECOVERIES = ("tahoe", "reno", "newreno", "sack")
# Protocol: ns-3's class, and of our module's class the member of the family.
_CLASSES = {
    "tahoe": ("TcpNewReno", "-"), "reno": ("TcpNewReno", "-"), "newreno": ("TcpNewReno", "-"),
    "sack": ("TcpNewReno", "-"), "cubic": ("TcpCubic", "-"), "vegas": ("TcpVegas", "-"),
    "bbr": ("TcpBbr", "-"), "westwood": ("WwTcpWestwood", "Westwood"),
    "westwoodnr": ("WwTcpWestwood", "Westwood"),
    "westwood+": ("WwTcpWestwood", "WestwoodPlus"),
    "westwood-ns3": ("WwTcpWestwood", "WestwoodNs3"),
    "westwood+-ns3": ("WwTcpWestwood", "WestwoodPlusNs3"),
    "westwoodnr+": ("WwTcpWestwood", "WestwoodNRPlus"),
    "westwood+-linux": ("WwTcpWestwood", "WestwoodPlusLinux"),
}  # fmt: skip
_FILTERS = {"none": "None", "ewma": "Ewma", "tustin-constant": "TustinConstant",
            "tustin": "Tustin", "ewma-twice": "EwmaTwice"}  # fmt: skip


def network(scenario: Scenario) -> str:
    """The scenario in the runner's words; InputError names what ns-3 can't do."""
    index = {node: i for i, node in enumerate(scenario.nodes)}
    links = [_link(link, index) for link in scenario.link]
    links += [line for place, link in enumerate(scenario.link) for line in _lost(place, link)]
    flows = [_flow(flow, index) for flow in scenario.flows]
    return "".join(f"{line}\n" for line in [*links, *flows])


def _refuse(key: str, value: object, expected: str) -> InputError:
    return InputError(f"--engine ns3 expects {expected}", key=key, value=value)


def _link(link: Link, index: dict[str, int]) -> str:
    name = link.name
    if link.overhead != _OVERHEAD:
        raise _refuse(f"{name}.overhead", format_size(link.overhead), 'the "2B" of its devices')
    if link.queue.kind != "droptail" or link.queue.limit.unit != "p":
        raise _refuse(f"{name}.queue", link.queue.kind, "drop-tail with a limit in packets")
    if link.loss.kind not in ("none", "uniform", "script"):
        raise _refuse(f"{name}.loss.kind", link.loss.kind, '"none", "uniform" or "script"')
    if link.trace or link.jitter or link.reorder:
        raise _refuse(name, link.name, "no trace, jitter or reordering")
    rates = {"forward": 0.0, "backward": 0.0}
    if link.loss.kind == "uniform":
        for side in rates:
            rates[side] = link.loss.rate if link.loss.on in (side, "both") else 0.0
    a, b = (index[node] for node in link.between)
    limit = link.queue.limit.count or 2**31
    return (f"link {a} {b} {link.rate} {link.delay / PS_PER_S!r} {limit} "
            f"{rates['forward']!r} {rates['backward']!r}")  # fmt: skip


def _lost(place: int, link: Link) -> list[str]:
    if link.loss.kind != "script" or not link.loss.packets:
        return []
    packets = " ".join(map(str, link.loss.packets))
    sides = (side for side, name in enumerate(SIDES) if link.loss.on in (name, "both"))
    return [f"lose {place} {side} {packets}" for side in sides]


def _flow(flow: Flow, index: dict[str, int]) -> str:
    name = flow.name
    if flow.cc.name not in _CLASSES:
        raise _refuse(f"{name}.cc", flow.cc.name, "one of " + ", ".join(_CLASSES))
    if flow.recovery not in _RECOVERIES:
        raise _refuse(f"{name}.recovery", flow.recovery, "one of " + ", ".join(_RECOVERIES))
    if flow.app.kind != "bulk" or flow.arrivals or flow.ecn or flow.start_spread:
        raise _refuse(name, flow.app.kind, "a bulk flow without arrivals, ECN and spread starts")
    if flow.header != 40:
        raise _refuse(f"{name}.header", format_size(flow.header), '"40B"')
    kind, protocol = _CLASSES[flow.cc.name]
    ssthresh = flow.initial_ssthresh.packets(flow.mss)
    stop_s = math.inf if flow.stop is None else flow.stop / PS_PER_S
    words = [
        index[flow.from_], index[flow.to], kind, protocol, flow.recovery, flow.mss,
        max(1, flow.initial_cwnd.packets(flow.mss) or 1),
        _UNLIMITED if ssthresh is None else max(2, ssthresh) * flow.mss, flow.receive_window,
        flow.min_rto / PS_PER_S, flow.initial_rto / PS_PER_S, flow.delayed_ack,
        flow.delayed_ack_timeout / PS_PER_S, flow.dupack_threshold, int(flow.limited_transmit),
        flow.start / PS_PER_S, 1e9 if math.isinf(stop_s) else stop_s, flow.size or 0,
    ]  # fmt: skip
    return "flow " + " ".join(str(word) for word in [*words, *_attributes(flow)])


def _attributes(flow: Flow) -> list[str]:
    """The protocol's options as attributes of WwTcpWestwood."""
    cc: CongestionControl = flow.cc
    named = {
        "Filter": None if cc.filter is None else _FILTERS[cc.filter],
        "Alpha": cc.alpha,
        "Tau": None if cc.tau is None else f"{cc.tau}ps",
        "VirtualSamples": cc.m,
        "MinInterval": None if cc.min_interval is None else f"{cc.min_interval}ps",
        "PlateauCte": cc.cte,
    }
    known = ("filter", "alpha", "tau", "m", "min_interval", "cte")
    of_profile = {"name", "byte_counting", "validate_cwnd", *([] if cc.hystart else ["hystart"])}
    ours = _CLASSES[cc.name][0] == "WwTcpWestwood"
    for option, value in cc.model_dump(exclude_none=True, exclude=of_profile).items():
        if option not in known or not ours:
            problem = "options of Westwood and its family only: " + ", ".join(known)
            raise _refuse(f"{flow.name}.cc.{option}", value, problem)
    given = [f"{name}={value}" for name, value in named.items() if value is not None]
    return [*given, f"ByteCounting={str(cc.byte_counting).lower()}"] if ours else []
