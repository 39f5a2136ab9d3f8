# SPDX-License-Identifier: BSD-3-Clause
"""Runs a planned experiment for `run` and `compare`: writes, prints and draws it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from westwood import stopping
from westwood.cli import console, figures, streams
from westwood.cli.pairs import print_pairs
from westwood.control.loading import is_file
from westwood.engines.contract import Engine
from westwood.engines.pool import check_workers
from westwood.engines.resources import format_bytes
from westwood.errors import Interrupted
from westwood.experiments import experiment
from westwood.experiments.experiment import LISTED, Collected, Experiment, Tracker
from westwood.experiments.pairs import pairs
from westwood.results.columns import Row
from westwood.results.folder import Folder
from westwood.results.kinds import ResultKind
from westwood.results.rows import losing_links
from westwood.scenario.summary import summarise
from westwood.units import PS_PER_S

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure


def carry_out(
    planned: Experiment,
    workers: int | None,
    out: Path | None,
    *,
    figure: figures.Wanted | None,
    json: bool,
    engine: Engine,
    yes: bool,
    over_time: bool = False,
    shown_s: tuple[float, float] | None = None,
    listed: bool = False,
) -> None:
    """Runs the plan, writes the requested files and prints the summary.

    `listed`: the engine replaces random losses by lists, which the folder then holds.
    """
    check_workers(workers, "--workers")
    engine.check(planned.jobs)
    remarks = [remark for job in planned.jobs for remark in engine.remarks(job.scenario)]
    for remark in dict.fromkeys(remarks):
        streams.say(remark)
    folder = Folder(out, kind=ResultKind.RUN) if out else None
    count = engine.workers if workers is None else workers
    track = tracker(engine, planned, count, yes=yes)
    traces = _traced(planned, engine, track, figure, yes=yes) if figure and over_time else []
    if folder:
        about = {**planned.manifest(engine.name), **({"listed_losses": True} if listed else {})}
        folder.manifest(about, complete=False)
        if listed:
            _write_listed(folder, planned)
    collected = experiment.collect(planned, engine, workers=count, track=track)
    if not collected.runs:
        raise Interrupted("interrupted; no run was finished")
    try:
        if folder:
            with stopping.keeping():
                _write(folder, planned, collected, traces)
                folder.manifest(about, complete=collected.complete)
    finally:  # even if the disk is full
        _print(planned, collected, json=json)
    if not collected.complete:
        raise interrupted(folder)
    if figure:
        output = (
            _over_time(planned, traces, shown_s)
            if over_time
            else _compared(planned, experiment.summary(planned, collected.rows), figure.by)
        )
        name = planned.scenario.name
        path = figure.save(output, folder, name if over_time else f"{name}-compare")
        print(path, file=sys.stderr if json else sys.stdout)
    if folder and not json:
        streams.next_step(f"westwood report {shlex.quote(str(folder.path))}")


def _traced(
    planned: Experiment, engine: Engine, track: Tracker, figure: figures.Wanted, *, yes: bool
) -> list[tuple[str, str, pl.DataFrame]]:
    experiment.check_traces(planned, figure.option)
    return experiment.traces(planned, engine, track, check_resources=not yes)


def _print(planned: Experiment, collected: Collected, *, json: bool) -> None:
    title = _title(planned)
    if not collected.complete:
        done = f"interrupted after {len(collected.runs)} of {collected.planned} runs"
        title = f"{planned.scenario.name}: {done}"
    means = experiment.table(planned, collected.even_rows)
    compared = pairs(planned, collected.even_rows)
    print_summary(planned, collected.even_rows, means, compared, title, json=json)


def _compared(planned: Experiment, summary: pl.DataFrame, by: str | None) -> Figure:
    from westwood.experiments import summary_plots

    keys = [key for key in planned.varied if key in summary.columns]
    return summary_plots.draw(summary, keys, "goodput_bps", _title(planned), by)


def _over_time(
    planned: Experiment, traces: list[Any], shown_s: tuple[float, float] | None
) -> Figure:
    from westwood.draw.over_time import TracedRun, over_time

    scenario = planned.scenario
    summary = summarise(scenario, planned.varied)
    whole_s = (0.0, scenario.duration / PS_PER_S)
    return over_time(
        [TracedRun(*trace) for trace in traces],
        f"{scenario.name}: {summary}, seed 1",
        whole_s,
        shown_s,
    )


def print_summary(
    planned: Experiment,
    rows: Iterable[Row],
    summary: Sequence[Row],
    compared: Sequence[Row],
    title: str,
    *,
    json: bool,
) -> None:
    """Prints means over the seeds and paired differences as tables, or with all rows as JSON."""
    if json:
        console.print_json(rows, summary, pairs=compared)
        return
    keys = [key for key in planned.varied if key in summary[0]]
    console.print_summary(summary, keys, title, losing_links(planned.scenario, summary))
    print_pairs(compared, keys, names_flow=len({row["flow"] for row in summary}) > 1)


def tracker(engine: Engine, planned: Experiment, workers: int | None, *, yes: bool) -> Tracker:
    """Returns the progress display.

    Raises InputError if they need more memory than there is, unless `yes`.
    """
    if engine.real_time:
        return console.track
    needed = experiment.estimate_resources(planned, engine, workers, check_resources=not yes)
    return partial(console.track, about_memory=format_bytes(needed.memory_bytes))


def interrupted(folder: Folder | None) -> Interrupted:
    """Returns the error that says what was kept when the user interrupted."""
    kept = f"finished runs are in {folder.path}" if folder else "the table is of finished runs"
    return Interrupted(f"interrupted; {kept}")


def _title(planned: Experiment) -> str:
    scenario = planned.scenario
    runs = (
        f"mean of {scenario.seeds} runs, 95 % intervals"
        if scenario.seeds > 1
        else "one run, so no intervals"
    )
    return f"{scenario.name}: {summarise(scenario, planned.varied)}; {runs}"


def _write(folder: Folder, planned: Experiment, collected: Collected, traces: list[Any]) -> None:
    folder.texts(planned.files)
    folder.frame("runs.parquet", collected.rows)
    for number, (cc, _, trace) in enumerate(traces, start=1):
        name = Path(cc).name if is_file(cc) else cc
        folder.frame(f"traces/{number}-{name}-seed1.parquet", trace)


def _write_listed(folder: Folder, planned: Experiment) -> None:
    from westwood.engines.listed_losses import listed_scenarios

    for scenario in listed_scenarios(planned.jobs):
        folder.scenario(f"{LISTED}/{scenario.hash}", scenario)
