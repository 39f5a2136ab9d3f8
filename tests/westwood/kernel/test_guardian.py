# SPDX-License-Identifier: BSD-3-Clause
"""A guardian undoes its changes when its parent process ends, however that ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from westwood.errors import RunError
from westwood.kernel import guardian
from westwood.kernel.guardian import guarded, running

HELD = """
import sys, time
from westwood.kernel.guardian import guarded, running
with guarded([["touch", "made"]], [["rm", "made"]]), running(["sleep", "600"]):
    print("held", flush=True)
    time.sleep(600)
"""


def wait_until(holds: object, seconds: float = 10) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():  # type: ignore[operator]
            return True
        time.sleep(0.02)
    return False


def sleepers(folder: Path) -> list[int]:
    """Returns the processes whose working folder is this one."""
    processes = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(process / "cwd") == str(folder):
                processes.append(int(process.name))
        except OSError:
            continue
    return processes


def test_it_runs_commands_in_order_and_undoes_them(tmp_path):
    log = tmp_path / "log"

    def say(word: str) -> list[str]:
        return ["sh", "-c", f"echo {word} >> {log}"]

    with guarded([say("one"), say("two")], [say("three"), say("four")]):
        assert log.read_text().split() == ["one", "two"]
    assert log.read_text().split() == ["one", "two", "three", "four"]


def test_a_command_without_an_answer_is_named_with_the_load(monkeypatch):
    monkeypatch.setattr("westwood.kernel.guardian._LONGEST_S", 0.1)
    late = r"^modprobe x gave no answer in 0\.1 s, under a load of [0-9.]+$"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(["sleep", "600"], **pipes) as process:
        with pytest.raises(RunError, match=late):
            guardian._await_ready(process, "modprobe x")
        process.kill()


def test_a_failure_is_reported_and_undone(tmp_path):
    folder = tmp_path / "made"
    fails = ["sh", "-c", "echo no such control >&2; exit 1"]
    with pytest.raises(RunError, match=r"^no such control$"), guarded([fails], [["touch", folder]]):
        raise AssertionError
    assert folder.exists()
    undone = pytest.raises(
        RunError, match=r"^could not undo all changes to this machine: no such control$"
    )
    with undone, guarded([["true"]], [fails]):
        pass


def test_a_killed_guardian_is_reported(tmp_path):
    """It could not undo anything."""
    tell = [["sh", "-c", f"echo $PPID > {tmp_path}/guardian"]]
    told = pytest.raises(RunError, match=r"its guardian was killed by SIGKILL$")
    with told, guarded(tell, [["true"]]):
        os.kill(int((tmp_path / "guardian").read_text()), signal.SIGKILL)


def test_it_ends_the_background_command(tmp_path):
    with running(["sh", "-c", f"cd {tmp_path}; exec sleep 600"]):
        assert wait_until(lambda: len(sleepers(tmp_path)) == 1)
    assert not sleepers(tmp_path)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_parent_leaves_nothing(how, tmp_path):
    command = [sys.executable, "-c", HELD]
    starter = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, start_new_session=True
    )
    assert starter.stdout is not None and starter.stdout.readline() == b"held\n"
    assert (tmp_path / "made").exists() and len(sleepers(tmp_path)) >= 3
    os.killpg(starter.pid, how)  # the guardian has its own session
    starter.communicate()
    assert wait_until(lambda: not sleepers(tmp_path))
    assert not (tmp_path / "made").exists()
