# SPDX-License-Identifier: BSD-3-Clause
"""What `measure` does with a campaign's uploads: print their table, write their page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from westwood.campaign import page
from westwood.campaign.measure import Outcome, trace_file
from westwood.campaign.plan import Plan
from westwood.catalogue import label
from westwood.cli import console
from westwood.errors import Interrupted, RunError
from westwood.results.store import Folder


def deliver(plan: Plan, outcome: Outcome, folder: Folder, *, json: bool) -> Path:
    """Prints the table and writes the page; its path."""
    if outcome.rows.is_empty():
        check_complete(plan, outcome, folder.path)
    found = page.sessions(outcome.rows, plan.baseline)
    if json:
        console.print_json(outcome.rows, found, name="uploads")
    else:
        title = f"{plan.name}: gain over {label(plan.baseline)}, with 95 % intervals"
        console.print_frame(page.table(found, plan.baseline), page.HEADS, title)

    def trace_of(row: Mapping[str, Any]) -> pl.DataFrame | None:
        file = folder.path / trace_file(row)
        return pl.read_parquet(file) if file.exists() else None

    return page.write(outcome.rows, plan.baseline, plan.name, plan.settings(), folder,
                          trace_of, complete=outcome.complete)  # fmt: skip


def check_complete(plan: Plan, outcome: Outcome, out: Path) -> None:
    """Interrupted, or RunError that names the targets that went away, unless all was done."""
    if outcome.complete:
        return
    rest = f"--resume --out {out} goes on where it stopped"
    if not outcome.away:
        raise Interrupted(f"interrupted; {rest}")
    away = "; ".join(f"target {name} was left out: {why}" for name, why in outcome.away.items())
    raise RunError(f"{away}; {rest}")
