# SPDX-License-Identifier: BSD-3-Clause
"""Describes the columns of a row for means, tables, axes and docs/traces.md.

metrics/columns.hpp and engine/columns.hpp declare those of a run.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

from westwood import _engine
from westwood.errors import InputError, suggestion

Row = dict[str, Any]
LOST_ON = "lost_on_"  # and a link's name: a column of runs over several links


@dataclass(frozen=True)
class Column:
    """Describes a column of the rows and how tables show it."""

    name: str
    unit: str
    title: str
    what: str
    # How the table that a run prints shows it; an empty heading leaves it out.
    head: str = field(default="", kw_only=True)
    scale: float = field(default=1.0, kw_only=True)  # from the column's unit to the table's
    digits: int = field(default=1, kw_only=True)  # after the decimal point
    with_interval: bool = field(default=False, kw_only=True)
    if_several: bool = field(default=False, kw_only=True)  # only if there are several flows
    if_known: bool = field(default=False, kw_only=True)  # only if a flow has a value

    def cell(self, value: float | None, half: float = math.nan) -> str:
        """Returns a table's text for a value, or for a mean and half its interval."""
        if value is None or math.isnan(value):
            return "-"
        text = f"{value * self.scale:.{self.digits}f}"
        if not self.with_interval or math.isnan(half):
            return text
        return f"{text} ± {half * self.scale:.{self.digits}f}"


IDENTITY = (
    Column(
        "scenario", "", "Scenario", "hash of all settings that affect the outcome, except the seed"
    ),
    Column("engine", "", "Engine", "what ran it"),
    Column("flow", "", "Flow", "its name in the scenario"),
    Column("cc", "", "Protocol", "its congestion control"),
    Column("seed", "", "Seed", "the seed of the run's random numbers"),
)

COST = (
    Column("cpu_s", "s", "CPU time", "CPU time of the run"),
    Column("wall_s", "s", "Time", "wall-clock time of the run"),
)


def columns() -> list[Column]:
    """Returns all columns of a row, in order."""
    of_run = (Column(**row_column) for row_column in _engine.ROW_COLUMNS)
    shown = (replace(column, scale=1e3) if _is_in_ms(column) else column for column in of_run)
    return [*IDENTITY, *shown, *COST]


def _is_in_ms(column: Column) -> bool:
    """Returns whether tables and axes show a column in milliseconds, as is usual for RTTs."""
    return column.name.endswith("rtt_s")


def averaged() -> list[str]:
    """Returns the columns that depend on the seed, which a summary averages."""
    constant = {"simulated_s", *(column.name for column in (*IDENTITY, *COST))}
    return [column.name for column in columns() if column.name not in constant]


def check_metric(name: str, key: str = "--metric") -> None:
    """Raises InputError unless a summary has a mean of this column."""
    if name not in averaged():
        problem = f"unknown column, {suggestion(name, averaged())}"
        raise InputError(problem, key=key, value=name)


def axis(name: str) -> tuple[str, float]:
    """Returns a column's axis label, and the label's unit in units of the column."""
    column = next(known_column for known_column in columns() if known_column.name == name)
    shown, scale = {"bit/s": ("Mb/s", 1e6), "": ("", 1.0)}.get(column.unit, (column.unit, 1.0))
    if _is_in_ms(column):
        shown, scale = "ms", 1e-3
    return f"{column.title} ({shown})" if shown else column.title, scale
