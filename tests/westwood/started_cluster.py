# SPDX-License-Identifier: BSD-3-Clause
"""A Dask scheduler and workers on loopback, as processes that a test may kill."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

_FAILURES = "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES"
_START_S = 60.0


class Cluster:
    """Has a scheduler, and the workers that were started."""

    def __init__(self, folder: Path, workers: int, *, allowed_failures: int = 10) -> None:
        self._folder, self._file = folder, folder / "scheduler.json"
        self.workers: list[subprocess.Popen[bytes]] = []
        words = ("scheduler", "--port", "0", "--scheduler-file", self._file)
        self.scheduler = self._start(*words, **{_FAILURES: str(allowed_failures)})
        try:
            end = time.monotonic() + _START_S
            while not self._file.exists() and time.monotonic() < end:
                time.sleep(0.05)
            for _ in range(workers):
                self.add_worker()
            self.address = self._address(workers)
        except BaseException:
            self.close()
            raise

    def _start(self, *words: object, **variables: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", *map(str, words)]
        quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        options = ["--host", "127.0.0.1", "--no-dashboard"]
        return subprocess.Popen([*command, *options], env={**os.environ, **variables}, **quiet)

    def _address(self, workers: int) -> str:
        from distributed import Client

        with Client(scheduler_file=str(self._file), set_as_default=False) as client:
            client.wait_for_workers(workers, timeout=_START_S)
            return str(client.scheduler.address)

    def add_worker(self):
        """Starts a worker of one thread, which ends when it is killed: it has no nanny."""
        words = ("worker", "--scheduler-file", self._file, "--no-nanny", "--nthreads", "1")
        self.workers.append(self._start(*words, "--local-directory", self._folder))

    def close(self):
        for process in [*self.workers, self.scheduler]:
            process.kill()
            process.wait()
