# SPDX-License-Identifier: BSD-3-Clause
"""Asks the kernel for its TCP connections by sock_diag(7), and decodes the answers.

pyroute2 builds the requests. The answers take hundreds of bytes per connection, twenty times a
second. So messages with the same layout are decoded together, as an array, which is about thirty
times faster than making an object of each.
"""

from __future__ import annotations

import errno
import math
import os
import socket
import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from westwood.errors import RunError, UnavailableError
from westwood.kernel import tcp_info
from westwood.kernel.namespaces import Namespace

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NETLINK_SOCK_DIAG = 4
_DONE, _ERROR, _SOCK_DIAG = 3, 2, 20  # message types
_HEAD = struct.Struct("=IHHII")  # struct nlmsghdr
_ATTRIBUTE = struct.Struct("=HH")
_INFO, _VEGAS, _CONTROL, _BBR = 2, 3, 4, 16  # INET_DIAG_INFO and other attributes
_WANTED = 1 << _INFO - 1 | 1 << _VEGAS - 1 | 1 << _CONTROL - 1
_NAME = 16  # bytes of a control's name
_NO_RTT, _BBR_UNIT = 0x7FFFFFFF, 256  # tcp_vegas.h, tcp_bbr.c
_MAPPED = bytes(10) + b"\xff\xff"  # prefix of an IPv4-mapped IPv6 address
_DATAGRAM = 1 << 16
# tcp_states.h: the states in which a connection carries data or still may
TCP_STATES = {
    1: "established",
    4: "fin-wait-1",
    5: "fin-wait-2",
    8: "close-wait",
    9: "last-ack",
    11: "closing",
}
_VEGAS_KIND = np.dtype([(n, "=u4") for n in ("enabled", "count", "rtt", "rtt_min")])
_BBR_KIND = np.dtype(
    [(n, "=u4") for n in ("rate_low", "rate_high", "rtt_min", "pacing_gain", "cwnd_gain")]
)
_MESSAGE = np.dtype(
    [(n, "u1") for n in ("family", "tcp_state", "timer", "retransmissions")]
    + [("local_port", ">u2"), ("remote_port", ">u2"), ("local", "V16"), ("remote", "V16")]
    + [("interface", "=u4"), ("cookie", "=u8")]
    + [(n, "=u4") for n in ("expires", "receive_queue", "send_queue", "user", "inode")]
)


class Questions:
    """Holds a netlink socket in a namespace, and the requests that are sent repeatedly.

    ports: pairs of local and remote port; 0 is any.
    """

    def __init__(self, ports: Iterable[tuple[int, int]], where: Namespace) -> None:
        self._messages = [
            _question(family, *pair)
            for pair in ports
            for family in (socket.AF_INET, socket.AF_INET6)
        ]
        self._socket = where.run(_open)

    def __enter__(self) -> Questions:
        return self

    def __exit__(self, *error: object) -> None:
        self._socket.close()

    def ask(self) -> list[bytes]:
        """Sends the requests; returns the answers, datagrams of several messages each."""
        answers: list[bytes] = []
        for message in self._messages:
            self._socket.send(message)
            while not _is_last(answer := self._socket.recv(_DATAGRAM)):
                answers.append(answer)
            answers.append(answer)
        return answers


def _open() -> socket.socket:
    return socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _NETLINK_SOCK_DIAG)


def _question(family: int, local_port: int, remote_port: int) -> bytes:
    from pyroute2.netlink import NLM_F_DUMP, NLM_F_REQUEST
    from pyroute2.netlink.diag import inet_diag_req

    asked = inet_diag_req()
    asked["sdiag_family"], asked["sdiag_protocol"] = family, socket.IPPROTO_TCP
    asked["idiag_states"] = sum(1 << state for state in TCP_STATES)
    asked["idiag_ext"] = _WANTED
    asked["idiag_sport"], asked["idiag_dport"] = local_port, remote_port
    asked["header"]["type"] = _SOCK_DIAG
    asked["header"]["flags"] = NLM_F_REQUEST | NLM_F_DUMP
    asked.encode()
    return bytes(asked.data)


def _messages(datagram: bytes) -> Iterator[tuple[int, int, int]]:
    """Yields the type, start and end of each message."""
    offset = 0
    while offset + _HEAD.size <= len(datagram):
        length, kind, *_ = _HEAD.unpack_from(datagram, offset)
        if length < _HEAD.size or offset + length > len(datagram):
            raise RunError("sock_diag: the kernel's answer is cut off")
        yield kind, offset, offset + length
        offset += length + 3 & ~3


