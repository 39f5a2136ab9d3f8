# SPDX-License-Identifier: BSD-3-Clause
"""evaluate, validate and reproduce have the same options, with the same meaning."""

import json
from dataclasses import fields

import polars as pl
import pytest
import small_studies
import typer.main

from westwood.cli.commands import app
from westwood.cli.judging import Judging
from westwood.engines.simulator import SIMULATOR
from westwood.experiments import cluster
from westwood.papers import reproduce

COMMANDS = ("evaluate", "validate", "reproduce")
SMALL = {
    "evaluate": ("evaluate", "reno", "--only", "low-rate", "--quick"),
    "validate": ("validate", "--only", "first"),
    "reproduce": ("reproduce", "fig11"),
}


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    small_studies.shrink(monkeypatch.setattr, "")


def options(command):
    """Returns, by name, the options of a command that the three commands share."""
    group = typer.main.get_command(app)
    shared = {field.name for field in fields(Judging)}
    return {param.name: param for param in group.commands[command].params if param.name in shared}


def test_the_three_have_ten_options_in_common():
    assert {"set_", "only", "seed", "engine", "workers", "dask", "resume", "json", "markdown"} < {
        field.name for field in fields(Judging)
    }
    first, *others = (options(command) for command in COMMANDS)
    for other in others:
        assert {name: param.opts for name, param in first.items()} == {
            name: param.opts for name, param in other.items()
        }


@pytest.mark.parametrize("command", COMMANDS)
def test_each_prints_one_object_or_text_for_a_pull_request(command, westwood):
    done = westwood(*SMALL[command], "--out", "out", "--json")
    assert done.code == 0 and json.loads(done.out), done.err
    done = westwood(*SMALL[command], "--out", "again", "--markdown")
    assert done.code == 0 and done.out.splitlines()[1].startswith("| --- |")
    both = westwood(*SMALL[command], "--json", "--markdown").refusal()
    assert both == "westwood: --markdown: has no effect with --json\n"


@pytest.mark.parametrize(
    ("words", "file"),
    [
        ("validate --only first --set duration=2s", "validation.csv"),
        ("reproduce fig5 --seeds 1 --set duration=2s", "data/fig5.csv"),
    ],
)
def test_another_seed_set_and_another_setting_make_other_runs(words, file, westwood):
    tables = set()
    for more in ("", "--seed 2", "--set duration=3s"):
        folder = more.replace(" ", "") or "first"
        westwood(*words.split(), "--out", folder, *more.split()).printed()
        tables.add(pl.read_csv(f"{folder}/{file}").write_csv())
    assert len(tables) == 3


def test_a_claim_alone_is_judged_with_its_experiment():
    chosen = reproduce.select("all", ["mobicom.fairness_red", "fig11"])
    assert {name: study.claims for name, study in chosen.studies.items()} == {
        "fig11": ("ns3.fig11.ack_compression",),
        "fairness": ("mobicom.fairness_red",),
    }


def test_two_seed_sets_share_no_seed():
    first, second = (
        {seed for job in reproduce.select("fig5", seed_set=number).experiments["fig5"].jobs
         for seed in job.seeds}
        for number in (1, 2)
    )  # fmt: skip
    assert len(first) == len(second) and not first & second


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("validate --set duration=3", "westwood: duration = 3: expected a time such as"),
        ("validate --set rate=3", "rate"),
        ("validate --seed 3000", "westwood: --seed = 3000: expected 1 to 2000"),
    ],
)
def test_wrong_options_are_one_line(words, problem, westwood):
    assert problem in westwood(*words.split()).refusal()


def test_a_cluster_also_computes_what_an_observer_reads():
    """It once returned rows without these columns, and a criterion of them was NaN."""
    selection = reproduce.select("fig11", settings={"duration": "3s"})
    job = selection.experiments["ack-compression"].jobs[0]
    ((version, parts),) = cluster._tasks([job])
    ((_, rows), *_) = cluster.run_task("sim", version, parts)
    here = SIMULATOR.prepare(job)(job.seeds[0])
    columns = set(here[0]) - {"cpu_s", "wall_s"}
    assert job.more_columns and set(rows[0]) == set(here[0])
    assert all(str(rows[0][name]) == str(here[0][name]) for name in columns)
