# SPDX-License-Identifier: GPL-2.0-only
"""`westwood path emulate` runs a command behind an emulated path and is otherwise transparent.

Each test plays the outer side, with servers in a network namespace of its own.
"""

import ctypes
import http.server
import os
import re
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from own_network import own_network
from shells import REACH, SHELL, missing_reason, program, python, shell, upload

pytestmark = pytest.mark.skipif(bool(missing_reason()), reason=missing_reason())

SHARE = 1448 / 1500  # payload of a packet with timestamps
ATTEMPTS = 3  # for tests that a busy machine may disturb
# Prints the RTTs of ten datagrams, in s.
PING = """if True:
    import os, socket, time
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.connect((os.environ["WESTWOOD_GATEWAY"], 7))
    for _ in range(10):
        start = time.monotonic()
        one.send(b"?")
        one.recv(10)
        print(time.monotonic() - start)
"""


@pytest.fixture(autouse=True)
def outside() -> Iterator[None]:
    with own_network():
        yield


@pytest.fixture
def echo() -> Iterator[None]:
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("0.0.0.0", 7))

    def run():
        while (received := server.recvfrom(100))[0] != b"end":
            server.sendto(*received)

    thread = threading.Thread(target=run)
    thread.start()
    yield
    server.sendto(b"end", ("127.0.0.1", 7))
    thread.join()
    server.close()


def attempts(succeeds: Callable[[], bool]) -> bool:
    """Tries again, since this machine may have stalled."""
    return any(succeeds() for _ in range(ATTEMPTS))


def test_the_round_trip_is_twice_the_delay(echo):
    def is_right() -> bool:
        words = shell("--delay", "20ms", "--", *python(PING)).stdout.split()
        return 0.040 <= min(map(float, words)) < 0.042

    assert attempts(is_right)


def test_delays_of_nested_shells_add_up(echo):
    """The innermost reaches the outermost's gateway through all of them."""
    inner = [*SHELL, "--delay", "5ms", "--", *SHELL, "--scenario", "path", "--set"]
    inner += ["path.loss.rate=0", "--", *python(PING)]

    def is_right() -> bool:
        done = shell("--delay", "10ms", "--", *inner)
        return 0.120 <= min(map(float, done.stdout.split())) < 0.125

    assert attempts(is_right)


def test_a_download_with_curl_gets_the_links_rate(tmp_path):
    if shutil.which("curl") is None:
        pytest.skip("no curl: apt-get install curl")
    size, rate_bps = 500_000, 4e6
    (tmp_path / "file").write_bytes(os.urandom(size))
    (tmp_path / "got").mkdir()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments: Any):
            super().__init__(*arguments, directory=str(tmp_path))

        def log_message(self, *_: Any):
            pass

    with http.server.ThreadingHTTPServer(("0.0.0.0", 8000), Handler) as server:
        threading.Thread(target=server.serve_forever).start()
        try:

            def is_right() -> bool:
                get = f'cd {tmp_path}; curl -s -o got/file -w "%{{time_total}}" http://$WESTWOOD_GATEWAY:8000/file'
                done = shell("--rate", "4Mbps", "--", "sh", "-c", get)
                least_s = 8 * size / SHARE / rate_bps
                return least_s * 0.98 < float(done.stdout) < least_s * 1.05

            assert attempts(is_right)
        finally:
            server.shutdown()
    assert (tmp_path / "got/file").read_bytes() == (tmp_path / "file").read_bytes()


