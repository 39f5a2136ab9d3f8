# SPDX-License-Identifier: BSD-3-Clause
"""Finds where what a paper measured agrees with it, over settings that the paper does not name.

A region is a grid over such settings. At each cell the means of the runs fulfil each condition
(bounds.py) or not, as in a search. Chance is what conditions with the same shares of the cells
would give if they were independent.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import polars as pl

from westwood.papers.checks.bounds import Condition, Term
from westwood.papers.checks.common import Measured


@dataclass(frozen=True)
class Region:
    """A grid over two keys of a scenario's sweep, at fixed other settings, and its conditions."""

    title: str
    scenario: str
    axes: tuple[str, str]
    conditions: Sequence[Condition]
    at: Mapping[str, Any]

    def of(self, all_: Mapping[str, Measured]) -> Cells:
        """Decides each condition in each cell."""
        measured = all_[self.scenario]
        rows = measured.rows.filter(*(pl.col(key) == value for key, value in self.at.items()))
        columns = sorted({term.column for c in self.conditions for term in (c.of, c.over) if term})
        settings = sorted(
            {key for c in self.conditions for term in (c.of, c.over) if term for key in term.at}
        )
        means = rows.group_by(*self.axes, *settings, maintain_order=True).agg(
            *(pl.col(name).mean() for name in columns)
        )
        values = {
            tuple(row[key] for key in (*self.axes, *settings)): row
            for row in means.iter_rows(named=True)
        }

        def mean(cell: tuple[Any, ...], term: Term) -> float:
            row = values.get((*cell, *(term.at.get(key) for key in settings)))
            return math.nan if row is None else float(row[term.column])

        cells = {}
        for cell in product(*(rows[axis].unique(maintain_order=True) for axis in self.axes)):
            cells[cell] = [
                mean(cell, condition.of)
                / ((mean(cell, condition.over) if condition.over else 1.0) or math.nan)
                / condition.by
                for condition in self.conditions
            ]
        return Cells(self, cells)


@dataclass(frozen=True)
class Cells:
    """The quantities of a region's conditions in each of its cells."""

    region: Region
    values: Mapping[tuple[Any, ...], Sequence[float]]

    def agreeing(self, conditions: Sequence[str] = ()) -> list[tuple[Any, ...]]:
        """Returns the cells that fulfil the conditions with these names, or all conditions."""
        return [cell for cell in self.values if all(self.holds(cell, conditions))]

    def holds(self, cell: tuple[Any, ...], conditions: Sequence[str] = ()) -> list[bool]:
        """Returns which of these conditions a cell fulfils."""
        return [
            condition.within.least <= value <= condition.within.most
            for condition, value in zip(self.region.conditions, self.values[cell], strict=True)
            if not conditions or condition.name in conditions
        ]

    def shares(self, conditions: Sequence[str] = ()) -> dict[str, float]:
        """Returns the share of the cells that fulfil each condition."""
        names = [c.name for c in self.region.conditions if not conditions or c.name in conditions]
        held = [self.holds(cell, conditions) for cell in self.values]
        return {name: sum(flags[n] for flags in held) / len(held) for n, name in enumerate(names)}

    def entry(self, conditions: Sequence[str] = ()) -> dict[str, Any]:
        """Returns the number of agreeing cells, what chance would give, and the shares."""
        shares, cells = self.shares(conditions), self.agreeing(conditions)
        entry: dict[str, Any] = {
            "cells": len(self.values),
            "agree": len(cells),
            "by_chance": len(self.values) * math.prod(shares.values()),
            "shares": shares,
        }
        if cells:
            best = self.best(conditions)
            values = zip(self.region.conditions, self.values[best], strict=True)
            entry["at"] = " and ".join(
                f"{axis} {x}" for axis, x in zip(self.region.axes, best, strict=True)
            )
            entry["there"] = {condition.name: value for condition, value in values}
        return entry

    def best(self, conditions: Sequence[str] = ()) -> tuple[Any, ...]:
        """Returns the cell that fulfils most conditions, the first one of `conditions`' cells."""
        among = self.agreeing(conditions) or list(self.values)
        return max(among, key=lambda cell: sum(self.holds(cell)))
