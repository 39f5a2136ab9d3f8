# SPDX-License-Identifier: BSD-3-Clause
"""What `run` and `compare` do with a planned experiment: run it, write it, print it, draw it."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

from westwood.cli import console
from westwood.engines.contract import Engine
from westwood.errors import Interrupted
from westwood.experiments import experiment
from westwood.experiments.experiment import Experiment, Outcome, Tracker
from westwood.results.store import Folder
from westwood.units import PS_PER_S


def carry_out(
    planned: Experiment, workers: int | None, out: Path | None, *, plot: str | bool, json: bool,
    engine: Engine,
) -> None:  # fmt: skip
    """Runs what is planned, writes what was asked for, prints the summary."""
    engine.check(planned.jobs)
    folder = Folder(out) if out else None
    count = engine.workers if workers is None else workers
    track = tracker(engine, planned, count)
    traces = experiment.traces(planned, engine, track) if plot == "over_time" else []
    if folder:
        folder.manifest(_manifest(planned, engine.name), complete=False)
    outcome = experiment.collect(planned, engine, workers=count, track=track)
    if outcome.rows.is_empty():
        raise interrupted(folder)
    summary = experiment.summary(planned, outcome.rows)
    keys = [key for key in planned.varied if key in summary.columns]
    if folder:
        _write(folder, planned, outcome, traces, engine.name)
    if json:
        console.print_json(outcome.rows, summary)
    else:
        title = _title(planned) if outcome.complete else f"{planned.scenario.name}: interrupted"
        console.print_summary(summary, keys, title)
    if plot:
        from westwood.draw.bars import summary_bars
        from westwood.draw.over_time import over_time
        from westwood.draw.style import save

        if plot == "bars":
            several = len(planned.scenario.flows)
            rows = list(summary.iter_rows(named=True))
            names = [(row["cc"], experiment.point_name(row, keys, several)) for row in rows]
            figure = summary_bars(names, summary, "goodput_bps", _title(planned))
        else:
            figure = over_time(traces, f"{planned.scenario.name}, seed 1")
        write = folder.file if folder else Folder.current().file
        path = save(figure, write, planned.scenario.name)
        print(path, file=sys.stderr if json else sys.stdout)
    if not outcome.complete:
        raise interrupted(folder)


def tracker(engine: Engine, planned: Experiment, workers: int | None) -> Tracker:
    """What shows the progress; of runs in real time it knows how long they take."""
    if not engine.real_time:
        return console.track
    seconds = [job.scenario.duration / PS_PER_S for job in planned.jobs]
    a_run_s = sum(seconds) / max(1, len(seconds))
    return partial(console.track_real_time, a_run_s=a_run_s, workers=workers or 1)


def interrupted(folder: Folder | None) -> Interrupted:
    """What to say when the user stopped it."""
    kept = f"; finished runs are in {folder.path}" if folder else ""
    return Interrupted(f"interrupted{kept}")


def _title(planned: Experiment) -> str:
    scenario = planned.scenario
    return (
        f"{scenario.name}: mean of {scenario.seeds} runs, 95 % intervals"
        if scenario.seeds > 1
        else f"{scenario.name}: one run"
    )


def _manifest(planned: Experiment, engine: str) -> dict[str, Any]:
    scenario = planned.scenario
    return {
        "engine": engine,
        "scenario": scenario.resolved(),
        "hashes": [job.scenario.hash for job in planned.jobs],
        "seeds": scenario.seeds,
    }


def _write(
    folder: Folder, planned: Experiment, outcome: Outcome, traces: list[Any], engine: str
) -> None:
    folder.text("scenario.toml", planned.scenario.to_toml())
    folder.frame("runs.parquet", outcome.rows)
    for number, (cc, _, trace) in enumerate(traces, start=1):
        folder.frame(f"traces/{number}-{cc}-seed1.parquet", trace)
    folder.manifest(_manifest(planned, engine), complete=outcome.complete)