@pytest.mark.skipif(shutil.which("ip") is None, reason="no ip: apt-get install iproute2")
def test_other_machines_are_reachable_if_this_one_forwards():
    """Even from a nested shell; servers see the machine's address."""

    def ip(*words: str):
        subprocess.run(["ip", *words], check=True)

    namespace = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    namespace_path = f"/proc/{os.getpid()}/fd/{namespace}"
    with own_network():
        ip("link", "add", "far", "type", "veth", "peer", "name", "near", "netns", namespace_path)
        ip("address", "add", "192.0.2.2/24", "dev", "far")
        ip("link", "set", "far", "up")
        world = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        world.bind(("192.0.2.2", 7))
    os.close(namespace)
    ip("address", "add", "192.0.2.1/24", "dev", "near")
    ip("link", "set", "near", "up")
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")

    say = "import socket; s = socket.socket(type=socket.SOCK_DGRAM); s.settimeout(9);"
    say += " s.connect(('192.0.2.2', 7)); s.send(b'?'); print(s.recv(9))"
    with world, ThreadPoolExecutor() as pool:
        world.settimeout(20)
        done = pool.submit(shell, "--delay", "1ms", *SHELL, "--delay", "1ms", *python(say))
        heard, sender = world.recvfrom(9)
        world.sendto(b"!", sender)
        assert (heard, sender[0]) == (b"?", "192.0.2.1")
        assert done.result().stdout == "b'!'\n"
        assert REACH not in done.result().stderr


needs_iperf3 = pytest.mark.skipif(
    shutil.which("iperf3") is None, reason="no iperf3: apt-get install iperf3"
)


@needs_iperf3
def test_an_upload_gets_the_rate_less_the_headers():
    path = ("--rate", "10Mbps", "--delay", "5ms")

    def is_right() -> bool:
        bps = upload("-t", "2", "-O", "1", path=path)["sum_received"]["bits_per_second"]
        return bool(abs(bps / (SHARE * 10e6) - 1) < 0.03)

    assert attempts(is_right)


@needs_iperf3
def test_datagrams_are_lost_at_the_given_rate():
    """5 % of 2000 is 100; four standard deviations are 40."""
    path = ("--loss", "5%", "--delay", "1ms", "--seed", "3")

    def is_right() -> bool:
        summary = upload("-u", "-b", "16M", "-l", "1000", "-k", "2000", path=path)["sum"]
        return bool(summary["packets"] == 2000 and abs(summary["lost_packets"] - 100) <= 40)

    assert attempts(is_right)


def test_the_command_gets_its_streams_arguments_and_folder(tmp_path):
    script = 'cat; echo "$1"; pwd; ls -l /proc/self/fd >&2'
    words = ("--delay", "1ms", "sh", "-c", script, "sh", "--rate=a b")
    done = program(*words, input="some\ninput", cwd=tmp_path)
    assert done.stdout == f"some\ninput--rate=a b\n{tmp_path}\n"
    descriptors = {line.split()[-3] for line in done.stderr.splitlines() if " -> " in line}
    assert descriptors == {"0", "1", "2", "3"}, "ls has only its folder and the three streams"


def test_the_inner_network_has_one_route_out():
    script = "cat /proc/net/dev; echo $WESTWOOD_GATEWAY; echo $WESTWOOD_SHELL"
    *network, gateway, about = shell("--rate", "1Mbps", "sh", "-c", script).stdout.splitlines()
    assert {line.partition(":")[0].strip() for line in network[2:]} == {"lo", "path"}
    assert gateway.startswith("100.64.") and gateway.endswith(".1")
    assert about == "1Mbps"


def test_the_meter_reports_each_second_and_the_totals():
    """The command's own output is unchanged. The figures depend on when this machine sends the
    burst: meter_test.cpp tests them without a clock.
    """
    send = (
        "import os, socket, time; one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM);"
        'to = (os.environ["WESTWOOD_GATEWAY"], 9);'
        "[one.sendto(bytes(972), to) for _ in range(300)]; time.sleep(1.2); print('sent')"
    )
    words = ("--rate", "1Mbps", "--delay", "10ms", "--queue", "9p", "--meter", "--")
    done = shell(*words, *python(send))
    *seconds, total = (re.findall(r"(\d+) dropped", line) for line in done.stderr.splitlines()[1:])
    assert done.stdout == "sent\n"
    assert sum(int(up) for up, _ in seconds) == int(total[0]) > 0
    assert all(down == "0" for _, down in [*seconds, total])


def test_without_privileges_the_remedy_is_named():
    def drop():
        for capability in (12, 21):  # CAP_NET_ADMIN, CAP_SYS_ADMIN
            ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP

    done = program("--delay", "1ms", "true", preexec_fn=drop)
    assert done.returncode == 77
    assert done.stderr.startswith("westwood: shell: no TUN device in this network")
    assert "root" in done.stderr and done.stderr.count("\n") == 1
