# SPDX-License-Identifier: BSD-3-Clause
"""Runs what docs/lab.md quotes.

A figure is `<!-- PRESET with KEY=VALUE KEY=VALUE: FLOW/COLUMN FORMAT -->`, of a run with seed 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tools.pages import DOCS, FIGURE, Numbers, Page
from westwood import Scenario, simulate
from westwood.cli.options import settings_of


def measured(stored: Numbers, words: Sequence[str]) -> Iterator[Numbers]:
    """Yields the rows of the runs that the page names."""
    text = PAGE.page.read_text(encoding="utf-8")
    yield {name: _rows(name) for name in {figure["name"] for figure in FIGURE.finditer(text)}}


def _rows(name: str) -> Numbers:
    preset, _, settings = name.partition(" with ")
    scenario = Scenario.preset(preset).with_settings(settings_of(settings.split()))
    return {row["flow"]: row for row in simulate(scenario, 1).flow_rows}


PAGE = Page(DOCS / "lab.md", figures=lambda stored: stored, measure=measured)
