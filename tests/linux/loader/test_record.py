# SPDX-License-Identifier: BSD-3-Clause
"""westwood kernel record misses no connection, counts lost events, writes our trace format."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from machine import Namespace, alone, eventually, outcome

from westwood import simulate
from westwood.errors import RunError
from westwood.kernel import reading, ww_kernel
from westwood.kernel.recording import record, recording
from westwood.scenario import Scenario

pytestmark = [pytest.mark.kernel, pytest.mark.usefixtures("loaded")]
Westwood = Callable[..., Any]
CLI = "from westwood.cli import main; main()"
PORT = 5001
RECORD = ("kernel", "record", "--cc", "ww_plus", "--out")


@pytest.fixture
def host() -> Iterator[Namespace]:
    with alone() as namespace:
        yield namespace


def transfer(host: Namespace, cc: str = "ww_plus", connections: int = 1, port: int = PORT) -> int:
    """Runs connections for 0.6 s; returns the bytes sent."""
    receiver = host.receive("127.0.0.1", port)
    sender = host.send("127.0.0.1", port, cc, 0.6, connections, rate=2e5)
    return outcome(sender, receiver, connections)


def started(file: Path, first_line: str, *words: str) -> subprocess.Popen[str]:
    """Starts `kernel record`; returns once it records, which its first line says."""
    command = [sys.executable, "-c", CLI, *RECORD, str(file), *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == first_line
    return process


def recorder_words(buffer_bytes: int, *more: int) -> list[str]:
    words = (ww_kernel.program(), "record", ww_kernel.pins(), 0, buffer_bytes, *more)
    return [str(word) for word in words]


def test_every_connection_from_start_to_end(host):
    count = 200
    with recording() as recorded:
        sent = transfer(host, connections=count)
    assert recorded.dropped == 0 and recorded.trace.height == recorded.events
    each = recorded.trace.group_by("flow", "transfer", maintain_order=True)
    events = each.agg(pl.col("event").first().alias("first"), pl.col("event").last().alias("last"))
    assert events.height == count
    assert set(events["first"]) == {"start"} and set(events["last"]) == {"end"}
    ends = recorded.trace.filter(pl.col("event") == "end")
    # The kernel counts SYN and FIN as one byte each.
    assert sent <= ends["delivered_bytes"].sum() <= sent + 2 * count
    assert set(recorded.trace["cc"]) == {"ww_plus"}


def test_there_is_one_row_per_bandwidth_window(host):
    """Westwood+ samples at most once every 50 ms: Dell'Aera 2003, section 2.2."""
    with recording() as recorded:
        transfer(host)
    windows = recorded.trace.filter(pl.col("event") == "window")
    assert 5 <= windows.height <= 13
    assert windows["time_s"].diff().drop_nulls().min() >= 0.05
    assert windows["sample_bps"].is_not_nan().all()


@pytest.mark.parametrize("name", ["ww_westwood", "ww_nrplus"])
def test_controls_that_sample_each_ack_have_no_more_rows(host, name):
    with recording() as recorded:
        transfer(host, name)
    assert recorded.trace.filter(pl.col("event") == "window").height <= 13


def test_the_columns_are_the_simulators(host):
    with recording() as recorded:
        transfer(host)
    simulated = simulate(
        Scenario.preset("table1").with_settings({"duration": "2s"}), seed=1, trace=True
    ).trace
    for name, kind in simulated.schema.items():
        if name in ("flow", "transfer", "state"):
            assert recorded.trace.schema[name] == kind or name == "flow"
        else:
            assert recorded.trace.schema[name] == kind, name
    assert recorded.trace["time_s"].is_sorted()


