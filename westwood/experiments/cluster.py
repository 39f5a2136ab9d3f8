# SPDX-License-Identifier: BSD-3-Clause
"""Runs a sweep on a Dask cluster, with the same rows as on one machine.

A task is a few runs, each a seed of a scenario in text form. Workers need this version of westwood
and nothing else, not even a shared disk. If a worker dies, Dask runs its tasks on another one.
Finished tasks come back one by one and are on this machine's disk at once.
"""

from __future__ import annotations

import contextlib
import itertools
import socket
import threading
import tomllib
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future
from typing import Any
from urllib.parse import urlsplit

from westwood import __version__, engines, extras
from westwood.engines.contract import Engine, Job
from westwood.engines.simulator import SIMULATOR
from westwood.errors import InputError, RunError, WestwoodError, one_line
from westwood.results.columns import Row
from westwood.scenario import Scenario

_RUNS_A_TASK = 10
_OUTSTANDING = 2000  # tasks; bounds memory for long sweeps
_CONNECT_S = 2.0  # for name lookup and connection
_ANSWER_S = 10.0  # a busy scheduler takes longer to answer than its kernel
_CLOSE_S = 0.2  # to close after an error; the scheduler notices the end anyway
_SCHEMES = ("tcp", "tls")
_FIELDS = ("more_columns", "needs_events", "counts_links")  # of a job, beside its settings
Runs = list[tuple[int, list[Row]]]
# Scenario, the job's other fields, (index, seed) pairs.
Part = tuple[str, dict[str, Any], list[tuple[int, int]]]


def run_jobs(
    client: Any, jobs: Iterable[Job], engine: Engine = SIMULATOR
) -> Generator[tuple[int, list[Row]]]:
    """Runs jobs like `pool.run_jobs`, but on the cluster of a `connected` client."""
    from distributed import as_completed

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
        except Exception as error:  # anything that a worker raises, or its third death
            raise RunError(f"on the cluster: {one_line(str(error))}") from error
        for more in submit(1):
            waiting.add(more)
        yield from runs


@contextlib.contextmanager
def connected(address: str) -> Iterator[Any]:
    """Returns a client of the scheduler; raises InputError if none answers in time."""
    extras.need("distributed", "--dask")
    host, port = _place(address)
    place = (host, port)
    _soon(address, _CONNECT_S, lambda: socket.create_connection(place, timeout=_CONNECT_S).close())
    from distributed import Client

    class Own(Client):
        """A client that only `connected` closes; an unconnected one would hang at exit."""

        def __del__(self) -> None:
            """Does nothing."""

    client_class: Any = Own
    client = _soon(
        address, _ANSWER_S, lambda: client_class(address, timeout=_ANSWER_S, set_as_default=False)
    )
    try:
        yield client
    except BaseException:
        with contextlib.suppress(Exception):
            client.close(timeout=_CLOSE_S)
        raise
    client.close()


def _place(address: str) -> tuple[str, int]:
    try:
        parts = urlsplit(address if "://" in address else f"tcp://{address}")
        if parts.hostname and parts.port and parts.scheme in _SCHEMES and parts.path in ("", "/"):
            return parts.hostname, parts.port
    except ValueError:
        pass
    raise InputError("expected tcp://HOST:PORT", key="--dask", value=address)


def _soon(address: str, within_s: float, connect: Callable[[], Any]) -> Any:
    """Returns the result of `connect`, run in a thread.

    Neither name lookup nor Dask's handshake respects a timeout, and another kind of server may
    answer anything.
    """
    done: Future[Any] = Future()

    def run() -> None:
        try:
            done.set_result(connect())
        except Exception as error:
            done.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    try:
        return done.result(timeout=within_s)
    except TimeoutError:
        raise _no_scheduler(address, f"timed out after {within_s:g} s") from None
    except Exception as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise _no_scheduler(address, reason or str(error) or type(error).__name__) from None


def _no_scheduler(address: str, reason: str) -> InputError:
    problem = f"no Dask scheduler answers there: {one_line(reason)}"
    return InputError(problem, key="--dask", value=address)


def _tasks(jobs: Iterable[Job]) -> Iterator[tuple[str, list[Part]]]:
    """Yields each task: the version, and the runs with their scenarios."""
    parts: list[Part] = []
    runs = place = 0
    for job in jobs:
        text = job.scenario.to_toml()
        others = {name: getattr(job, name) for name in _FIELDS} | {"settings": dict(job.settings)}
        for seed in job.seeds:
            if not parts or parts[-1][0] is not text:
                parts.append((text, others, []))
            parts[-1][2].append((place, seed))
            runs, place = runs + 1, place + 1
            if runs == _RUNS_A_TASK:
                yield __version__, parts
                parts, runs = [], 0
    if parts:
        yield __version__, parts


def run_task(engine: str, version: str, parts: list[Part]) -> Runs:
    """Runs a task on a worker; returns (index, rows) of each run."""
    if version != __version__:
        raise RunError(f"a worker has westwood {__version__}, expected {version}")
    prepare = engines.find(engine).prepare
    done: Runs = []
    for text, others, runs in parts:
        run = prepare(Job(Scenario(**tomllib.loads(text)), (), **others))
        done += ((place, run(seed)) for place, seed in runs)
    return done
