# SPDX-License-Identifier: BSD-3-Clause
"""Prints the table of a campaign's uploads and writes their page, for `path campaign`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from westwood.campaign import page
from westwood.campaign.measure import Measurement, trace_file
from westwood.campaign.plan import CampaignPlan
from westwood.cli import console
from westwood.control.catalogue import label
from westwood.errors import RunError
from westwood.results.folder import Damaged, Folder
from westwood.results.store import interrupted


def deliver(plan: CampaignPlan, measurement: Measurement, folder: Folder, *, json: bool) -> Path:
    """Prints the table, writes the page and returns its path."""
    if measurement.rows.is_empty():
        check_complete(measurement, folder.path)
    session_means = page.session_means(measurement.rows, plan.baseline)
    if json:
        rows = measurement.rows.iter_rows(named=True)
        console.print_json(rows, session_means.iter_rows(named=True), name="uploads")
    else:
        title = f"{plan.name}: gain over {label(plan.baseline)}, with 95 % intervals"
        console.print_frame(page.table(session_means, plan.baseline), page.HEADS, title)

    def trace_of(row: Mapping[str, Any]) -> pl.DataFrame | None:
        name = trace_file(row)
        if not (folder.path / name).exists():
            return None
        try:
            return folder.read_frame(name)
        except Damaged as error:
            folder.tell(f"{error}; its figure is left out")
            return None

    return page.write(
        measurement.rows,
        plan.baseline,
        plan.name,
        plan.settings(),
        folder,
        trace_of,
        complete=measurement.complete,
    )


def check_interrupted(measurement: Measurement, folder: Folder) -> None:
    """Raises Resumable if the user ended the campaign."""
    if not measurement.complete and not measurement.away:
        raise interrupted(folder, f"{measurement.rows.height} uploads")


def check_complete(measurement: Measurement, out: Path) -> None:
    """Raises RunError if targets became unreachable."""
    if measurement.away:
        why = measurement.away.items()
        away = "; ".join(f"target {name} was left out: {what}" for name, what in why)
        raise RunError(f"{away}; finished uploads are in {out}; continue with --resume --out {out}")
