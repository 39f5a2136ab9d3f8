# SPDX-License-Identifier: BSD-3-Clause
"""Prints the table of a campaign's uploads and writes their page, for `measure`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from westwood.campaign import page
from westwood.campaign.measure import Measurement, trace_file
from westwood.campaign.plan import Plan
from westwood.catalogue import label
from westwood.cli import console
from westwood.errors import Interrupted, RunError
from westwood.results.folder import Folder


def deliver(plan: Plan, measurement: Measurement, folder: Folder, *, json: bool) -> Path:
    """Prints the table and writes the page; its path."""
    if measurement.rows.is_empty():
        check_complete(plan, measurement, folder.path)
    found = page.session_means(measurement.rows, plan.baseline)
    if json:
        console.print_json(measurement.rows, found, name="uploads")
    else:
        title = f"{plan.name}: gain over {label(plan.baseline)}, with 95 % intervals"
        console.print_frame(page.table(found, plan.baseline), page.HEADS, title)

    def trace_of(row: Mapping[str, Any]) -> pl.DataFrame | None:
        file = folder.path / trace_file(row)
        return pl.read_parquet(file) if file.exists() else None

    return page.write(
        measurement.rows,
        plan.baseline,
        plan.name,
        plan.settings(),
        folder,
        trace_of,
        complete=measurement.complete,
    )


def check_complete(plan: Plan, measurement: Measurement, out: Path) -> None:
    """Raises Interrupted, or RunError with the targets that went away, unless all was done."""
    if measurement.complete:
        return
    rest = f"--resume --out {out} goes on where it stopped"
    if not measurement.away:
        raise Interrupted(f"interrupted; {rest}")
    away = "; ".join(f"target {name} was left out: {why}" for name, why in measurement.away.items())
    raise RunError(f"{away}; {rest}")
