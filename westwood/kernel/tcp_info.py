# SPDX-License-Identifier: BSD-3-Clause
"""Decodes struct tcp_info of Linux's include/uapi/linux/tcp.h and samples it into a trace.

New fields are appended at the end: an older kernel returns fewer, and the rest are unknown. Both
getsockopt (TCP_INFO) and sock_diag (`sockets`) return these bytes.
"""

from __future__ import annotations

import math
import socket
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from westwood.results.traces import STATES, TRACE_COLUMNS

if TYPE_CHECKING:
    from numpy.typing import NDArray

_UNLIMITED = 0x7FFFFFFF  # ssthresh before the first loss
STATE_OF = (0, 1, 2, 2, 3)  # enum tcp_ca_state; CWR is a recovery without a loss
# The fields in order with their types. Comments give the kernel's units and first versions.
_FIELDS = (
    *((name, "u1") for name in ("tcp_state", "state", "retransmits", "probes", "backoff")),
    ("options", "u1"),
    ("window_scales", "u1"),
    ("app_limited", "u1"),  # bit 0; the other bits belong to TCP Fast Open
    *((name, "u4") for name in ("rto", "ato", "mss", "received_mss")),  # us, us
    *((name, "u4") for name in ("in_flight", "sacked", "lost_out", "retrans_out", "fackets")),
    *((name, "u4") for name in ("since_sent", "since_ack_sent", "since_received", "since_ack")),
    *((name, "u4") for name in ("path_mtu", "received_ssthresh", "srtt", "rttvar")),  # us
    *((name, "u4") for name in ("ssthresh", "cwnd", "advertised_mss", "reordering")),
    *((name, "u4") for name in ("received_rtt", "received_space", "retransmitted")),
    *((name, "u8") for name in ("pacing", "most_pacing")),  # bytes/s
    *((name, "u8") for name in ("delivered_bytes", "received_bytes")),
    *((name, "u4") for name in ("segments_out", "segments_in")),
    *((name, "u4") for name in ("unsent_bytes", "rtt_min", "data_segments_in", "sent")),  # 4.6
    ("delivery", "u8"),  # bytes/s, 4.9
    *((name, "u8") for name in ("busy", "rwnd_limited", "sndbuf_limited")),  # us, 4.10
    *((name, "u4") for name in ("delivered", "delivered_ce")),  # 4.18
    *((name, "u8") for name in ("sent_bytes", "retransmitted_bytes")),  # 4.19
    *((name, "u4") for name in ("dsacks", "reorderings", "out_of_order_in", "send_window")),  # 5.4
    *((name, "u4") for name in ("receive_window", "rehashes")),  # 6.2
    *((name, "u2") for name in ("timeouts", "timeout_recoveries")),  # 6.7
    ("timeout_time", "u4"),  # ms
)
INFO = np.dtype([(name, f"={kind}") for name, kind in _FIELDS])
NEEDED = INFO.fields["sent"][1] + 4 if INFO.fields else 0  # bytes in Linux 4.6
_UNLIMITED_RATE = 0xFFFFFFFFFFFFFFFF


def decoded(raw: bytes) -> NDArray[Any]:
    """Decodes one structure; missing fields are 0."""
    return np.frombuffer(raw.ljust(INFO.itemsize, b"\0")[: INFO.itemsize], INFO)


def columns(info: NDArray[Any], size: int) -> dict[str, pl.Series]:
    """Converts structures of `size` bytes to columns with units; unknown values are NaN or null.

    Counters start with the connection. `in_flight`, `sacked`, `lost_out`, `retrans_out`, cwnd and
    ssthresh are current numbers of segments. `sent` and `retransmitted` count segments.
    """

    def is_known(field: str) -> bool:
        kind, offset, *_ = INFO.fields[field]  # type: ignore[index]
        return bool(offset + kind.itemsize <= size)

    series_of: dict[str, pl.Series] = {}
    for name in _WHOLE:
        if is_known(name):
            series_of[name] = pl.Series(name, info[name].astype(np.int64))
        else:
            series_of[name] = pl.Series(name, [None] * len(info), pl.Int64)
    for name, field, units, none in _SCALED:
        known = is_known(field) & (info[field] != none)
        series_of[name] = pl.Series(name, np.where(known, info[field] / units, math.nan))
    infinite = info["ssthresh"] >= _UNLIMITED
    series_of["ssthresh"] = pl.Series("ssthresh", np.where(infinite, math.nan, info["ssthresh"]))
    states = np.array(STATE_OF, np.uint8)[np.minimum(info["state"], len(STATE_OF) - 1)]
    series_of["state"] = pl.Series("state", np.array(STATES)[states], pl.Enum(STATES))
    series_of["app_limited"] = pl.Series("app_limited", info["app_limited"] & 1 == 1)
    return series_of


