# SPDX-License-Identifier: BSD-3-Clause
"""Validates the simulator against another engine: same scenarios, settings and lost packets.

grids.py       the grids by engine and name
grid.py        what a grid declares, and its scenarios
compare.py     runs on both engines, and the criteria for every point
exceptions.py  points that differ for a known reason
page.py        the page, its figures and validation.csv
"""

from __future__ import annotations

from collections.abc import Sequence

from westwood.errors import InputError, suggestion
from westwood.experiments.validation.grid import Grid
from westwood.experiments.validation.grids import GRIDS, TIMES

__all__ = ["GRIDS", "TIMES", "chosen"]


def chosen(engine: str, names: Sequence[str]) -> dict[str, Grid]:
    """Returns the requested grids of an engine; without names, all that are not optional."""
    if engine not in GRIDS:
        problem = f"expected another engine than the simulator: {' or '.join(GRIDS)}"
        raise InputError(problem, key="--engine", value=engine)
    grids = GRIDS[engine]
    for name in names:
        if name not in grids:
            raise InputError(
                f"no grid of {engine}, {suggestion(name, grids)}", key="--only", value=name
            )
    unnamed = (name for name, grid in grids.items() if not grid.by_name)
    return {name: grids[name] for name in names or unnamed}
