# SPDX-License-Identifier: BSD-3-Clause
"""A search of one trial on the shortest paths prints its table, or JSON if that is asked for."""

import json


def test_a_search_prints_a_table_unless_json_is_asked_for(westwood, tmp_path):
    chosen = ("--cc", "vegas", "--vary", "vegas_beta=4:20", "--paths", 30, "--packets", 200)
    more = ("--trials", 1, "--workers", 1, "--out", tmp_path / "s")
    done = westwood("control", "tune", *chosen, *more)
    assert done.code == 0 and done.out.startswith("Vegas: trial 0 of 1, the default, costs least")
    again = westwood("control", "tune", *chosen, *more, "--resume", "--json")
    assert json.loads(again.out)["trial"] == 0
