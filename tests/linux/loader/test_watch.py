# SPDX-License-Identifier: BSD-3-Clause
"""westwood kernel watch shows connections of every control on any terminal, and ends at once."""

import fcntl
import math
import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO

import polars as pl
import pytest
from machine import alone, eventually
from rich.console import Console

from westwood.cli import watch
from westwood.cli.tables import Cells
from westwood.kernel import namespaces, ww_kernel
from westwood.kernel.sockets import Match
from westwood.kernel.watching import Watch, ordered, snapshots

WESTWOOD = (sys.executable, "-c", "from westwood.cli import main; main()", "kernel", "watch")


@contextmanager
def connected() -> Iterator[tuple[socket.socket, int]]:
    """Makes a connection whose other end reads everything."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as connection:
            other, _ = server.accept()

            def read():
                while other.recv(1 << 16):
                    pass

            reader = threading.Thread(target=read)
            reader.start()
            try:
                yield connection, port
            finally:
                connection.shutdown(socket.SHUT_RDWR)
                reader.join()
                other.close()


def test_goodput_counts_bytes_acknowledged_since_the_last_snapshot():
    with connected() as (sender, port), Watch(Match(remote_port=port), str(os.getpid())) as watched:
        start_s = time.monotonic()
        assert math.isnan(watched.snapshot()["goodput_bps"][0]), "there was no earlier snapshot"
        sender.sendall(bytes(1_000_000))
        time.sleep(0.3)
        seen = watched.snapshot()
        passed_s = time.monotonic() - start_s
        assert seen["delivered_bytes"][0] == 1_000_001
        assert 8e6 / passed_s <= seen["goodput_bps"][0] <= 8e6 / 0.3
        assert watched.snapshot()["goodput_bps"][0] == 0


def test_unknown_values_are_sorted_last():
    with connected() as (_, sender), connected() as (_, two):
        with Watch(Match(cc=()), str(os.getpid())) as watched:
            seen = watched.snapshot().filter(remote_port=sender)
            new = watched.snapshot()
        new = new.filter(new["remote_port"].is_in([sender, two]))
        assert ordered(new, "sent").height == 2 and seen.height == 1
        down = ordered(new, "rtt")["srtt_s"].to_list()
        assert down == sorted(down, reverse=True)


@pytest.mark.parametrize("width", [200, 140, 120, 100, 80, 79, 78, 77, 76, 60, 48])
def test_a_narrow_table_drops_columns_and_never_digits(width):
    row = ("203.0.113.177:443", "198.51.100.101:50001", "ww_plus", "recovery", "1234", "567")
    row += ("123", "90.1", "12345", "12345", "678", "90")
    cells = watch._fitting(Cells(watch._HEADS, (row,)), width)
    assert {"to", "control", "RTT ms", "Mb/s"} <= set(cells.heads)
    assert set(cells.rows[0]) <= set(row)
    assert (len(cells.heads) == len(row)) == (width >= 140)
    drawn = StringIO()
    Console(file=drawn, width=width).print(watch._table(cells))
    heads, figures = (line for line in drawn.getvalue().splitlines() if line.strip(" ─"))
    assert all(head in heads for head in cells.heads)
    assert figures.split() == list(cells.rows[0])


def test_numbers_keep_three_digits():
    figures = {0.0123: "0.01", 9.87: "9.87", 12.34: "12.3", 123.4: "123", 98765.0: "98765"}
    assert {value: watch._figure(value) for value in figures} == figures
    assert watch._figure(math.nan) == "-"


def test_a_pipe_gets_one_table(westwood, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    with connected() as (_, port):
        called = westwood("kernel", "watch", "--port", port, "--interval", "100ms")
    assert called.code == 0 and called.err == ""
    assert "; 2 connections; " in called.out and called.out.count(f"127.0.0.1:{port}") == 2
    assert "Mb/s" in called.out and "in flight" in called.out


def test_on_a_terminal_it_runs_until_ctrl_c():
    """With 80 columns and 24 lines; it ends within half a second and restores the terminal."""
    with connected() as (_, port):
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        words = [*WESTWOOD, "--port", str(port), "--interval", "100ms"]
        environment = {**os.environ, "TERM": "xterm"}
        environment.pop("COLUMNS", None)
        shown = b""
        with subprocess.Popen(
            words, stdin=slave, stdout=slave, stderr=subprocess.PIPE, env=environment
        ) as started:
            os.close(slave)
            while shown.count(b"2 connections") < 3 and select.select([master], [], [], 30)[0]:
                shown += os.read(master, 1 << 16)
            started.send_signal(signal.SIGINT)
            sent_s = time.monotonic()
            while select.select([master], [], [], 5)[0]:
                try:
                    shown += os.read(master, 1 << 16)
                except OSError:  # the other side has closed it
                    break
            assert started.wait(5) == 0
            assert time.monotonic() - sent_s < 0.5
            assert started.stderr is not None and started.stderr.read() == b""
        os.close(master)
    assert shown.count(b"2 connections") >= 3
    assert shown.endswith(b"\x1b[?25h\x1b[?1049l"), "the old screen and the cursor are back"
    shown = shown.replace(b"\x1b[H", b"\n")
    lines = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", shown).decode().splitlines()
    assert max(map(len, lines)) <= 80


@pytest.mark.kernel
def test_connections_of_other_namespaces_are_shown():
    with alone() as host:
        sink = host.receive("127.0.0.1", 5001)
        sending = host.send("127.0.0.1", 5001, "reno", 1.5, 2, rate=1e5)
        with Watch(Match(remote_port=5001, cc=("reno",)), None) as watched:
            end_s = time.monotonic() + 5
            while (seen := watched.snapshot()).height < 2 and time.monotonic() < end_s:
                time.sleep(0.05)
        assert seen.height == 2 and set(seen["cc"]) == {"reno"}
        sending.communicate()
        sink.kill()


@pytest.mark.kernel
def test_an_ended_namespace_is_released():
    """If it stayed open, the namespace would exist, with all its devices, as long as the watch."""
    with Watch(Match(), None) as watched:
        with alone() as host:
            inode = os.stat(f"/proc/{host.pid}/ns/net").st_ino
            watched.snapshot()
            assert inode in watched._places
        assert eventually(lambda: watched.snapshot() is not None and inode not in watched._places)
        held = [os.stat(f"/proc/self/fd/{descriptor}").st_ino for descriptor in _descriptors()]
        assert inode not in held


def _descriptors() -> list[str]:
    return [
        descriptor
        for descriptor in os.listdir("/proc/self/fd")
        if os.path.exists(f"/proc/self/fd/{descriptor}")
    ]


def test_a_stale_namespace_name_is_ignored(westwood, tmp_path, monkeypatch):
    """ip(8) leaves ordinary files in /run/netns where its mounts are not visible."""
    monkeypatch.setattr(namespaces, "NAMED", tmp_path)
    (tmp_path / "stale").touch()
    with Watch(Match(), None) as watched:
        watched.snapshot()
    called = westwood("kernel", "default", "--netns", "stale").refusal()
    assert "is not a network namespace, expected a name in /run/netns" in called


@pytest.mark.kernel
def test_the_estimate_of_ours_comes_from_the_recorder(controls):
    with alone() as host:
        sink = host.receive("127.0.0.1", 5001)
        sending = host.send("127.0.0.1", 5001, "ww_plus", 1.5, 2, rate=1e5)
        seen = pl.DataFrame()
        shown = snapshots(Match(remote_port=5001), str(host.pid), 0.1, estimate=True)
        for _ in range(20):
            seen, _ = next(shown)
            if seen.height == 2 and (seen["estimate_bps"].fill_nan(0) > 0).all():
                break
        assert ww_kernel.status()["recorder"] != 0
        shown.close()
        assert eventually(lambda: ww_kernel.status()["recorder"] == 0)
        assert seen["estimate_bps"].is_between(1, 1e9).all() and set(seen["cc"]) == {"ww_plus"}
        sending.communicate()
        sink.kill()
