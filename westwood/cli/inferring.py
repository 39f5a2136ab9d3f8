# SPDX-License-Identifier: BSD-3-Clause
"""The option `reproduce --infer`: finds the settings that a paper may have used."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from westwood.cli.control_tune import runner

if TYPE_CHECKING:
    from westwood.papers.infer.report import InferenceReport

OUT = Path("inferred")  # the default; has a folder for each paper
SETTINGS = 2000  # tried by default


def infer(
    paper: str,
    *,
    settings: int,
    seed: int,
    resume: bool,
    dask: str | None,
    workers: int | None,
    out: Path | None,
) -> None:
    """Searches the settings that a paper leaves open, and prints the results for its claims."""
    from westwood import extras

    extras.need("optuna", "reproduce --infer")
    from westwood.cli import console, streams
    from westwood.engines.pool import check_workers
    from westwood.papers.infer import space, study
    from westwood.results.folder import Folder

    check_workers(workers, "--workers")
    open_ = space.of(paper)
    out = out or OUT / paper
    with runner(dask, workers) as run:
        folder = Folder(out, tell=streams.say)
        began, busy = time.monotonic(), time.process_time()
        report, runs = study.run(
            open_,
            folder,
            settings=settings,
            seed=seed,
            resume=resume,
            run_jobs=run,
            track=console.track,
        )
    if runs:
        took = f"{time.monotonic() - began:.0f} s, {time.process_time() - busy:.0f} s of a core"
        streams.say(f"{runs} runs in {took}")
    _print(report)
    print(out / "papers.md")


def _print(report: InferenceReport) -> None:
    from westwood.cli import tables

    heads = ("claim", "profile", "inferred", "all settings")
    rows = tuple(
        (claim, *(verdict.claim for verdict in report.verdicts(claim)), report.elsewhere(claim))
        for claim, row in report.claims.items()
    )
    count, held = len(report.claims), report.holding("inferred")
    title = f"{report.paper}: {held} of {count} hold in one of {report.settings} settings:"
    tables.print_texts(tables.Cells(heads, rows), title)
    differs = report.open.differs(report.inferred)
    print("That setting has otherwise than the profile:" if differs else "It is the profile.")
    for key, value in differs.items():
        print(f"  {report.what(key)}: {value}")
