# SPDX-License-Identifier: BSD-3-Clause
"""Holds what a fit knows of an upload: its sender's counters and smoothed round trip over time.

For real uploads they come from TCP_INFO, for simulated ones from events. Both are sampled at the
same intervals, so that every number can be computed from either.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from westwood import _engine
from westwood.errors import InputError

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from westwood.engines.result import Result

    Numbers = NDArray[np.float64]

# The columns that a recording needs; others are not read.
COLUMNS = ("time_s", "srtt_s", "rtt_min_s", "mss", "delivered_bytes", "sent", "retransmitted")
_LEAST_S = 0.5  # a shorter upload tells nothing about a path
_LEAST_SAMPLES = 20
_LEAST_SEGMENTS = 50
_TICK_S = 0.0011  # granularity of TCP timestamps, plus the difference of clocks


@dataclass(frozen=True)
class Upload:
    """Samples of an upload's sender, from the first acknowledged byte to the last."""

    cc: str  # a protocol of the catalogue
    mss: int  # bytes
    rtt_min_s: float
    time_s: Numbers  # time since the first sample
    srtt_s: Numbers
    delivered: Numbers  # segments, cumulatively acknowledged so far
    sent: Numbers  # segments so far
    retransmitted: Numbers  # segments so far
    limited: float = 0.0  # share of the time in which a window or buffer limited it

    @property
    def seconds(self) -> float:
        """Duration of the samples."""
        return float(self.time_s[-1] - self.time_s[0])

    @property
    def goodput_bps(self) -> float:
        """Payload acknowledged over the whole duration."""
        return float(self.delivered[-1]) * self.mss * 8 / max(self.seconds, 1e-9)

    @property
    def step_s(self) -> float:
        """Usual interval between two samples."""
        return float(np.median(np.diff(self.time_s)))

    def sampled(self, step_s: float) -> Upload:
        """Resamples the upload at equal intervals; acknowledged data are interpolated."""
        grid = np.arange(self.time_s[0], self.time_s[-1] + step_s / 2, step_s)
        sample_places = np.maximum(np.searchsorted(self.time_s, grid + 1e-9, side="right") - 1, 0)
        srtt_s, sent, again = (
            column[sample_places] for column in (self.srtt_s, self.sent, self.retransmitted)
        )
        delivered = np.interp(grid, self.time_s, self.delivered)
        columns = (srtt_s, delivered, sent, again)
        return Upload(self.cc, self.mss, self.rtt_min_s, grid - grid[0], *columns)


def of_frame(frame: pl.DataFrame, cc: str, source: str = "", limited: float = 0.0) -> Upload:
    """Reads a recording of one connection; raises InputError if it is too short.

    limited: share of the time in which a window or buffer limited it, rather than the network.
    """
    missing = [name for name in COLUMNS if name not in frame.columns]
    if missing:
        expected = "expected the columns of a recording: " + ", ".join(COLUMNS)
        raise InputError(f"has no {missing[0]}; {expected}", source=source)
    known = frame.filter(frame["srtt_s"].is_finite() & (frame["delivered_bytes"] > 0))
    known = known.sort("time_s", maintain_order=True).unique(
        "time_s", keep="last", maintain_order=True
    )
    last = int(known["delivered_bytes"].arg_max() or 0)
    known = known.head(last + 1)  # samples after the last byte are not part of the upload
    if known.height < 2:
        raise InputError("too short to fit a path to: nothing was acknowledged", source=source)
    mss = int(known["mss"][-1])
    column = {name: known[name].cast(float).to_numpy() for name in COLUMNS}
    upload = Upload(
        cc,
        mss,
        _least_s(float(np.nanmin(column["rtt_min_s"])), column["srtt_s"]),
        column["time_s"] - column["time_s"][0],
        column["srtt_s"],
        column["delivered_bytes"] / mss,
        column["sent"],
        column["retransmitted"],
        limited,
    )
    _check(upload, known.height, source)
    return upload


def _check(upload: Upload, samples: int, source: str) -> None:
    segments = upload.delivered[-1]
    if upload.seconds < _LEAST_S or samples < _LEAST_SAMPLES or segments < _LEAST_SEGMENTS:
        seen = f"{upload.seconds:.1f} s, {samples} samples, {segments:.0f} segments"
        expected = f"expected at least {_LEAST_S:g} s, {_LEAST_SAMPLES} and {_LEAST_SEGMENTS}"
        raise InputError(f"too short to fit a path to ({seen}), {expected}", source=source)


def of_result(result: Result, step_s: float) -> Upload | None:
    """Reads the first flow of a simulation with events; None if nothing was delivered."""
    (windows,) = _of_first(result, "windows")
    (events,) = _of_first(result, "events")
    kinds = _kinds()
    kind, times_s = events["kind"], events["time_s"]
    is_ack = (kind == kinds["ack"]) & (events["segment"] > 0)
    known = np.flatnonzero(np.isfinite(windows["srtt_s"]))
    if not is_ack.any() or not known.size:
        return None
    flow = result.scenario.flows[0]
    # From its first to its last acknowledgment, as in a recording.
    ack_s = times_s[is_ack]
    grid = np.arange(ack_s[0], ack_s[-1] + step_s / 2, step_s)
    if grid.size < 2:
        return None
    delivered = np.maximum.accumulate(events["segment"][is_ack]).astype(float)
    again = kind == kinds["retransmit"]
    sending = again | (kind == kinds["send"])
    srtt = windows["srtt_s"][known]
    return Upload(
        flow.cc.name,
        flow.mss,
        _least_s(float(np.nanmin(windows["rtt_s"])), srtt),
        grid - grid[0],
        srtt[_last(windows["time_s"][known], grid)],
        delivered[_last(ack_s, grid)],
        np.searchsorted(times_s[sending], grid, side="right").astype(float),
        np.searchsorted(times_s[again], grid, side="right").astype(float),
    )


def _least_s(rtt_min_s: float, srtt_s: Numbers) -> float:
    """Returns the smallest round trip in s.

    After a retransmission Linux measures by timestamps in whole ms, so the smallest round trip may
    be up to 1 ms too short. The smoothed one begins with that of the handshake, on an idle path.
    """
    least_s = float(srtt_s.min())
    return least_s if least_s - rtt_min_s <= _TICK_S else rtt_min_s


def _last(times: Numbers, grid: Numbers) -> NDArray[np.int64]:
    return np.maximum(np.searchsorted(times, grid, side="right") - 1, 0)


def _of_first(result: Result, table: str) -> list[Mapping[str, Any]]:
    """Returns the rows of the first connection."""
    pieces = list(result.raw.records.pieces(table))
    names = pieces[0].keys()
    whole = {name: np.concatenate([piece[name] for piece in pieces]) for name in names}
    first = whole["connection"] == 0
    return [{name: column[first] for name, column in whole.items()}]


def _kinds() -> dict[str, int]:
    return {name: number for number, name in enumerate(_engine.EVENT_KINDS)}
