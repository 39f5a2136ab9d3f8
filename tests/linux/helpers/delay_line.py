# SPDX-License-Identifier: BSD-3-Clause
"""This program joins two namespaces by TUN devices and a path with a rate, a queue and a delay.

    delay_line.py PID PID --rate BPS --delay S --queue PACKETS
                  [--drop N,N...] [--dark FROM,TO] [--hold FROM,TO]

The first namespace (of the process PID) gets 10.77.0.1, the second 10.77.0.2. --drop lists data
packets from the first to the second (numbered from 0) that are lost. All data packets between the
times of --dark, in seconds from the first packet, are lost; those of --hold wait until it ends.
Prints "ready".
"""

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
FRAME = 1500  # bytes of a full packet


def enter(pid: int) -> None:
    with open(f"/proc/{pid}/ns/net") as namespace:
        if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")


def device(mine: str, other: str) -> int:
    """Makes a TUN device in this namespace."""
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH14s", b"path", IFF_TUN | IFF_NO_PI, b""))
    up = f"link set path up mtu {FRAME} txqueuelen 1000"
    for words in (f"addr add {mine} peer {other} dev path", up):
        subprocess.run(["ip", *words.split()], check=True)
    return tun


def payload(packet: bytes) -> int:
    """Returns the number of bytes of TCP payload in an IPv4 packet."""
    header = (packet[0] & 15) * 4
    return len(packet) - header - (packet[header + 12] >> 4) * 4 if packet[9] == 6 else 0


class Line:
    """One direction of the path: a FIFO queue with a rate, followed by a delay."""

    def __init__(self, rate: float, delay: float, queue: int) -> None:
        self.rate, self.delay, self.queue, self.free_at = rate, delay, queue, 0.0

    def arrival(self, now: float, size: int) -> float | None:
        """Returns when a packet sent now arrives, or None if the queue is full."""
        start = max(now, self.free_at)
        if (start - now) * self.rate / 8 > self.queue * FRAME:
            return None
        self.free_at = start + size * 8 / self.rate
        return self.free_at + self.delay


class Losses:
    """Decides which data packets are lost or held."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.drop = {int(number) for number in options.drop}
        self.dark, self.hold = (pair or [0, 0] for pair in (options.dark, options.hold))
        self.start, self.sent = 0.0, 0

    def passes(self, now: float, size: int) -> bool:
        self.start = self.start or now
        self.sent += size > 0
        lost = size > 0 and self.sent - 1 in self.drop
        return not lost and not self.dark[0] <= now - self.start < self.dark[1]

    def held(self, now: float, arrival: float) -> float:
        begin, end = self.hold
        within = begin <= now - self.start < end
        return max(arrival, self.start + end) if within else arrival


def numbers(text: str) -> list[float]:
    return [float(word) for word in text.split(",") if word]


def forward(tuns: list[int], lines: list[Line], losses: Losses) -> None:
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
        for tun, _ in poller.poll(wait if wait >= 1 else 0):
            packet, side, now = os.read(tun, 65536), tuns.index(tun), time.monotonic()
            if packet[0] >> 4 != 4 or (side == 0 and not losses.passes(now, payload(packet))):
                continue
            arrival = lines[side].arrival(now, len(packet))
            if arrival is None:
                continue
            if side == 0:
                arrival = losses.held(now, arrival)
            heapq.heappush(waiting, (arrival, order, side, packet))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pids", type=int, nargs=2)
    parser.add_argument("--rate", type=float, required=True)
    parser.add_argument("--delay", type=float, required=True)
    parser.add_argument("--queue", type=int, required=True)
    for option in ("--drop", "--dark", "--hold"):
        parser.add_argument(option, type=numbers, default=[])
    options = parser.parse_args()
    ends = zip(options.pids, (ADDRESSES, ADDRESSES[::-1]), strict=True)
    tuns = []
    for pid, pair in ends:
        enter(pid)
        tuns.append(device(*pair))
    there = Line(options.rate, options.delay / 2, options.queue)
    back = Line(1e9, options.delay / 2, 10000)
    print("ready", flush=True)
    forward(tuns, [there, back], Losses(options))


if __name__ == "__main__":
    main()
