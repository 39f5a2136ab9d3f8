# SPDX-License-Identifier: BSD-3-Clause
"""Scenarios of one link, which all flows cross from its one end to the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from westwood.scenario.scenario import Scenario


def one_link(
    name: str,
    duration: str,
    link: Mapping[str, Any],
    *flows: Mapping[str, Any],
    ends: tuple[str, str] = ("source", "sink"),
    **more: Any,
) -> Scenario:
    """Returns a scenario; the link is called `path` unless it has a name."""
    start, end = ends
    return Scenario(
        name=name,
        duration=duration,
        link=[{"name": "path", "between": [start, end], **link}],
        flow=[{"name": flow["name"], "from": start, "to": end, **flow} for flow in flows],
        **more,
    )
