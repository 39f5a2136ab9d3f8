# SPDX-License-Identifier: BSD-3-Clause
"""Attacks `kernel default`: killed at any time it can restore, and keeps other users' choices."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from machine import Namespace, alone, other_than_reno

from westwood.kernel import defaults, saved_defaults

pytestmark = pytest.mark.kernel
NAMES = ("reno", other_than_reno())  # any namespace may use these
CC = "net.ipv4.tcp_congestion_control"
ROUTE = "192.0.2.0/24"
# Forks for each line, a call of `defaults`, so that attacks don't wait for imports.
FORKS = """
import os, sys
from pathlib import Path
from pyroute2 import IPRoute
from westwood.kernel import defaults, saved_defaults
saved_defaults.FOLDER = Path(sys.argv[1])
print("ready", flush=True)
while line := sys.stdin.readline():
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        eval(line)
        os._exit(0)
    print(child, flush=True)
    sys.stdin.readline()
    os.waitpid(child, 0)
    print("ended", flush=True)
"""


class Forks:
    """Runs calls in processes that can be killed."""

    def __init__(self, folder: Path) -> None:
        words = [sys.executable, "-c", FORKS, str(folder)]
        self._process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._line() == "ready"

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def call(self, line: str, kill_after_s: float | None = None) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        child = int(self._line())
        if kill_after_s is not None:
            time.sleep(kill_after_s)
            os.kill(child, signal.SIGKILL)  # not reaped yet, so its PID is not reused
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        assert self._line() == "ended"

    def end(self):
        self._process.communicate("")


@pytest.fixture
def forks(tmp_path, monkeypatch) -> Iterator[Forks]:
    monkeypatch.setattr(saved_defaults, "FOLDER", tmp_path / "westwood")
    forks_ = Forks(tmp_path / "westwood")
    yield forks_
    forks_.end()


@pytest.fixture
def host() -> Iterator[Namespace]:
    with alone() as namespace:
        namespace.run("ip", "tuntap", "add", "d0", "mode", "tun")
        namespace.run("ip", "link", "set", "d0", "up")
        yield namespace


def test_killed_at_any_time_what_was_there_comes_back(attack, forks, host):
    """Both a namespace's and a route's default. A later choice of somebody else stays."""
    host.run("ip", "route", "add", ROUTE, "dev", "d0", "mtu", "1400")
    for choices in attack.rounds():
        route = choices.choice([None, ROUTE])
        before = choices.choice(NAMES)
        other = NAMES[NAMES.index(before) - 1]
        if route:
            host.run("ip", "route", "change", ROUTE, "dev", "d0", "mtu", "1400", "congctl", before)
        else:
            host.run("sysctl", "-qw", f"{CC}={before}")
        calls = [f"defaults.choose({other!r}, {host.pid}, {route!r})", "defaults.restore()"]
        for call in choices.choices(calls, k=choices.randint(1, 4)):
            forks.call(call, choices.choice([None, choices.uniform(0, 0.03)]))
        messages = defaults.restore()
        (now,) = defaults.lines(str(host.pid), route)
        assert now.endswith(f": {before}"), (messages, now)
        assert defaults.restore()[0].startswith("nothing to restore")
        if route:
            assert "mtu 1400" in host.run("ip", "route", "show", ROUTE)
