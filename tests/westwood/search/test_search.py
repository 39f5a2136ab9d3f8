# SPDX-License-Identifier: BSD-3-Clause
"""A search begins with the default, keeps the best trial, and repeats none that it has."""

import functools
import json
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from westwood.engines.contract import Job
from westwood.engines.pool import run_jobs
from westwood.engines.simulator import prepare
from westwood.results import journal
from westwood.results.folder import Folder
from westwood.scenario.paths import population
from westwood.search import page, space, study
from westwood.search.evaluation import PathTestSet
from westwood.search.result import Ablation, Search, SearchResult

SMALL = ("--paths", "30", "--packets", "1000")
VARY = ("filter", "alpha", "set_cwnd_on_loss")


def small(seed: int = 1, vary: tuple[str, ...] = VARY) -> Search:
    return Search("westwood+", space.parameters("westwood+", vary, {}), {}, 30, seed, 1000)


def track(finished: Any, total: int) -> Any:
    """Follows the steps as the command's progress does, which can't pass its total."""
    for done, step in enumerate(finished, start=1):
        assert done <= total
        yield step


def searched(
    folder: Path,
    trials: int = 12,
    *,
    asked: Search | None = None,
    resume: bool = False,
    ends: bool = False,
    track: Any = track,
) -> SearchResult:
    pool = functools.partial(run_jobs, prepare=prepare, workers=2)
    place = Folder(folder, tell=lambda line: None)
    return study.run(
        asked or small(), place, trials, resume=resume, run_jobs=pool, track=track, ends=ends
    )


def test_searching_paths_and_judging_paths_never_coincide():
    for seed in range(20):
        searching = PathTestSet.drawn("search", seed, 60, 1000)
        judging = PathTestSet.drawn("judge", seed, 60, 1000)

        assert {population.purpose_of(run) for _, run in searching.runs} == {"search"}
        assert {population.purpose_of(path) for _, path in judging.runs} == {"judge"}
        assert not {path.seed for _, path in searching.runs} & {
            path.seed for _, path in judging.runs
        }


def test_a_search_begins_with_the_default_and_keeps_its_best_trial(tmp_path):
    single = searched(tmp_path / "one")
    other = searched(tmp_path / "other", 1, asked=small(seed=2))

    assert single.trials[0] != other.trials[0]
    assert {k.key: k.default for k in single.search.parameters} == single.trials[0].values
    assert single.best.cost == min(trial.cost for trial in single.trials.values())
    assert single.best.cost < single.trials[0].cost  # the default is tried first
    rows = pl.read_parquet(tmp_path / "one" / "trials.parquet")
    assert rows["trial"].to_list() == list(range(12))
    assert rows["cost"].to_list() == [single.trials[n].cost for n in range(12)]


def test_resetting_an_unused_setting_costs_nothing(tmp_path):
    """The filter in use does not read the pole alpha."""
    parameters = space.parameters("westwood+", ("alpha", "set_cwnd_on_loss"), {"filter": "none"})
    asked = Search("westwood+", parameters, {"filter": "none"}, 30, 6, 1000)
    search_result = searched(tmp_path / "s", 4, asked=asked)

    assert "alpha" in {parameter.key for parameter in search_result.changed()}
    idle = {parameter.key: ablation for parameter, ablation in search_result.ablation()}["alpha"]
    assert (idle.effect, idle.low, idle.high) == (0, 0, 0)
    assert "alpha" not in {parameter.key for parameter in search_result.chosen()}
    assert json.loads((tmp_path / "s/best.json").read_text())["settings"]["filter"] == "none"


def test_the_ends_of_each_range_are_compared_with_the_best(tmp_path):
    parameters = space.parameters("westwood+", ("alpha=0.5:0.9", "sampler"), {})
    asked = Search("westwood+", parameters, {}, 30, 1, 1000)
    search_result = searched(tmp_path / "s", 1, asked=asked, ends=True)

    moved = {(parameter.key, end): effect for parameter, end, effect in search_result.end_effects()}
    assert set(moved) == {("alpha", 500), ("sampler", "per-ack"), ("sampler", "per-rtt-timer")}
    assert moved["alpha", 500].effect == 0  # Westwood+'s filter does not read this pole
    assert moved["sampler", "per-ack"].effect != 0
    again = searched(tmp_path / "s", 1, asked=asked, ends=True, resume=True)
    assert again.runs == 0 and again.end_effects() == search_result.end_effects()


def test_more_trials_can_be_requested_without_repeating_finished_ones(tmp_path):
    searched(tmp_path / "whole", trials=9)
    searched(tmp_path / "two", trials=1)
    searched(tmp_path / "two", trials=9, resume=True)
    assert (tmp_path / "two/best.json").read_bytes() == (tmp_path / "whole/best.json").read_bytes()

    again = searched(tmp_path / "two", trials=9, resume=True)
    assert again.runs == 0


