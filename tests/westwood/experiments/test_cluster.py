# SPDX-License-Identifier: BSD-3-Clause
"""A sweep on a real Dask cluster, on loopback, gives the same bytes, even if a worker dies."""

import contextlib
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from started_cluster import Cluster
from started_tool import Tool
from tracked import everything

from westwood.engines.contract import Job
from westwood.experiments import cluster, experiment, sweep
from westwood.results.folder import Folder
from westwood.scenario import Scenario

SWEPT = '[sweep]\n"bottleneck.loss.rate" = [0.001, 0.01]\n"tcp.cc" = ["reno", "westwood+"]\n'


@pytest.fixture(scope="module")
def dask(tmp_path_factory) -> Iterator[Cluster]:
    """A scheduler and two workers, of which a test kills one."""
    with contextlib.closing(Cluster(tmp_path_factory.mktemp("dask"), 2)) as cluster:
        yield cluster


def test_a_worker_that_dies_loses_nothing_and_changes_nothing(dask, small_file, tmp_path):
    small_file.write_text(small_file.read_text(encoding="utf-8") + SWEPT, encoding="utf-8")
    scenario = Scenario.from_toml(small_file).with_settings({"duration": "300s"})
    planned = experiment.plan(scenario, seeds=100)
    sweep.run(planned, Folder(tmp_path / "here"), track=everything)

    def kill_one(runs: Any, total: int) -> Any:
        for count, run in enumerate(runs):
            if count == 60:
                dask.workers[0].send_signal(signal.SIGKILL)
            yield run

    with cluster.connected(dask.address) as client:
        rows = sweep.run(
            planned,
            Folder(tmp_path / "there"),
            track=kill_one,
            elsewhere=lambda jobs: cluster.run_jobs(client, jobs),
        )
    assert rows.height == 400 and dask.workers[0].poll() is not None
    here, there = (tmp_path / name / "runs.parquet" for name in ("here", "there"))
    assert here.read_bytes() == there.read_bytes()


def test_the_command_line_finds_the_cluster(dask, small_file, westwood):
    westwood("sweep", small_file, "--seeds", "4", "--dask", dask.address, "--out", "s").printed()


def test_what_observers_read_comes_back_from_the_cluster(dask, westwood):
    words = ("reproduce", "fig11", "--set", "duration=20s")
    for place, more in (("here", ()), ("there", ("--dask", dask.address))):
        westwood(*words, "--out", place, *more).printed()
    here, there = (Path(place, "data", "ack-compression.csv") for place in ("here", "there"))
    assert here.read_bytes() == there.read_bytes() and b"estimate" in here.read_bytes()


@pytest.mark.clock
@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("127.0.0.1:9", "no Dask scheduler answers there: Connection refused"),
        ("tcp://nowhere.invalid:8786", "no Dask scheduler answers there: "),
    ],
)
def test_a_missing_cluster_is_soon_reported_in_one_line(
    address, problem, small_file, westwood, tmp_path
):
    start = time.monotonic()
    called = westwood("sweep", small_file, "--dask", address, "--out", tmp_path / "s").refusal()
    assert called.startswith(f'westwood: --dask = "{address}": {problem}')
    assert time.monotonic() - start < 3 and not (tmp_path / "s").exists()


def test_a_server_that_is_no_scheduler_is_reported_in_one_line(
    small_file, westwood, tmp_path, monkeypatch
):
    monkeypatch.setattr(cluster, "_ANSWER_S", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        called = westwood("sweep", small_file, "--dask", address, "--out", tmp_path / "s")
    assert called.code == 2 and called.err.count("\n") == 1
    assert "no Dask scheduler answers there: timed out" in called.err


@pytest.mark.clock
def test_a_sweep_on_a_cluster_stops_soon_and_resumes(dask, tmp_path):
    command = f"sweep fading --dask {dask.address} --set duration=1000s --seeds 400 --out s"
    tool = Tool(command, tmp_path)
    while not list((tmp_path / "s").glob("journal*")) and tool.process.poll() is None:
        time.sleep(0.05)
    took_s, _, errors = tool.end(signal.SIGINT, group=True)
    assert tool.process.returncode == 130 and "continue with westwood sweep" in errors
    assert errors.count("\n") == 1 and took_s < 2


def test_a_task_has_runs_of_several_points_with_their_indices(small):
    jobs = [Job(small, [7], {"x": x}) for x in range(12)]
    tasks = list(cluster._tasks(jobs))
    done = [run for version, parts in tasks for run in cluster.run_task("sim", version, parts)]

    assert len(tasks) == 2
    assert [(place, rows[0]["x"], rows[0]["seed"]) for place, rows in done] == [
        (x, x, 7) for x in range(12)
    ]


def test_a_task_has_each_scenario_once(small):
    jobs = [Job(small, [1, 2], {"x": x}) for x in range(2)]
    ((_, parts),) = cluster._tasks(jobs)
    assert [(others["settings"]["x"], runs) for _, others, runs in parts] == [
        (0, [(0, 1), (1, 2)]),
        (1, [(2, 1), (3, 2)]),
    ]


def test_another_version_on_a_worker_is_refused(small):
    with pytest.raises(Exception, match=r"a worker has westwood .*, expected 0\.0\.0"):
        cluster.run_task("sim", "0.0.0", [(small.to_toml(), {}, [(0, 1)])])
