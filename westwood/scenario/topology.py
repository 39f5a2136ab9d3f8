# SPDX-License-Identifier: BSD-3-Clause
"""Routes a scenario's flows over its links, and computes the limits of the routes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from westwood import _engine
from westwood.errors import InputError, suggestion
from westwood.units import PS_PER_S, format_time

if TYPE_CHECKING:
    from westwood.scenario.flows import Flow
    from westwood.scenario.links import Link

# Limits of the engine: engine/sim/topology.cpp and engine/network.hpp.
_MOST_LINKS = 255  # on a path
_MOST_CONNECTIONS = 2**20

Direction = Literal["forward", "backward"]
SIDES: tuple[Direction, Direction] = ("forward", "backward")
Route = list[tuple[str, int]]  # links, each with its direction: 0 is forward


@dataclass(frozen=True)
class Path:
    """Holds the limits of the route between two nodes; links with traces set no rate."""

    delay_s: float  # round-trip propagation delay
    byte_s: float  # to send a byte there and back
    overhead_s: float  # to send the links' framing of a packet there and back
    transmissions: int  # there and back; an engine rounds each to picoseconds
    most_bps: float  # the slowest rate on the forward route

    def least_rtt_s(self, packet_bytes: int) -> float:
        """Returns the shortest RTT with packets of this size in both directions."""
        sending_s = packet_bytes * self.byte_s + self.overhead_s
        return self.delay_s + max(0.0, sending_s - self.transmissions / PS_PER_S)


def nodes(links: Sequence[Link]) -> list[str]:
    """Returns the nodes in the order of the links; a node's index is its position."""
    return list(dict.fromkeys(node for link in links for node in link.between))


def check(links: Sequence[Link], flows: Sequence[Flow], reserved: Sequence[str]) -> None:
    """Raises InputError unless names are unique and every flow has a path."""
    names = set(reserved)
    for section, parts in (("link", links), ("flow", flows)):
        for number, name in enumerate((part.name for part in parts), 1):
            if name in names:
                problem = "expected a name that no other link or flow has"
                if name in reserved:
                    problem = "is a key of the scenario itself, expected another name"
                raise InputError(problem, key=f"{section}[{number}].name", value=name)
            names.add(name)
    component = _components(links)
    for flow in flows:
        for key, node in (("from", flow.from_), ("to", flow.to)):
            if node not in component:
                raise InputError(
                    f"no link has this node, {suggestion(node, nodes(links))}",
                    key=f"{flow.name}.{key}",
                    value=node,
                )
        if component[flow.from_] != component[flow.to]:
            raise InputError(
                f'no links connect it to "{flow.from_}", where the flow comes from',
                key=f"{flow.name}.to",
                value=flow.to,
            )
    if len(links) > _MOST_LINKS:  # otherwise no path can be too long
        _check_lengths(links, flows)


def check_link(links: Sequence[Link], name: str, key: str = "link") -> None:
    """Raises InputError unless a link has this name."""
    known = [link.name for link in links]
    if name not in known:
        raise InputError(f"no such link, {suggestion(name, known)}", key=key, value=name)


def check_count(flows: Sequence[Flow], duration: int) -> None:
    """Raises InputError if there may be more connections than the simulator can handle.

    A flow with arrivals makes a Poisson number of connections; its bound is the mean plus six
    standard deviations.
    """
    total = 0.0
    for flow in flows:
        total += flow.count
        if flow.arrivals:
            end = duration if flow.stop is None else min(flow.stop, duration)
            mean = max(0, end - flow.start) / flow.arrivals.every
            total += flow.count * (mean + 6 * math.sqrt(mean) - 1)
        if total > _MOST_CONNECTIONS:
            key = f"{flow.name}.arrivals.every" if flow.arrivals else f"{flow.name}.count"
            value = format_time(flow.arrivals.every) if flow.arrivals else flow.count
            problem = f"expected at most {_MOST_CONNECTIONS} connections in all"
            raise InputError(problem, key=key, value=value)


def routes(links: Sequence[Link], flows: Sequence[Flow]) -> dict[tuple[str, str], Route]:
    """Returns the route of each pair of nodes that a flow connects, as the simulator chooses it.

    That is the first one with the fewest links: plan/routes.hpp.
    """
    index = {node: i for i, node in enumerate(nodes(links))}
    pairs = list(dict.fromkeys((flow.from_, flow.to) for flow in flows))
    ends = [(index[a], index[b]) for a, b in (link.between for link in links)]
    channels = _engine.routes(ends, [(index[source], index[sink]) for source, sink in pairs])
    return {
        pair: [(links[channel // 2].name, channel % 2) for channel in route]
        for pair, route in zip(pairs, channels, strict=True)
    }


def paths(links: Sequence[Link], flows: Sequence[Flow]) -> Mapping[tuple[str, str], Path]:
    """Returns the path of each pair of nodes that flows connect."""
    named = {link.name: link for link in links}
    return {
        ends: _path([(named[name], side) for name, side in route])
        for ends, route in routes(links, flows).items()
    }


def _path(route: Sequence[tuple[Link, int]]) -> Path:
    delay_s = byte_s = overhead_s = 0.0
    transmissions = 0
    most_bps = math.inf
    for link, side in route:
        delay_s += sum(map(link.least_delay, SIDES)) / PS_PER_S
        if not link.opportunities(SIDES[side]):
            most_bps = min(most_bps, link.mean_rate_bps(SIDES[side]))
        for direction in SIDES:
            if not link.opportunities(direction):
                byte_s += 8 / link.mean_rate_bps(direction)
                overhead_s += 8 * link.overhead / link.mean_rate_bps(direction)
                transmissions += 1
    return Path(delay_s, byte_s, overhead_s, transmissions, most_bps)


def _check_lengths(links: Sequence[Link], flows: Sequence[Flow]) -> None:
    """Raises InputError if a flow's shortest path has more links than the simulator allows."""
    neighbours: dict[str, list[str]] = {}
    for link in links:
        a, b = link.between
        neighbours.setdefault(a, []).append(b)
        neighbours.setdefault(b, []).append(a)
    wanted: dict[str, dict[str, Flow]] = {}
    for flow in flows:
        wanted.setdefault(flow.from_, {}).setdefault(flow.to, flow)
    for source, flow_to in wanted.items():
        missing, seen, reached = set(flow_to), {source}, [source]
        for _ in range(_MOST_LINKS):
            if not missing:
                break
            reached = [far for near in reached for far in neighbours[near] if far not in seen]
            seen.update(reached)
            reached = list(dict.fromkeys(reached))
            missing -= seen
        if missing:
            flow = next(flow for to, flow in flow_to.items() if to in missing)
            problem = f'expected at most {_MOST_LINKS} links between it and "{source}"'
            raise InputError(problem, key=f"{flow.name}.to", value=flow.to)


def _components(links: Sequence[Link]) -> dict[str, str]:
    """Maps each node to the representative of its connected component."""
    if len(links) == 1:
        return dict.fromkeys(links[0].between, links[0].between[0])
    parent = {node: node for node in nodes(links)}

    def root(node: str) -> str:
        while parent[node] != node:
            node = parent[node]
        return node

    for link in links:
        parent[root(link.between[0])] = root(link.between[1])
    return {node: root(node) for node in parent}
