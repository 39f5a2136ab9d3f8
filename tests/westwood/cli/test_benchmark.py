# SPDX-License-Identifier: BSD-3-Clause
"""`evaluate --suite benchmark`: its table, a row alone, its folder, the frontier."""

import json
import shlex

import polars as pl
import pytest

from westwood import Scenario
from westwood.errors import RunError
from westwood.evaluation import running
from westwood.results.folder import Folder

QUICK = ("--suite", "benchmark", "--seed", "104", "--paths", "4")


def test_the_table_fits_80_columns_and_each_row_alone_is_the_same(westwood):
    done = westwood("evaluate", "westwood+", "--only", "clean,point,mixed", *QUICK)
    lines = done.out.splitlines()
    assert (done.code, done.err) == (0, "")
    assert max(map(len, lines)) <= 80
    (row,) = (line for line in lines if line.startswith("  point-lossy"))
    command = lines[lines.index("A criterion alone:") + 1]

    words = shlex.split(command.replace("NAME", "point-lossy"))[1:]
    alone = westwood(*words).out.splitlines()

    (same,) = (line for line in alone if line.startswith("  point-lossy"))
    assert same.split() == row.split()
    assert "at least 8" in row and row.endswith(("fails", "cannot tell"))


def test_json_has_every_number_and_the_command_with_its_settings(westwood):
    words = ("evaluate", "westwood+", "--set", "cc.filter=none", "--only", "loss", *QUICK)
    (answers,) = json.loads(westwood(*words, "--json").out)["answers"].values()
    names = ["loss-median", "loss-tenth", "loss-binds", "loss-share"]
    assert [reply["criterion"] for reply in answers] == names
    for reply in answers:
        assert reply["command"].startswith("westwood evaluate westwood+ --set cc.filter=none ")
        assert "--paths 4 --seed 104" in reply["command"]


def test_without_a_folder_the_answers_are_printed_and_nothing_is_kept(westwood, tmp_path):
    done = westwood("evaluate", "veno", "--only", "point-clean", *QUICK)
    assert (done.code, done.err) == (0, "") and "point-clean" in done.out
    assert {path.name for path in tmp_path.iterdir()} <= {"state"}


def test_a_folder_has_the_runs_and_the_worst_paths(westwood, tmp_path):
    westwood("evaluate", "veno", "--only", "clean-tenth", *QUICK, "--out", "out").printed()
    rows = pl.read_parquet(tmp_path / "out" / "runs.parquet")
    assert rows.height == 8 and set(rows["control"]) == {"veno", "cubic"}
    ratios = (
        rows.pivot("control", index="case", values="goodput_bps")
        .with_columns(ratio=pl.col("veno") / pl.col("cubic"))
        .sort("ratio")
    )
    worst = Scenario.from_toml(tmp_path / "out" / "scenarios" / "1-clean-tenth.toml")
    path = rows.filter(pl.col("case") == ratios["case"][0])
    assert worst.link[0].rate == path["rate_bps"][0] and worst.flow[0].cc.name == "veno"


def test_a_folder_that_takes_no_files_is_told_before_the_first_run(westwood, monkeypatch):
    monkeypatch.setattr(running, "run_jobs", lambda *_, **__: pytest.fail("it ran"))
    done = westwood("evaluate", "cubic", "--only", "clean", *QUICK, "--out", "/proc/x").refusal()
    assert done.startswith('westwood: --out = "/proc/x": can\'t be written: ')


def test_a_disk_that_is_full_at_the_end_does_not_take_a_run(westwood, monkeypatch):
    def full(*_: object):
        raise RunError("out/runs.parquet: can't be written: No space left on device")

    words = ("run", "table1", "--set", "duration=2s", "--seeds", "2")
    table = westwood(*words).out
    monkeypatch.setattr(Folder, "frame", full)
    done = westwood(*words, "--out", "out")
    assert (done.code, done.out) == (1, table)
    assert done.err == "westwood: out/runs.parquet: can't be written: No space left on device\n"


def test_the_frontier_draws_each_control_and_each_value_of_a_setting(westwood, tmp_path):
    more = ("--vary", "westwood+:filter=none,tustin", "--out", "out")
    printed = westwood(
        "evaluate", "cubic", "--only", "beside-kept,loss-binds", *more, *QUICK
    ).printed()
    heads = printed.splitlines()[:3]
    assert [head.partition(":")[0] for head in heads] == [
        "cubic",
        "westwood+ (filter=none)",
        "westwood+ (filter=tustin)",
    ]
    assert (tmp_path / "out" / "benchmark.png").stat().st_size > 10_000