def _is_last(datagram: bytes) -> bool:
    """Returns whether an answer ends here; raises RunError if it is an error."""
    for kind, offset, end in _messages(datagram):
        if kind == _ERROR and end - offset >= _HEAD.size + 4:
            number = -struct.unpack_from("=i", datagram, offset + _HEAD.size)[0]
            if number == errno.ENOENT:
                raise UnavailableError("sock_diag: this kernel has no inet_diag: modprobe tcp_diag")
            raise RunError(f"sock_diag: {os.strerror(number)}")
        if kind == _DONE:
            return True
    return False


def frame_of(answers: Iterable[tuple[float, Sequence[bytes]]], netns: int) -> pl.DataFrame:
    """Decodes answers with their times: a row per connection and sample, in order."""
    by_length: dict[int, tuple[list[bytes], list[int], list[float]]] = {}
    number = 0
    for time_s, datagrams in answers:
        for datagram in datagrams:
            for kind, offset, end in _messages(datagram):
                if kind == _SOCK_DIAG and end - offset >= _HEAD.size + _MESSAGE.itemsize:
                    alike = by_length.setdefault(end - offset, ([], [], []))
                    alike[0].append(datagram[offset + _HEAD.size : end])
                    alike[1].append(number)
                    alike[2].append(time_s)
                    number += 1
    frames = []
    for messages, numbers, times_s in by_length.values():
        rows = np.frombuffer(b"".join(messages), np.uint8).reshape(len(messages), -1)
        frame = pl.concat([_decode(rows[same], where) for same, where in _layouts(rows)])
        order = np.concatenate([same for same, _ in _layouts(rows)])
        frames.append(
            frame.with_columns(
                pl.Series("time_s", np.array(times_s)[order]),
                pl.Series("_number", np.array(numbers)[order]),
            )
        )
    if not frames:
        return empty()
    frame = pl.concat(frames).unique(["time_s", "cookie"], keep="first").sort("_number")
    return frame.with_columns(pl.lit(netns, pl.Int64).alias("netns")).select(COLUMNS)


def _layouts(rows: NDArray[np.uint8]) -> Iterator[tuple[NDArray[np.intp], dict[int, slice]]]:
    """Groups messages of one length by layout; yields the rows and attribute positions."""
    left = np.arange(len(rows))
    while left.size:
        heads, where = _attributes(rows[left[0]].tobytes())
        same = (rows[left][:, heads] == rows[left[0], heads]).all(axis=1)
        yield left[same], where
        left = left[~same]


def _attributes(message: bytes) -> tuple[list[int], dict[int, slice]]:
    """Returns the positions of the attributes' headers, and their contents by type."""
    heads: list[int] = []
    where: dict[int, slice] = {}
    offset = _MESSAGE.itemsize
    while offset + _ATTRIBUTE.size <= len(message):
        length, kind = _ATTRIBUTE.unpack_from(message, offset)
        if length < _ATTRIBUTE.size or offset + length > len(message):
            raise RunError("sock_diag: the kernel's answer is cut off")
        heads += range(offset, offset + _ATTRIBUTE.size)
        where[kind] = slice(offset + _ATTRIBUTE.size, offset + length)
        offset += length + 3 & ~3
    return heads, where


def _structures(rows: NDArray[np.uint8], where: slice | None, kind: np.dtype[Any]) -> NDArray[Any]:
    """Reads a structure from each row; missing bytes are 0."""
    structures = np.zeros((len(rows), kind.itemsize), np.uint8)
    if where is not None:
        there = rows[:, where][:, : kind.itemsize]
        structures[:, : there.shape[1]] = there
    return structures.view(kind).reshape(len(rows))


