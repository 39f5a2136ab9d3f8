# SPDX-License-Identifier: GPL-2.0-only
"""The tool cleans up however it ends: namespaces and devices have no names and disappear with
ww-path, which ends with its parent process."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from emulated_paths import needs_path
from machine import eventually

from westwood.engines import linux

pytestmark = needs_path

WORDS = "run path --engine linux --cc reno --set profile=linux --seeds 3"
COMMAND = [sys.executable, "-m", "westwood", *WORDS.split()]


def children(pid: int) -> list[int]:
    """Lists the PIDs of a process's children."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def has_connection(pid: int) -> bool:
    """True if the process is a ww-path with an established TCP connection in its namespace."""
    established = "01"  # TCP_ESTABLISHED
    process = Path(f"/proc/{pid}")
    try:
        is_path = (process / "comm").read_text() == "ww-path\n"
        if not is_path or (process / "ns/net").readlink() == Path("/proc/self/ns/net").readlink():
            return False  # it has no namespace yet: these are this machine's connections
        _, *sockets = (process / "net/tcp").read_text().splitlines()
    except OSError:  # it has ended
        return False
    return any(line.split()[3] == established for line in sockets)


def devices() -> str:
    return Path("/proc/net/dev").read_text().count("\n").__str__()


class Running:
    """Starts the tool on a long run and waits until the run's ww-path has a connection."""

    def __init__(self, folder: Path) -> None:
        command = [*COMMAND, "--set", "duration=60s", "--out", str(folder / "r")]
        self._log = folder / "stderr"
        with self._log.open("w") as log:
            self.tool = subprocess.Popen(command, stderr=log, start_new_session=True)
        self.path = 0

        def runs() -> bool:
            # The first child is a probe with a datagram flow, which may take long to end on a
            # busy machine: only the run has a TCP connection.
            paths = (child for child in children(self.tool.pid) if has_connection(child))
            self.path = next(paths, 0)
            return self.path != 0

        assert eventually(runs), "it did not start"

    def output(self) -> str:
        return self._log.read_text()

    def end(self, how: signal.Signals) -> int:
        self.tool.send_signal(how)
        self.tool.wait(10)
        return self.tool.returncode


@pytest.mark.parametrize(("how", "code"), [(signal.SIGKILL, -9), (signal.SIGTERM, 143)])
def test_nothing_outlives_a_tool_that_was_killed(how, code, tmp_path):
    before = devices()
    running = Running(tmp_path)
    assert running.end(how) == code
    assert eventually(lambda: not alive(running.path), 3), "ww-path outlived its parent process"
    assert devices() == before
    linux.check_machine()  # nothing is left that would disturb the next start


def test_ctrl_c_ends_it_and_keeps_what_was_finished(tmp_path):
    running = Running(tmp_path)
    os.killpg(running.tool.pid, signal.SIGINT)  # as a terminal does
    assert running.tool.wait(10) == 130
    assert eventually(lambda: not alive(running.path), 3)
    assert "Traceback" not in running.output()


def test_a_killed_path_is_an_error_in_one_line(tmp_path):
    running = Running(tmp_path)
    os.kill(running.path, signal.SIGKILL)
    assert running.tool.wait(10) == 1
    estimate, last = running.output().splitlines()
    assert " runs take about " in estimate
    assert last.startswith("westwood: path, seed 1: the emulated path ended with signal SIGKILL")


def test_many_starts_leave_no_namespace_behind():
    """The kernel's count of namespaces falls shortly after the last process has ended.

    Other tests make namespaces at the same time. So one of three batches of starts must leave fewer
    behind than it made.
    """

    def count() -> int:
        lines = Path("/proc/slabinfo").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("net_namespace"))

    def is_clean_after(starts: int) -> bool:
        before = count()
        for _ in range(starts):
            linux.check_machine()
        return eventually(lambda: count() < before + starts)

    if not os.access("/proc/slabinfo", os.R_OK):
        pytest.skip("needs root: /proc/slabinfo")
    for _ in range(3):
        linux.check_machine()
    assert any(is_clean_after(20) for _ in range(3)), "namespaces remain"


@pytest.mark.skipif(
    shutil.which("unshare") is None, reason="no unshare: apt-get install util-linux"
)
def test_a_machine_without_tun_gets_the_remedy():
    """In a mount namespace with an empty /dev/net it exits with 77 and names the remedy."""
    if os.geteuid() != 0:
        pytest.skip("needs root: to hide /dev/net/tun")
    hidden = 'mount -t tmpfs none /dev/net && exec "$@"'
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", hidden, "sh", *COMMAND],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 77
    assert done.stderr.startswith("westwood: engine linux: no /dev/net/tun")
    assert "modprobe tun" in done.stderr and done.stderr.count("\n") == 1
