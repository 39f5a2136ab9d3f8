# SPDX-License-Identifier: BSD-3-Clause
"""A sweep keeps its runs in parts, repeats none, and takes no run of another."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tracked import everything

from westwood.errors import Interrupted
from westwood.experiments import experiment, sweep
from westwood.results import journal
from westwood.results.folder import Folder
from westwood.scenario import Scenario

SWEPT = '[sweep]\n"bottleneck.loss.rate" = [0.001, 0.01]\n"tcp.cc" = ["reno", "westwood+"]\n'


@pytest.fixture
def swept_file(small_file) -> Path:
    small_file.write_text(small_file.read_text(encoding="utf-8") + SWEPT, encoding="utf-8")
    return small_file


def keys_on_disk(folder: Path) -> list[tuple[int, int]]:
    """Lists every finished run on disk, with repetitions but without torn lines."""
    keys = []
    for part in folder.glob("parts/*.parquet"):
        keys += pl.read_parquet(part).select("point", "seed").unique().rows()
    file = folder / "journal.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True) if file.exists() else []
    for line in lines:
        if line.endswith("\n"):
            run = json.loads(line)
            keys.append((run["point"], run["seed"]))
    return keys


def test_a_kill_before_the_parts_are_removed_repeats_no_run(swept_file, tmp_path):
    planned = experiment.plan(Scenario.from_toml(swept_file), seeds=3)
    folder = tmp_path / "s"
    rows = sweep.run(planned, Folder(folder), track=everything)
    Folder(folder).frame("parts/000001.parquet", rows)
    assert sweep.run(planned, Folder(folder), resume=True, track=everything).equals(rows)


def test_parts_and_a_journal_hold_the_same_as_one_journal(swept_file, tmp_path, monkeypatch):
    planned = experiment.plan(Scenario.from_toml(swept_file), seeds=10)
    journaled = sweep.run(planned, Folder(tmp_path / "one"), track=everything)
    monkeypatch.setattr(sweep, "_A_PART", 7)

    def stop_at_30(runs: Any, total: int) -> Any:
        for count, run in enumerate(runs):
            if count == 30:
                raise KeyboardInterrupt
            yield run

    folder = tmp_path / "two"
    with pytest.raises(Interrupted, match=r"interrupted; 30 of 40 runs are kept in "):
        sweep.run(planned, Folder(folder), track=stop_at_30)
    assert len(list(folder.glob("parts/*.parquet"))) == 4
    assert len(keys_on_disk(folder)) == 30
    # The sweep looks as if it was killed between writing a part and removing its journal.
    last = sorted(folder.glob("parts/*.parquet"))[-1]
    rows = pl.read_parquet(last)
    run = {"point": rows["point"][0], "seed": rows["seed"][0], "rows": rows.head(1).to_dicts()}
    line = journal.line_of(run)
    with (folder / "journal.jsonl").open("ab") as file:
        file.write(line + line[:20])
    assert sweep.run(planned, Folder(folder), resume=True, track=everything).equals(journaled)
    assert (folder / "runs.parquet").read_bytes() == (tmp_path / "one/runs.parquet").read_bytes()


def test_a_finished_sweep_has_nothing_left_to_do(swept_file, tmp_path):
    planned = experiment.plan(Scenario.from_toml(swept_file), seeds=3)
    sweep.run(planned, Folder(tmp_path / "s"), track=everything)
    ran: list[int] = []

    def count(runs: Any, total: int) -> Any:
        ran.append(total)
        return runs

    sweep.run(planned, Folder(tmp_path / "s"), resume=True, track=count)
    assert sum(ran) == 0
    more = experiment.plan(Scenario.from_toml(swept_file), seeds=5)
    sweep.run(more, Folder(tmp_path / "s"), resume=True, track=count)
    assert sum(ran) == 4 * 2, "only the seeds that are new"


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("flow", "other"),
        ("cc", "cubic"),
        ("engine", "ns3"),
        ("scenario", "0" * 64),
        ("bottleneck.loss.rate", 0.5),
        ("goodput_bps", None),
    ],
)
def test_a_run_on_disk_that_does_not_fit_the_sweep_is_repeated(column, value, swept_file, tmp_path):
    planned = experiment.plan(Scenario.from_toml(swept_file), seeds=2)
    rows = sweep.run(planned, Folder(tmp_path / "s"), track=everything)
    is_first = (pl.col("point") == 0) & (pl.col("seed") == 1)
    changed = pl.when(is_first).then(pl.lit(value)).otherwise(pl.col(column)).alias(column)
    Folder(tmp_path / "s").frame("runs.parquet", rows.with_columns(changed))
    told: list[str] = []
    folder = Folder(tmp_path / "s", tell=told.append)
    assert sweep.run(planned, folder, resume=True, track=everything).equals(rows)
    assert told == [f"{tmp_path / 's' / 'runs.parquet'}: has runs of another sweep (1)"]


def test_precision_adds_seeds_where_the_interval_is_wide(swept_file, tmp_path):
    planned = experiment.plan(Scenario.from_toml(swept_file), seeds=5)
    wanted = sweep.Precision(0.04, most=200)
    rows = sweep.run(planned, Folder(tmp_path / "s"), precision=wanted, track=everything)
    summary = experiment.summary(planned, rows)
    for row in summary.iter_rows(named=True):
        narrow = row["goodput_bps_ci95"] <= 0.04 * row["goodput_bps"]
        assert narrow or row["runs"] == 200
    runs = summary["runs"].to_list()
    assert min(runs) < max(runs), "more only where it is needed"
    again = sweep.run(
        planned, Folder(tmp_path / "s"), resume=True, precision=wanted, track=everything
    )
    assert again.equals(rows)
    manifest = json.loads((tmp_path / "s" / "manifest.json").read_text())
    assert sum(manifest["runs_a_point"]) == rows.height


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (
            ["--resume", "--set", "duration=9s"],
            '--out = "s": holds another sweep: scenario, settings or protocols differ',
        ),
        ([], '--out = "s": holds a sweep, expected --resume or a new folder'),
    ],
)
def test_a_folder_of_another_sweep_is_reported_in_one_line(options, problem, swept_file, westwood):
    assert westwood("sweep", swept_file, "--seeds", "2", "--out", "s").code == 0
    before = (swept_file.parent / "s" / "runs.parquet").read_bytes()
    called = westwood("sweep", swept_file, "--seeds", "2", "--out", "s", *options).refusal()
    assert called.startswith(f"westwood: {problem}")
    assert (swept_file.parent / "s" / "runs.parquet").read_bytes() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_an_unwritable_folder_is_reported_in_one_line(swept_file, tmp_path, westwood):
    (tmp_path / "s").mkdir(mode=0o500)
    called = westwood("sweep", swept_file, "--out", tmp_path / "s")
    assert called.code == 1 and called.err.count("\n") == 1
