# SPDX-License-Identifier: BSD-3-Clause
"""Writes the numbers of docs/lab.md: python -m tools.class_page.

A figure is `<!-- PRESET with KEY=VALUE KEY=VALUE: FLOW/COLUMN FORMAT -->`, of a run with seed 1.
"""

from __future__ import annotations

from tools import pages
from westwood import Scenario, simulate
from westwood.cli.options import settings_of

PAGE = pages.DOCS / "lab.md"


def written(text: str) -> str:
    """Returns the text with the numbers that the simulator has now."""
    names = {found["name"] for found in pages.FIGURE.finditer(text)}
    return pages.quoted({name: _rows(name) for name in names}, text)


def _rows(name: str) -> pages.Numbers:
    preset, _, settings = name.partition(" with ")
    scenario = Scenario.preset(preset).with_settings(settings_of(settings.split()))
    return {row["flow"]: row for row in simulate(scenario, 1).flow_rows}


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
