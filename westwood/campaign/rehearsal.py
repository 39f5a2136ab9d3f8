# SPDX-License-Identifier: BSD-3-Clause
"""Emulates a path with an iperf3 server at its end, for `path compare --emulated`.

linux/ww-path holds the path: two unnamed network namespaces that end with the process, which ends
with its standard input. The server runs in one namespace. A thread in the other one makes our
sockets, so an upload runs the same code as to a remote server. The scenario's other flows run as
cross traffic.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from westwood import stopping
from westwood.campaign.iperf3 import MakeSocket
from westwood.campaign.plan import PORT, PROFILE, Server
from westwood.engines import linux, linux_limits, network, wire
from westwood.errors import InputError, RunError, UnavailableError, one_line
from westwood.kernel import guardian
from westwood.kernel.namespaces import Namespace
from westwood.scenario import Scenario

SERVER = Server("10.65.0.0", PORT)  # the first flow's sink: linux/path/packet.hpp
# The path of README's first example.
_DEFAULTS = {"rate": "10Mbps", "delay": "20ms", "loss.rate": 0.01, "queue.limit": "100p"}
_LACKING = 77  # exit code of ww-path if the machine lacks something
_ORPHANS = "/proc/sys/net/ipv4/tcp_orphan_retries"
_LISTENS = "0A"  # TCP_LISTEN
_PATIENCE_S = 10.0
_LONGEST_S = 86_400  # maximum lifetime of the path
_UPLOAD_S = 10.0  # 250 round trips of _DEFAULTS: slow start takes some ten


def path(name: str | None, settings: Mapping[str, Any]) -> Scenario:
    """Returns a named or given scenario, or else a slightly lossy path, with these settings.

    The settings are of its first link, without the link's name.
    """
    chosen = Scenario.preset("path") if name is None else Scenario.load(name)
    link, flow = chosen.link[0].name, chosen.flow[0].name
    fixed = {"profile": PROFILE, f"{flow}.cc": "cubic"}  # uploads choose their own
    defaults = _DEFAULTS if name is None else {}
    changed = {f"{link}.{key}": value for key, value in {**defaults, **settings}.items()}
    return chosen.with_settings({**fixed, **changed})


def upload_s(for_s: float, controls: int) -> float:
    """Returns the time of an upload: not so short that it is slow start that is compared."""
    return min(_UPLOAD_S, for_s / controls)


def check(scenario: Scenario, for_s: float) -> None:
    """Raises UnavailableError with the remedy if this machine fails, InputError if Linux does."""
    if for_s > _LONGEST_S / 2:
        raise InputError("expected at most 12h with --emulated", key="--for", value=f"{for_s:g}s")
    linux_limits.check(scenario)
    linux.program()
    for tool, package in (("iperf3", "iperf3"), ("nsenter", "util-linux")):
        if shutil.which(tool) is None:
            raise UnavailableError(f"--emulated needs {tool}: apt-get install {package}")
    if os.geteuid() != 0:
        raise UnavailableError("--emulated needs root, to go into network namespaces: sudo")


def _held(scenario: Scenario) -> Scenario:
    """Delays the first flow until after the end, since our uploads replace it."""
    settings = {f"{scenario.flow[0].name}.start": f"{_LONGEST_S - 1}s", "seeds": 1}
    return scenario.with_settings({"duration": f"{_LONGEST_S}s", **settings})


@contextmanager
def server(scenario: Scenario, port: int, seed: int) -> Iterator[MakeSocket]:
    """Runs an iperf3 server at SERVER's address; yields a function that makes sockets to it."""
    chosen = _held(scenario)
    flow = network.build(chosen).flows[0]
    with _path(wire.plan(chosen) + "hold\n" + wire.conclusion(seed, None)) as process:
        hosts = _hosts(process, {flow.from_node, flow.to_node})
        # A killed server's remaining data keep its namespace alive for a second only.
        script = f"echo 1 > {_ORPHANS}; exec iperf3 -s -B {SERVER.host} -p {port}"
        command = ["nsenter", f"--net={hosts[flow.to_node]}", "/bin/sh", "-c", script]
        with (
            guardian.running(command),
            _namespace(hosts[flow.from_node]) as near,
            _namespace(hosts[flow.to_node]) as far,
        ):
            _await_listener(far, port)
            yield lambda *kind: near.run(lambda: socket.socket(*kind))


@contextmanager
def _path(plan: str) -> Iterator[subprocess.Popen[str]]:
    """Runs ww-path during the block."""
    process = None
    try:
        with stopping.shielded():
            process = subprocess.Popen(
                [linux.program()],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
            stopping.children.add(process)
        assert process.stdin is not None
        with suppress(BrokenPipeError):
            process.stdin.write(plan)
            process.stdin.flush()
        yield process
    finally:
        if process is not None:
            with stopping.shielded():
                _end(process)


def _end(process: subprocess.Popen[str]) -> None:
    stopping.children.discard(process)
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        with suppress(OSError):
            if stream is not None:
                stream.close()


def _hosts(process: subprocess.Popen[str], nodes: set[int]) -> dict[int, str]:
    """Reads the namespaces of these nodes from ww-path's first lines."""
    assert process.stdout is not None and process.stderr is not None
    hosts: dict[int, str] = {}
    # ww-path prints all lines or ends, so this loop is short.
    for line in process.stdout:
        words = line.split()
        if words[0] == "host":
            hosts[int(words[1])] = words[2]
        if nodes <= hosts.keys():
            return hosts
    last_line = (process.stderr.read().strip() or "it said nothing").splitlines()[-1]
    problem = one_line(last_line.removeprefix("ww-path: "))
    if process.wait() == _LACKING:
        raise UnavailableError(f"--emulated: {problem}")
    raise RunError(f"the emulated path could not be made: {problem}")


@contextmanager
def _namespace(path: str) -> Iterator[Namespace]:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield Namespace(handle, os.fstat(handle).st_ino, "of the emulated path")
    finally:
        os.close(handle)


def _await_listener(far: Namespace, port: int) -> None:
    """Waits until the server listens, without connecting, which it would count as an upload."""
    ends_at = time.monotonic() + _PATIENCE_S
    while time.monotonic() < ends_at:
        table = far.run(Path("/proc/thread-self/net/tcp").read_text)
        rows = [line.split() for line in table.splitlines()[1:]]
        if any(row[1].endswith(f":{port:04X}") and row[3] == _LISTENS for row in rows):
            return
        stopping.check()
        time.sleep(0.01)
    raise RunError("the iperf3 server at the end of the emulated path did not start")
