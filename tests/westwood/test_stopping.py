# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C ends every command on every engine within half a second; finished results are kept.

Each command is a process that is interrupted at work. Busy machines get a second chance.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from one_link import one_link
from started_tool import Tool, members

from westwood import Scenario, _engine, simulate, simulate_many, stopping
from westwood.engines import linux, ns3
from westwood.engines.network import build
from westwood.errors import WestwoodError

pytestmark = pytest.mark.clock
WITHIN_S = 0.5
IGNORED = (signal.SIGINT, signal.SIGHUP)
EXIT_CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


def lacks(check: Callable[[], Any]) -> str:
    try:
        check()
    except WestwoodError as error:
        return str(error)
    return ""


NO_NS3, NO_LINUX = lacks(ns3.program), lacks(linux.check_machine)
LONG = "--set duration=600h --yes"
NS3 = f"--engine ns3 --set profile=ns3-3.44 {LONG}"
LINUX = "--engine linux --cc reno --set profile=linux --set duration=300s"
COMMANDS = [
    f"run table1 --seeds 1 {LONG}",
    f"run table1 --seeds 8 {LONG} --out r --plot",
    f"compare --seeds 2 {LONG} --plot",
    f"trace table1 {LONG} --plot --out r --every 1h",
    f"sweep fading --seeds 50 {LONG} --out r",
    "reproduce all --out r",
    "evaluate westwood+ --suite benchmark --out r",
    "evaluate bbr3 --suite draft --out r",
    "evaluate scalable.c --suite check --for 60s --out r",
    "control tune --cc vegas --paths 200 --packets 400000 --trials 50 --out r",
    "validate --engine ns3 --out r",
    f"run table1 {NS3} --seeds 2",
    f"trace table1 {NS3} --plot",
    f"run path {LINUX} --seeds 3",
    f"trace path {LINUX} --plot",
    "validate --engine linux --only lossless --out r",
]


def skip_unless_there(command: str) -> None:
    for engine, reason in (("ns3", NO_NS3), ("linux", NO_LINUX)):
        if f"--engine {engine}" in command and reason:
            pytest.skip(reason)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_signal_ends_it_soon_with_one_line_and_no_leftovers(command, tmp_path):
    """A long command first says how long it takes; the signal adds one line to that."""
    skip_unless_there(command)
    tool = Tool(command, tmp_path)
    assert tool.works(), tool.process.communicate()
    took_s, _, errors = tool.end(signal.SIGINT, group=True)
    assert tool.process.returncode == 130, errors
    *announcements, last = errors.splitlines()
    assert last.startswith("westwood: interrupted"), errors
    assert len(announcements) <= 1 and all("about " in line for line in announcements), errors
    assert not tool.left()
    assert took_s < WITHIN_S


@pytest.mark.parametrize(
    ("signals", "group"),
    [
        ([signal.SIGINT, signal.SIGINT], True),  # from a terminal, and from a wrapper
        ([signal.SIGTERM], False),
        ([signal.SIGHUP], True),
        ([signal.SIGTERM, signal.SIGINT], False),
    ],
)
def test_an_interrupted_command_keeps_finished_runs(signals, group, tmp_path):
    promised = (EXIT_CODES[signals[0]], "westwood: interrupted; finished runs are in r\n", True)
    assert _ends_and_keeps(signals, group, tmp_path) == promised


def _ends_and_keeps(
    signals: list[signal.Signals], group: bool, folder: Path
) -> tuple[int, str, bool]:
    """Returns its exit code, its message, and whether it kept runs."""
    tool = Tool("run table1 --seeds 100000 --set duration=2s --out r", folder)
    while not (folder / "r" / "manifest.json").exists() and tool.process.poll() is None:
        time.sleep(0.02)
    time.sleep(1)  # enough for some runs
    _, out, errors = tool.end(*signals, group=group)
    assert not tool.left()
    kept = folder / "r" / "runs.parquet"
    has_kept = "interrupted" in out and kept.exists() and pl.read_parquet(kept).height > 0
    return tool.process.returncode, errors, has_kept


@pytest.mark.skipif(bool(NO_NS3), reason=NO_NS3)
def test_a_kill_leaves_no_ns3_process(tmp_path):
    tool = Tool(f"run table1 {NS3} --seeds 2", tmp_path)
    end = time.monotonic() + 20
    while len(members(tool.process.pid)) < 2 and time.monotonic() < end:
        time.sleep(0.02)
    time.sleep(0.5)  # the tool has called git, and the runner is reading its plan
    tool.end(signal.SIGKILL)
    while tool.left() and time.monotonic() < end:
        time.sleep(0.02)
    assert not tool.left()


