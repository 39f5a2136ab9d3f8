# SPDX-License-Identifier: BSD-3-Clause
"""`control benchmark`: its table, its row alone, its folder, the frontier, its mistakes."""

import json
import shlex
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import polars as pl
import pytest

from westwood import Scenario
from westwood.errors import RunError
from westwood.evaluation.benchmark import judging
from westwood.results.folder import Folder

Westwood = Callable[..., Any]
QUICK = ("--seed", "104", "--paths", "4")


def test_the_table_fits_80_columns_and_each_row_alone_is_the_same(westwood):
    called = westwood(
        "control", "benchmark", "--cc", "westwood+", "--only", "clean,point,mixed", *QUICK
    )
    lines = called.out.splitlines()
    assert (called.code, called.err) == (0, "")
    assert max(map(len, lines)) <= 80
    (row,) = (line for line in lines if line.startswith("point-lossy"))
    command = lines[lines.index("A row alone:") + 1]

    words = shlex.split(command)[1:]
    alone = westwood(*words[:-1], "point-lossy").out.splitlines()

    (same,) = (line for line in alone if line.startswith("point-lossy"))
    assert same.split() == row.split()
    assert row.split()[-1] in ("missed", "missed?") and ">=8" in row


def test_json_has_every_number_and_workers_decide_none(westwood):
    arguments = (
        "control",
        "benchmark",
        "--cc",
        "westwood+",
        "--set",
        "cc.filter=none",
        "--only",
        "loss",
        *QUICK,
    )
    one = westwood(*arguments, "--json", "--workers", 1).out
    assert one == westwood(*arguments, "--json", "--workers", 3).out
    (rows,) = json.loads(one).values()
    assert [row["row"] for row in rows] == ["loss-median", "loss-tenth", "loss-binds", "loss-share"]
    for row in rows:
        assert row["command"].startswith(
            "westwood control benchmark --cc westwood+ --set cc.filter=none "
        )
        assert (
            row["bound"] is None
            or row["value"] is None
            or (row["reached"] is (row["value"] >= row["bound"]))
        )


def test_a_folder_has_table_runs_and_the_worst_paths(westwood, tmp_path):
    called = westwood(
        "control", "benchmark", "--cc", "veno", "--only", "clean-tenth", *QUICK, "--out", "out"
    )
    assert called.code == 0
    out = tmp_path / "out"
    assert (out / "table.txt").read_text() == called.out
    rows = pl.read_parquet(out / "runs.parquet")
    assert rows.height == 8 and set(rows["control"]) == {"veno", "cubic"}
    ratios = (
        rows.pivot("control", index="case", values="goodput_bps")
        .with_columns(ratio=pl.col("veno") / pl.col("cubic"))
        .sort("ratio")
    )
    worst = Scenario.from_toml(out / "worst" / "1-clean-tenth-1.toml")
    path = rows.filter(pl.col("case") == ratios["case"][0])
    assert worst.link[0].rate == path["rate_bps"][0] and worst.flow[0].cc.name == "veno"
    assert json.loads((out / "manifest.json").read_text())["complete"] is True


def test_a_folder_that_takes_no_files_is_told_before_the_first_run(westwood, monkeypatch):
    monkeypatch.setattr(judging, "run_jobs", lambda *_, **__: pytest.fail("it ran"))
    called = westwood(
        "control", "benchmark", "--cc", "cubic", "--only", "clean", *QUICK, "--out", "/proc/x"
    )
    assert (called.code, called.out) == (2, "")
    assert called.err.startswith('westwood: --out = "/proc/x": can\'t be written: ')


@pytest.mark.parametrize(
    "words",
    [
        ("control", "benchmark", "--cc", "veno", "--only", "point-clean", *QUICK),
        ("run", "table1", "--set", "duration=2s", "--seeds", "2"),
    ],
)
def test_a_disk_that_is_full_at_the_end_does_not_take_the_table(words, westwood, monkeypatch):
    def full(*_: object) -> None:
        raise RunError("out/runs.parquet: can't be written: No space left on device")

    table = westwood(*words).out
    monkeypatch.setattr(Folder, "frame", full)
    called = westwood(*words, "--out", "out")
    assert (called.code, called.out) == (1, table)
    assert called.err == "westwood: out/runs.parquet: can't be written: No space left on device\n"


def test_the_frontier_draws_each_control_with_a_name_of_its_own(westwood, tmp_path):
    """A setting stands below the name of the control that it is of."""
    more = ("--vary", "westwood+:filter=none", "--vary", "westwood:filter=none")
    called = westwood(
        "control", "benchmark", "--frontier", "--cc", "cubic", *more, *QUICK, "--figure", "f.png"
    )
    assert called.code == 0 and called.out.endswith("f.png\n")
    lines = called.out.splitlines()
    assert max(map(len, lines)) <= 80
    whose = [before.split()[0] for before, line in pairwise(lines) if line == "  filter = none"]
    assert whose == ["Westwood+", "Westwood"]
    assert any(line.startswith("CUBIC ") for line in lines)
    assert (tmp_path / "f.png").stat().st_size > 10_000
