# SPDX-License-Identifier: BSD-3-Clause
"""What is read without models has the values and the hash that the models give it."""

from typing import Any

import pytest
from plain_scenarios import check_like_the_models, is_plain

from westwood.errors import InputError
from westwood.scenario import Scenario, plain, presets
from westwood.scenario.paths import population
from westwood.scenario.paths.environment import scenario

LINK = {"name": "l", "between": ["a", "b"], "rate": "1Mbps", "delay": "10ms"}
FLOW: dict[str, Any] = {"name": "f", "from": "a", "to": "b", "cc": "newreno"}


@pytest.mark.parametrize("name", presets())
def test_a_preset_reads_like_its_models(name):
    preset = Scenario.preset(name)
    for read in (preset, *(point for _, point in preset.points())):
        check_like_the_models(read)


def test_most_presets_and_paths_of_a_search_need_no_models():
    points = [next(Scenario.preset(name).points())[1] for name in presets()]
    assert sum(map(is_plain, points)) > len(points) / 2
    for family in ("alone", "wire", "shared", "crowd", "brief"):
        drawn = [
            scenario(path, "cubic") for path in population.paths("search", 1, 20, family, 9999)
        ]
        assert sum(map(is_plain, drawn)) > len(drawn) / 3, family
        for read in drawn:
            check_like_the_models(read)


@pytest.mark.parametrize(
    ("link", "flow"),
    [
        ({"loss": {"rate": 1}}, {}),  # ambiguous
        ({"loss": {"kind": "uniform", "rate": True}}, {}),
        ({"queue": {"kind": "red", "limit": "9p", "min": 3, "max": 3}}, {}),
        ({"rate": None}, {}),
        ({}, {"min_rto": None}),
        ({}, {"recovery": None}),
        ({}, {"recovery": "reno", "frto": 1}),
        ({}, {"receive_window": "1B"}),
        ({}, {"cc": {"name": "vegas", "vegas_alpha": 9}}),
        ({}, {"cc": {"name": "reno", "tau": "1s"}}),
        ({}, {"count": True}),
        ({}, {"name": "duration"}),
        ({}, {"start": "2s"}),
    ],
)
def test_what_the_models_refuse_is_never_plain(link, flow):
    with pytest.raises(InputError):
        Scenario(name="s", duration="1s", link=[{**LINK, **link}], flow=[{**FLOW, **flow}])


def test_values_that_are_equal_but_of_another_type_are_not_confused():
    def with_rate(rate: object) -> Scenario:
        link = {**LINK, "loss": {"rate": rate}}
        return Scenario(name="s", duration="1s", link=[link], flow=[FLOW])

    assert is_plain(with_rate(1.0))
    with pytest.raises(InputError, match="ambiguous"):
        with_rate(1)


def test_many_flows_of_a_group_share_their_settings():
    many = Scenario(name="s", duration="1s", link=[LINK], flow=[{**FLOW, "count": 3}])
    assert is_plain(many)
    assert [flow.name for flow in many._parts.flows] == ["f-1", "f-2", "f-3"]
    assert {flow.mss for flow in many._parts.flows} == {1460}
    assert plain.parts_of({**many._settings, "sweep": {"f.cc": ["reno"]}}) is None
