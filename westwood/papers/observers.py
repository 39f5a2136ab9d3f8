# SPDX-License-Identifier: BSD-3-Clause
"""Defines observers, which compute additional columns of a run's rows from its trace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from westwood.units import PS_PER_S

if TYPE_CHECKING:
    from westwood.engines.result import Result

Numbers = dict[str, float]
_GRID_S = 0.1


@dataclass(frozen=True)
class Observer:
    """Reads a traced run; `read` returns columns for the flows that it names."""

    read: Callable[[Result], dict[str, Numbers]]
    events: bool = False

    @property
    def job_settings(self) -> dict[str, Any]:
        """Settings of a job whose rows are to have these columns."""
        return {"more_columns": self.read, "needs_events": self.events}


def _sampled_cwnd(result: Result) -> dict[str, Numbers]:
    """Returns the mean of 200 samples, one every 3 s, as in Figure 10 of the 2013 paper."""
    means = result.sampled(3.0).filter(pl.col("time_s") > 0).group_by("flow").agg(pl.mean("cwnd"))
    return {row["flow"]: {"sampled_cwnd": row["cwnd"]} for row in means.iter_rows(named=True)}


def _estimate_range(result: Result) -> dict[str, Numbers]:
    """Returns the estimate's peak, and its range after 5 s, as in Figure 11 of the 2013 paper."""
    trace = result.trace.filter(pl.col("flow") == "upload", pl.col("estimate_bps").is_not_nan())
    later = trace.filter(pl.col("time_s") >= 5)["estimate_bps"]
    return {
        "upload": {
            "estimate_peak_bps": _number(trace["estimate_bps"].max()),
            "estimate_low_bps": _number(later.min()),
            "estimate_high_bps": _number(later.max()),
        }
    }


def _estimate_beside_udp(result: Result) -> dict[str, Numbers]:
    """Returns the mean estimate over what UDP leaves, in the second half of each UDP phase."""
    tcp, udp = result.scenario.flows
    assert udp.app.kind == "udp" and udp.app.on is not None and udp.app.off is not None
    link = next(one for one in result.scenario.link if one.name == "bottleneck")
    payload = tcp.mss / (tcp.packet + link.overhead)
    start, on, off = (value / PS_PER_S for value in (udp.start, udp.app.on, udp.app.off))
    rate = link.mean_rate_bps("forward")
    found = {}
    grid = result.sampled(_GRID_S).filter(flow=tcp.name)
    phase = (pl.col("time_s") - start) % (on + off)
    settled = {
        "alone": pl.when(pl.col("time_s") < start)
        .then(pl.col("time_s") >= start / 2)
        .otherwise(phase >= on + off / 2),
        "beside": (pl.col("time_s") >= start) & (phase >= on / 2) & (phase < on),
    }
    for name, when in settled.items():
        left = rate - (udp.app.rate if name == "beside" else 0)
        mean = grid.filter(when)["estimate_bps"].mean()
        found[f"estimate_{name}_share"] = _number(mean) / (left * payload)
    return {tcp.name: found}


def _ssthresh_over_pipe(result: Result) -> dict[str, Numbers]:
    """Returns the median of ssthresh over time, divided by the path's bandwidth-delay product."""
    (flow,), (row,) = result.scenario.flows, result.flow_rows
    slowest = min(link.mean_rate_bps("forward") for link in result.scenario.link)
    pipe = slowest * row["min_rtt_s"] / (8 * flow.packet)
    grid = result.sampled(_GRID_S).filter(pl.col("ssthresh").is_not_nan())
    return {flow.name: {"ssthresh_over_pipe": _number(grid["ssthresh"].median()) / pipe}}


def _recoveries(result: Result) -> dict[str, Numbers]:
    """Returns the silences, the lowest and final windows and the steps of all fast recoveries."""
    (flow,) = result.scenario.flows
    srtt = result.trace.select("time_s", "srtt_s").filter(pl.col("srtt_s").is_not_nan())
    events = result.events.join_asof(srtt, on="time_s").with_columns(pl.col("kind").cast(pl.String))
    seen = {
        "recoveries_seen": 0,
        "longest_silence_rtts": 0.0,
        "below_floor": 0,
        "steeper_steps": 0,
        "not_set_at_exit": 0,
    }
    inside, sent_s, cwnd = False, 0.0, 0
    for row in events.iter_rows(named=True):
        kind = row["kind"]
        if kind == "recovery":
            inside, sent_s, cwnd = True, row["time_s"], row["cwnd"]
            seen["recoveries_seen"] += 1
        elif inside and kind in ("send", "retransmit"):
            silence = (row["time_s"] - sent_s) / row["srtt_s"]
            seen["longest_silence_rtts"] = max(seen["longest_silence_rtts"], silence)
            sent_s = row["time_s"]
        elif inside and kind in ("ack", "dupack"):
            seen["below_floor"] += row["cwnd"] < row["ssthresh"]
            # The ACK that ends recovery sets cwnd to the pipe, which may be a larger step.
            seen["steeper_steps"] += cwnd - 1 > row["cwnd"] != row["ssthresh"]
            cwnd = row["cwnd"]
        elif inside and kind in ("exit", "timeout"):
            seen["not_set_at_exit"] += kind == "exit" and row["cwnd"] != row["ssthresh"]
            inside = False
    return {flow.name: {key: float(value) for key, value in seen.items()}}


def _number(value: object) -> float:
    """Converts a polars aggregate to a number; None becomes NaN."""
    return float(value) if isinstance(value, (int, float)) else float("nan")


SAMPLED_CWND = Observer(_sampled_cwnd)
ESTIMATE_RANGE = Observer(_estimate_range)
ESTIMATE_BESIDE_UDP = Observer(_estimate_beside_udp)
SSTHRESH_OVER_PIPE = Observer(_ssthresh_over_pipe)
RECOVERIES = Observer(_recoveries, events=True)