def _decode(rows: NDArray[np.uint8], where: dict[int, slice]) -> pl.DataFrame:
    """Decodes messages of the same layout."""
    heads = _structures(rows, slice(0, _MESSAGE.itemsize), _MESSAGE)
    info = _structures(rows, where.get(_INFO), tcp_info.INFO)
    size = where[_INFO].stop - where[_INFO].start if _INFO in where else 0
    control = rows[:, where.get(_CONTROL, slice(0, 0))]
    names = np.zeros((len(rows), _NAME), np.uint8)
    names[:, : control.shape[1]] = control[:, :_NAME]
    controls = [
        raw_name.partition(b"\0")[0].decode(errors="replace")
        for raw_name in names.view("V16").ravel().tolist()
    ]
    states = [TCP_STATES.get(state, "other") for state in heads["tcp_state"].tolist()]
    return pl.DataFrame(
        {
            **_ends(heads),
            "cookie": heads["cookie"],
            "cc": pl.Series(controls, dtype=pl.String),
            "tcp_state": pl.Series(states, dtype=pl.String),
            **tcp_info.columns(info, size),
            **_own_figures(rows, where),
        }
    )


def _own_figures(rows: NDArray[np.uint8], where: dict[int, slice]) -> dict[str, Any]:
    """Returns values from the control itself: BBRv1's estimate and gains, RTTs of Vegas."""
    bbr = _structures(rows, where.get(_BBR), _BBR_KIND)
    rate = bbr["rate_high"].astype(np.uint64) << np.uint64(32) | bbr["rate_low"]
    vegas = _structures(rows, where.get(_VEGAS), _VEGAS_KIND)
    vegas_rtt = np.where((vegas["enabled"] != 0) & (vegas["rtt"] < _NO_RTT), vegas["rtt"], 0)
    return {
        "estimate_bps": np.where(rate != 0, rate * 8.0, math.nan),
        "pacing_gain": np.where(_BBR in where, bbr["pacing_gain"] / _BBR_UNIT, math.nan),
        "cwnd_gain": np.where(_BBR in where, bbr["cwnd_gain"] / _BBR_UNIT, math.nan),
        "cc_rtt_s": np.where(vegas_rtt != 0, vegas_rtt / 1e6, math.nan),
    }


def _ends(heads: NDArray[Any]) -> dict[str, Any]:
    """Returns both ends as text, formatted once per connection, not per sample."""
    _, first, each = np.unique(heads["cookie"], return_index=True, return_inverse=True)
    families = heads["family"][first].tolist()
    columns: dict[str, Any] = {}
    ends: dict[str, list[str]] = {}
    for end in ("local", "remote"):
        given = zip(families, heads[end][first].tolist(), strict=True)
        addresses = [_address(family, raw) for family, raw in given]
        ports = heads[f"{end}_port"][first].astype(np.int64)
        ends[end] = [
            f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
            for address, port in zip(addresses, ports.tolist(), strict=True)
        ]
        columns[end] = pl.Series(addresses, dtype=pl.String).gather(each.ravel())
        columns[f"{end}_port"] = ports[each.ravel()]
    flows = [f"{local}>{other}" for local, other in zip(ends["local"], ends["remote"], strict=True)]
    return {"flow": pl.Series(flows, dtype=pl.String).gather(each.ravel()), **columns}


def _address(family: int, raw: bytes) -> str:
    """Writes an address as ww-kernel does; IPv4-mapped addresses become IPv4."""
    if family == socket.AF_INET6 and not raw.startswith(_MAPPED):
        return socket.inet_ntop(socket.AF_INET6, raw)
    return socket.inet_ntop(
        socket.AF_INET, raw[:4] if family == socket.AF_INET else raw[len(_MAPPED) :]
    )


def empty() -> pl.DataFrame:
    none = np.zeros((0, _MESSAGE.itemsize), np.uint8)
    times = (pl.Series("time_s", [], pl.Float64), pl.lit(0, pl.Int64).alias("netns"))
    return _decode(none, {}).with_columns(*times).select(COLUMNS)


COLUMNS = (
    *("time_s", "netns", "flow", "local", "local_port", "remote", "remote_port", "cookie", "cc"),
    *("tcp_state", "state", "cwnd", "ssthresh", "estimate_bps", "srtt_s", "rttvar_s", "rtt_min_s"),
    *("rto_s", "mss", "in_flight", "sacked", "lost_out", "retrans_out", "delivered"),
    *("delivered_ce", "delivered_bytes", "delivery_bps", "app_limited", "pacing_bps", "sent"),
    *("sent_bytes", "retransmitted", "retransmitted_bytes", "dsacks", "reordering", "reorderings"),
    *("timeouts", "backoff", "busy_s", "rwnd_limited_s", "sndbuf_limited_s", "unsent_bytes"),
    *("send_window", "received_bytes", "since_sent_s", "path_mtu"),
    *("pacing_gain", "cwnd_gain", "cc_rtt_s"),
)
