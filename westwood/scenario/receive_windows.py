# SPDX-License-Identifier: BSD-3-Clause
"""Sets receive windows that a scenario leaves open to what suffices for path and queue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from westwood import _engine
from westwood.catalogue import UDP
from westwood.scenario.addresses import kind_of
from westwood.scenario.profiles import OF_THE_PATH


def with_windows(completed: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the completed tables of a scenario with a window for each connection without one.

    What plan/ refuses stays as it is, since the scenario's own check has the better message.
    """
    places = list(_without(completed.get("flow")))
    if not places:
        return completed
    try:
        network = _engine.plan({k: v for k, v in completed.items() if k != "sweep"}).network
    except (ValueError, TypeError):
        return completed
    flows = list(completed["flow"])
    first = 0
    for place, flow in enumerate(flows):
        if place in places:
            flows[place] = {**flow, OF_THE_PATH: f"{network.flows[first].receive_window_bytes}B"}
        first += flow.get("count", 1)
    return {**completed, "flow": flows}


def _without(flows: object) -> Iterator[int]:
    for place, flow in enumerate(flows if isinstance(flows, (list, tuple)) else ()):
        is_open = isinstance(flow, Mapping) and OF_THE_PATH not in flow
        if is_open and kind_of(flow.get("app")) != UDP:
            yield place
