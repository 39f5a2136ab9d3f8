# SPDX-License-Identifier: BSD-3-Clause
"""A search's result names the best trial, what each change is worth, and which to keep."""

import math
from collections.abc import Iterable

import pytest

from westwood.control.catalogue import label
from westwood.experiments.optimiser import Values
from westwood.search import page, space
from westwood.search.objective import TARGETS
from westwood.search.result import TOGETHER, Ablation, Search, SearchResult, Trial, end_name

HELD = {"sampler": "per-ack"}
VARY = ("alpha=0.5:0.9", "filter", "set_cwnd_on_loss")
PARAMETERS = space.parameters("westwood+", VARY, HELD)
DEFAULTS = {parameter.key: parameter.default for parameter in PARAMETERS}
OTHER = {
    parameter.key: next(end for end in parameter.ends() if end != parameter.default)
    for parameter in PARAMETERS
}
REACHED = {target.name: target.bound for target in TARGETS}


def trial(number: int, cost: float, values: Values, missed: str = "") -> Trial:
    targets = dict(REACHED)
    if missed:
        bound = next(target for target in TARGETS if target.name == missed)
        targets[missed] = bound.bound + (0.2 if bound.quantity.at_most else -0.2)
    return Trial(number, values, targets, cost)


def effect(key: str, value: float, half: float = 0.01) -> Ablation:
    return Ablation((key,), value, value - half, value + half)


FIRST = TARGETS[0].name


@pytest.fixture
def search_result() -> SearchResult:
    """Three trials, of which the second and the third cost the same."""
    result_ = SearchResult(Search("westwood+", PARAMETERS, HELD, 30, 1, 1000))
    result_.trials = {
        2: trial(2, 0.25, DEFAULTS),
        0: trial(0, 0.5, DEFAULTS, missed=FIRST),
        1: trial(1, 0.25, OTHER),
    }
    result_.ablations = {
        (1, "alpha"): effect("alpha", 0.02),
        (1, "filter"): Ablation(("filter", "alpha"), 0.004, -0.001, 0.009),
        (1, "set_cwnd_on_loss"): effect("set_cwnd_on_loss", 0.1),
        (2, "alpha"): effect("alpha", 9.0),
    }
    return result_


ALL = ["alpha", "filter", "set_cwnd_on_loss"]


def keys(parameters: Iterable[space.Parameter]) -> list[str]:
    return [parameter.key for parameter in parameters]


def test_the_best_is_the_first_of_the_cheapest_trials(search_result):
    assert search_result.best.number == 1
    assert keys(search_result.changed()) == ALL
    search_result.trials[3] = trial(3, 0.2, {**DEFAULTS, "alpha": OTHER["alpha"]})
    assert (search_result.best.number, keys(search_result.changed())) == (3, ["alpha"])


def test_changes_are_told_with_the_largest_effect_first(search_result):
    assert [
        (parameter.key, ablation.effect) for parameter, ablation in search_result.ablation()
    ] == [
        ("set_cwnd_on_loss", 0.1),
        ("alpha", 0.02),
        ("filter", 0.004),
    ]
    assert search_result.idle() == ["filter"]
    search_result.ablations[1, "alpha"] = Ablation(("alpha",), 0.02, 0.0, 0.04)
    assert search_result.idle() == ["alpha", "filter"], "an interval that begins at 0 includes it"


def test_changes_without_an_effect_even_together_are_not_kept(search_result):
    def chosen(low: float) -> list[str]:
        search_result.ablations[1, TOGETHER] = Ablation(("filter", "alpha"), 0.02, low, 0.03)
        return keys(search_result.chosen())

    assert keys(search_result.chosen()) == ALL == chosen(0.01)
    assert chosen(0.0) == chosen(-0.1) == ["set_cwnd_on_loss"]