def test_an_ignored_signal_stays_ignored(tmp_path):
    """nohup ignores SIGHUP, and a shell ignores SIGINT in background jobs."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in IGNORED}
    try:
        tool = Tool("run table1 --seeds 4 --set duration=10s", tmp_path)  # inherits it
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    for _ in range(10):
        for number in IGNORED:
            tool.process.send_signal(number)
        time.sleep(0.05)
    _, errors = tool.process.communicate(timeout=60)
    assert (tool.process.returncode, errors) == (0, "")


# ---- In a Python program


def interrupted_after(seconds: float, what: Callable[[], object]) -> float:
    """Returns the seconds from Ctrl-C until the call raises KeyboardInterrupt."""
    sent: list[float] = []

    def send():
        sent.append(time.monotonic())
        signal.raise_signal(signal.SIGINT)

    timer = threading.Timer(seconds, send)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        what()
    took_s = time.monotonic() - sent[0]
    timer.join()
    return took_s


@pytest.fixture
def endless() -> Scenario:
    return Scenario.preset("table1").with_settings({"duration": "600h"})


def test_simulate_ends_with_keyboard_interrupt(endless):
    assert interrupted_after(0.1, lambda: simulate(endless)) < WITHIN_S


def test_simulate_many_ends_with_keyboard_interrupt(endless):
    before = threading.active_count()
    took_s = interrupted_after(0.1, lambda: simulate_many(endless, [1, 2, 3]))
    assert took_s < 2 * WITHIN_S
    end = time.monotonic() + 10
    while threading.active_count() > before and time.monotonic() < end:
        time.sleep(0.01)
    assert threading.active_count() <= before, "no run goes on"


def test_ten_thousand_flows_end_just_as_soon():
    many = one_link(*["reno"] * 1000, link={"rate": "10Gbps"}, duration="600h")
    assert interrupted_after(0.5, lambda: simulate(many)) < WITHIN_S


def test_a_stop_flag_ends_a_run_of_another_thread(endless):
    stop = _engine.Stop()
    timer = threading.Timer(0.05, stop.set)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        _engine.simulate(build(endless), 1, stop)


def test_a_handler_that_does_not_raise_does_not_end_the_run():
    seen: list[int] = []
    before = signal.signal(signal.SIGUSR1, lambda number, frame: seen.append(number))
    try:
        timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGUSR1))
        timer.start()
        scenario = Scenario.preset("table1").with_settings({"duration": "3h"})
        assert simulate(scenario).rows.height == 1
        timer.join()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert seen == [signal.SIGUSR1]


def test_a_temporary_folder_is_removed_however_its_block_ends(tmp_path):
    with pytest.raises(KeyboardInterrupt), stopping.temporary_folder("x-", tmp_path) as folder:
        (folder / "file").touch()
        raise KeyboardInterrupt
    assert not list(tmp_path.iterdir())


# ---- If the exception gets lost

LOST = """
import hashlib, sys, time
from westwood import stopping

class Deaf:
    def __del__(self):  # Python raises nothing in it
        print("ready", flush=True)
        end = time.monotonic() + 0.15
        while time.monotonic() < end:
            pass

def never_looks():
    print("ready", flush=True)
    hashlib.pbkdf2_hmac("sha256", b"", b"", 10**8)

def swallows():
    Deaf()
    time.sleep(60)

def catches():
    print("ready", flush=True)
    while True:
        try:
            time.sleep(0.01)
        except BaseException:
            pass

def cleans_up():
    try:
        print("ready", flush=True)
        time.sleep(60)
    finally:
        with stopping.keeping():
            time.sleep(1)
        print("kept", flush=True)

def is_keeping():
    with stopping.keeping():
        print("ready", flush=True)
        end = time.monotonic() + 0.6
        while time.monotonic() < end:
            time.sleep(0.01)
        print("kept", flush=True)

stopping.watch()
stopping.begin()
try:
    globals()[sys.argv[1]]()
except KeyboardInterrupt:
    print("arrived", flush=True)
    sys.exit(stopping.exit_code(130))
"""


@pytest.mark.parametrize(
    ("what", "out", "errors"),
    [
        ("never_looks", "", f"westwood: {stopping.UNKNOWN}\n"),
        ("swallows", "arrived\n", ""),
        ("catches", "", f"westwood: {stopping.UNKNOWN}\n"),
        ("cleans_up", "kept\narrived\n", ""),
        ("is_keeping", "kept\narrived\n", ""),
    ],
)
def test_the_process_ends_even_if_the_exception_is_lost(what, out, errors):
    # On a busy machine the 0.35 s may pass before the process is scheduled.
    assert (143, out, errors) in (_ended(what) for _ in range(3))


def _ended(what: str) -> tuple[int, str, str]:
    process = subprocess.Popen(
        [sys.executable, "-c", LOST, what],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    out, errors = process.communicate(timeout=20)
    return process.returncode, out, errors
