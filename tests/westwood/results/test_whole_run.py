# SPDX-License-Identifier: BSD-3-Clause
"""Columns of a whole run are the same in each flow's row, and cost no more with more flows."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from westwood import Scenario, simulate
from westwood.results import columns
from westwood.results.metrics import jain

OF_A_RUN = ("jain", "utilisation", "mean_queue", "simulated_s")


def test_fairness_is_computed_once_for_all_flows(monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[int] = []

    def counted(goodputs: Sequence[float]) -> float:
        computed.append(len(goodputs))
        return jain(goodputs)

    monkeypatch.setattr(columns, "jain", counted)
    scenario = Scenario.preset("path").with_settings({"tcp.count": 40, "duration": "2s"})
    rows = simulate(scenario).rows
    assert computed == [40]
    for name in OF_A_RUN:
        assert rows[name].n_unique() == 1, name
    assert rows["jain"][0] == jain(rows["goodput_bps"].to_list())