_WHOLE = (
    *("cwnd", "in_flight", "sacked", "lost_out", "retrans_out", "mss", "path_mtu", "reordering"),
    *("delivered", "delivered_ce", "delivered_bytes", "sent", "sent_bytes", "retransmitted"),
    *("retransmitted_bytes", "received_bytes", "unsent_bytes", "dsacks", "reorderings"),
    *("timeouts", "backoff", "send_window"),
)
# Column, field, divisor, and the number that means "unknown".
_SCALED = (
    ("srtt_s", "srtt", 1e6, 0),
    ("rttvar_s", "rttvar", 1e6, -1),
    ("rtt_min_s", "rtt_min", 1e6, 0xFFFFFFFF),
    ("rto_s", "rto", 1e6, -1),
    ("delivery_bps", "delivery", 0.125, 0),
    ("pacing_bps", "pacing", 0.125, _UNLIMITED_RATE),
    ("busy_s", "busy", 1e6, -1),
    ("rwnd_limited_s", "rwnd_limited", 1e6, -1),
    ("sndbuf_limited_s", "sndbuf_limited", 1e6, -1),
    ("since_sent_s", "since_sent", 1e3, -1),
)


# Columns that recordings, and TcpInfoSampler with `more`, add to those of a trace.
_COUNTED = ("mss", "delivered_bytes", "sent", "retransmitted")
_MORE = ("rtt_min_s", *_COUNTED)


class TcpInfoSampler:
    """Keeps the TCP_INFO samples of a socket; with `more`, delivery counters too."""

    def __init__(self, connection: socket.socket, *, more: bool = False) -> None:
        self._connection, self._more = connection, more
        self._rows: list[tuple[Any, ...]] = []
        self._samples: list[tuple[float, float]] = []  # cwnd and srtt of every sample
        self.last: dict[str, int] = {}

    def sample(self, time_s: float) -> None:
        """Takes a sample; adds a row to the trace if anything changed."""
        raw = self._connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, INFO.itemsize)
        if len(raw) < NEEDED:
            return
        sample_row = decoded(raw)[0]
        info = dict(zip(INFO.names or (), sample_row.tolist(), strict=True))
        self.last = info
        ssthresh = math.nan if info["ssthresh"] >= _UNLIMITED else float(info["ssthresh"])
        srtt_s = info["srtt"] / 1e6 or math.nan
        self._samples.append((float(info["cwnd"]), srtt_s))
        state = STATES[STATE_OF[min(info["state"], 4)]]
        row: tuple[Any, ...] = (
            float(info["cwnd"]),
            ssthresh,
            math.nan,
            math.nan,
            srtt_s,
            srtt_s,
            info["rto"] / 1e6,
            float(info["in_flight"]),
            state,
        )
        if self._more:
            row += (info["rtt_min"] / 1e6, *(info[name] for name in _COUNTED))
        if not self._rows or repr(row) != repr(self._rows[-1][1:]):  # NaN != NaN
            self._rows.append((time_s, *row))

    def trace(self) -> pl.DataFrame:
        """Returns a trace without the columns flow and transfer; the estimates are NaN."""
        columns = (*TRACE_COLUMNS, *(_MORE if self._more else ()))
        frame = pl.DataFrame(self._rows, schema=columns, orient="row")
        return frame.with_columns(pl.col("state").cast(pl.Enum(STATES)))

    def means(self) -> tuple[float, float]:
        """Returns the means of cwnd and the smoothed RTT over the samples."""
        known = [srtt_s for _, srtt_s in self._samples if not math.isnan(srtt_s)]
        cwnd = (
            sum(cwnd for cwnd, _ in self._samples) / len(self._samples)
            if self._samples
            else math.nan
        )
        return cwnd, sum(known) / len(known) if known else math.nan
