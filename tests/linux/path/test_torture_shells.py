# SPDX-License-Identifier: GPL-2.0-only
"""Attacks shells: kills any of their processes at any moment, and sends invalid packets."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from machine import eventually
from own_network import devices, own_network
from shells import SHELL, missing_reason, python, shell

pytestmark = pytest.mark.skipif(bool(missing_reason()), reason=missing_reason())
MARK = "WESTWOOD_TEST_MARK"
BUSY = "sleep 60 & while :; do :; done & while :; do sleep 0.01; done"
# Sends random bytes as packets on the only device, then checks that the path still works.
GARBAGE = """if True:
    import os, random, socket, sys, time
    choices = random.Random(int(sys.argv[1]))
    raw = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800))
    for _ in range(300):
        bytes_ = bytearray(choices.randbytes(choices.randint(1, 1500)))
        if choices.random() < 0.7:  # nearly a packet
            bytes_[:1] = bytes([choices.choice([0x45, 0x46, 0x4f, 0x44])])
            bytes_[2:4] = len(bytes_).to_bytes(2, "big")
        raw.sendto(bytes_[:1500], ("path", 0x0800))
    one = socket.socket()
    one.settimeout(10)
    one.connect((os.environ["WESTWOOD_GATEWAY"], 7))
    print(one.recv(9).decode())
"""


@pytest.fixture(autouse=True)
def outside() -> Iterator[None]:
    with own_network():
        yield


def marked(mark: str) -> list[int]:
    """Returns the processes with this mark in their environment."""
    ids = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (process / "environ").read_bytes().split(b"\0"):
                ids.append(int(process.name))
        except OSError:  # it has ended
            continue
    return ids


def test_a_kill_at_any_moment_leaves_nothing(attack):
    """Kills the front, the path, the command or a background process, in one or two shells."""
    for choices in attack.rounds():
        mark = str(choices.getrandbits(60))
        words = ["--delay", "1ms", "--rate", "5Mbps", "sh", "-c", BUSY]
        if choices.random() < 0.3:
            words = ["--delay", "1ms", *SHELL, *words]
        environment = {**os.environ, MARK: mark}
        with subprocess.Popen(
            [*SHELL, *words],
            env=environment,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as front:
            time.sleep(choices.choice([0.3, 1.0, 2.0]) * choices.random())
            if choices.random() < 0.5:
                victims = marked(mark)
                os.kill(choices.choice(victims), signal.SIGKILL)
                time.sleep(0.1 * choices.random())
            front.send_signal(choices.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGHUP]))
            front.wait(10)
        assert eventually(lambda mark=mark: not marked(mark), 10), "a process is left"
        assert eventually(lambda: devices() == {"lo"}), "a device is left"


def test_what_is_no_packet_does_not_stop_the_path(attack):
    server = "import socket; s = socket.create_server(('0.0.0.0', 7)); print(flush=True)\n"
    server += "while True: s.accept()[0].send(b'carried')"
    with subprocess.Popen(python(server), stdout=subprocess.PIPE) as serving:
        assert serving.stdout is not None
        serving.stdout.readline()
        try:
            for choices in attack.rounds():
                seed = str(choices.getrandbits(32))
                done = shell("--rate", "100Mbps", "--", *python(GARBAGE), seed)
                assert done.stdout == "carried\n", done.stderr
        finally:
            serving.kill()
