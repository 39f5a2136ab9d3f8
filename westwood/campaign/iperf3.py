# SPDX-License-Identifier: BSD-3-Clause
"""Uploads to an iperf3 server (version 3.1 or later) with a sender of our own.

It speaks iperf3's protocol (src/iperf_client_api.c): a control connection, on which the server says
in one byte what is next, and a data connection. Unlike the program's own, this sender keeps little
unsent in the socket and ends when all is acknowledged, so that a short upload is timed rightly, and
it sees its socket's windows.
"""

from __future__ import annotations

import fcntl
import json
import select
import socket
import string
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from random import SystemRandom
from typing import Any

import polars as pl

from westwood.errors import RunError, UnavailableError, one_line
from westwood.kernel.tcp_info import Looks

_CHUNK = 128 * 1024  # bytes a write, and most that may wait unsent in the socket
_NOTSENT_LOWAT = 25  # TCP_NOTSENT_LOWAT, which the module socket names from Python 3.12 on
_OUTQ = 0x5411  # SIOCOUTQ: bytes not acknowledged yet
_LOOK_S = 0.01
_PATIENCE_S = 10.0  # with a server that says nothing
_STATES = {
    1: "start",
    2: "run",
    4: "end",
    9: "parameters",
    10: "streams",
    11: "terminated",
    13: "results",
    14: "display",
    16: "done",
    255: "busy",
    254: "failed",
}
_CODES = {name: bytes([code]) for code, name in _STATES.items()}
_LONGEST_ANSWER = 1 << 20


class Gone(RunError):
    """The server can't be reached, or went away meanwhile."""


@dataclass(frozen=True)
class Uploaded:
    """Says how it went: `seconds` run from the first byte to the last one's acknowledgment."""

    seconds: float
    sent: int  # segments
    retransmitted: int
    mean_cwnd: float
    mean_srtt_s: float
    min_rtt_s: float
    mss: int
    ends: str  # of the data connection: ADDRESS:PORT>ADDRESS:PORT
    established_s: float  # before the first byte, so that it is negative
    trace: pl.DataFrame


def upload(host: str, port: int, control: str, size: int, timeout_s: float) -> Uploaded:
    """Sends `size` bytes under the kernel's congestion control `control`; Gone if it can't."""
    deadline = time.monotonic() + timeout_s
    where = f"{host}:{port}"
    with _failures(where):
        cookie = "".join(SystemRandom().choices(string.ascii_lowercase, k=36)).encode() + b"\0"
        with socket.create_connection((host, port), timeout=_PATIENCE_S) as talk:
            talk.sendall(cookie)
            _expect(talk, "parameters", where)
            _say(
                talk,
                {
                    "tcp": True,
                    "omit": 0,
                    "time": 0,
                    "num": size,
                    "blockcount": 0,
                    "parallel": 1,
                    "len": _CHUNK,
                    "client_version": "3.12",
                },
            )
            _expect(talk, "streams", where)
            with _data_connection(host, port, control) as data:
                established = time.monotonic()
                data.sendall(cookie)
                _expect(talk, "start", where)
                _expect(talk, "run", where)
                uploaded = _send(data, talk, size, deadline, established, where)
                _finish(talk, uploaded, size, where)
    return uploaded


