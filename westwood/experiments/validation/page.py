# SPDX-License-Identifier: BSD-3-Clause
"""Writes the results of grids: validation.csv, and a page with figures and tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from westwood import markup, stopping
from westwood.draw import report
from westwood.draw.curves import ratios
from westwood.experiments.experiment import Experiment
from westwood.experiments.validation.compare import OTHER, Validation
from westwood.results.folder import Folder

TABLE = "validation.csv"
_TITLES = {"ns3": "ns-3", "ns2": "ns-2", "quinn": "quinn", "noq": "noq"}
_TITLES |= {"linux": "Linux", "linux-um": "Linux in virtual time"}
_DRAWN = ("goodput_bps", "retransmission_ratio", "mean_cwnd")
_SHOWN = ("goodput_bps", f"goodput_bps{OTHER}", "goodput_ratio")


def keep(
    done: Sequence[Validation], engine: str, planned: Mapping[str, Experiment], folder: Folder
) -> None:
    """Writes the grids that are finished into the table, so that no kill loses them."""
    tables = [
        validation.points.select(pl.lit(validation.name).alias("grid"), pl.all())
        for validation in done
    ]
    with stopping.keeping():
        folder.manifest(about(engine, planned), complete=False)
        folder.frame(TABLE, pl.concat(tables, how="diagonal_relaxed"))


def markdown(done: Sequence[Validation], title: str) -> str:
    """Returns the verdicts as text for a pull request."""
    heads = ("grid", "criterion", "points", "asked for", "verdict")
    entries = (entry for validation in done for entry in validation.entries())
    rows = [
        (e["grid"], e["says"], f"{e['share']:.1%}", f"{e['asked']:.0%}", e["verdict"])
        for e in entries
    ]
    return f"{markup.markdown_table(heads, rows)}\n\nThe simulator against {title}."


def write(
    done: Sequence[Validation], engine: str, planned: Mapping[str, Experiment], folder: Folder
) -> Path:
    """Writes the page with a section for each grid and its figures, beside the table."""
    keep(done, engine, planned, folder)
    title = f"The simulator against {_TITLES[engine]}"
    sections = [_section(validation, _TITLES[engine], folder) for validation in done]
    return report.write_last(folder, title, sections, about(engine, planned))


def about(engine: str, planned: Mapping[str, Experiment]) -> dict[str, Any]:
    return {
        "engine": f"sim and {engine}",
        "grids": {
            name: {"hashes": [job.scenario.hash for job in grid_plan.jobs], "runs": grid_plan.runs}
            for name, grid_plan in planned.items()
        },
    }


def _section(validation: Validation, other: str, folder: Folder) -> report.Section:
    name = f"validation-{validation.name}"
    limits = (validation.grid.close, validation.grid.far)
    title = f"{validation.name}: {validation.grid.says}"
    draw = partial(ratios, validation.points, _DRAWN, title, other, limits)
    picture = report.figure(folder, name, draw)
    keys = [
        key for key in (*validation.grid.keys[1:], "way") if validation.points[key].n_unique() > 1
    ]
    table = report.Table(
        name, validation.grid.seeds, _for_table(validation.points), [*keys, "reason"], _SHOWN
    )
    return report.Section(
        validation.name, f"{validation.grid.says}. {validation}", picture, [table]
    )


def _for_table(points: pl.DataFrame) -> pl.DataFrame:
    """Adds the columns that a report's table needs: the flow, and empty intervals."""
    halves = [pl.lit(math.nan).alias(f"{column}_ci95") for column in _SHOWN]
    return points.with_columns(pl.lit("").alias("flow"), *halves)
