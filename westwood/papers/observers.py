# SPDX-License-Identifier: BSD-3-Clause
"""Defines observers, which compute additional columns of a run's rows from its trace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from westwood import _engine
from westwood.units import PS_PER_S

if TYPE_CHECKING:
    from westwood.engines.result import Result

Numbers = dict[str, float]
_GRID_S = 0.1
_WINDOWS = ("time_s", "cwnd", "ssthresh", "estimate_bps")
_CLEARED_RTTS, _NEAR = 3, 0.1
_STAGE_S, _STAGE_RTTS = 0.5, 4  # with delayed ACKs a window that grows stays for two round trips


@dataclass(frozen=True)
class Observer:
    """Reads a traced run; `read` returns columns for the flows that it names."""

    read: Callable[[Result], dict[str, Numbers]]
    events: bool = False

    @property
    def job_settings(self) -> dict[str, Any]:
        """Settings of a job whose rows are to have these columns."""
        return {"more_columns": self.read, "needs_events": self.events}


def _observed(*columns: str) -> Observer:
    """Returns the observer of columns of the first flow, which metrics/observers.hpp computes."""

    def read(result: Result) -> dict[str, Numbers]:
        flow = result.scenario.flows[0]
        trace = result.trace.filter(pl.col("flow") == flow.name)
        windows = {name: trace[name].to_numpy() for name in _WINDOWS}
        run = _surroundings(result)
        return {flow.name: {name: _engine.observe(name, **windows, run=run) for name in columns}}

    return Observer(read)


def _surroundings(result: Result) -> _engine.Surroundings:
    """Returns what the columns depend on besides the windows."""
    links, flow = result.scenario.link, result.scenario.flows[0]
    row = next(row for row in result.flow_rows if row["flow"] == flow.name)
    run = _engine.Surroundings()
    run.duration_s = result.scenario.duration / PS_PER_S
    run.min_rtt_s = row["min_rtt_s"]
    run.packet_bytes, run.payload_bytes = flow.packet, flow.mss
    run.slowest_bps = min(link.mean_rate_bps("forward") for link in links)
    for link in links:
        if link.name == "bottleneck":
            run.link_bps, run.overhead_bytes = link.mean_rate_bps("forward"), link.overhead
    for scenario_flow in result.scenario.flows:
        if (
            scenario_flow.app.kind == "udp"
            and scenario_flow.app.on is not None
            and scenario_flow.app.off is not None
        ):
            run.udp_bps, run.udp_start_s = scenario_flow.app.rate, scenario_flow.start / PS_PER_S
            run.udp_on_s, run.udp_off_s = (
                scenario_flow.app.on / PS_PER_S,
                scenario_flow.app.off / PS_PER_S,
            )
    return run


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
    cleared = _backlog_cleared(result)
    return {flow.name: {**{key: float(value) for key, value in seen.items()}, **cleared}}


def _backlog_cleared(result: Result) -> Numbers:
    """Returns the share of recoveries after which the RTT is near its least within three RTTs."""
    rtts = result.trace.filter(pl.col("rtt_s").is_not_nan()).select("time_s", "rtt_s")
    exits = result.events.filter(pl.col("kind").cast(pl.String) == "exit")["time_s"]
    least = _number(rtts["rtt_s"].min())
    after = [
        rtts.filter(pl.col("time_s").is_between(exit_s, exit_s + _CLEARED_RTTS * least))[
            "rtt_s"
        ].min()
        for exit_s in exits
    ]
    cleared = [_number(rtt) <= (1 + _NEAR) * least for rtt in after if rtt is not None]
    return {"backlog_cleared": sum(cleared) / len(cleared) if cleared else float("nan")}


def _stages(result: Result) -> dict[str, Numbers]:
    """Returns the plateaus and the swing of a window, ssthresh's range, and the link's use."""
    (flow,) = result.scenario.flows
    grid = result.sampled(_GRID_S)
    half_s = result.scenario.duration / PS_PER_S / 2
    swinging = grid.filter(pl.col("time_s") >= half_s, pl.col("state") == "open")["cwnd"]
    still = (
        grid.with_columns(run=pl.col("cwnd").rle_id())
        .filter(pl.col("cwnd") > pl.col("ssthresh"), pl.col("state") == "open")
        .group_by("run")
        .agg(pl.len(), pl.col("srtt_s").mean())
        .filter(
            pl.col("len") * _GRID_S >= pl.max_horizontal(_STAGE_S, _STAGE_RTTS * pl.col("srtt_s"))
        )
        .get_column("len")
    )
    late = grid.filter(pl.col("time_s") >= 7)["ssthresh"]
    second, use = use_over_time(result)
    is_late = second >= half_s
    seen = {
        "stages": float(len(still)),
        "stage_ratio": _number(still.max()) / _number(still.min()),
        "cwnd_swing": _number(swinging.max()) - _number(swinging.min()),
        "ssthresh_range": (_number(late.max()) - _number(late.min())) / _number(late.median()),
        "least_use": _number(use.filter(is_late).min()),
        "largest_use": _number(use.filter(is_late).max()),
        "last_use": _number(use.last()),
        "first_use_spread": _number(use.filter(~is_late).std()),
        "second_use_spread": _number(use.filter(is_late).std()),
    }
    return {flow.name: seen}


def use_over_time(result: Result) -> tuple[pl.Series, pl.Series]:
    """Returns the use of the bottleneck up to each whole second: a running mean.

    It is what is acknowledged so far over what the link could have carried.
    """
    (flow,) = result.scenario.flows
    rate = min(link.mean_rate_bps("forward") for link in result.scenario.link)
    acked = (
        result.events.filter(pl.col("kind").cast(pl.String) == "ack")
        .group_by(pl.col("time_s").floor().cast(pl.Int64).alias("second"))
        .agg(pl.col("segment").max())
    )
    seconds = pl.select(second=pl.int_range(int(result.scenario.duration / PS_PER_S)))
    # No ACK comes in a second of silence.
    ends = seconds.join(acked, on="second", how="left", maintain_order="left").fill_null(
        strategy="forward"
    )
    so_far = pl.col("segment") * 8.0 * flow.packet / rate / (pl.col("second") + 1)
    whole = ends.select("second", use=so_far).drop_nulls()
    return whole["second"], whole["use"]


def _two_windows(result: Result) -> dict[str, Numbers]:
    """Returns the windows of two flows from 10 s on: means, distance, and rises above the mean."""
    first, second = (flow.name for flow in result.scenario.flows)
    grid = result.sampled(_GRID_S).filter(pl.col("time_s") >= 10)
    both = grid.filter(flow=first).join(grid.filter(flow=second), on="time_s", suffix="_two")
    numbers = {}
    apart = _number((both["cwnd"] - both["cwnd_two"]).abs().mean())
    for name, column in ((first, "cwnd"), (second, "cwnd_two")):
        mean = _number(both[column].mean())
        is_high = both[column] > mean
        numbers[name] = {
            "late_cwnd": mean,
            "windows_apart": apart / mean,
            "window_rises": float((is_high & ~is_high.shift(1, fill_value=True)).sum()),
        }
    return numbers


def _number(value: object) -> float:
    """Converts a polars aggregate to a number; None becomes NaN."""
    return float(value) if isinstance(value, (int, float)) else float("nan")


SAMPLED_CWND = _observed("sampled_cwnd")  # Figure 10 of the 2013 paper
# Figure 11 of the 2013 paper
ESTIMATE_RANGE = _observed(
    "estimate_peak_bps", "estimate_low_bps", "estimate_high_bps", "estimate_mean_bps"
)
ESTIMATE_BESIDE_UDP = _observed("estimate_alone_share", "estimate_beside_share")
SSTHRESH_OVER_PIPE = _observed("ssthresh_over_pipe")
WINDOWS_BY_PATH = _observed("ssthresh_over_pipe", "sampled_cwnd")
STAGES = Observer(_stages, events=True)
TWO_WINDOWS = Observer(_two_windows)
RECOVERIES = Observer(_recoveries, events=True)
