# SPDX-License-Identifier: BSD-3-Clause
"""This program is a TCP peer that follows a script, in a network namespace of its own (unshare -n).

    scripted_peer.py CC FILE

Sends the ACKs of a recording (tests/golden/acks) at their times to a socket of this kernel, over a
TUN device. For each ACK it prints how late it was, in us, and TCP_INFO's state, cwnd and ssthresh
after it. It discards what the socket sends. Timestamps, tail loss probes and F-RTO are off, since
the recording's sender has none.
"""

import os
import socket
import struct
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from delay_line import device

MINE, PEER, PORT = "10.78.0.1", "10.78.0.2", 5001
MSS = 1000
SYN, ACK = 0x02, 0x10
SCALE, WINDOW = 7, 60000
STATES = ("open", "disorder", "cwr", "recovery", "loss")
SETTINGS = {
    "tcp_timestamps": 0,
    "tcp_early_retrans": 0,
    "tcp_frto": 0,
    "tcp_ecn": 0,
    "tcp_no_metrics_save": 1,
    "tcp_slow_start_after_idle": 0,
}


@dataclass(frozen=True)
class Line:
    """An ACK of the recording, with the simulator's decision."""

    at_s: float
    segment: int
    sacked: tuple[tuple[int, int], ...]
    state: str
    cwnd: int
    ssthresh: int
    estimate_bps: float


def read(path: Path) -> list[Line]:
    """Reads a recording; tests/engine/replay_test.cpp describes the format."""
    lines = []
    for line in path.read_text().splitlines():
        if line.startswith("#"):
            continue
        arrived, _, decided = line.partition(" | ")
        at_us, segment, *blocks = arrived.split()
        state, cwnd, ssthresh, estimate, _, _ = decided.split()
        sacked = tuple((int(a), int(b)) for a, b in (block.split("-") for block in blocks))
        lines.append(
            Line(
                int(at_us) / 1e6,
                int(segment),
                sacked,
                state,
                int(cwnd),
                int(ssthresh),
                8.0 * int(estimate),
            )
        )
    return lines


def open_device() -> int:
    """Opens the namespace's TUN device and sets the namespace's parameters."""
    tun = device(MINE, PEER)
    for name, value in SETTINGS.items():
        Path("/proc/sys/net/ipv4", name).write_text(str(value))
    return tun


def checksum(data: bytes) -> int:
    """Computes the Internet checksum (RFC 1071)."""
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total >> 16) + (total & 0xFFFF)
    return ~(total + (total >> 16)) & 0xFFFF


class Peer:
    """The other end of the socket's connection."""

    def __init__(self, tun: int) -> None:
        self._tun = tun
        syn = b""
        while not (syn and syn[9] == socket.IPPROTO_TCP and syn[33] & SYN):
            try:
                syn = os.read(tun, 2048)
            except BlockingIOError:
                time.sleep(1e-4)
        (self._port,) = struct.unpack_from("!H", syn, 20)
        self._first = (struct.unpack_from("!I", syn, 24)[0] + 1) & 0xFFFFFFFF

    def drop_all(self):
        """Discards the packets that have arrived."""
        try:
            while os.read(self._tun, 2048):
                pass
        except BlockingIOError:
            pass

    def send(self, line: Line, flags: int) -> None:
        """Sends an ACK; the first ACK opens the connection."""
        options = b""
        if flags & SYN:
            options = struct.pack("!BBH6Bxx", 2, 4, MSS, 4, 2, 1, 3, 3, SCALE)
        elif line.sacked:
            edges = [self._number(edge) for block in line.sacked for edge in block]
            options = struct.pack(f"!BBBB{len(edges)}I", 1, 1, 5, 2 + 4 * len(edges), *edges)
        size = 20 + len(options)
        ports, sequence = (PORT, self._port), 0 if flags & SYN else 1
        header = struct.pack(
            "!HHIIBBHHH",
            *ports,
            sequence,
            self._number(line.segment),
            size // 4 << 4,
            flags,
            WINDOW,
            0,
            0,
        )
        ends = socket.inet_aton(PEER) + socket.inet_aton(MINE)
        pseudo = ends + struct.pack("!BBH", 0, socket.IPPROTO_TCP, size)
        tcp = bytearray(header + options)
        struct.pack_into("!H", tcp, 16, checksum(pseudo + tcp))
        ip = bytearray(struct.pack("!BBHHHBBH", 0x45, 0, 20 + size, 0, 0, 64, 6, 0) + ends)
        struct.pack_into("!H", ip, 10, checksum(ip))
        os.write(self._tun, ip + tcp)

    def _number(self, segment: int) -> int:
        return (self._first + segment * MSS) & 0xFFFFFFFF


def decided(sender: socket.socket) -> str:
    """Reads state, cwnd and ssthresh in struct tcp_info of linux/tcp.h."""
    info = sender.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    ssthresh, cwnd = struct.unpack_from("II", info, 76)
    return f"{STATES[info[1]]} {cwnd} {ssthresh}"


def main(cc: str, path: Path) -> None:
    lines = read(path)
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
    tun = open_device()
    sender = socket.socket()
    sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, cc.encode())
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 21)
    sender.setblocking(False)
    sender.connect_ex((PEER, PORT))
    begin = time.monotonic()
    peer = Peer(tun)
    segments = max(line.segment for line in lines)
    for number, line in enumerate(lines):
        while (left := begin + line.at_s - time.monotonic()) > 0:
            if left > 1e-3:
                peer.drop_all()
                time.sleep(left - 1e-3)
        late_us = round(-1e6 * left)
        peer.send(line, SYN | ACK if number == 0 else ACK)
        print(late_us, decided(sender))
        if number == 0:
            sender.sendall(bytes(segments * MSS))
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sender.close()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
