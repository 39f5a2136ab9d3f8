# SPDX-License-Identifier: BSD-3-Clause
"""`make bench` names regressions, and writes its tables into the page."""

import copy
import dataclasses
import json
import re
from typing import Any

import pytest

from bench import recorded, table
from bench.cases import SCALE, TABLES, Case
from tools.pages import table_of
from westwood.errors import UnavailableError


def row(case: Case) -> dict[str, Any]:
    run = {"cpu_s": 0.003, "packets": 100_000, "peak_kib": 3400, "run_kib": 400}
    entry = {"case": case.name, "flows": case.options.get("flows", 1), "goals": {"ns": 15.0}}
    entry |= {"engine_run": run, "ns": 30.0, "instructions": 400.0}
    return entry | ({"ns3": 600.0} if case.ns3 else {}) | ({"htsim": 12.0} if case.htsim else {})


RESULTS: dict[str, Any] = {
    "machine": {
        "processor": "a processor",
        "cores": 2,
        "compiler": "gcc",
    },
    **{name: [row(case) for case in cases] for name, cases in TABLES.items()},
    "scale": [row(case) for case in SCALE],
    "whole": [
        {"case": "start", "goal_s": 0.25, "seconds": 0.3, "peer": "Python's", "ratio": 3.0},
        {"case": "`reproduce all`", "goal_s": 100.0, "seconds": 180.0},
    ],
}


def test_names_of_rows_are_unique():
    names = [case.name for cases in (*TABLES.values(), SCALE) for case in cases]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("key", "factor", "named"),
    [
        ("instructions", 1.04, True),
        ("instructions", 1.02, False),
        ("instructions", 0.5, False),
        ("ns3", 0.95, True),  # a smaller factor over ns-3 is worse
        ("ns3", 1.5, False),
        ("htsim", 0.95, True),
    ],
)
def test_regressions_of_more_than_3_percent_are_named(key, factor, named):
    now = copy.deepcopy(RESULTS)
    changed = next(row_ for row_ in now["flows"] if row_.get("htsim") and row_.get("ns3"))
    changed[key] *= factor
    regressions = list(recorded.worse(recorded.figures(now), recorded.figures(RESULTS)))
    assert [line.partition(":")[0] for line in regressions] == [changed["case"]] * named


def test_a_row_without_peer_and_counts_is_compared_with_the_single_flow():
    before, now = copy.deepcopy(RESULTS), copy.deepcopy(RESULTS)
    for part in (before["parts"][-1], now["parts"][-1]):
        del part["instructions"]
    now["parts"][-1]["ns"] *= 1.1
    (line,) = recorded.worse(recorded.figures(now), recorded.figures(before))
    assert now["parts"][-1]["case"] in line and "base flow" in line


def test_the_page_has_a_place_for_every_table(tmp_path, monkeypatch):
    page, results = tmp_path / "page.md", tmp_path / "results.json"
    page.write_text(table.PAGE.page.read_text())
    results.write_text(json.dumps(RESULTS))
    monkeypatch.setattr(table, "RESULTS", results)
    dataclasses.replace(table.PAGE, page=page).make()
    for name, lines in table.tables(RESULTS).items():
        assert table_of(name, page.read_text()) == lines
    written = re.findall(r"<!-- bench: .*?<!-- end of bench: ", page.read_text(), re.DOTALL)
    rows = "".join(written).splitlines()
    for case in (*TABLES["flows"], *TABLES["parts"][1:], *SCALE):
        assert sum(line.startswith(f"| {case.name} |") for line in rows) == 1, case.name


def test_a_missing_htsim_is_named(monkeypatch):
    from bench import htsim_peer

    monkeypatch.delenv(htsim_peer.VARIABLE, raising=False)
    with pytest.raises(UnavailableError, match=htsim_peer.VARIABLE):
        htsim_peer.peer()
    monkeypatch.setenv(htsim_peer.VARIABLE, "/nowhere")
    with pytest.raises(UnavailableError, match=r"libhtsim\.a is missing"):
        htsim_peer.peer()
