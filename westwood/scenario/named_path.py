# SPDX-License-Identifier: BSD-3-Clause
"""The preset `path`, with a link by name in place of its own settings."""

from __future__ import annotations

from westwood.scenario.named_links import KIND
from westwood.scenario.scenario import Scenario


def path(kinds: str | None) -> Scenario:
    """Returns the preset, or one with the first of the named links between commas."""
    preset = Scenario.preset("path")
    if kinds is None:
        return preset
    data = preset.given()
    (link,) = data["link"]
    first = kinds.partition(",")[0].strip()
    data["link"] = [{"name": link["name"], "between": link["between"], KIND: first}]
    return Scenario(**data)
