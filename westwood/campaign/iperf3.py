# SPDX-License-Identifier: BSD-3-Clause
"""Uploads to an iperf3 server (version 3.1 or later) with a sender of its own.

It speaks iperf3's protocol (src/iperf_client_api.c): a control connection, on which the server
announces each step in one byte, and a data connection. Unlike iperf3's own client, this sender
keeps little unsent data in the socket and counts acknowledged bytes. An upload of a given size ends
when all of it is acknowledged, so that even short ones are timed correctly. The sender reads its
socket's windows and chooses the socket's congestion control, so no system default changes. If this
process is killed, its connections are reset.
"""

from __future__ import annotations

import fcntl
import json
import math
import select
import socket
import string
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from random import SystemRandom
from typing import Any

import polars as pl

from westwood.errors import RunError, UnavailableError, one_line
from westwood.kernel.tcp_info import TcpInfoSampler

_CHUNK = 128 * 1024  # bytes per write, and the most unsent bytes in the socket
_NOTSENT_LOWAT = 25  # TCP_NOTSENT_LOWAT, which the module socket has from Python 3.12 on
_OUTQ = 0x5411  # SIOCOUTQ: unacknowledged bytes
_SAMPLE_S = 0.01
_PATIENCE_S = 10.0  # how long a server may stay silent
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


_AT_ONCE, _IN_ORDER = struct.pack("ii", 1, 0), struct.pack("ii", 0, 0)  # values of SO_LINGER
MakeSocket = Callable[[int, int, int], socket.socket]  # family, type, protocol


class ConnectionLost(RunError):
    """The server can't be reached, or the connection was lost."""


@dataclass(frozen=True)
class Load:
    """How much to upload: a number of bytes, or for a number of seconds."""

    size: int | None = None
    seconds: float | None = None

    def parameters(self) -> dict[str, int]:
        """Returns the parameters for the server, which wants whole seconds."""
        return {"time": math.ceil(self.seconds or 0), "num": self.size or 0}


@dataclass(frozen=True)
class Uploaded:
    """The result of an upload; `seconds` run from the first byte to the last acknowledgment."""

    seconds: float
    acked: int  # bytes
    sent: int  # segments
    retransmitted: int
    mean_cwnd: float
    mean_srtt_s: float
    min_rtt_s: float
    mss: int
    busy_s: float  # time with data to send; the next two are parts of it
    rwnd_limited_s: float
    sndbuf_limited_s: float
    stood_still_s: float  # longest pause of this process
    ends: str  # ends of the data connection: ADDRESS:PORT>ADDRESS:PORT
    peer: str  # the server's address
    established_s: float  # negative: before the first byte
    trace: pl.DataFrame


def upload(
    host: str,
    port: int,
    control: str,
    load: Load,
    timeout_s: float,
    make: MakeSocket = socket.socket,
    *,
    more: bool = False,
) -> Uploaded:
    """Uploads under the kernel's congestion control `control`; raises ConnectionLost if that fails.

    more: the trace also has the columns of a recording that count delivered data.
    """
    deadline = time.monotonic() + timeout_s
    where = _end((host, port))
    with _failures(where), ExitStack() as stack:
        cookie = "".join(SystemRandom().choices(string.ascii_lowercase, k=36)).encode() + b"\0"
        talk, address = _connected(host, port, make)
        stack.enter_context(talk)
        talk.sendall(cookie)
        _expect(talk, "parameters", where)
        fixed = {"tcp": True, "omit": 0, "blockcount": 0, "parallel": 1, "len": _CHUNK}
        _say(talk, {**fixed, **load.parameters(), "client_version": "3.12"})
        _expect(talk, "streams", where)
        data = stack.enter_context(_data_connection(talk.family, address, control, make))
        established = time.monotonic()
        data.sendall(cookie)
        _expect(talk, "start", where)
        _expect(talk, "run", where)
        sampler = TcpInfoSampler(data, more=more)
        uploaded = _send(data, talk, sampler, load, deadline, established, where)
        _finish(talk, uploaded, where)
        for connection in (talk, data):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _IN_ORDER)
    return uploaded


@contextmanager
def _failures(where: str) -> Iterator[None]:
    try:
        yield
    except TimeoutError:
        raise ConnectionLost(f"{where} does not answer") from None
    except (OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise ConnectionLost(f"{where}: {one_line(reason)}") from None


def _connected(host: str, port: int, make: MakeSocket) -> tuple[socket.socket, Any]:
    """Connects to the first of the host's addresses that answers; returns the address as well."""
    problem = OSError("has no address")
    for family, kind, protocol, _, address in socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM
    ):
        try:
            return _connection(family, kind, protocol, address, make), address
        except OSError as error:
            problem = error
    raise problem


def _connection(
    family: int, kind: int, protocol: int, address: Any, make: MakeSocket, control: str = ""
) -> socket.socket:
    conn = make(family, kind, protocol)
    try:
        conn.settimeout(_PATIENCE_S)
        conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        if control:
            conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
            conn.setsockopt(socket.IPPROTO_TCP, _NOTSENT_LOWAT, _CHUNK)
        conn.connect(address)
    except BaseException:
        conn.close()
        raise
    return conn


