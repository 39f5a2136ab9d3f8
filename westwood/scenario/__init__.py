# SPDX-License-Identifier: BSD-3-Clause
"""Describes what is run: links, flows and defaults, all checked before anything starts."""

from westwood.scenario.scenario import Scenario, presets

__all__ = ["Scenario", "presets"]