def test_damaged_lines_of_a_journal_are_repeated(tmp_path):
    searched(tmp_path / "s", 6)
    whole = (tmp_path / "s/trials.parquet").read_bytes()
    file = tmp_path / "s" / "journal.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    other = {"trial": 3, "values": {"filter": "none"}, "targets": {}, "cost": 0.0}
    kept = [lines[0], b"x" + lines[1], *lines[2:5], journal.line_of(other), lines[6][:40]]
    file.write_bytes(b"".join(kept))

    searched(tmp_path / "s", 6, resume=True)
    assert (tmp_path / "s/trials.parquet").read_bytes() == whole


def test_runs_on_other_machines_give_the_same_trials(tmp_path):
    """Jobs run as on a cluster: from a scenario's text, and in another order."""
    from westwood.experiments import cluster

    def elsewhere(jobs: Any) -> Any:
        tasks = [cluster.run_task("sim", *task) for task in cluster._tasks(list[Job](jobs))]
        random.Random(1).shuffle(tasks)
        for task in tasks:
            yield from task

    searched(tmp_path / "here", trials=2)
    folder = Folder(tmp_path / "there")
    study.run(small(), folder, 2, resume=False, run_jobs=elsewhere, track=track)
    there, here = (tmp_path / name / "trials.parquet" for name in ("there", "here"))
    assert there.read_bytes() == here.read_bytes()


def test_the_command_prints_settings_and_targets(westwood, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    out = tmp_path / "s"
    chosen = ("--cc", "vegas", "--vary", "vegas_beta=4:20", "--set", "vegas_gamma=2")
    done = westwood("control", "tune", *chosen, *SMALL, "--trials", "6", "--out", out, "--plot")

    assert done.code == 0, done.err
    assert "Vegas: trial" in done.out and "CUBIC keeps" in done.out
    assert 'cc = { name = "vegas", vegas_gamma = 2' in done.out
    assert "runs in" in done.err and "a second" in done.err
    assert (out / "search.png").stat().st_size > 10_000 and (out / "search.svg").exists()

    again = westwood(
        "control", "tune", *chosen, *SMALL, "--trials", "6", "--out", out, "--resume", "--json"
    )
    entry = json.loads(again.out)
    assert entry["settings"]["vegas_gamma"] == 2
    assert entry["targets"]["CUBIC keeps"]["bound"] == 0.95


@pytest.mark.slow
def test_the_guides_example_shows_the_commands_result(westwood, tmp_path):
    """Every figure of the paragraph appears in its order."""
    guide = (Path(__file__).parents[3] / "docs" / "control-reference.md").read_text("utf-8")
    (paragraph,) = (
        part for part in guide.split("\n\n") if part.startswith("`westwood control tune --")
    )
    command = paragraph.split("`")[1].split()[1:]
    report = json.loads(westwood(*command, "--out", tmp_path / "s", "--json").out)

    targets = report["targets"]
    before, after = ({k: target[w] for k, target in targets.items()} for w in ("default", "best"))
    ablation = pl.read_parquet(tmp_path / "s" / "ablation.parquet")
    ticks = ablation.row(by_predicate=pl.col("setting") == "counted_ticks", named=True)
    kept = ", ".join(f"{key} = {json.dumps(value)}" for key, value in report["settings"].items())
    words = [
        f"lowers the cost from {report['default_cost']:.2f} to {report['cost']:.2f} with",
        f'cc = {{ name = "westwood+", {kept} }}',
        f"where loss binds, is {after['loss binds']:.2f} instead of {before['loss binds']:.2f}",
        f"paths is {after['alone, worst']:.2f} instead of {before['alone, worst']:.2f}",
        f"flow keeps {after['CUBIC keeps, worst tenth']:.2f} in the worst tenth instead of "
        f"{before['CUBIC keeps, worst tenth']:.2f}",
        f"is {after['crowd']:.2f} below CUBIC's instead of {before['crowd']:.2f}",
        f"{ablation.height - len(report['settings'])} of the {ablation.height} settings",
        f"{ticks['effect']:.2f} more ({ticks['low']:.2f} to {ticks['high']:.2f})",
    ]
    paragraph = " ".join(paragraph.split())
    places = [paragraph.find(word) for word in words]
    assert -1 not in places and places == sorted(places), words


def test_a_setting_is_named_with_those_that_are_reset_with_it():
    """A setting alone has its key only."""
    (chosen,) = space.parameters("westwood+", ("filter",), {})
    together = [("filter",), ("filter", "tau")]
    names = [page._name(chosen, Ablation(keys, 0.1, 0.0, 0.2)) for keys in together]
    assert names == ["filter", "filter (with tau)"]
