# SPDX-License-Identifier: BSD-3-Clause
"""What is run: a scenario, its links, flows and defaults, checked before anything starts."""

from westwood.scenario.scenario import Scenario, presets

__all__ = ["Scenario", "presets"]
