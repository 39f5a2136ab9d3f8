# SPDX-License-Identifier: BSD-3-Clause
"""Makes one upload, over an emulated path or to an iperf3 server, with the same row and trace."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from datetime import UTC, datetime

import polars as pl

from westwood.campaign import iperf3
from westwood.campaign.plan import CampaignPlan, Target, scenario
from westwood.engines import estimates, linux, linux_limits
from westwood.errors import RunError
from westwood.results.columns import Row
from westwood.results.traces import TRACE_COLUMNS
from westwood.units import PS_PER_S


@dataclass(frozen=True)
class Turn:
    """Identifies an upload: the one by `cc` in the `number`th turn of a session."""

    target: Target
    size: int  # bytes
    number: int
    cc: str

    @property
    def key(self) -> tuple[str, int, int, str]:
        """The values that identify this turn."""
        return self.target.name, self.size, self.number, self.cc


def check(plan: CampaignPlan) -> None:
    """Raises UnavailableError with the remedy if this machine can't carry out the plan."""
    emulated = any(target.path is not None for target in plan.target)
    if emulated:
        linux.check_machine()
    for cc in plan.cc:
        linux_limits.require(linux_limits.CONTROLS[cc])
        for target in plan.target:
            if target.path is not None:
                linux_limits.check(scenario(plan, target, cc, target.sizes[0]))


def upload(plan: CampaignPlan, turn: Turn) -> tuple[Row, pl.DataFrame]:
    """Uploads; returns the row and the trace. RunError if the upload could not be finished."""
    begun, wall = datetime.now(UTC).isoformat(timespec="seconds"), time.perf_counter()
    measured, trace = _emulated(plan, turn) if turn.target.path is not None else _real(plan, turn)
    sent = measured["sent"]
    row = {
        "target": turn.target.name,
        "size_bytes": turn.size,
        "number": turn.number,
        "cc": turn.cc,
        "begun": begun,
        **measured,
        "retransmission_ratio": measured["retransmitted"] / sent if sent else math.nan,
        "wall_s": time.perf_counter() - wall,
    }
    return row, trace


def _emulated(plan: CampaignPlan, turn: Turn) -> tuple[Row, pl.DataFrame]:
    """Uploads with the turn's number as seed, so that all controls have the same losses."""
    chosen = scenario(plan, turn.target, turn.cc, turn.size)
    result = linux.run(chosen, turn.number, trace=True)
    (row,) = result.flow_rows
    if math.isnan(row["completed_s"]):
        timeout_s = plan.timeout / PS_PER_S
        raise RunError(f"{turn.target.name}: an upload did not end within {timeout_s:g} s")
    names = ("goodput_bps", "sent", "retransmitted", "mean_cwnd", "mean_srtt_s", "min_rtt_s")
    measured = {name: row[name] for name in names}
    mss = chosen.flows[0].mss
    return {**measured, "mss": mss, "seconds": row["completion_s"]}, result.trace.select(
        TRACE_COLUMNS
    )


def _real(plan: CampaignPlan, turn: Turn) -> tuple[Row, pl.DataFrame]:
    server = turn.target.server
    assert server is not None
    control, timeout_s = linux_limits.CONTROLS[turn.cc], plan.timeout / PS_PER_S
    with estimates.recording_of([control], server.port) as recording:
        load = iperf3.Load(size=turn.size)
        done = iperf3.upload(server.host, server.port, control, load, timeout_s)
    trace = estimates.with_estimates(done.trace, recording, done.ends, done.established_s)
    return {
        "goodput_bps": 8 * turn.size / done.seconds,
        "sent": done.sent,
        "retransmitted": done.retransmitted,
        "mean_cwnd": done.mean_cwnd,
        "mean_srtt_s": done.mean_srtt_s,
        "min_rtt_s": done.min_rtt_s,
        "mss": done.mss,
        "seconds": done.seconds,
    }, trace
