# SPDX-License-Identifier: BSD-3-Clause
"""Writes the simulator's captured packets as a pcap file for tshark and other tools.

The packets are raw IPv4 (link type 101) with times in ns. Only headers are stored; lengths include
the payload, as with `tcpdump -s`. Node n has the address 10.0.0.0 + n + 1. Connection c goes from
port 10000 + c % 50000 to port 5001 + c // 50000.

Segments have their simulated size: NOP options fill the part of `header` beyond 40 bytes, if SACK
blocks leave room in TCP's 40 bytes of options. Only SYNs are larger, by the options that tools need
(MSS, window scale, SACK). Data segments acknowledge the SYN-ACK. The last segment of a transfer has
the FIN; the sink keeps its half of the connection open. The window is the constant receive window.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from westwood.control.catalogue import UDP
from westwood.errors import InputError
from westwood.units import format_size

if TYPE_CHECKING:
    from westwood.engines.result import Result
    from westwood.scenario.flows import Flow

# engine/link/packet.hpp: PacketFlags
_ACK, _SYN, _FIN, _ECT, _CE, _CWR, _DATAGRAM = 1, 2, 8, 32, 64, 128, 256
_ECT1 = 4096
_MAGIC_NS, _LINKTYPE_RAW, _SNAPLEN = 0xA1B23C4D, 101, 65535
_RECORD, _IP, _TCP, _UDP, _OPTIONS = 16, 20, 20, 8, 40
_AT_A_TIME = 1 << 14  # packets
_NOP, _FIRST_PORT, _PORTS, _SERVER_PORT = 1, 10_000, 50_000, 5001

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]


def write(result: Result, path: Path) -> int:
    """Writes what `simulate(..., capture=LINK)` captured; returns the number of packets."""
    _check_headers(result.scenario.flows)
    of_run = _OfRun(result)
    count = 0
    with path.open("wb") as file:
        header = [_MAGIC_NS, 0x0004_0002, 0, 0, _SNAPLEN, _LINKTYPE_RAW]
        file.write(np.array(header, dtype="<u4").tobytes())
        for piece in result.raw.records.pieces("captured"):
            for first in range(0, len(piece["flow"]), _AT_A_TIME):
                rows = slice(first, first + _AT_A_TIME)
                columns = {name: column[rows].astype(np.int64) for name, column in piece.items()}
                packets = _Packets(of_run, columns, count)
                file.write(packets.rows().tobytes())
                count += packets.count
    return count


def _check_headers(flows: tuple[Flow, ...]) -> None:
    for flow in flows:
        least, most, step = (28, 28, 1) if flow.cc.name == UDP else (40, 80, 4)
        if flow.cc.name != UDP and (not least <= flow.header <= most or flow.header % step):
            raise InputError(
                "a capture needs a header of 40B to 80B in steps of 4B, as IPv4 and TCP have",
                key=f"{flow.name}.header",
                value=format_size(flow.header),
            )


class _OfRun:
    """Holds the values that packet headers need, by flow index."""

    def __init__(self, result: Result) -> None:
        scenario = result.scenario
        flows = scenario.flows
        nodes = {node: i for i, node in enumerate(scenario.nodes)}
        self.source = np.asarray(result.raw.connections["source"])
        self.header = np.array([flow.header for flow in flows], dtype=np.int64)
        self.window = np.array([flow.receive_window for flow in flows], dtype=np.int64)
        self.mss = np.array([flow.mss for flow in flows], dtype=np.int64)
        self.ecn = np.array([int(flow.ecn) for flow in flows], dtype=np.int64)
        self.from_ = np.array([nodes[flow.from_] for flow in flows], dtype=np.int64)
        self.to = np.array([nodes[flow.to] for flow in flows], dtype=np.int64)
        self.shift = np.zeros(len(flows), dtype=np.int64)
        while (too_large := (self.window >> self.shift) > 0xFFFF).any():
            self.shift += too_large


class _Packets:
    """Holds a batch of packets; each step fills a field of every packet."""

    def __init__(self, of_run: _OfRun, columns: dict[str, Ints], first: int) -> None:
        connection = columns["flow"]
        self.count = len(connection)
        self.first = first  # the first packet's number in the file
        self.connection, self.time_ps = connection, columns["time_ps"]
        self.number, self.payload = columns["number"], columns["payload"]
        self.flags, self.blocks = columns["flags"], columns["sack_count"]
        self.sack = columns["sack"]
        self.is_udp = self.flags & _DATAGRAM != 0
        self.is_ack = self.flags & _ACK != 0
        self.is_syn = self.flags & _SYN != 0
        self.is_fin = self.flags & _FIN != 0  # on an ACK: it covers the sender's FIN
        flow = of_run.source[connection]
        self.header, self.window = of_run.header[flow], of_run.window[flow]
        self.mss, self.ecn = of_run.mss[flow], of_run.ecn[flow]
        self.shift = of_run.shift[flow]
        ends = of_run.from_[flow], of_run.to[flow]
        self.source, self.sink = np.where(self.is_ack, ends[::-1], ends)

    def rows(self) -> Bytes:
        """Returns the packets' records in the file."""
        options, used = self._options()
        transport = np.where(self.is_udp, _UDP, _TCP + used)
        stored = _IP + transport
        # A datagram's simulated header may have any size; the rest of its length is payload.
        length = np.where(self.is_udp, self.header + self.payload, stored + self.payload)
        table = np.zeros((self.count, _RECORD + _IP + _TCP + _OPTIONS), dtype=np.uint8)
        self._record_headers(table, stored, length)
        self._ip_headers(table[:, _RECORD : _RECORD + _IP], length)
        self._udp_headers(table[:, _RECORD + _IP :], length)
        self._tcp_headers(table[:, _RECORD + _IP :], options, used)
        used_columns = np.arange(table.shape[1]) < (_RECORD + stored)[:, None]
        return table[used_columns]

    def _record_headers(self, table: Bytes, stored: Ints, length: Ints) -> None:
        seconds, rest = np.divmod(self.time_ps, 10**12)
        for place, value in enumerate((seconds, rest // 1000, stored, length)):
            _store(table, 4 * place, value, 4, order="little")

    def _ip_headers(self, ip: Bytes, length: Ints) -> None:
        capable = (self.flags & _ECT != 0) & ~self.is_ack & ~self.is_syn
        marked = capable & (self.flags & _CE != 0)
        ip[:, 0] = 0x45
        ip[:, 1] = np.where(
            marked, 3, np.where(capable, np.where(self.flags & _ECT1 != 0, 1, 2), 0)
        )
        _store(ip, 2, length, 2)
        _store(ip, 4, (self.first + np.arange(self.count)) & 0xFFFF, 2)
        ip[:, 6] = 0x40  # don't fragment
        ip[:, 8] = 64
        ip[:, 9] = np.where(self.is_udp, 17, 6)
        _store(ip, 12, (10 << 24) + self.source + 1, 4)
        _store(ip, 16, (10 << 24) + self.sink + 1, 4)
        words = (ip[:, 0::2].astype(np.int64) << 8) + ip[:, 1::2]
        _store(ip, 10, _complement(words.sum(axis=1)), 2)

    def _ports(self) -> tuple[Ints, Ints]:
        client = _FIRST_PORT + self.connection % _PORTS
        server = _SERVER_PORT + self.connection // _PORTS
        return np.where(self.is_ack, server, client), np.where(self.is_ack, client, server)

    def _udp_headers(self, udp: Bytes, length: Ints) -> None:
        source, sink = self._ports()
        rows = np.flatnonzero(self.is_udp)
        header = np.zeros((len(rows), _UDP), dtype=np.uint8)
        for place, value in enumerate((source, sink, length - _IP)):
            _store(header, 2 * place, value[rows], 2)  # a checksum of 0: none
        udp[rows, :_UDP] = header

    def _tcp_headers(self, tcp: Bytes, options: Bytes, used: Ints) -> None:
        source, sink = self._ports()
        is_tcp = ~self.is_udp
        from_sink = self.is_ack
        # The receiver's sequence numbers start at 0, which is its SYN.
        sequence = np.where(from_sink, np.where(self.is_syn, 0, 1), self.number)
        # A FIN takes a sequence number, too, but not in the simulator.
        of_data = self.number + self.is_fin
        acknowledged = np.where(from_sink, of_data, np.where(self.is_syn, 0, 1))
        flags = np.where(self.is_syn & ~from_sink, 0x02, np.where(self.is_syn, 0x12, 0x10))
        congested = self.flags & _CE != 0
        flags = flags | np.where(self.is_fin & ~from_sink, 0x01, 0)
        echo = from_sink & congested & ~self.is_syn
        flags = flags | np.where(echo, 0x40, 0)
        flags = flags | np.where(self.flags & _CWR != 0, 0x80, 0)
        asked = self.is_syn & (self.ecn != 0)  # RFC 3168, 6.1.1
        flags = flags | np.where(asked & ~from_sink, 0xC0, 0) | np.where(asked & from_sink, 0x40, 0)
        window = np.minimum(self.window >> np.where(self.is_syn, 0, self.shift), 0xFFFF)
        header = np.zeros((self.count, _TCP + _OPTIONS), dtype=np.uint8)
        _store(header, 0, source, 2)
        _store(header, 2, sink, 2)
        _store(header, 4, sequence, 4)
        _store(header, 8, acknowledged, 4)
        header[:, 12] = (_TCP + used) // 4 << 4
        header[:, 13] = flags
        _store(header, 14, window, 2)
        header[:, _TCP:] = options
        _store(header, 16, self._tcp_checksum(header, used), 2)
        tcp[is_tcp] = header[is_tcp]

    def _tcp_checksum(self, header: Bytes, used: Ints) -> Ints:
        """Returns the checksum, including the pseudo header; the payload is all zeros."""
        words = ((header[:, 0::2].astype(np.int64) << 8) + header[:, 1::2]).sum(axis=1)
        for node in (self.source, self.sink):
            address = (10 << 24) + node + 1
            words += (address >> 16) + (address & 0xFFFF)
        return _complement(words + 6 + _TCP + used + self.payload)

    def _options(self) -> tuple[Bytes, Ints]:
        """Returns the options, padded with NOPs, and their length in each packet."""
        options = np.full((self.count, _OPTIONS), _NOP, dtype=np.uint8)
        sack_bytes = np.where(self.blocks > 0, 4 + 8 * self.blocks, 0)
        used = np.minimum(self.header - _IP - _TCP + sack_bytes, _OPTIONS)
        # RFC 2018, at the end of the options: two NOPs, kind 5, length, the blocks.
        for count in range(1, 5):
            for room in np.unique(used[self.blocks == count]):
                rows = np.flatnonzero((self.blocks == count) & (used == room))
                part = np.full((len(rows), _OPTIONS), _NOP, dtype=np.uint8)
                start = int(room) - 8 * count
                part[:, start - 2] = 5
                part[:, start - 1] = 2 + 8 * count
                for edge in range(2 * count):
                    _store(part, start + 4 * edge, self.sack[rows, edge], 4)
                options[rows] = part
        syn = np.flatnonzero(self.is_syn)
        opening = np.full((len(syn), _OPTIONS), _NOP, dtype=np.uint8)
        opening[:, 0:2] = (2, 4)  # RFC 9293: maximum segment size
        _store(opening, 2, self.mss[syn], 2)
        opening[:, 4:6] = (4, 2)  # RFC 2018: SACK permitted
        opening[:, 9:11] = (3, 3)  # RFC 7323: window scale
        opening[:, 11] = self.shift[syn]
        options[syn] = opening
        used[syn] = np.maximum(used[syn], 12)
        options[np.arange(_OPTIONS) >= used[:, None]] = 0  # unused; must not affect the checksum
        return options, used


def _store(rows: Bytes, start: int, value: Ints, size: int, order: str = "big") -> None:
    """Writes the value's low `size` bytes into every row, from column `start`."""
    for i in range(size):
        shift = 8 * (i if order == "little" else size - 1 - i)
        rows[:, start + i] = (value >> shift) & 0xFF


def _complement(total: Ints) -> Ints:
    """Returns the one's complement of a one's complement sum (RFC 1071)."""
    total = (total & 0xFFFF) + (total >> 16)
    total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
