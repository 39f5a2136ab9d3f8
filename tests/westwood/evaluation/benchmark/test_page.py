# SPDX-License-Identifier: BSD-3-Clause
"""The page about judging names every row of the table with its bound."""

import math
from pathlib import Path

import pytest

from westwood.evaluation.paths import TARGETS

PAGE = Path(__file__).parents[4] / "docs" / "control-reference.md"


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_the_page_has_the_row_with_its_bound(target):
    section = PAGE.read_text().partition("\n## Benchmark\n")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    (row,) = (line for line in rows if f"`{target.name}`" in line)
    asked = row.split("|")[3]
    if math.isnan(target.bound):
        others = [
            row_target
            for row_target in TARGETS
            if f"`{row_target.name}`" in row and row_target.bound == row_target.bound
        ]
        assert others or not asked.strip()
    else:
        assert f"{target.bound:g}" in asked and ("at most" in asked) == target.at_most
