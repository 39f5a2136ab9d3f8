# SPDX-License-Identifier: BSD-3-Clause
"""Describes what to simulate: links, flows and defaults, all checked before a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from westwood.scenario.preset_files import presets

if TYPE_CHECKING:
    from westwood.scenario.scenario import Scenario

__all__ = ["Scenario", "presets"]


def __getattr__(name: str) -> Any:
    """Imports the models on first use, because listing presets must not wait for pydantic."""
    if name != "Scenario":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from westwood.scenario.scenario import Scenario

    return Scenario
