# SPDX-License-Identifier: BSD-3-Clause
"""Applies open settings to a point of a paper's scenario. `set` of a value may address

    duration                   the run
    flow.KEY                   all TCP flows; flow.packet+ adds bytes to each packet but keeps
                               the payload
    datagrams.KEY              all sources of datagrams
    cc.KEY                     the congestion control of all flows that have KEY
    westwood.KEY, PROTOCOL.KEY the same of the Westwood family or one protocol; also the recovery
    FLOW.KEY                   the flow of this name, unless a protocol has the name
    bottleneck.KEY             the slowest link
    LINK.KEY                   the link of this name
    LINK.queue                 another kind of queue with the same limit
    LINK.queue.limit           its limit
    LINK.red.KEY               a RED parameter, if the queue is RED
    LINK.loss.bits_of          bit errors instead of uniform loss, at the rate that loses as many
                               packets of this size in bytes

Nothing changes where a scenario lacks, sweeps or owns what is addressed.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from westwood.control.catalogue import PROTOCOLS, UDP, settings_of_protocol
from westwood.papers.infer.space import Value
from westwood.scenario import Scenario
from westwood.scenario.links import Link
from westwood.units import format_size, parse_time

_FAMILY_SETTING = "sampler"  # only the Westwood family has it


def applied(
    point: Scenario, fixed: Collection[str], values: Iterable[Value], longest: str | None = None
) -> Scenario:
    """Returns the point with these values, and no longer than `longest`.

    `fixed` are the keys that it sweeps or owns.
    """
    settings: dict[str, Any] = {}
    queues: dict[str, dict[str, Any]] = {}
    for value in values:
        for address, to in value.set.items():
            first, _, rest = address.partition(".")
            if not rest:
                settings |= {address: to} if address not in fixed else {}
            elif (link := _link(point, first)) is None:
                settings |= dict(_of_flows(point, fixed, first, rest, to))
            elif rest == "loss.bits_of":
                if link.loss.kind == "uniform":
                    settings[f"{link.name}.loss"] = _bits(link.model_dump()["loss"], to)
            elif rest.startswith(("queue", "red.")):
                queue = queues.get(link.name, link.model_dump(exclude_none=True)["queue"])
                queues[link.name] = _queue(queue, f"{link.name}.queue" in fixed, rest, to)
            elif f"{link.name}.{rest}" not in fixed and _has(link, rest):
                settings[f"{link.name}.{rest}"] = to
    settings |= {f"{name}.queue": queue for name, queue in queues.items()}
    duration = parse_time(settings["duration"]) if "duration" in settings else point.duration
    if longest and duration > parse_time(longest):
        settings["duration"] = longest
    return point.with_settings(settings) if settings else point


def _link(point: Scenario, name: str) -> Link | None:
    if name == "bottleneck":
        return min(point.link, key=lambda link: link.mean_rate_bps("forward"))
    return next((link for link in point.link if link.name == name), None)


def _has(link: Link, rest: str) -> bool:
    """Returns whether a link has this key; loss keys depend on the kind of its losses."""
    part, _, key = rest.partition(".")
    return part != "loss" or (link.loss.kind != "none" and key in type(link.loss).model_fields)


def _queue(queue: dict[str, Any], is_fixed: bool, rest: str, to: Any) -> dict[str, Any]:
    """Changes a queue; another kind keeps the limit."""
    part, _, key = rest.partition(".")
    if rest == "queue":
        return queue if is_fixed else {"limit": queue["limit"], **to}
    if part == "red" and queue["kind"] != "red":
        return queue
    return {**queue, key: to}


def _bits(loss: Mapping[str, Any], size: int) -> dict[str, Any]:
    """Converts a packet loss into bit errors with the same effect on packets of this size."""
    rate = -math.expm1(math.log1p(-loss["rate"]) / (8 * size))
    return {**loss, "kind": "bits", "rate": rate}


def _of_flows(
    point: Scenario, fixed: Collection[str], first: str, rest: str, to: Any
) -> Iterator[tuple[str, Any]]:
    """Yields the keys of flows that an address covers, with their values."""
    for flow in point.flow:
        name, key = flow.cc.name, f"{flow.name}.{rest}"
        if rest == "packet+" and first == "flow" and name != UDP:
            yield f"{flow.name}.packet", format_size(max(flow.packet + to, flow.header + 1))
        elif first in ("cc", name) or (first == "westwood" and _is_westwood(name)):
            if rest == "recovery":
                yield key, to
            elif name != UDP and rest in settings_of_protocol(name):
                yield f"{flow.name}.cc.{rest}", to
        elif first == ("datagrams" if name == UDP else "flow") or (
            first == flow.name and first not in PROTOCOLS
        ):
            yield from [(key, to)] if key not in fixed else []


def _is_westwood(name: str) -> bool:
    return name in PROTOCOLS and _FAMILY_SETTING in settings_of_protocol(name)
