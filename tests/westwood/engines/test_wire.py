# SPDX-License-Identifier: BSD-3-Clause
"""Plans say every declared setting, and reports give every declared column its value."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from westwood import Scenario
from westwood.catalogue import DIRECTION_COLUMNS, FLOW_COLUMNS, SETTINGS, MeasuredColumn
from westwood.engines import wire
from westwood.errors import RunError


def scenario(**link: Any) -> Scenario:
    path = {"name": "l", "between": ["a", "b"], "rate": "4Mbps", "delay": "20ms", **link}
    flows = [
        {"name": "one", "from": "a", "to": "b", "cc": "westwood+", "recovery": "sack"},
        {"name": "two", "from": "b", "to": "a", "app": {"kind": "udp", "rate": "1Mbps"}},
    ]
    return Scenario(name="s", duration="20s", link=[path], flow=flows)


def statements(plan: str) -> list[list[str]]:
    return [line.split() for line in plan.splitlines()]


def test_a_plan_says_every_declared_setting() -> None:
    red = {"kind": "red", "limit": "50p", "min": 5, "max": 15}
    said = [name for name, *_ in statements(wire.plan(scenario(queue=red)))]
    prefixes = {"cc": "cc.", "red": "red.", "flow": "", "link": ""}
    for setting in SETTINGS:
        name = prefixes[setting.section] + setting.field
        times = {"cc": 1, "red": 2, "flow": 2, "link": 2}[setting.section]
        times = 1 if name == "overhead_bytes" else times if setting.is_for_users else 0
        assert said.count(name) == times, name


def test_a_plan_is_in_the_engines_units() -> None:
    loss = {"kind": "script", "packets": [3, 5], "on": "forward"}
    said = statements(wire.plan(scenario(loss=loss, queue={"limit": "40p"})))
    assert ["duration", "20000000000000"] in said and ["delay", "20000000000"] in said
    assert ["queue", "40", "-1"] in said and ["size_bytes", "-1"] in said
    assert ["loss", "script", "3", "5"] in said and ["loss", "none"] in said
    assert ["cc.filter", "ewma"] in said and ["recovery", "sack"] in said
    assert ["flow", "1", "0", "udp"] in said
    assert ["datagrams", "1000000", "-1", "0", "fixed", "fixed"] in said
    assert wire.conclusion(7, None) == "seed 7\nend\n"
    assert wire.conclusion(7, Path("/t")) == "seed 7\ntrace /t\nend\n"


def line(head: str, columns: dict[str, MeasuredColumn], first: int) -> list[str]:
    """A line in which each column has a number of its own."""
    pairs = [
        f"{name} {first + i}" if column.type == "COUNT" else f"{name} {first + i}.5"
        for i, (name, column) in enumerate(columns.items())
    ]
    return " ".join([head, *pairs]).split()


REPORT = [
    line("flow 1", FLOW_COLUMNS, 100),
    ["port", "40000"],
    line("link forward", DIRECTION_COLUMNS, 200),
    line("link backward", DIRECTION_COLUMNS, 300),
    ["end", "0.25"],
]


def test_a_report_gives_every_column_its_value() -> None:
    report = wire.read(REPORT, None)
    assert report.cpu_s == 0.25 and report.others == {"port": [["40000"]]}
    result = report.result()
    (flow,), (forward,), (backward,) = result.flows, result.forward, result.backward
    assert flow.source == 1
    for there, columns, first in (
        (flow, FLOW_COLUMNS, 100),
        (forward, DIRECTION_COLUMNS, 200),
        (backward, DIRECTION_COLUMNS, 300),
    ):
        for i, (name, column) in enumerate(columns.items()):
            expected = first + i + (0 if column.type == "COUNT" else 0.5)
            assert getattr(there, name) == expected, name
    assert all(len(values) == 0 for values in flow.trace().values())
    assert all(len(values) == 0 for values in backward.queue().values())


def test_a_trace_belongs_to_its_connection_and_its_direction(tmp_path: Path) -> None:
    (tmp_path / "windows.csv").write_text(
        "connection,time_s,cwnd,ssthresh,estimate_bps,sample_bps,rtt_s,srtt_s,rto_s,in_flight,phase\n"
        "0,0.5,10,nan,nan,nan,0.1,0.2,1,9,2\n"
        "5,0.75,11,nan,nan,nan,nan,nan,1,9,0\n"
    )
    (tmp_path / "queues.csv").write_text("pipe,arrival_s,start_s,bytes\n1,1.25,1.5,1500\n")
    (tmp_path / "drops.csv").write_text("time_s,pipe,flow,kind,ack\n2.5,1,0,2,1\n")
    result = wire.read(REPORT, tmp_path).result()
    trace = result.flows[0].trace()
    assert trace["time_s"].tolist() == [0.5] and trace["phase"].tolist() == [2]
    assert math.isnan(trace["ssthresh"][0]) and trace["srtt_s"].tolist() == [0.2]
    assert len(result.forward[0].queue()["bytes"]) == 0
    assert result.backward[0].queue()["bytes"].tolist() == [1500]
    assert [values.tolist() for values in result.drops().values()] == [[2.5], [1], [0], [2], [1]]


def test_a_report_in_other_columns_is_refused() -> None:
    short = [words[:-2] if words[0] == "flow" else words for words in REPORT]
    with pytest.raises(RunError, match="other declarations"):
        wire.read(short, None)
    assert wire.is_whole(REPORT) and not wire.is_whole(REPORT[:-1]) and not wire.is_whole([])


def test_a_trace_has_a_folder_only_while_it_is_made() -> None:
    with wire.trace_folder(False) as none:
        assert none is None
    with wire.trace_folder(True) as folder:
        assert folder is not None and folder.is_dir()
    assert not folder.exists()