@contextmanager
def _failures(where: str) -> Iterator[None]:
    try:
        yield
    except TimeoutError:
        raise Gone(f"{where} does not answer") from None
    except (OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise Gone(f"{where}: {one_line(reason)}") from None


@contextmanager
def _data_connection(host: str, port: int, control: str) -> Iterator[socket.socket]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    family, kind, protocol, _, address = found[0]
    with socket.socket(family, kind, protocol) as data:
        data.settimeout(_PATIENCE_S)
        try:
            data.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
        except PermissionError:
            remedy = "run it as root, or allow it in net.ipv4.tcp_allowed_congestion_control"
            raise UnavailableError(f"{control} may not be used: {remedy}") from None
        data.setsockopt(socket.IPPROTO_TCP, _NOTSENT_LOWAT, _CHUNK)
        data.connect(address)
        yield data


def _send(
    data: socket.socket,
    talk: socket.socket,
    size: int,
    deadline: float,
    established: float,
    where: str,
) -> Uploaded:
    """Sends all of it and waits until it is acknowledged."""
    looks = Looks(data)
    start = time.monotonic()
    zeros, left, next_look = memoryview(bytes(_CHUNK)), size, start
    waiting = select.poll()
    waiting.register(data, select.POLLOUT)
    waiting.register(talk, select.POLLIN)
    data.setblocking(False)
    while left or _unacknowledged(data):
        now = time.monotonic()
        if now >= next_look:
            looks.look(now - start)
            next_look = now + _LOOK_S
        if now >= deadline:
            raise Gone(f"{where}: not through in time, {left} of {size} bytes left")
        events = dict(waiting.poll(1 if not left else 1000 * _LOOK_S))
        if talk.fileno() in events:  # the server speaks now only to say that it gives up
            said = _STATES.get((talk.recv(1) or b"\0")[0], "nothing")
            raise Gone(f"{where} ended the upload: it says {said}")
        if events.get(data.fileno(), 0) & (select.POLLERR | select.POLLHUP):
            raise OSError(data.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), "connection broke")
        if left and data.fileno() in events:
            left -= data.send(zeros[: min(left, _CHUNK)])
            if not left:
                waiting.unregister(data)  # always ready from now on
    seconds = time.monotonic() - start
    looks.look(seconds)
    info, (cwnd, srtt_s) = looks.last, looks.means()
    ends = f"{_end(data.getsockname())}>{_end(data.getpeername())}"
    return Uploaded(
        seconds,
        info["sent"],
        info["retransmitted"],
        cwnd,
        srtt_s,
        info["min_rtt"] * 1e-6,
        info["mss"],
        ends,
        established - start,
        looks.trace(),
    )


def _end(address: tuple[Any, ...]) -> str:
    host, port = address[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _unacknowledged(data: socket.socket) -> int:
    return int(struct.unpack("=i", fcntl.ioctl(data, _OUTQ, b"\0\0\0\0"))[0])


def _finish(talk: socket.socket, uploaded: Uploaded, size: int, where: str) -> None:
    """Exchanges results, as the server waits for it; ours are what it shows."""
    talk.sendall(_CODES["end"])
    _expect(talk, "results", where)
    stream = {
        "id": 1,
        "bytes": size,
        "retransmits": uploaded.retransmitted,
        "jitter": 0,
        "errors": 0,
        "packets": 0,
        "start_time": 0,
        "end_time": uploaded.seconds,
    }
    _say(
        talk,
        {
            "cpu_util_total": 0,
            "cpu_util_user": 0,
            "cpu_util_system": 0,
            "sender_has_retransmits": 1,
            "streams": [stream],
        },
    )
    _hear(
        talk, where
    )  # its application's counts, which ours make needless: we saw each acknowledgment
    _expect(talk, "display", where)
    talk.sendall(_CODES["done"])


def _expect(talk: socket.socket, state: str, where: str) -> None:
    code = _exactly(talk, 1)[0]
    said = _STATES.get(code, f"state {code}")
    if said == "busy":
        raise Gone(f"{where} is busy with another test")
    if said != state:
        raise Gone(f"{where} says {said} where iperf3 says {state}")


def _say(talk: socket.socket, content: dict[str, Any]) -> None:
    text = json.dumps(content).encode()
    talk.sendall(struct.pack("!I", len(text)) + text)


def _hear(talk: socket.socket, where: str) -> None:
    size = struct.unpack("!I", _exactly(talk, 4))[0]
    if size > _LONGEST_ANSWER:
        raise Gone(f"{where} is no iperf3 server")
    try:
        json.loads(_exactly(talk, size).rstrip(b"\0"))
    except (ValueError, RecursionError):
        raise Gone(f"{where} is no iperf3 server") from None


def _exactly(talk: socket.socket, size: int) -> bytes:
    heard = b""
    while len(heard) < size:
        more = talk.recv(size - len(heard))
        if not more:
            raise EOFError("closed the connection")
        heard += more
    return heard
