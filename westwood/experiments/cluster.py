# SPDX-License-Identifier: BSD-3-Clause
"""Runs a sweep on a Dask cluster: rows are the same, wherever each was run.

A task is some seeds of one point, as a scenario's text: workers need this version of westwood and
nothing else, no shared disk. Dask runs the tasks of a worker that dies again on another; what is
finished comes back task by task and is on disk here.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from westwood import __version__, engines
from westwood.engines.contract import Engine, Job
from westwood.engines.simulator import SIMULATOR
from westwood.errors import InputError, RunError, UnavailableError, WestwoodError, one_line
from westwood.results.columns import Row

_SEEDS_A_TASK = 10
_OUTSTANDING = 2000  # tasks: memory does not grow with a sweep's length
_CONNECT_S = 10
Runs = list[tuple[int, list[Row]]]


def run_jobs(
    address: str, jobs: Iterable[Job], engine: Engine = SIMULATOR
) -> Iterator[tuple[int, list[Row]]]:
    """Does what `pool.run_jobs` does, on the cluster whose scheduler is at `address`."""
    try:
        from distributed import Client, as_completed
    except ImportError:
        remedy = "pip install 'westwood[cluster]'"
        raise UnavailableError(f"--dask needs the package distributed: {remedy}") from None
    try:
        client = Client(address, timeout=_CONNECT_S, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        reason = one_line(str(error)) or type(error).__name__
        problem = f"no Dask scheduler answers there: {reason}"
        raise InputError(problem, key="--dask", value=address) from None
    with client:
        tasks = _tasks(jobs)

        def submit(count: int) -> list[Any]:
            return [
                client.submit(run_task, engine.name, *task, pure=False, retries=2)
                for task in itertools.islice(tasks, count)
            ]

        waiting = as_completed(submit(_OUTSTANDING), loop=client.loop)
        for future in waiting:
            try:
                runs: Runs = future.result()
            except WestwoodError:
                raise
            except Exception as error:  # whatever a worker raises, or its death three times over
                raise RunError(f"on the cluster: {one_line(str(error))}") from error
            for more in submit(1):
                waiting.add(more)
            yield from runs


def _tasks(jobs: Iterable[Job]) -> Iterator[tuple[str, str, dict[str, Any], list[tuple[int, int]]]]:
    """Yields each task: version, scenario, swept values, and (place, seed) of each run."""
    place = 0
    for job in jobs:
        text = job.scenario.to_toml()
        seeds = list(job.seeds)
        numbered = list(enumerate(seeds, start=place))
        place += len(seeds)
        for start in range(0, len(numbered), _SEEDS_A_TASK):
            chunk = numbered[start : start + _SEEDS_A_TASK]
            yield __version__, text, dict(job.settings), chunk


def run_task(
    engine: str,
    version: str,
    scenario: str,
    settings: Mapping[str, Any],
    runs: list[tuple[int, int]],
) -> Runs:
    """Runs a task on a worker; returns (place, rows) of each run."""
    import tomllib

    from westwood.scenario import Scenario

    if version != __version__:
        raise RunError(f"a worker has westwood {__version__}, expected {version}")
    simulate = engines.find(engine).simulate
    made = Scenario(**tomllib.loads(scenario))
    return [
        (place, [{**settings, **row} for row in simulate(made, seed).flow_rows])
        for place, seed in runs
    ]
