# SPDX-License-Identifier: BSD-3-Clause
"""Dying workers lose no run: those of a cluster, its scheduler, and threads that cannot start."""

import contextlib
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nobody
import pytest
from started_cluster import Cluster
from started_tool import Tool

from westwood.experiments import cluster, experiment, sweep
from westwood.results.folder import Folder
from westwood.scenario import Scenario

SMALL = Path(__file__).parents[1] / "westwood" / "small.toml"
SEEDS = 200
SWEEP = f"sweep {SMALL} --seeds {SEEDS} --set duration=300s --out out"
THREADS = ("run small.toml", "sweep small.toml --out out", "trace small.toml --out out")
SOON_S = 20.0  # after its scheduler died


def planned() -> Any:
    scenario = Scenario.from_toml(SMALL).with_settings({"duration": "300s"})
    return experiment.plan(scenario, seeds=SEEDS)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> bytes:
    folder = tmp_path_factory.mktemp("undisturbed")
    sweep.run(planned(), Folder(folder / "out"), track=lambda runs, total: runs)
    return (folder / "out" / "runs.parquet").read_bytes()


@pytest.fixture(scope="module")
def dask(tmp_path_factory) -> Iterator[Cluster]:
    pytest.importorskip("distributed", reason="needs Dask: make .venv")
    folder = tmp_path_factory.mktemp("dask")
    with contextlib.closing(Cluster(folder, 2, allowed_failures=1000)) as started:
        yield started


def test_workers_of_a_cluster_that_die_change_no_byte(attack, dask, undisturbed, tmp_path):
    """One or all of them die, and others replace them."""
    for choices in attack.rounds():
        moments = {choices.randrange(SEEDS) for _ in range(choices.randint(1, 3))}

        def killing(runs: Any, total: int) -> Iterator[Any]:
            for count, run in enumerate(runs):
                if count in moments:  # noqa: B023
                    alive = [worker for worker in dask.workers if worker.poll() is None]
                    for victim in choices.sample(alive, choices.randint(1, len(alive))):  # noqa: B023
                        victim.kill()
                        victim.wait()
                        dask.add_worker()
                yield run

        out = tmp_path / str(attack.seed)
        with cluster.connected(dask.address) as client:
            sweep.run(
                planned(),
                Folder(out),
                track=killing,
                elsewhere=lambda jobs: cluster.run_jobs(client, jobs),
            )
        assert (out / "runs.parquet").read_bytes() == undisturbed


def test_a_scheduler_that_dies_is_one_line_and_the_sweep_goes_on_here(
    attack, undisturbed, tmp_path
):
    pytest.importorskip("distributed", reason="needs Dask: make .venv")
    for choices in attack.rounds():
        folder = tmp_path / str(attack.seed)
        folder.mkdir()
        with contextlib.closing(Cluster(folder, 1)) as started:
            tool = Tool(f"{SWEEP} --dask {started.address}", folder)
            tool.watches()
            time.sleep(choices.uniform(0, 4))
            started.scheduler.send_signal(choices.choice([signal.SIGKILL, signal.SIGTERM]))
            _, errors = tool.process.communicate(timeout=SOON_S)
        code = tool.process.returncode
        assert code in (0, 1, 2), errors  # 2: it died before the command found it
        assert errors.count("\n") == (code != 0) and "Traceback" not in errors, errors
        begun = (folder / "out" / "sweep.json").exists()
        rest = Tool(f"{SWEEP} --resume" if begun else SWEEP, folder)
        _, errors = rest.process.communicate(timeout=120)
        assert rest.process.returncode == 0, errors
        assert (folder / "out" / "runs.parquet").read_bytes() == undisturbed


@pytest.mark.skipif(bool(nobody.missing_reason()), reason=str(nobody.missing_reason()))
def test_threads_that_cannot_be_had_are_one_line(attack, tmp_path):
    """A limit on a user's processes also counts threads of libraries."""
    for choices in attack.rounds():
        folder = nobody.owned(tmp_path / str(attack.seed))
        (folder / "small.toml").write_bytes(SMALL.read_bytes())
        words = choices.choice(THREADS).split() + ["--seeds", "8", "--workers", "8"]
        if words[0] == "trace":
            words = words[:-4]
        done = nobody.westwood(words, folder, f"--nproc={choices.randint(1, 40)}")
        assert done.returncode in (0, 1), (words, done.stderr)
        assert done.stderr.count("\n") == done.returncode, (words, done.stderr)
        assert not list(folder.rglob(".partial-*"))
