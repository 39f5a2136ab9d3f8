# SPDX-License-Identifier: BSD-3-Clause
"""`make bench-path`, as root: how exact the emulated path of `--engine linux` is.

The path is held open (`hold` of wire/plan.hpp) and measured from inside its namespaces: the
kernel answers ICMP echoes, whose arrival it stamps itself; iperf3 measures goodput. Needs a quiet
machine. Everything printed is also in build/bench/linux_path.json. Exit code 1 if a goal is missed.
"""

from __future__ import annotations

import ctypes
import json
import os
import socket
import statistics
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from westwood import Scenario
from westwood.engines import linux, wire
from westwood.scenario.one_link import one_link

RESULTS = Path(__file__).resolve().parent.parent / "build" / "bench" / "linux_path.json"
SOURCE, SINK = "10.64.0.0", "10.65.0.0"  # of the first flow: linux/path/packet.hpp
SO_TIMESTAMPNS = 35
CLONE_NEWNET = 0x40000000
SHARE = 1448 / 1500  # payload of a packet with timestamps


def scenario(rate: str, delay: str, queue: str) -> Scenario:
    link = {"rate": rate, "delay": delay, "queue": {"limit": queue}}
    flow = {"name": "f", "cc": "cubic", "recovery": "prr", "size": "1B"}
    return one_link("bench", "1h", link, flow, ends=("a", "b"), profile="linux")


@contextmanager
def held(path: Scenario) -> Iterator[list[str]]:
    """Yields the network namespaces of its source and its sink, as files, while the path exists."""
    with subprocess.Popen(
        [linux.program()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(wire.plan(path) + "hold\n" + wire.conclusion(1, None))
            process.stdin.flush()
            yield [process.stdout.readline().split()[2] for _ in "ab"]
        finally:
            process.kill()


def echoes(namespace: str, count: int, every_s: float) -> list[float]:
    """Returns round trips in s of echoes sent at these intervals. A child enters the namespace."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        with open(namespace) as file:
            assert ctypes.CDLL(None).setns(file.fileno(), CLONE_NEWNET) == 0
        with os.fdopen(write, "w") as out:
            json.dump(_echoes(count, every_s), out)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        trips_s: list[float] = json.load(answer)
    os.waitpid(child, 0)
    return trips_s


def _echoes(count: int, every_s: float) -> list[float]:
    trips_s, sent = [], {}
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as icmp:
        icmp.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        icmp.bind((SOURCE, 0))
        icmp.settimeout(every_s / 4)
        next_at = time.monotonic()
        end = next_at + count * every_s + 1
        while time.monotonic() < end:
            number = len(sent)
            if number < count and time.monotonic() >= next_at:
                head = struct.pack("!BBHHH", 8, 0, 0, 77, number)
                check = ~(sum(struct.unpack("!4H", head)) % 65535) & 65535
                sent[number] = time.time_ns()
                icmp.sendto(struct.pack("!BBHHH", 8, 0, check, 77, number), (SINK, 0))
                next_at += every_s
            try:
                packet, stamps, _, _ = icmp.recvmsg(200, 200)
            except TimeoutError:
                continue
            kind, _, _, owner, echoed = struct.unpack_from("!BBHHH", packet, 20)
            if kind == 0 and owner == 77:
                seconds, nanoseconds = struct.unpack("=qq", stamps[0][2][:16])
                trips_s.append((seconds * 10**9 + nanoseconds - sent[echoed]) * 1e-9)
    return trips_s


def goodput_bps(namespaces: list[str], seconds: int, block: int) -> float:
    """Returns iperf3's goodput from 5 s after its start. It counts whole blocks of bytes."""
    source, sink = (["nsenter", f"--net={namespace}"] for namespace in namespaces)
    serve = [*sink, "iperf3", "-s", "-1", "-B", SINK, "--forceflush"]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        while "listening" not in server.stdout.readline():
            pass
        words = f"iperf3 -c {SINK} -B {SOURCE} -C cubic -O 5 -J -t {seconds} -l {block}"
        send = [*source, *words.split()]
        done = subprocess.run(send, capture_output=True, text=True, check=True)
        server.communicate()
    end: dict[str, Any] = json.loads(done.stdout)["end"]
    return float(end["sum_received"]["bits_per_second"])


def main(quick: bool) -> int:
    linux.check_machine()
    rows: list[tuple[str, str, str, bool]] = []
    seconds = 8 if quick else 20
    with held(scenario("10Mbps", "45ms", "100p")) as namespaces:
        trips = echoes(namespaces[0], 50 * seconds, 0.02)
    # An echo's 28 bytes take 22.4 us in each direction.
    base_s = 2 * (0.045 + 8 * 28 / 10e6)
    errors = sorted(abs(trip - base_s) * 1e3 for trip in trips)
    p50, p99 = statistics.median(errors), errors[int(0.99 * len(errors))]
    what, errors_ms = "base RTT, 90 ms: error, median and p99", f"{p50:.3f} and {p99:.3f} ms"
    rows.append((what, errors_ms, "p99 below 1 ms", p99 < 1))
    for rate, delay, queue in ((2, "20ms", "50p"), (10, "20ms", "100p"), (100, "10ms", "400p")):
        with held(scenario(f"{rate}Mbps", delay, queue)) as namespaces:
            share = goodput_bps(namespaces, seconds, 1448) / (rate * 1e6 * SHARE)
        what = f"goodput at {rate} Mb/s over the theoretical share"
        rows.append((what, f"{share:.4f}", "1 within 0.5 %", abs(share - 1) < 0.005))
    with held(scenario("100Gbps", "0s", "1000000p")) as namespaces:
        rate_bps = goodput_bps(namespaces, seconds, 128 * 1024)
    rows.append(
        ("goodput without limits", f"{rate_bps / 1e9:.2f} Gb/s", "at least 1 Gb/s", rate_bps >= 1e9)
    )
    table = Table("what", "measured", "goal", "met")
    for *cells, is_met in rows:
        table.add_row(*cells, "yes" if is_met else "NO")
    Console(width=110).print(table)
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    names = ("what", "measured", "goal", "met")
    RESULTS.write_text(json.dumps([dict(zip(names, row, strict=True)) for row in rows], indent=2))
    return 0 if all(is_met for *_, is_met in rows) else 1


if __name__ == "__main__":
    sys.exit(main("--quick" in sys.argv[1:]))
