# SPDX-License-Identifier: BSD-3-Clause
"""A sweep that is killed, refused or out of space loses no finished run, and repeats none."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
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


def sweep_command(file: Path, out: Path, *options: str) -> list[str]:
    """Starts a sweep as a separate process that a test may kill."""
    return [sys.executable, "-m", "westwood", "sweep", str(file), "--out", str(out), *options]


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


def written(folder: Path) -> int:
    """Returns how many bytes the journal has so far."""
    with contextlib.suppress(FileNotFoundError):  # it is not begun, or has become a part
        return (folder / "journal.jsonl").stat().st_size
    return 0


def test_a_sweep_killed_many_times_ends_with_the_same_bytes(swept_file, tmp_path):
    """Each kill follows shortly after a write, on slow machines as on fast ones."""

    def command(out: str, *more: str) -> list[str]:
        # Runs of a few milliseconds, so that kills hit runs in progress.
        long = ("--seeds", "150", "--set", "duration=600s")
        return sweep_command(swept_file, tmp_path / out, *long, *more)

    whole = subprocess.run(command("whole"), capture_output=True, text=True)
    assert whole.returncode == 0, whole.stderr
    folder, before, kills = tmp_path / "killed", set[tuple[int, int]](), 0
    chance = random.Random(1)
    for attempt in range(3):
        files = written(folder)
        process = subprocess.Popen(
            command("killed", *(["--resume"] if (folder / "sweep.json").exists() else [])),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        while process.poll() is None and written(folder) == files:
            time.sleep(0.01)
        try:
            _, errors = process.communicate(timeout=0.4 * chance.random())
            assert process.returncode == 0, errors
            break
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.communicate()
            kills += 1
        on_disk = keys_on_disk(folder)
        assert len(on_disk) == len(set(on_disk)), f"attempt {attempt}: a run was repeated"
        if (folder / "runs.parquet").exists():  # it was killed while cleaning up
            on_disk += pl.read_parquet(folder / "runs.parquet").select("point", "seed").rows()
        assert before <= set(on_disk), f"attempt {attempt}: a finished run is lost"
        before = set(on_disk)
    else:
        subprocess.run(command("killed", "--resume"), check=True, capture_output=True)
    assert kills >= 2 and before, "too fast to be killed: make the sweep longer"
    assert (folder / "runs.parquet").read_bytes() == (
        tmp_path / "whole" / "runs.parquet"
    ).read_bytes()
    assert not list(folder.glob("journal*")) and not (folder / "parts").exists()
    assert json.loads((folder / "manifest.json").read_text())["complete"]


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


def test_two_sweeps_in_one_folder_refuse_each_other(swept_file, westwood):
    planned = experiment.plan(Scenario.from_toml(swept_file), seeds=2)
    folder = swept_file.parent / "s"
    with sweep.SweptRuns(Folder(folder), planned).opened(resume=False):
        called = westwood("sweep", swept_file, "--seeds", "2", "--out", "s", "--resume")
    assert called.code == 2
    assert called.err == (
        'westwood: --out = "s": another westwood is writing into it, expected another folder\n'
    )
    assert westwood("sweep", swept_file, "--seeds", "2", "--out", "s", "--resume").code == 0


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
