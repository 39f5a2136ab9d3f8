# SPDX-License-Identifier: BSD-3-Clause
"""A path for tests, as a program: two namespaces joined by TUN devices, a rate, a queue, a delay.

    delay_line.py PID PID --rate BPS --delay S --queue PACKETS [--drop N,N...] [--dark FROM,TO] [--hold FROM,TO]

The first namespace (of the process PID) gets 10.77.0.1, the second 10.77.0.2. Of what goes from the
first to the second, the data packets numbered by --drop (from 0) are lost, as are all between the
times of --dark; those of --hold wait until it ends. Prints "ready", then a line a packet that passed:
time_s, direction (> or <), payload bytes.
"""

from __future__ import annotations

import argparse
import ctypes
import fcntl
import heapq
import os
import select
import struct
import subprocess
import sys
import time

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
CLONE_NEWNET = 0x40000000
ADDRESSES = ("10.77.0.1", "10.77.0.2")


def enter(pid: int) -> None:
    with open(f"/proc/{pid}/ns/net") as namespace:
        if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")


def device(pid: int, mine: str, other: str) -> int:
    """A TUN device in the namespace of `pid`."""
    enter(pid)
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH14s", b"path", IFF_TUN | IFF_NO_PI, b""))
    for words in (f"addr add {mine} peer {other} dev path", "link set path up mtu 1500 txqueuelen 1000"):
        subprocess.run(["ip", *words.split()], check=True)
    return tun


def payload(packet: bytes) -> int:
    """Bytes of TCP payload; packets are IPv4."""
    header = (packet[0] & 15) * 4
    return len(packet) - header - (packet[header + 12] >> 4) * 4 if packet[9] == 6 else 0


class Line:
    """One direction: a FIFO of a rate, then a delay."""

    def __init__(self, rate: float, delay: float, queue: int) -> None:
        self.rate, self.delay, self.queue, self.free_at = rate, delay, queue, 0.0

    def arrival(self, now: float, size: int) -> float | None:
        """When a packet that is sent now arrives; None: the queue is full."""
        start = max(now, self.free_at)
        if (start - now) * self.rate / 8 > self.queue * 1500:
            return None
        self.free_at = start + size * 8 / self.rate
        return self.free_at + self.delay


def numbers(text: str) -> list[float]:
    return [float(word) for word in text.split(",") if word]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("pids", type=int, nargs=2)
    parser.add_argument("--rate", type=float, required=True)
    parser.add_argument("--delay", type=float, required=True)
    parser.add_argument("--queue", type=int, required=True)
    for option in ("--drop", "--dark", "--hold"):
        parser.add_argument(option, type=numbers, default=[])
    options = parser.parse_args()
    tuns = [device(pid, *pair) for pid, pair in zip(options.pids, (ADDRESSES, ADDRESSES[::-1]), strict=True)]  # noqa: E501
    print("ready", flush=True)
    forward(tuns, options)


def forward(tuns: list[int], options: argparse.Namespace) -> None:
    lines = [Line(options.rate, options.delay / 2, options.queue), Line(1e9, options.delay / 2, 10000)]  # noqa: E501
    drop = {int(number) for number in options.drop}
    start, sent = time.monotonic(), 0
    waiting: list[tuple[float, int, int, bytes]] = []  # when, order, side, packet
    poller = select.poll()
    for tun in tuns:
        poller.register(tun, select.POLLIN)
    for order in range(sys.maxsize):
        now = time.monotonic()
        while waiting and waiting[0][0] <= now:
            _, _, side, packet = heapq.heappop(waiting)
            os.write(tuns[1 - side], packet)
        wait = (waiting[0][0] - now) * 1000 if waiting else 1000
        ready = poller.poll(wait) if wait >= 1 else poller.poll(0)
        for tun, _ in ready:
            packet, side, at = os.read(tun, 65536), tuns.index(tun), time.monotonic()
            if packet[0] >> 4 != 4:
                continue
            size, seconds, lost = payload(packet), at - start, False
            print(f"{at:.6f} {'><'[side]} {size}", flush=True)
            if side == 0 and size > 0:
                lost, sent = sent in drop, sent + 1
            if side == 0 and options.dark and options.dark[0] <= seconds < options.dark[1]:
                lost = True
            arrival = None if lost else lines[side].arrival(at, len(packet))
            if arrival is not None and side == 0 and options.hold:
                begin, end = options.hold
                if begin <= seconds < end:
                    arrival = max(arrival, start + end + (arrival - at) * 1e-6)
            if arrival is not None:
                heapq.heappush(waiting, (arrival, order, side, packet))


if __name__ == "__main__":
    main()