@contextmanager
def _data_connection(
    family: int, address: Any, control: str, make: MakeSocket
) -> Iterator[socket.socket]:
    kind, protocol = socket.SOCK_STREAM, socket.IPPROTO_TCP
    try:
        data = _connection(family, kind, protocol, address, make, control)
    except PermissionError:
        remedy = "run it as root, or allow it in net.ipv4.tcp_allowed_congestion_control"
        raise UnavailableError(f"{control} may not be used: {remedy}") from None
    except FileNotFoundError:
        raise UnavailableError(f"this kernel has no congestion control {control}") from None
    with data:
        yield data


def _send(
    data: socket.socket,
    talk: socket.socket,
    sampler: TcpInfoSampler,
    load: Load,
    deadline: float,
    established: float,
    where: str,
) -> Uploaded:
    """Sends for the given time, or sends all bytes and waits until they are acknowledged."""
    sampler.sample(0.0)
    acked_before = sampler.last["delivered_bytes"]  # the cookie, which is not data
    start = time.monotonic()
    zeros, next_sample_s = memoryview(bytes(_CHUNK)), start
    left = math.inf if load.size is None else load.size
    ends_at = math.inf if load.seconds is None else start + load.seconds
    waiting = select.poll()
    waiting.register(data, select.POLLOUT)
    waiting.register(talk, select.POLLIN)
    data.setblocking(False)
    stood_still_s, before = 0.0, start
    while (now := time.monotonic()) < ends_at and (left or _unacknowledged(data)):
        stood_still_s, before = max(stood_still_s, now - before), now
        if now >= next_sample_s:
            sampler.sample(now - start)
            next_sample_s = now + _SAMPLE_S
        if now >= deadline:
            raise ConnectionLost(f"{where}: timed out, {left} of {load.size} bytes left")
        events = dict(waiting.poll(1 if not left else 1000 * _SAMPLE_S))
        if talk.fileno() in events:  # the server would only speak to give up
            state = _STATES.get((talk.recv(1) or b"\0")[0], "nothing")
            raise ConnectionLost(f"{where} ended the upload: it says {state}")
        if events.get(data.fileno(), 0) & (select.POLLERR | select.POLLHUP):
            raise OSError(data.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), "connection broke")
        if left and data.fileno() in events:
            left -= data.send(zeros[: int(min(left, _CHUNK))])
            if not left:
                waiting.unregister(data)  # always ready from now on
    seconds = time.monotonic() - start
    sampler.sample(seconds)
    acked = sampler.last["delivered_bytes"] - acked_before
    return _uploaded(data, sampler, seconds, acked, stood_still_s, established - start)


def _uploaded(
    data: socket.socket,
    sampler: TcpInfoSampler,
    seconds: float,
    acked: int,
    stood_still_s: float,
    established_s: float,
) -> Uploaded:
    info, (cwnd, srtt_s) = sampler.last, sampler.means()
    return Uploaded(
        seconds=seconds,
        acked=acked,
        sent=info["sent"],
        retransmitted=info["retransmitted"],
        mean_cwnd=cwnd,
        mean_srtt_s=srtt_s,
        min_rtt_s=info["rtt_min"] * 1e-6,
        mss=info["mss"],
        busy_s=info["busy"] * 1e-6,
        rwnd_limited_s=info["rwnd_limited"] * 1e-6,
        sndbuf_limited_s=info["sndbuf_limited"] * 1e-6,
        stood_still_s=stood_still_s,
        ends=f"{_end(data.getsockname())}>{_end(data.getpeername())}",
        peer=_host(data.getpeername()),
        established_s=established_s,
        trace=sampler.trace(),
    )


def _host(address: tuple[Any, ...]) -> str:
    """Returns the address, with the interface that link-local addresses need."""
    return socket.getnameinfo(address, socket.NI_NUMERICHOST | socket.NI_NUMERICSERV)[0]


def _end(address: tuple[Any, ...]) -> str:
    host, port = address[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _unacknowledged(data: socket.socket) -> int:
    return int(struct.unpack("=i", fcntl.ioctl(data, _OUTQ, b"\0\0\0\0"))[0])


def _finish(talk: socket.socket, uploaded: Uploaded, where: str) -> None:
    """Exchanges results as the server expects; it displays ours."""
    talk.sendall(_CODES["end"])
    _expect(talk, "results", where)
    stream = {
        "id": 1,
        "bytes": uploaded.acked,
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
    # The server's counts are redundant, since this sender has seen each acknowledgment.
    _hear(talk, where)
    _expect(talk, "display", where)
    talk.sendall(_CODES["done"])


def _expect(talk: socket.socket, state: str, where: str) -> None:
    code = _exactly(talk, 1)[0]
    answer = _STATES.get(code, f"state {code}")
    if answer == "busy":
        raise ConnectionLost(f"{where} is busy with another test")
    if answer != state:
        raise ConnectionLost(f"{where} says {answer} where iperf3 says {state}")


def _say(talk: socket.socket, content: dict[str, Any]) -> None:
    text = json.dumps(content).encode()
    talk.sendall(struct.pack("!I", len(text)) + text)


def _hear(talk: socket.socket, where: str) -> None:
    size = struct.unpack("!I", _exactly(talk, 4))[0]
    if size > _LONGEST_ANSWER:
        raise ConnectionLost(f"{where} is not an iperf3 server")
    try:
        json.loads(_exactly(talk, size).rstrip(b"\0"))
    except (ValueError, RecursionError):
        raise ConnectionLost(f"{where} is not an iperf3 server") from None


def _exactly(talk: socket.socket, size: int) -> bytes:
    heard = b""
    while len(heard) < size:
        more = talk.recv(size - len(heard))
        if not more:
            raise EOFError("closed the connection")
        heard += more
    return heard
