# SPDX-License-Identifier: BSD-3-Clause
"""Titles of figures say over how many runs they average, and names in programs differ."""

from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from westwood import Scenario
from westwood.cli import pairs
from westwood.engines.export import ns3
from westwood.experiments.experiment import LISTED
from westwood.experiments.readback import Results
from westwood.scenario.summary import summarise


@pytest.mark.parametrize(
    ("seeds", "sampling"), [([4], ""), ([4, 5, 5], "; mean of 2 runs, 95 % intervals")]
)
@pytest.mark.parametrize("losses", ["", "; listed losses"])
def test_a_title_says_over_how_many_runs_it_averages(seeds, sampling, losses, tmp_path):
    scenario = Scenario.preset("table1")
    if losses:
        (tmp_path / LISTED).mkdir()
    planned = SimpleNamespace(scenario=scenario, varied=[])
    results: Any = SimpleNamespace(
        planned=planned, rows=pl.DataFrame({"seed": seeds}), path=tmp_path
    )
    assert Results._title(results) == f"{scenario.name}: {summarise(scenario)}{losses}{sampling}"


def test_a_name_that_is_taken_gets_the_next_free_number():
    taken = {"path", "path_2", "path_3"}
    assert [ns3._unlike(name, taken) for name in ("other", "path")] == ["other", "path_4"]


@pytest.mark.parametrize(
    ("runs", "words"),
    [
        ([1, 1], "one seed"),
        ([5, 5], "paired by seed (5 seeds, 95 % intervals)"),
        ([5, 1, 2], "paired by seed (1 to 5 seeds, 95 % intervals)"),
    ],
)
def test_pairs_say_how_many_seeds_they_have(runs, words):
    assert pairs._sampling([{"runs": run} for run in runs]) == words
