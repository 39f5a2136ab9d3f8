# SPDX-License-Identifier: BSD-3-Clause
"""The command line: what it prints where, what it writes, and how it ends."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from westwood.cli import call, console
from westwood.experiments import experiment
from westwood.scenario import Scenario

Westwood = Callable[..., Any]
QUICK = ("--set", "duration=5s", "--seeds", "2")


def test_json_is_one_object_and_nothing_else(westwood):
    printed = westwood(
        "run", "table1", *QUICK, "--json", "--plot", "--cc", "tahoe", "--cc", "westwood+"
    ).printed()
    result = json.loads(printed, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert list(result) == ["runs", "summary", "pairs"]
    assert [(row["cc"], row["seed"]) for row in result["runs"]] == [
        ("tahoe", 1),
        ("tahoe", 2),
        ("westwood+", 1),
        ("westwood+", 2),
    ]
    assert result["runs"][0]["completed_s"] is None
    mean = sum(row["goodput_bps"] for row in result["runs"][:2]) / 2
    assert result["summary"][0]["goodput_bps"] == pytest.approx(mean)
    assert result["summary"][0]["goodput_bps_ci95"] > 0


def test_a_table_names_the_protocols(westwood):
    called = westwood("run", "table1", *QUICK, "--cc", "newreno", "--cc", "westwood+-ns3")
    assert called.code == 0 and called.err == ""
    assert "NewReno" in called.out and "Westwood+ (ns-3, 2013)" in called.out and "±" in called.out


def test_a_results_folder_can_be_run_again(westwood, tmp_path):
    assert westwood("run", "table1", *QUICK, "--out", "res", "--plot").code == 0
    folder = tmp_path / "res"
    assert {path.name for path in folder.iterdir()} == {
        *(".lock", "SHA256SUMS", "manifest.json", "runs.parquet", "scenario.toml"),
        *("table1.png", "table1.svg", "traces"),
    }
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["complete"] and manifest["seeds"] == 2 and manifest["version"]
    first = pl.read_parquet(folder / "runs.parquet").drop("cpu_s", "wall_s")
    assert westwood("run", "res/scenario.toml", "--out", "res").code == 0
    second = pl.read_parquet(folder / "runs.parquet").drop("cpu_s", "wall_s")
    assert second.equals(first)


def test_a_kill_before_the_manifest_leaves_a_folder_that_can_be_used(westwood, tmp_path):
    (tmp_path / "killed" / ".partial-abc").mkdir(parents=True)
    (tmp_path / "killed" / ".partial-abc" / "manifest.json").write_text("{")
    (tmp_path / "killed" / ".lock").touch()
    assert westwood("run", "table1", *QUICK, "--out", "killed").code == 0


def test_a_folder_with_something_else_is_left_alone(westwood, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")
    called = westwood("run", "table1", *QUICK, "--out", "mine").refusal()
    assert called == (
        'westwood: --out = "mine": holds files that westwood did not write, expected a new folder\n'
    )
    assert [p.name for p in (tmp_path / "mine").iterdir()] == ["thesis.tex"]


def test_figures_without_a_folder_go_to_the_current_one(westwood, tmp_path):
    printed = westwood("compare", "--duration", "5s", "--seeds", "2", "--plot").printed()
    assert printed.splitlines()[-1] == "path-compare.png"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["path-compare.png", "path-compare.svg"]


def test_compare_takes_the_paths_numbers(westwood):
    path = ("--rate", "1Mbps", "--delay", "10ms", "--loss", "1%", "--queue", "20p")
    called = westwood(
        "compare", *path, "--duration", "10s", "--seeds", "1", "--cc", "reno", "--json"
    )
    (row,) = json.loads(called.out)["runs"]
    syn_s = row["min_rtt_s"] - 0.02  # the handshake's packets, of a header each, there and back
    assert 2 * 40 * 8 / 1e6 <= syn_s + 1e-9 <= 2 * 60 * 8 / 1e6
    assert row["lost"] > 0 and row["simulated_s"] == 10


def test_a_round_trip_is_twice_the_delay(westwood):
    common = ("compare", "--cc", "reno", "--seeds", "1", "--duration", "5s", "--json")
    by_rtt, by_delay = westwood(*common, "--rtt", "31ms"), westwood(*common, "--delay", "15.5ms")
    goodput = [json.loads(run.out)["runs"][0]["goodput_bps"] for run in (by_rtt, by_delay)]
    assert goodput[0] == goodput[1]


def test_a_swept_delay_says_that_it_is_one_way(westwood):
    called = westwood("compare", "--cc", "reno", "--duration", "2s", "--rtt", "20ms,60ms")
    assert "one way" in called.out and "10ms" in called.out and "30ms" in called.out


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        ("0.5", "westwood: --loss 0.5 is 50 %: for 0.5 % write 0.5%\n"),
        ("0.5%", ""),
        ("0.01,50%", ""),
    ],
)
def test_a_loss_that_may_be_a_percentage_is_doubted(loss, expected, westwood):
    called = westwood("compare", "--cc", "reno", "--seeds", "1", "--duration", "1s", "--loss", loss)
    assert (called.code, called.err) == (0, expected)


def test_reproduce_writes_the_figure_its_points_and_the_claims(westwood, tmp_path):
    called = westwood("reproduce", "fig5", "--seeds", "2", "--out", "report")
    assert called.code == 0 and not called.err, "nothing is estimated without a terminal"
    assert called.out.splitlines()[-1] == "report/index.html"
    folder = tmp_path / "report"
    assert (folder / "fig5.svg").stat().st_size > 10_000
    points = pl.read_csv(folder / "data" / "fig5.csv")
    assert points.height == 14 * 5 and points["bottleneck.loss.rate"].min() == 0.0001
    assert pl.read_parquet(folder / "runs" / "fig5.parquet").height == 14 * 5 * 2
    again = Scenario.from_toml(folder / "scenarios" / "fig5.toml")
    assert again == Scenario.preset("fig5").with_settings({"seeds": 2})
    entries = json.loads((folder / "claims.json").read_text())["claims"]
    assert [entry["id"].split(".")[-1] for entry in entries] == [
        "order",
        "reno_equals_newreno",
        "westwoodplus_knee",
        "monotone",
    ]
    for entry in entries:
        assert entry["verdict"] in ("HOLDS", "DIFFERS") and entry["measured"]
        assert bool(entry["explanation"]) == (entry["verdict"] == "DIFFERS")
        assert entry["settings"]["fig5"]["profile"] == "ns3-2013"
        assert entry["figure"] == "fig5.svg"


def test_an_interrupt_keeps_finished_runs(westwood, tmp_path, monkeypatch):
    def interrupted(runs: Any, total: int, *, about_memory: str) -> Any:
        for count, run in enumerate(runs):
            if count == 3:
                raise KeyboardInterrupt
            yield run

    monkeypatch.setattr(console, "track", interrupted)
    called = westwood("run", "table1", "--set", "duration=5s", "--seeds", "10", "--out", "res")
    assert called.code == 130
    assert called.err == "westwood: interrupted; finished runs are in res\n"
    assert pl.read_parquet(tmp_path / "res" / "runs.parquet").height == 3
    assert not json.loads((tmp_path / "res" / "manifest.json").read_text())["complete"]


@pytest.mark.parametrize("command", ["run", "compare", "trace", "reproduce"])
def test_the_example_in_the_help_works(command, westwood):
    printed = westwood(command, "--help").printed()
    (example,) = [line for line in printed.splitlines() if "Example: westwood" in line]
    arguments = example.split("Example: westwood ")[1].split()
    arguments += {"reproduce": ["--seeds", "1"], "trace": ["--set", "duration=2s"]}.get(
        command, ["--set", "duration=2s", "--seeds", "2"]
    )
    assert westwood(*arguments).code == 0


def test_a_pipe_that_closes_early_is_no_traceback():
    command = (
        f"{sys.executable} -m westwood run table1 --set duration=1s --seeds 2 --json | head -c 1"
    )
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert done.stdout == "{" and "Traceback" not in done.stderr


WORDS = """
run compare reproduce trace sweep all table1 fig5 reno --plot --cc --resume --ci --seed --from --set
--seeds --out --engine --workers --version --help --loss --rate -- a=b = tcp.cc= tcp.cc.m=[
duration=1e9s duration=1ms 9e9Gbps 0 -1 1 nan /dev/null é
"""


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(words=st.lists(st.sampled_from([*WORDS.split(), "", "\n"]), max_size=6))
def test_any_arguments_end_in_a_known_exit_code(words, tmp_path, monkeypatch):
    def no_runs(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(experiment, "collect_all", no_runs)  # what matters here comes before it
    assert call(words) in (0, 1, 2, 77, 130)


def test_a_trace_in_a_figure_is_the_run_of_the_row(small):
    planned = experiment.plan(small, cc=["reno", "westwood+"])
    (_, first, trace), (_, second, _) = experiment.traces(planned)
    assert (first, second) == ("Reno", "Westwood+")
    assert trace["time_s"].max() <= 20 and not math.isnan(trace["cwnd"][0])  # type: ignore[operator]


def test_completion_times_stand_where_a_flow_has_a_size(westwood, small_file):
    assert "completion" not in westwood("run", small_file).out
    called = westwood("run", small_file, "--set", "tcp.size=100kB")
    assert called.code == 0 and "completion" in called.out
