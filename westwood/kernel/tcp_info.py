# SPDX-License-Identifier: BSD-3-Clause
"""Makes a trace of what Linux says of a socket: struct tcp_info of include/uapi/linux/tcp.h."""

from __future__ import annotations

import math
import socket
import struct
from typing import Any

import polars as pl

from westwood.results.traces import STATES, TRACE_COLUMNS

_SIZE = 160  # bytes, up to tcpi_data_segs_out, of Linux 4.6
_UNLIMITED = 0x7FFFFFFF  # ssthresh before the first loss
_STATE_OF = (0, 1, 2, 2, 3)  # enum tcp_ca_state; CWR is a recovery without a loss
# The offset of each field; all have 32 bits.
_OFFSETS = {
    "rto": 8,
    "mss": 16,
    "unacked": 24,
    "rtt": 68,
    "ssthresh": 76,
    "cwnd": 80,
    "retransmitted": 100,
    "min_rtt": 148,
    "sent": 156,
}


class Looks:
    """Looks at a socket again and again, and keeps what it saw."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._rows: list[tuple[Any, ...]] = []
        self._seen: list[tuple[float, float]] = []  # cwnd and srtt at every look
        self.last: dict[str, int] = {}

    def look(self, time_s: float) -> None:
        """Looks once; adds a row to the trace unless nothing changed."""
        raw = self._connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _SIZE)
        if len(raw) < _SIZE:
            return
        info = {name: struct.unpack_from("=I", raw, at)[0] for name, at in _OFFSETS.items()}
        self.last = info
        ssthresh = math.nan if info["ssthresh"] >= _UNLIMITED else float(info["ssthresh"])
        srtt_s = info["rtt"] * 1e-6 or math.nan
        self._seen.append((float(info["cwnd"]), srtt_s))
        state = STATES[_STATE_OF[min(raw[1], 4)]]
        row = (
            float(info["cwnd"]),
            ssthresh,
            math.nan,
            math.nan,
            srtt_s,
            srtt_s,
            info["rto"] * 1e-6,
            float(info["unacked"]),
            state,
        )
        if not self._rows or repr(row) != repr(self._rows[-1][1:]):  # NaN is not itself
            self._rows.append((time_s, *row))

    def trace(self) -> pl.DataFrame:
        """Returns the columns of a trace without flow and transfer; the estimates are NaN."""
        frame = pl.DataFrame(self._rows, schema=TRACE_COLUMNS, orient="row")
        return frame.with_columns(pl.col("state").cast(pl.Enum(STATES)))

    def means(self) -> tuple[float, float]:
        """Returns the means of cwnd and of the smoothed round trip over the looks."""
        known = [srtt_s for _, srtt_s in self._seen if not math.isnan(srtt_s)]
        cwnd = sum(cwnd for cwnd, _ in self._seen) / len(self._seen) if self._seen else math.nan
        return cwnd, sum(known) / len(known) if known else math.nan