def test_only_the_requested_port_is_recorded(host):
    with recording(PORT + 1) as recorded:
        transfer(host)
        transfer(host, port=PORT + 1)
    assert recorded.trace["flow"].str.ends_with(f":{PORT + 1}").all() and recorded.events > 3


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_trace_draws_a_recording(host, westwood, tmp_path, ending):
    file = tmp_path / f"day.{ending}"
    recorder = started(file, "recording for 1.5s\n", "--for", "1.5s")
    transfer(host, connections=2)
    output = recorder.communicate()[0]
    assert recorder.returncode == 0
    counted, following = output.splitlines()
    assert counted.startswith(f"{file}: 2 connections, ") and counted.endswith(", 0 dropped")
    assert following == f"Next: westwood trace {file} --plot"
    called = westwood("trace", file, "--plot")
    assert (called.code, called.out.strip()) == (0, str(tmp_path / "day.png")), called.err
    assert (tmp_path / "day.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_keeps_the_recorded_events(host, tmp_path, number):
    file = tmp_path / "cut.parquet"
    recorder = started(file, "recording; Ctrl-C ends it\n")
    transfer(host)
    recorder.send_signal(number)
    recorder.communicate()
    assert recorder.returncode == 0
    assert set(pl.read_parquet(file)["event"]) >= {"start", "window", "end"}
    assert eventually(lambda: ww_kernel.status()["recorder"] == 0)


def test_lost_events_are_counted(host, tmp_path):
    """The recorder is stopped and its buffer holds one page: most events do not fit."""
    words = recorder_words(4096)
    log = tmp_path / "log"
    with log.open("wb") as errors, (tmp_path / "csv").open("wb") as out:
        recorder = subprocess.Popen(words, stdout=out, stderr=errors)
    assert eventually(lambda: (tmp_path / "csv").stat().st_size > 0)
    recorder.send_signal(signal.SIGSTOP)
    transfer(host, connections=20)
    recorder.send_signal(signal.SIGCONT)
    recorder.send_signal(signal.SIGINT)
    assert recorder.wait() == 0
    events, _, dropped = log.read_text().split()[:3]
    lines = (tmp_path / "csv").read_text().splitlines()
    assert int(events) == len(lines) - 1 and int(dropped) > 20
    assert ww_kernel.status()["dropped"] >= int(dropped)


def test_a_second_recorder_names_the_first():
    refused = pytest.raises(RunError, match=r"process \d+ is recording already")
    with recording(), refused, recording():
        pass


def test_after_a_recorder_was_killed_the_next_one_records(host):
    words = recorder_words(1 << 16)
    recorder = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert recorder.stdout is not None and recorder.stdout.readline()
    recorder.kill()
    recorder.communicate()
    with recording() as recorded:
        transfer(host)
    assert recorded.events > 3 and recorded.dropped == 0


def test_a_recorder_ends_with_its_parent(tmp_path):
    """After SIGKILL of the command no recorder is left."""
    file = tmp_path / "gone.parquet"
    command = started(file, "recording; Ctrl-C ends it\n")
    recorder = int(ww_kernel.status()["recorder"])
    assert os.path.exists(f"/proc/{recorder}")
    command.kill()
    command.communicate()
    assert eventually(lambda: not os.path.exists(f"/proc/{recorder}"))
    assert eventually(lambda: ww_kernel.status()["recorder"] == 0)


@contextmanager
def command(out: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Runs `kernel record` on a file; yields the command and the PID of its ww-kernel."""
    with started(out, "recording for 20s\n", "--for", "20s") as process:
        yield process, int(ww_kernel.status()["recorder"])
        process.kill()


def test_a_dead_recorder_is_reported_at_once_and_its_events_are_kept(host, tmp_path):
    file = tmp_path / "day.parquet"
    with command(file) as (process, recorder):
        transfer(host, connections=3)
        time.sleep(0.1)  # the recorder writes every 20 ms
        os.kill(recorder, signal.SIGKILL)
        _, errors = process.communicate(timeout=5)
    assert process.returncode == 1 and errors.count("\n") == 1
    today = time.strftime("%Y-%m-%d ")
    assert errors.startswith(f"westwood: ww-kernel was killed by SIGKILL, at {today}")
    assert re.search(rf"after [\d.]+ s; {file} has what .* 3 connections, \d+ events\n$", errors)
    assert pl.read_parquet(file)["event"].to_list().count("end") == 3
    assert [path.name for path in tmp_path.iterdir()] == ["day.parquet"]
    assert ww_kernel.status()["recorder"] == 0


def test_a_hanging_recorder_does_not_block_the_command(host, tmp_path, monkeypatch):
    monkeypatch.setattr("westwood.kernel.recording._LONGEST_END_S", 0.2)
    with pytest.raises(RunError, match="ww-kernel ended: it did not end when asked to, at "):
        for _ in record(tmp_path / "day.csv", None, "1s"):
            transfer(host)
            time.sleep(0.1)
            os.kill(int(ww_kernel.status()["recorder"]), signal.SIGSTOP)
    assert "end" in reading.read(tmp_path / "day.csv")[0]["event"].to_list()


@pytest.mark.parametrize("what", ["command", "both"])
def test_a_killed_command_leaves_a_file_that_trace_opens(host, tmp_path, what):
    (tmp_path / "day.events.csv").write_text("of an earlier one")
    with command(tmp_path / "day.parquet") as (process, recorder):
        transfer(host, connections=3)
        time.sleep(0.1)
        process.kill()
        if what == "both":
            os.kill(recorder, signal.SIGKILL)
        process.communicate()
    assert eventually(lambda: ww_kernel.status()["recorder"] == 0)
    trace, _ = reading.read(tmp_path / "day.events-2.csv")
    assert trace["event"].to_list().count("end") == 3
    assert (tmp_path / "day.events.csv").read_text() == "of an earlier one"


def test_a_full_disk_ends_it_and_names_the_written_file(host, tmp_path):
    """The disk has room for some of the events, but not for the recording made from them."""
    folder = tmp_path / "full"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", str(folder)], check=True)
    try:
        with command(folder / "day.parquet") as (process, _):
            transfer(host, connections=40)
            _, errors = process.communicate(timeout=5)
        left = folder / "day.events.csv"
        assert process.returncode == 1 and errors.count("\n") == 1
        assert "ww-kernel ended: can't write the recording: No space left on device" in errors
        assert errors.endswith(f"{left} has what was recorded, and westwood trace opens it\n")
        trace, is_cut = reading.read(left)
        assert is_cut and trace.height > 50
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_an_unwritable_file_has_its_reason():
    words = recorder_words(4096)
    with open("/dev/full", "wb") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, timeout=5)
    assert done.returncode == 1
    assert done.stderr.endswith("can't write the recording: No space left on device\n")


def test_a_recorder_without_its_parent_does_not_start():
    words = recorder_words(4096, 1)
    done = subprocess.run(words, capture_output=True, text=True, timeout=5)
    assert (done.returncode, done.stdout) == (1, "")
    assert "the parent process has ended" in done.stderr


def test_in_a_time_namespace_times_are_the_kernels(host, tmp_path):
    """The namespace's clocks differ, and so do process start times in its /proc."""
    shifted = ("unshare", "-T", "--monotonic", "100000", "--boottime", "100000")
    with (tmp_path / "events.csv").open("wb") as out:
        recorder = subprocess.Popen([*shifted, *recorder_words(1 << 16)], stdout=out)
    assert eventually(lambda: (tmp_path / "events.csv").stat().st_size > 0)
    assert ww_kernel.status()["recorder"] == recorder.pid, "status knows that it is alive"
    transfer(host)
    recorder.send_signal(signal.SIGINT)
    assert recorder.wait() == 0
    trace, _ = reading.read(tmp_path / "events.csv")
    assert 0 < trace["time_s"][0] < 10 and trace["time_s"][-1] > trace["time_s"][0] + 0.4


def test_a_file_that_is_no_recording_is_refused(westwood, tmp_path):
    (tmp_path / "mine.csv").write_text("a,b\n1,2\n")
    assert "expected a recording" in westwood("trace", tmp_path / "mine.csv", "--plot").refusal()


def test_a_recorder_outlives_unload(host):
    """The connections continue, and so does their recording."""
    with recording() as recorded:
        receiver = host.receive("127.0.0.1", PORT)
        sender = host.send("127.0.0.1", PORT, "ww_plus", 0.6, 1, rate=2e5)
        time.sleep(0.3)
        ww_kernel.unload()
        outcome(sender, receiver, 1)
    assert "end" in set(recorded.trace["event"])
