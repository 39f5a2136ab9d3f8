# SPDX-License-Identifier: BSD-3-Clause
"""Plans contain every declared setting, and reports every declared column."""

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from one_link import BACK, one_link

from westwood import Scenario
from westwood.control.catalogue import (
    DIRECTION_COLUMNS,
    DROPTAIL,
    FLOW_COLUMNS,
    IMPAIRMENTS,
    LOSSES,
    NO_LOSS,
    QUEUES,
    SETTINGS,
    MeasuredColumn,
    settings_of,
)
from westwood.engines import quic, wire
from westwood.errors import RunError, UnavailableError
from westwood.programs import Ended
from westwood.scenario.declared import written_field


def scenario(**link: Any) -> Scenario:
    path = {"name": "l", "rate": "4Mbps", "delay": "20ms", **link}
    first = {"name": "one", "cc": "westwood+", "recovery": "sack"}
    two = {"name": "two", "app": {"kind": "udp", "rate": "1Mbps"}, **BACK}
    return one_link(first, two, link=path, duration="20s")


def statements(plan: str) -> list[list[str]]:
    return [line.split() for line in plan.splitlines()]


NEEDED = {"red": {"min": 5, "max": 15}}  # settings of queues without a default


@pytest.mark.parametrize(
    ("kind", "loss"),
    [(kind, NO_LOSS) for kind in (DROPTAIL, *QUEUES)] + [(DROPTAIL, kind) for kind in LOSSES],
)
def test_a_plan_contains_every_declared_setting(kind, loss):
    queue = {"kind": kind, "limit": "50p", **NEEDED.get(kind, {})}
    needed = {
        key: written_field(declared, declared.fallback)
        for key, declared in settings_of(loss).items()
    }
    losses = {"kind": loss, **needed, "on": "both"}
    names = [name for name, *_ in statements(wire.plan(scenario(queue=queue, loss=losses)))]
    prefixes = {"cc": "cc.", "flow": "", "link": ""}
    for setting in SETTINGS:
        name = prefixes.get(setting.section, f"{setting.section}.") + setting.field
        times = {"cc": 1, "flow": 2, "link": 2, kind: 2, loss: 2}.get(setting.section, 0)
        times = 1 if name == "overhead_bytes" else times if setting.is_for_users else 0
        assert names.count(name) == times, name


@pytest.mark.parametrize("kind", IMPAIRMENTS)
def test_a_plan_contains_every_setting_of_an_impairment(kind):
    written = {
        key: written_field(declared, declared.fallback)
        for key, declared in settings_of(kind).items()
    }
    names = [name for name, *_ in statements(wire.plan(scenario(**{kind: written})))]
    for setting in settings_of(kind).values():
        assert names.count(f"{kind}.{setting.field}") == 1, "forward"


def test_a_plan_is_in_the_engines_units():
    loss = {"kind": "script", "packets": [3, 5], "on": "forward"}
    lines = statements(wire.plan(scenario(loss=loss, queue={"limit": "40p"})))
    assert ["duration", "20000000000000"] in lines and ["delay", "20000000000"] in lines
    assert ["queue", "40", "-1"] in lines and ["size_bytes", "-1"] in lines
    assert ["loss", "script", "3", "5"] in lines and ["loss", "none"] in lines
    assert ["cc.filter", "ewma"] in lines and ["recovery", "sack"] in lines
    assert ["flow", "1", "0", "udp"] in lines
    assert ["datagrams", "1000000", "-1", "0", "fixed", "fixed"] in lines
    assert wire.conclusion(7, None) == "seed 7\nend\n"
    files = {"windows": Path("/w"), "queues": Path("/q"), "drops": Path("/d")}
    assert wire.conclusion(7, files) == "seed 7\ntrace /w /q /d\nend\n"


def line(head: str, columns: dict[str, MeasuredColumn], first: int) -> list[str]:
    """Returns a line in which each column has a different number."""
    pairs = [
        f"{name} {first + i}" if column.type == "COUNT" else f"{name} {first + i}.5"
        for i, (name, column) in enumerate(columns.items())
    ]
    return " ".join([head, *pairs]).split()


REPORT = [
    line("flow 0", FLOW_COLUMNS, 500),
    line("flow 1", FLOW_COLUMNS, 100),
    ["port", "40000"],
    line("link forward", DIRECTION_COLUMNS, 200),
    line("link backward", DIRECTION_COLUMNS, 300),
    ["end", "0.25"],
]


def read(lines: list[list[str]], files: wire.TraceFiles | None = None) -> wire.Report:
    return wire.read(lines, scenario(), files, "s, seed 1", quic.PROGRAM)


@pytest.fixture(autouse=True)
def _program(monkeypatch):
    monkeypatch.setenv(quic.VARIABLE, "/bin/true")