def test_the_ends_of_a_range_are_told_by_the_size_of_their_effect(search_result):
    alpha = PARAMETERS[0]
    low, high = alpha.ends()
    search_result.ablations[1, end_name(alpha, low)] = effect("alpha", -0.3)
    search_result.ablations[1, end_name(alpha, high)] = effect("alpha", 0.2)
    assert [(parameter.key, end) for parameter, end, _ in search_result.end_effects()] == [
        ("alpha", low),
        ("alpha", high),
    ]
    assert page.ends_rows(search_result)[0] == (
        "alpha",
        str(alpha.written(OTHER["alpha"])),
        str(alpha.written(low)),
        "-0.300",
        "-0.310 to -0.290",
    )


def test_the_entry_has_the_settings_to_keep_and_the_targets_before_and_after(search_result):
    search_result.ablations[1, TOGETHER] = Ablation(("filter", "alpha"), 0.0, -0.1, 0.1)
    search_result.trials[1].targets[TARGETS[1].name] = math.nan  # type: ignore[index]
    entry = search_result.entry()
    kept = PARAMETERS[2].written(OTHER["set_cwnd_on_loss"])
    assert entry["settings"] == {**HELD, "set_cwnd_on_loss": kept}
    assert entry["values"].keys() == {*HELD, *DEFAULTS}
    assert [entry[key] for key in ("trial", "trials", "cost", "default_cost")] == [1, 3, 0.25, 0.5]
    target = entry["targets"][FIRST]
    assert (target["best"], target["bound"]) == (TARGETS[0].bound, TARGETS[0].bound)
    assert target["default"] != target["best"]
    assert entry["targets"][TARGETS[1].name]["best"] is None
    assert [entry_["setting"] for entry_ in entry["ablation"]] == [
        "set_cwnd_on_loss",
        "alpha",
        "filter",
    ]
    assert entry["ablation"][1] == {
        "setting": "alpha",
        "back": ["alpha"],
        "effect": 0.02,
        "low": 0.01,
        "high": 0.03,
    }


def test_the_title_says_whether_the_default_is_the_best(search_result):
    heading = f"{label('westwood+')}: trial"
    assert page.title(search_result) == f"{heading} 1 of 3 costs 0.250, the default 0.500"
    search_result.trials = {0: search_result.trials[0]}
    assert page.title(search_result) == f"{heading} 0 of 1, the default, costs least: 0.500"


def test_the_tables_have_each_change_and_each_target(search_result):
    search_result.ablations[1, TOGETHER] = Ablation(("filter", "alpha"), 0.001, -0.1, 0.1)
    rows = page.settings_rows(search_result)
    assert rows[1][:1] + rows[1][3:] == ("alpha", "+0.020", "+0.010 to +0.030")
    assert rows[1][1] != rows[1][2] == str(PARAMETERS[0].written(OTHER["alpha"]))
    assert rows[2][0] == "filter (with alpha)"
    assert rows[3] == ("all near 0 (2)", "", "", "+0.001", "-0.100 to +0.100")
    search_result.trials[1].targets[TARGETS[1].name] = math.nan  # type: ignore[index]
    first, second, *_ = page.targets_rows(search_result)
    wanted = f"{'at most' if TARGETS[0].quantity.at_most else 'at least'} {TARGETS[0].bound:g}"
    assert first[:2] == (FIRST, wanted) and first[4] == "reached" and first[2] != first[3]
    assert second[3:5] == ("-", "")
    search_result.trials = {0: search_result.trials[0]}
    search_result.ablations = {}
    assert page.targets_rows(search_result)[0][4] == "missed"


def test_what_to_keep_is_told_as_a_scenario_has_it(search_result):
    search_result.ablations[1, TOGETHER] = Ablation(("filter", "alpha"), 0.0, -0.1, 0.1)
    kept = str(PARAMETERS[2].written(OTHER["set_cwnd_on_loss"])).lower()
    assert page.as_toml(search_result) == (
        f'{{ name = "westwood+", sampler = "per-ack", set_cwnd_on_loss = {kept} }}'
    )
