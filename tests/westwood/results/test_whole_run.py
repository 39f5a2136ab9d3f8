# SPDX-License-Identifier: BSD-3-Clause
"""Columns of a whole run are the same in each flow's row."""

from westwood import Scenario, simulate
from westwood.results.metrics import jain

OF_A_RUN = ("jain", "utilisation", "mean_queue", "simulated_s")


def test_every_flow_has_the_columns_of_its_run():
    scenario = Scenario.preset("path").with_settings({"tcp.count": 40, "duration": "2s"})
    rows = simulate(scenario).rows
    for name in OF_A_RUN:
        assert rows[name].n_unique() == 1, name
    assert rows["jain"][0] == jain(rows["goodput_bps"].to_list())
