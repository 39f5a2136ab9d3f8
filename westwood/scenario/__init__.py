# SPDX-License-Identifier: BSD-3-Clause
"""Describes what is run: links, flows and defaults, all checked before anything starts."""

from westwood.scenario.scenario import Scenario
from westwood.scenario.supplied import presets

__all__ = ["Scenario", "presets"]
