# SPDX-License-Identifier: GPL-2.0-only
"""Attacks our objects in a running kernel: many flows, kills at any time, two commands at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from machine import HELPERS, OURS, Namespace, alone, available, eventually, in_kernel, outcome

from westwood.engines import linux
from westwood.errors import WestwoodError
from westwood.kernel import doctor, reading, recording, ww_kernel

pytestmark = pytest.mark.kernel
WESTWOOD = [sys.executable, "-m", "westwood"]
PORT = 5001
# Opens and closes flows of 3 kB one after the other, in its namespace.
SHORT_FLOWS = """
import socket, sys, threading
count, port = map(int, sys.argv[1:])
listener = socket.create_server(("127.0.0.1", port), backlog=1024)
def serve():
    for _ in range(count):
        one, _ = listener.accept()
        while one.recv(65536): pass
        one.close()
threading.Thread(target=serve, daemon=True).start()
for _ in range(count):
    one = socket.socket()
    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"ww_plus")
    one.connect(("127.0.0.1", port))
    one.sendall(bytes(3000))
    one.shutdown(socket.SHUT_WR)
    one.recv(1)
    one.close()
"""
# Runs flows one after the other, with the control if it is loaded; prints how many had it.
CHOOSING = """
import errno, socket, sys, threading
count, port, name = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3].encode()
listener = socket.create_server(("127.0.0.1", port), backlog=1024)
def serve():
    while True:
        one, _ = listener.accept()
        while one.recv(65536): pass
        one.close()
threading.Thread(target=serve, daemon=True).start()
chosen = 0
for _ in range(count):
    one = socket.socket()
    try:
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name)
        chosen += 1
    except FileNotFoundError:
        pass
    one.connect(("127.0.0.1", port))
    one.sendall(bytes(30000))
    one.shutdown(socket.SHUT_WR)
    assert one.recv(1) == b""
    one.close()
print(chosen)
"""


@pytest.fixture(autouse=True, scope="module")
def clean(bpffs) -> Iterator[None]:
    """After any attack one unload removes everything of ours from the kernel and the bpffs."""
    yield
    ww_kernel.unload()
    assert eventually(lambda: not in_kernel()), "something was leaked"
    assert not ww_kernel.pins().exists()


@pytest.fixture
def host() -> Iterator[Namespace]:
    with alone() as namespace:
        yield namespace


def works_again():
    """Status and doctor report nothing unusual, and a load registers everything."""
    ww_kernel.status()
    assert "bpffs" not in doctor.missing(doctor.checks())
    ww_kernel.load()
    state = ww_kernel.status()
    assert state["loaded"] and all(control["registered"] for control in state["controls"])
    assert available() >= OURS


def test_a_clock_that_is_set_back_changes_no_time(attack, host, tmp_path):
    """The time of day changes for the tool and ww-kernel while they record."""
    ww_kernel.load()
    clock, file, preloaded = tmp_path / "clock", tmp_path / "day.csv", tmp_path / "set_back.so"
    compiled = ["cc", "-shared", "-fPIC", "-o", str(preloaded), str(HELPERS / "set_back.c")]
    subprocess.run(compiled, check=True)
    environment = {**os.environ, "LD_PRELOAD": str(preloaded), "WW_CLOCK": str(clock)}
    clock.write_text("-86400")
    output = subprocess.run(["date", "+%s"], env=environment, stdout=subprocess.PIPE).stdout
    assert 86000 < time.time() - int(output) < 87000, "the helper works"
    for choices in attack.rounds():
        clock.write_text("0")
        record = ["kernel", "record", "--cc", "ww_plus", "--for", "1s", "--out", str(file)]
        with subprocess.Popen(
            [*WESTWOOD, *record], env=environment, stdout=subprocess.PIPE, text=True
        ) as tool:
            assert tool.stdout is not None and tool.stdout.readline() == "recording for 1s\n"
            begun = time.monotonic()
            clock.write_text(str(choices.choice([-1, 1]) * choices.choice([1, 86400, 300_000_000])))
            host.run(sys.executable, "-c", SHORT_FLOWS, 20, PORT)
            assert tool.wait(10) == 0
            assert 0.9 < time.monotonic() - begun < 5
        trace, _ = reading.read(file)
        assert trace["time_s"].is_sorted() and trace["time_s"].max() < 5
        assert trace["event"].to_list().count("end") == 20


def test_no_event_of_short_flows_is_lost_uncounted(attack, host, monkeypatch):
    """The recorder's buffer has its usual size, or is so small that it may overflow."""
    ww_kernel.load()
    count = 5000
    for number, choices in enumerate(attack.rounds()):
        monkeypatch.setattr(recording, "_RING_BYTES", choices.choice([8 << 20, 8 << 20, 1 << 16]))
        with recording.recording(PORT + number) as recorded:
            host.run(sys.executable, "-c", SHORT_FLOWS, count, PORT + number)
        events = recorded.trace["event"].to_list()
        starts, ends = events.count("start"), events.count("end")
        assert starts <= count and ends <= count
        assert starts + ends + recorded.dropped >= 2 * count
        if recorded.dropped == 0:
            assert starts == ends == recorded.trace.select("flow", "transfer").n_unique() == count


