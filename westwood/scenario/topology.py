# SPDX-License-Identifier: BSD-3-Clause
"""The graph that a scenario's links span, and whether its flows can be routed over it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from westwood.errors import InputError, suggestion
from westwood.scenario.flows import Flow
from westwood.scenario.links import Link


def nodes(links: Sequence[Link]) -> list[str]:
    """Lists the nodes as the links name them: a node's index is its place here."""
    return list(dict.fromkeys(node for link in links for node in link.between))


def check(links: Sequence[Link], flows: Sequence[Flow], reserved: Sequence[str]) -> None:
    """Raises an error unless names are unique and every flow has a path."""
    names = [link.name for link in links] + [flow.name for flow in flows]
    for name, times in Counter(names).items():
        if times > 1:
            raise InputError(
                "expected a name that no other link or flow has", key="name", value=name
            )
        if name in reserved:
            raise InputError(
                "is a key of the scenario itself, expected another name", key="name", value=name
            )
    known = nodes(links)
    component = _components(links)
    for flow in flows:
        for key, node in (("from", flow.from_), ("to", flow.to)):
            if node not in component:
                raise InputError(
                    f"no link has this node, {suggestion(node, known)}",
                    key=f"{flow.name}.{key}",
                    value=node,
                )
        if component[flow.from_] != component[flow.to]:
            raise InputError(
                f'no links connect it to "{flow.from_}", where the flow comes from',
                key=f"{flow.name}.to",
                value=flow.to,
            )


def _components(links: Sequence[Link]) -> dict[str, str]:
    """Maps each node to the representative of its connected component."""
    parent = {node: node for node in nodes(links)}

    def root(node: str) -> str:
        while parent[node] != node:
            node = parent[node]
        return node

    for link in links:
        parent[root(link.between[0])] = root(link.between[1])
    return {node: root(node) for node in parent}
