# SPDX-License-Identifier: GPL-2.0-only
"""A shell and its command end together, however one of them ends, and leave nothing behind.

Each test plays the outer side, in a network namespace of its own.
"""

import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from machine import eventually
from own_network import Network, devices, own_network
from shells import END_S, REACH, SHELL, START_S, become, missing_reason, shell

pytestmark = pytest.mark.skipif(bool(missing_reason()), reason=missing_reason())


@pytest.fixture(autouse=True)
def outside() -> Iterator[None]:
    with own_network():
        yield


@pytest.mark.parametrize(
    ("command", "code"), [("exit 0", 0), ("exit 3", 3), ("kill -TERM $$", -15), ("kill -9 $$", -9)]
)
def test_it_ends_as_the_command_ends(command, code):
    done = shell("--delay", "1ms", "--", "sh", "-c", command)
    assert done.returncode == code
    assert done.stderr.startswith(REACH) and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("command", "code", "expected"),
    [
        ("no-such-command", 127, "westwood: no-such-command: command not found"),
        ("/etc", 126, "westwood: /etc: Permission denied"),
    ],
)
def test_a_command_that_cannot_start_gives_one_line(command, code, expected):
    done = shell("--delay", "1ms", "--", command)
    assert done.returncode == code
    assert done.stderr.splitlines()[1:] == [expected]


def test_root_of_a_user_namespace_can_start_a_shell():
    within = ["unshare", "--user", "--map-root-user", "--net"]
    if shutil.which("unshare") is None or subprocess.run([*within, "true"], check=False).returncode:
        pytest.skip("needs user namespaces")
    shells = [*SHELL, "--delay", "1ms", "--", *SHELL, "--delay", "1ms"]
    words = [*within, *shells, "sh", "-c", "exit 6"]
    assert subprocess.run(words, capture_output=True, check=False).returncode == 6


def test_without_a_command_it_runs_the_users_shell(tmp_path):
    """On a terminal, with the path in its prompt."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash")
    front, terminal = pty.openpty()
    with subprocess.Popen(
        [*SHELL, "--rate", "2Mbps", "--loss", "1%"],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        env={**os.environ, "SHELL": bash, "HOME": str(tmp_path)},
        start_new_session=True,
    ) as running:
        os.close(terminal)
        os.write(front, b"echo $((6 * 7)) $0\nexit 5\n")
        output = b""
        while True:
            try:
                output += os.read(front, 1000)
            except OSError:  # the last process has closed the terminal
                break
        assert running.wait(END_S) == 5
    os.close(front)
    assert b"[2Mbps 1%] " in output
    assert b"42 " in output


class Running:
    """Starts a long command in a shell, and waits until it runs."""

    def __init__(self, folder: Path, script: str = ":") -> None:
        self._marker = folder / "runs"
        inside = f"echo $$ > {self._marker}.new"
        inside += f" && mv {self._marker}.new {self._marker}; {script}; sleep 600 & exec sleep 600"
        words = become("--delay", "1ms", "--", "sh", "-c", inside)
        self.tool = subprocess.Popen(**words, stderr=subprocess.DEVNULL)
        assert eventually(self._marker.exists, START_S), "it did not start"
        self.network = Network(int(self._marker.read_text()))
        assert "ww0" in devices()

    def has_left_nothing(self) -> bool:
        return eventually(lambda: not self.network.inhabitants() and "ww0" not in devices(), END_S)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_nothing_outlives_an_ended_shell(how, tmp_path):
    """Neither the command nor its background processes, devices or namespace remain."""
    running = Running(tmp_path)
    running.tool.send_signal(how)
    assert running.tool.wait(END_S) == -how
    assert running.has_left_nothing()


def test_nothing_outlives_nested_shells_after_a_kill(tmp_path):
    mark = tmp_path / "inner"
    inner = f"echo $$ > {mark}; sleep 600 & sleep 600; true"
    script = f"{' '.join(SHELL)} --delay 1ms -- sh -c '{inner}' & :"
    running = Running(tmp_path, script)
    assert eventually(lambda: mark.exists() and mark.read_text(), START_S)
    network = Network(int(mark.read_text()))
    running.tool.kill()
    running.tool.wait(END_S)
    assert running.has_left_nothing()
    assert eventually(lambda: not network.inhabitants())


def test_killing_the_path_ends_the_command(tmp_path):
    running = Running(tmp_path)

    def paths() -> list[int]:
        inside = running.network.inhabitants()
        return [pid for pid in inside if Path(f"/proc/{pid}/comm").read_text() == "ww-path\n"]

    assert eventually(lambda: len(paths()) == 1)
    os.kill(paths()[0], signal.SIGKILL)
    assert running.tool.wait(END_S) == 1
    assert running.has_left_nothing()


def test_ctrl_c_reaches_the_command_once(tmp_path):
    """The terminal signals the whole group; the front does not pass the signal on again."""
    counts = tmp_path / "interrupts"
    front, terminal = pty.openpty()
    script = f"trap 'echo one >> {counts}' INT; read _"
    reads = f"stty -F /dev/tty >/dev/null 2>&1; {script}"
    control = (
        "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0);"
        "os.execv(sys.argv[1], sys.argv[1:])"
    )
    ready = tmp_path / "ready"
    command = f"touch {ready}; {reads}; {script}; exit 4"
    words = [*SHELL, "--delay", "1ms", "--", "sh", "-c", command]
    with subprocess.Popen(
        [sys.executable, "-c", control, *words],
        stdin=terminal,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as running:
        os.close(terminal)
        assert eventually(ready.exists, START_S)
        time.sleep(0.2)
        os.write(front, b"\x03")
        assert eventually(counts.exists)
        time.sleep(0.2)
        assert counts.read_text() == "one\n"
        running.kill()
    os.close(front)