def test_unload_under_500_flows_loses_none(attack, host):
    for number, choices in enumerate(attack.rounds()):
        # A receiver of its own: one that outlived a round without the control would still count it.
        port = PORT + number % 1000
        receiver = host.receive("127.0.0.1", port)
        ww_kernel.load()
        name = choices.choice(sorted(OURS))
        sender = host.send("127.0.0.1", port, name, 1.0, connections=500, rate=2e4)
        time.sleep(choices.random())
        ww_kernel.unload()
        assert not available() & OURS
        if sender.wait(60) == 0:  # otherwise it was too late to choose the control
            assert outcome(sender, receiver, 500) > 0
        receiver.kill()
        assert eventually(lambda: not in_kernel(), 10)


def test_flows_may_choose_a_control_while_it_comes_and_goes(attack, host):
    """Each flow ends in order, with the control or without."""
    flows = 10_000  # as long as some loads take
    for number, choices in enumerate(attack.rounds()):
        name, port = choices.choice(sorted(OURS)), PORT + number % 1000
        opening = host.start(sys.executable, "-c", CHOOSING, flows, port, name)
        while opening.poll() is None:
            ww_kernel.load()
            time.sleep(choices.choice([0, 0.001, 0.1]) * choices.random())
            ww_kernel.unload()
            time.sleep(choices.choice([0, 0.001, 0.1]) * choices.random())
        output, _ = opening.communicate()
        assert opening.returncode == 0 and 0 <= int(output) <= flows
        assert not available() & OURS
        assert eventually(lambda: not in_kernel(), 10), "a map or a program is left"


def words(command: str, *more: object) -> list[str]:
    return [str(word) for word in (ww_kernel.program(), command, ww_kernel.pins(), *more)]


def start(command: str, folder: Path) -> subprocess.Popen[bytes]:
    """Starts a command of ww-kernel, or of the tool."""
    if command == "load":
        line = words("load", ww_kernel.bpf_object(ww_kernel.program()), "test")
    elif command == "record":
        line = words("record", 0, 1 << 16)
    elif command == "westwood":
        line = [*WESTWOOD, "kernel", "record", "--out", str(folder / "day.csv")]
        line += ["--for", "5s"]
    else:
        line = words(command)
    return subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def kill_after(process: subprocess.Popen[bytes], seconds: float) -> None:
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    process.communicate()


def test_killed_at_any_time_the_next_command_makes_it_good(attack, tmp_path):
    for number, choices in enumerate(attack.rounds()):
        command = choices.choice(["load", "unload", "record", "westwood"])
        if command == "load":
            ww_kernel.unload()
        else:
            ww_kernel.load()
        longest = {"load": 1.5, "unload": 0.05, "record": 0.05, "westwood": 1.5}[command]
        folder = tmp_path / str(number)
        folder.mkdir()
        kill_after(start(command, folder), choices.uniform(0, longest))
        works_again()
        assert eventually(lambda: ww_kernel.status()["recorder"] == 0), "its recorder ends with it"
        for left in folder.iterdir():
            with pytest.raises(WestwoodError, match="has no event"):
                reading.read(left)


def test_two_of_anything_at_once(attack, tmp_path):
    """Each succeeds or refuses in one line, and they leave a valid state."""
    for choices in attack.rounds():
        chosen = choices.choices(["load", "unload", "record", "status"], k=4)
        started = []
        for command in ("load", *chosen):
            started.append((command, start(command, tmp_path)))
            time.sleep(choices.choice([0, 0, 0.3]))
        for command, process in started:
            if command == "record":
                process.send_signal(signal.SIGINT)
            errors = process.communicate(timeout=60)[1].decode()
            assert process.returncode in (0, 1, -signal.SIGINT), (command, errors)
            if process.returncode == 1:
                assert "recording already" in errors or "nothing is loaded" in errors, (
                    command,
                    errors,
                )
        state = ww_kernel.status()
        registered = available() & OURS
        assert registered == (OURS if state["loaded"] else set())
        assert not state["loaded"] or (state["recorder"] == 0 and state["version"])


def test_a_run_that_is_killed_at_any_time_leaves_nothing(attack, tmp_path):
    """No file, process or device of a traced run remains, whether the tool or its path dies."""
    linux.check_machine()
    devices = Path("/proc/net/dev").read_text().count("\n")
    line = [*WESTWOOD, "trace", "path", "--engine", "linux", "--set", "profile=linux"]
    line += ["--set", "duration=20s", "--cc", "reno", "--out", str(tmp_path / "out")]
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    for choices in attack.rounds():
        tool = subprocess.Popen(
            line, env={**os.environ, "TMPDIR": str(temporary)}, stderr=subprocess.PIPE
        )
        time.sleep(choices.uniform(0, 2.5))
        victim = choices.choice([tool.pid, *paths_of(tool.pid)])
        os.kill(victim, signal.SIGKILL)
        errors = tool.communicate(timeout=20)[1].decode()
        if victim != tool.pid:
            assert tool.returncode in (1, 77) and errors.count("\n") == 1, errors
        assert eventually(lambda tool=tool: not paths_of(tool.pid))
        assert not list(temporary.iterdir())
        assert Path("/proc/net/dev").read_text().count("\n") == devices


def paths_of(tool: int) -> list[int]:
    """Returns every ww-path whose tool is this process, or has ended."""
    paths = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            name, _, rest = (process / "stat").read_text().partition("(")[2].rpartition(")")
        except OSError:
            continue
        state, parent = rest.split()[:2]
        if name == "ww-path" and state != "Z" and parent in ("1", str(tool)):
            paths.append(int(process.name))
    return paths