def test_a_report_gives_every_column_its_value():
    report = read(REPORT)
    assert report.cpu_s == 0.25 and report.others == {"port": [["40000"]]}
    result = report.result()
    (forward,), (backward,) = result.forward, result.backward
    flow = SimpleNamespace(
        **{name: connection for name, (_, connection) in result.connections.items()}
    )
    assert flow.source == 1
    for there, columns, first in (
        (flow, FLOW_COLUMNS, 100),
        (forward, DIRECTION_COLUMNS, 200),
        (backward, DIRECTION_COLUMNS, 300),
    ):
        for i, (name, column) in enumerate(columns.items()):
            expected = first + i + (0 if column.type == "COUNT" else 0.5)
            assert getattr(there, name) == expected, name
    assert not any(map(result.records.count, ("windows", "events", "queues", "drops")))


def test_a_trace_belongs_to_its_connection_and_its_direction(tmp_path):
    (tmp_path / "windows.csv").write_text(
        "connection,time_s,cwnd,ssthresh,estimate_bps,sample_bps,rtt_s,srtt_s,rto_s,in_flight,phase\n"
        "0,0.5,10,nan,nan,nan,0.1,0.2,1,9,2\n"
        "1,0.75,11,nan,nan,nan,nan,nan,1,9,0\n"
    )
    (tmp_path / "queues.csv").write_text("channel,arrival_s,start_s,bytes\n1,1.25,1.5,1500\n")
    (tmp_path / "drops.csv").write_text("time_s,channel,flow,kind,packet\n2.5,1,0,2,1\n")
    files = {name: tmp_path / f"{name}.csv" for name in ("windows", "queues", "drops")}
    result = read(REPORT, files).result()
    (trace,) = result.records.pieces("windows")
    assert trace["connection"].tolist() == [0, 1]
    assert trace["time_s"].tolist() == [0.5, 0.75] and trace["phase"].tolist() == [2, 0]
    assert math.isnan(trace["ssthresh"][0]) and trace["srtt_s"].tolist()[0] == 0.2
    (queues,) = result.records.pieces("queues")
    assert queues["channel"].tolist() == [1] and queues["bytes"].tolist() == [1500]
    (drops,) = result.records.pieces("drops")
    assert [values.tolist() for values in drops.values()] == [[2.5], [1], [0], [2], [1]]


def test_a_report_in_other_columns_is_of_another_build():
    short = [words[:-2] if words[0] == "flow" else words for words in REPORT]
    with pytest.raises(UnavailableError, match=r"other declarations .*; rebuild it: make quic"):
        read(short)


@pytest.mark.parametrize(
    ("place", "word", "value", "expected"),
    [
        (0, 1, "2", "flow 2, expected a whole number below 2"),
        (0, 1, "1", "flow 0 is there 0 times, expected once"),
        (0, 3, "-1", "delivered_bytes -1, expected a whole number"),
        (0, 3, "nan", "delivered_bytes nan, expected a whole number"),
        (3, -1, "-1.5", "waited_s -1.5, expected a number from 0, or nan"),
        (3, -1, "inf", "waited_s inf, expected a number"),
        (3, 1, "sideways", "link sideways, expected forward or backward"),
        (3, 1, "backward", "0 links forward, expected 1"),
        (-1, 1, "soon", "end soon, expected a number"),
        (-1, 0, "ends", "0 ends, expected one"),
    ],
)
def test_a_report_of_no_run_is_one_line(place, word, value, expected):
    changed = [list(words) for words in REPORT]
    changed[place][word] = value
    with pytest.raises(RunError, match=f"^s, seed 1: /bin/true reports no run: {expected}"):
        read(changed)


def test_a_report_without_an_end_says_how_the_program_ended():
    text = "\n".join(map(" ".join, REPORT))
    for out, code, errors, expected in (
        (text, 0, "", ""),
        (text[:-10], 0, "", "a report without an end"),
        ("", 0, "said", "a report without an end"),
        (text, 3, "", "exit code 3"),
        (text, -11, " \n", "signal SIGSEGV"),
        (text, 1, "first\nlast\n\n", "last"),
    ):
        assert wire.heard(Ended(code, out, errors))[1] == expected


def test_trace_files_have_no_names_and_exist_during_the_run_only(tmp_path, monkeypatch):
    """They disappear with the process that reads them."""
    monkeypatch.setattr(wire.tempfile, "tempdir", str(tmp_path))
    with wire.trace_files(False) as none:
        assert none is None
    with wire.trace_files(True) as files:
        assert files is not None
        for file in files.values():
            with file.open("w") as opened:  # by its path, as another process does
                opened.write("a,b\n1,2\n")
            assert file.read_text() == "a,b\n1,2\n"
        assert not list(tmp_path.iterdir())
    assert not any(file.exists() for file in files.values())
