# SPDX-License-Identifier: BSD-3-Clause
"""qlog files: what a run writes, what is read of others, and what is wrong with a file."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from westwood import Scenario, simulate
from westwood.engines.result import Result
from westwood.errors import InputError
from westwood.evaluation.draft import judging, logs, runs
from westwood.evaluation.draft import suite as draft
from westwood.evaluation.draft.catalogue import CASES
from westwood.results import qlog

HEADER: dict[str, Any] = {"qlog_version": "0.3", "trace": {"common_fields": {}}}


def records(path: Path) -> list[dict[str, Any]]:
    text = path.read_text(encoding="utf-8")
    assert all(line.startswith("\x1e") for line in text.split("\n") if line)
    return [json.loads(record) for record in text.split("\x1e")[1:]]


def write(path: Path, events: Iterable[Mapping[str, Any]], header: Any = None) -> Path:
    all_ = [HEADER if header is None else header, *events]
    path.write_text("".join(f"\x1e{json.dumps(record)}\n" for record in all_), encoding="utf-8")
    return path


def metrics(time: float, **data: Any) -> dict[str, Any]:
    return {"time": time, "name": "recovery:metrics_updated", "data": data}


@pytest.fixture(scope="module")
def ran() -> Result:
    settings = {"duration": "8s", "path.rate": "10Mbps", "tcp.cc": "bbr3"}
    scenario = Scenario.preset("path").with_settings({**settings, "path.loss.rate": 0.001})
    return simulate(scenario, trace=True, events=True)


@pytest.fixture(scope="module")
def log(ran, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("log") / "run.sqlog"
    qlog.write(ran, path)
    return path


def test_a_run_is_a_json_text_sequence_in_order_of_time(ran, log):
    header, *events = records(log)
    assert header["serialization_format"] == "application/qlog+json-seq"
    times = [event["time"] for event in events]
    assert times == sorted(times) and times[-1] < 8000
    counts = pl.Series([event["name"] for event in events]).value_counts()
    counted = dict(counts.iter_rows())
    row = ran.flow_rows[0]
    assert counted["transport:packet_sent"] == row["sent"]
    assert counted["recovery:packet_lost"] == row["retransmitted"] > 0


def test_each_transmission_has_its_own_number_and_a_loss_names_the_last_one(log):
    sent: list[int] = []
    for record in records(log)[1:]:
        number = record["data"].get("header", {}).get("packet_number")
        if record["name"] == "transport:packet_sent":
            assert number == len(sent)
            sent.append(number)
        elif record["name"] == "recovery:packet_lost":
            assert number in sent


def test_a_run_reads_back_as_the_same_recording(ran, log):
    there, back = runs.of_result(ran), logs.read(log)
    first_s = records(log)[1]["time"] / 1e3
    assert [spell.state for spell in back.spells] == [spell.state for spell in there.spells]
    for read_spell, other in zip(back.spells[1:], there.spells[1:], strict=True):
        assert read_spell.start_s + first_s == pytest.approx(other.start_s, abs=1e-6)
    for time_s in (1.0, 3.3, 6.9):
        for name in ("cwnd", "in_flight", "pacing_bps", "bw_bps", "rtt_s"):
            expected = there.at(name, time_s)
            assert back.at(name, time_s - first_s + 1e-7) == pytest.approx(expected, rel=1e-5)


def test_a_log_is_judged_by_the_cases_that_it_shows(westwood):
    path = ("--set", "path.loss.rate=0", "--set", "path.rate=10Mbps", "--set", "duration=12s")
    assert westwood("trace", "path", "--cc", "bbr3", *path, "--qlog", "a.sqlog").code == 0
    done = westwood("evaluate", "--qlog", "a.sqlog", "--json", "--out", "page")
    (replies,) = json.loads(done.out)["answers"].values()
    verdicts = {reply["criterion"]: reply["verdict"] for reply in replies}
    decided = {"startup-plateau", "drain-inflight", "up-plateau", "down-inflight", "probe-rtt"}
    assert {name for name, verdict in verdicts.items() if verdict == "meets"} == decided
    assert set(verdicts.values()) == {"meets", "not run"}


def test_a_log_of_wrong_gains_fails(westwood):
    path = ("--set", "path.loss.rate=0", "--set", "path.rate=10Mbps", "--set", "duration=4s")
    wrong = ("--set", "tcp.cc.bbr3_drain=0.347")
    westwood("trace", "path", "--cc", "bbr3", *path, *wrong, "--qlog", "a.sqlog")
    log = ("--qlog", "a.sqlog", "--only", "drain-inflight")
    done = westwood("evaluate", *log, "--out", "page")
    assert done.code == 1 and "a.sqlog, drain-inflight: fails" in done.out
    assert "westwood evaluate --qlog a.sqlog --only drain-inflight --out" in done.out


def test_conditions_that_a_log_does_not_meet_decide_nothing(log):
    back = logs.read(log)
    lossy = judging.judge_log(CASES["startup-plateau"], back)
    if back.count("lost", 0, back.spells[0].end_s) > 0:
        assert lossy.verdict == "not run"
    assert judging.judge_log(CASES["policer"], back).lacks.startswith("no change of the path")


@pytest.mark.parametrize("name", ["quic:recovery_metrics_updated", "recovery:metrics_updated"])
def test_old_and_new_names_of_events_are_known(name, tmp_path):
    event = {"time": 5, "name": name, "data": {"congestion_window": 3000}}
    assert logs.read(write(tmp_path / "a", [event])).at("cwnd", 1) == 3000


@pytest.mark.parametrize("word", ["bbr_probe_bw_up", "ProbeBW_UP", "probe_bw_up", "BBR3 ProbeBwUp"])
def test_names_of_states_are_known_however_they_are_spelt(word, tmp_path):
    new = {"time": 0, "name": "recovery:congestion_state_updated", "data": {"new": word}}
    assert logs.read(write(tmp_path / "a", [new, metrics(9)])).state_at(0.001) == "ProbeBW_UP"


def test_times_may_be_distances_and_a_file_one_object(tmp_path):
    events = [metrics(time, congestion_window=10 * time) for time in (10, 20, 30)]
    header = {"trace": {"common_fields": {"time_format": "relative_to_previous_event"}}}
    assert logs.read(write(tmp_path / "a", events, header)).end_s == pytest.approx(0.05)
    whole = tmp_path / "b.qlog"
    whole.write_text(json.dumps({"traces": [{"events": events}]}), encoding="utf-8")
    assert logs.read(whole).end_s == pytest.approx(0.02)
    lines = tmp_path / "c.qlog"
    lines.write_text(
        "".join(f"{json.dumps(event)}\n" for event in [HEADER, *events]), encoding="utf-8"
    )
    assert np.array_equal(logs.read(lines).courses["cwnd"].value, [100, 200, 300])


BROKEN = {
    "no JSON": ("\x1enot json", "expected a JSON object of qlog"),
    "a list": ("[1, 2]", "expected a JSON object of qlog"),
    "empty": ("", "expected a JSON object of qlog"),
    "no trace": ("{}", "traces: expected qlog with one trace"),
    "no events": (f"\x1e{json.dumps(HEADER)}\n", "no events, expected those of a connection"),
    "half a record": (
        f'\x1e{json.dumps(HEADER)}\n\x1e{json.dumps(metrics(1))}\n\x1e{{"time": 2, "na',
        "event 2: expected a JSON object of qlog",
    ),
    "no time": (
        f'\x1e{json.dumps(HEADER)}\n\x1e{{"name": "a:b"}}\n',
        "event 1: expected an event",
    ),
    "no name": (f'\x1e{json.dumps(HEADER)}\n\x1e{{"time": 1}}\n', "event 1: expected an event"),
}


@pytest.mark.parametrize("which", BROKEN)
def test_a_broken_file_is_one_line_with_the_place(which, tmp_path):
    text, problem = BROKEN[which]
    path = tmp_path / "broken.qlog"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as error:
        logs.read(path)
    assert problem in str(error.value) and str(path) in str(error.value)
    assert "\n" not in str(error.value)


NO_TIMES: list[Any] = ["now", True, float("inf"), 10**400]


@pytest.mark.parametrize(
    ("times", "problem"),
    [
        ((5, 6, 5.5), r"event 3: time = 5\.5: the clock runs backwards"),
        ((-7, -6), "event 1: time = -7: expected a time in ms, not negative"),
        *[((time,), "event 1: time.* expected a time in ms") for time in NO_TIMES],
    ],
)
def test_a_wrong_time_is_refused(times, problem, tmp_path):
    with pytest.raises(InputError, match=problem):
        logs.read(write(tmp_path / "a", map(metrics, times)))


def test_a_log_that_decides_no_case_is_one_line_and_no_pass(tmp_path, westwood):
    path = write(tmp_path / "a.sqlog", [metrics(n, congestion_window=12_000) for n in range(9)])
    done = westwood("evaluate", "--qlog", str(path), "--out", "page").refusal()
    assert f"{path}: decides none of 22 cases, expected events of BBR's states" in done


@pytest.mark.parametrize("value", [-1, "many", True, float("nan"), float("inf"), 10**400])
def test_a_field_has_a_number_from_0(value, tmp_path):
    path = write(tmp_path / "a", [metrics(5, congestion_window=value)])
    with pytest.raises(InputError, match=r"congestion_window.* expected a number from 0 to 1e\+20"):
        logs.read(path)
    sent = {"time": 5, "name": "transport:packet_sent", "data": {"raw": {"length": value}}}
    with pytest.raises(InputError, match=r"event 1: length.* expected a number from 0 to 1e\+20"):
        logs.read(write(tmp_path / "b", [sent]))


def of_states(*states: str, first_ms: float = 0, **data: float) -> list[dict[str, Any]]:
    """Returns the events of states of 50 ms each, and metrics at a time."""
    name = "recovery:congestion_state_updated"
    events = [
        {"time": 50 * n, "name": name, "data": {"new": state}} for n, state in enumerate(states)
    ]
    sent = {"time": 60, "name": "transport:packet_sent"}
    measured = {"congestion_window": 9000, "bytes_in_flight": 6000, "pacing_rate": 1e6, **data}
    return sorted([*events, sent, metrics(first_ms, **measured)], key=lambda event: event["time"])


STRANGE = {
    "no bandwidth yet": {"bandwidth": 0, "latest_rtt": 10},
    "no round trip yet": {"bandwidth": 1e6, "latest_rtt": 0},
    "short round trips": {"bandwidth": 1e6, "latest_rtt": 1e-9},
    "no window": {"bandwidth": 1e6, "latest_rtt": 10, "congestion_window": 0},
    "metrics at the end": {"bandwidth": 1e6, "latest_rtt": 10, "first_ms": 300},
}


@pytest.mark.parametrize("which", STRANGE)
def test_strange_metrics_give_verdicts_in_json(which, tmp_path):
    around = ("ProbeBW_UP", "ProbeBW_DOWN", "ProbeBW_CRUISE", "ProbeRTT", "Startup", "Drain")
    events = of_states(*around, "ProbeBW_UP", **STRANGE[which])
    back = logs.read(write(tmp_path / "a", events))
    entries = [draft.answer_of(judging.judge_log(case, back)).entry() for case in CASES.values()]
    json.dumps(entries, allow_nan=False)


def test_huge_files_are_refused_before_they_are_read(tmp_path):
    whole = tmp_path / "huge.qlog"
    whole.write_bytes(b'{"traces": [\n')
    with whole.open("r+b") as file:
        file.truncate(1 << 40)  # a sparse file of 1 TiB
    with pytest.raises(InputError, match="expected at most 64 MiB, or a JSON text sequence"):
        logs.read(whole)
    record = tmp_path / "record.sqlog"
    record.write_bytes(b"\x1e" + b" " * (2 << 20))
    with pytest.raises(InputError, match="expected records of at most 1 MiB"):
        logs.read(record)


def test_the_reader_keeps_what_it_needs_and_not_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(logs, "_MOST_EVENTS", 3)
    with pytest.raises(InputError, match="event 4: expected at most 3 events"):
        logs.read(write(tmp_path / "a", [metrics(time) for time in range(5)]))
