# SPDX-License-Identifier: BSD-3-Clause
"""Checks that the rows of a folder are those of its scenario."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import polars as pl

from westwood.control.catalogue import PROTOCOLS, UDP
from westwood.control.loading import PYTHON, is_file
from westwood.errors import show
from westwood.experiments.experiment import Experiment
from westwood.results.columns import COST, LOST_ON, columns
from westwood.results.rows import LARGEST
from westwood.scenario.stacks import split
from westwood.scenario.sweep_values import column_values

_TOLD = {"point", "scenario", "engine"}  # columns that are not measurements
_SCENARIO = "scenario.toml"


def problem_with(planned: Experiment, rows: pl.DataFrame, controls: Collection[str]) -> str:
    """Returns the reason why rows can't belong to this scenario; empty if they can.

    controls: the names of the controls in C files.
    """
    cost = {column.name for column in COST}
    numbers = {column.name for column in columns()} - {"scenario", "engine", "flow", "cc"} - cost
    numbers |= {f"{LOST_ON}{link.name}" for link in planned.scenario.link} & set(rows.columns)
    names = {"cc": {*PROTOCOLS, UDP}, "flow": {flow.name for flow in planned.scenario.flows}}
    sweep = planned.scenario.sweep.items()
    varied: dict[str, set[Any]] = {key: set(PROTOCOLS) for key in planned.varied}
    values = {**names, **varied, **{key: set(column_values(swept)) for key, swept in sweep}}
    for column in (*numbers, *values):
        if column not in rows.columns:
            return f"has no column {column}, expected the rows of {_SCENARIO}"
        if column in numbers and not rows[column].dtype.is_numeric():
            return f"has no numbers in {column}, expected the rows of {_SCENARIO}"
        if rows[column].null_count():
            return f"has nothing in a row of {column}, expected the rows of {_SCENARIO}"
        if column in names and rows[column].dtype != pl.String:
            return f"has no words in {column}, expected the rows of {_SCENARIO}"
        if column in numbers - {"seed"} and (_absolute(rows[column]) >= LARGEST).any():
            return f"has an impossible number in {column}"
    for column, known in values.items():
        cell_values = set(rows[column].unique().to_list())
        if others := {name for name in cell_values - known if not _is_control(name, controls)}:
            return f"has {show(min(others))} in {column}, expected what {_SCENARIO} has"
    if others := set(rows.columns) - numbers - cost - set(values) - _TOLD:
        return f"has a column {show(min(others))}, expected the rows of {_SCENARIO}"
    if (rows["seed"] < 0).any():
        return f"has a seed below 0, expected the rows of {_SCENARIO}"
    if (
        rows.select(*(key for key in ("point", "scenario", *values, "seed") if key in rows))
        .is_duplicated()
        .any()
    ):
        return "has a run twice"
    return "" if rows.height else "has no row"


def _is_control(name: object, known: Collection[str]) -> bool:
    """Returns whether it may be a control of a stack, in a file or a class; nothing is loaded."""
    stack, control = split(name)
    if stack is not None and control in PROTOCOLS:
        return True
    is_class = isinstance(control, str) and control.endswith(PYTHON) and control.isprintable()
    return is_file(control) and (is_class or control in known)


def _absolute(values: pl.Series) -> pl.Series:
    return values.cast(pl.Float64).fill_nan(0).abs()
