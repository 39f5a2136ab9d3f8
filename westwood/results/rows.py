# SPDX-License-Identifier: BSD-3-Clause
"""Rows: what became of each flow of a run, in a researcher's units. docs/cli.md lists the columns.

A flow with arrivals is many connections and one row: sums over them, and means of their times.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from westwood.catalogue import UDP
from westwood.results.metrics import jain
from westwood.results.raw import RawConnection, RawResult
from westwood.units import PS_PER_S

if TYPE_CHECKING:
    import polars as pl

    from westwood.scenario import Scenario
    from westwood.scenario.flows import Flow

ENGINE = "sim"
Row = dict[str, Any]
_SUMS = ("sent", "retransmitted", "timeouts", "fast_recoveries", "ecn_reductions", "queue_drops",
         "lost")  # fmt: skip


def rows_of_run(
    scenario: Scenario, seed: int, raw: RawResult, cost: dict[str, float], engine: str = ENGINE
) -> list[Row]:
    """A row a flow of the scenario."""
    connections: list[list[RawConnection]] = [[] for _ in scenario.flows]
    for outcome in raw.flows:
        connections[outcome.source].append(outcome)
    identity, simulated_s = scenario.hash, scenario.duration / PS_PER_S
    rows = [
        {
            "scenario": identity,
            "engine": engine,
            "flow": flow.name,
            "cc": flow.cc.name,
            "seed": seed,
            **_measured(flow, outcomes, simulated_s),
        }
        for flow, outcomes in zip(scenario.flows, connections, strict=True)
    ]
    competing = [float(row["goodput_bps"]) for row in rows if row["cc"] != UDP]
    mean = sum(competing) / len(competing) if competing else math.nan
    whole_run = {
        "jain": jain(competing),
        "utilisation": max((way.utilisation for way in (*raw.forward, *raw.backward)),
                           default=math.nan),
        "simulated_s": simulated_s,
        **cost,
    }  # fmt: skip
    for row in rows:
        tcp = row["cc"] != UDP
        row["friendliness"] = float(row["goodput_bps"]) / mean if tcp and mean else math.nan
        row |= whole_run
    return rows


def _measured(flow: Flow, outcomes: Sequence[RawConnection], simulated_s: float) -> Row:
    active_s = _active_s(flow, outcomes, simulated_s)
    sums = {name: sum(getattr(one, name) for one in outcomes) for name in _SUMS}
    sent = sums["sent"]
    tcp = flow.cc.name != UDP
    done = [one for one in outcomes if not math.isnan(one.completed_s)]
    return {
        "goodput_bps": _rate(outcomes, "delivered_bytes", active_s),
        "throughput_bps": _rate(outcomes, "ip_bytes_at_sink", active_s),
        **sums,
        "retransmission_ratio": sums["retransmitted"] / sent if sent and tcp else math.nan,
        "loss_ratio": (sums["queue_drops"] + sums["lost"]) / sent if sent else math.nan,
        "mean_cwnd": _mean([one.mean_cwnd for one in outcomes]) if tcp else math.nan,
        "mean_srtt_s": _mean([one.mean_srtt_s for one in outcomes]) if tcp else math.nan,
        "min_rtt_s": min((one.min_rtt_s for one in outcomes if not math.isnan(one.min_rtt_s)),
                         default=math.nan) if tcp else math.nan,
        "transfers": len(outcomes),
        "completed": len(done),
        "completed_s": max((one.completed_s for one in done), default=math.nan),
        "completion_s": _mean([one.completed_s - one.start_s for one in done]),
    }  # fmt: skip


def _rate(outcomes: Sequence[RawConnection], size: str, active_s: float) -> float:
    """Bit/s."""
    total = sum(getattr(one, size) for one in outcomes)
    return 8.0 * total / active_s if active_s > 0 else 0.0


def _mean(values: Sequence[float]) -> float:
    """Of those that are numbers."""
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan


def _active_s(flow: Flow, outcomes: Sequence[RawConnection], simulated_s: float) -> float:
    """Seconds over which a flow's rates are averaged: from its start to its end or the run's.

    Of transfers that arrive: to the run's end, for the last may go on after `stop`.
    """
    if flow.arrivals:
        return simulated_s - flow.start / PS_PER_S
    end = simulated_s if flow.stop is None else min(simulated_s, flow.stop / PS_PER_S)
    (outcome,) = outcomes
    if not math.isnan(outcome.completed_s):
        end = outcome.completed_s
    return end - outcome.start_s


def rows_frame(rows: list[Row]) -> pl.DataFrame:
    """Rows as a frame."""
    import polars as pl

    return pl.DataFrame(rows, infer_schema_length=None)
