# SPDX-License-Identifier: BSD-3-Clause
"""A run of many flows makes a row when it is asked for, and the row is that of a small run."""

import pickle
from collections.abc import Sequence

import pytest

from westwood import simulate
from westwood.results import rows as rows_module
from westwood.results.columns import Row
from westwood.scenario import Scenario

COST = {"cpu_s", "wall_s"}
FEW = {"tcp.count": 3, "duration": "5s"}


def without_cost(rows: Sequence[Row]) -> list[Row]:
    return [{key: value for key, value in row.items() if key not in COST} for row in rows]


def test_rows_of_many_flows_are_the_same(monkeypatch):
    scenario = Scenario.preset("path").with_settings(FEW)
    few = simulate(scenario).flow_rows
    monkeypatch.setattr(rows_module, "_MANY", 2)
    result = simulate(scenario)
    many = result.flow_rows
    assert type(few) is list and type(many) is not list
    assert repr(without_cost(many)) == repr(without_cost(few))  # some are NaN
    assert len(many) == 3 and many[-1]["flow"] == "tcp-3" and len(many[1:]) == 2
    assert repr(pickle.loads(pickle.dumps(many))) == repr(list(many))
    assert result.rows["flow"].to_list() == ["tcp-1", "tcp-2", "tcp-3"]
    assert "tcp-3" in repr(result) and "tcp-3" in result._repr_html_()
    with pytest.raises(IndexError):
        many[3]
