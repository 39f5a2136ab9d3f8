# SPDX-License-Identifier: BSD-3-Clause
"""Records runs of the simulator."""

from __future__ import annotations

import numpy as np
import polars as pl

from westwood.control.catalogue import PROTOCOLS, SHOWN
from westwood.engines import quic, simulator
from westwood.engines.result import Result
from westwood.evaluation.draft.case import MSS_BYTES
from westwood.evaluation.draft.recording import Course, Numbers, Recording, Spell, spells_of
from westwood.scenario import Scenario
from westwood.scenario.stacks import is_stack
from westwood.units import PS_PER_S

_FLOW = "tcp"
_VOLUMES = ("cwnd", "in_flight", "inflight_longterm", "inflight_shortterm")  # in segments


def record(scenario: Scenario, engine: str = simulator.ENGINE) -> Recording:
    """Runs a scenario and returns what its first connection did."""
    if is_stack(engine):
        return _of_stack(quic.Stack(engine).simulate(scenario, trace=True), engine)
    return of_result(simulator.simulate(scenario, trace=True, events=True))


def of_result(result: Result) -> Recording:
    """Returns what the flow `tcp` did in a run with a trace and events."""
    end_s = result.scenario.duration / PS_PER_S
    trace = result.trace.filter(pl.col("flow") == _FLOW)
    events = result.events.filter(pl.col("flow") == _FLOW)
    modes = _modes(result.scenario)
    return Recording(
        end_s,
        MSS_BYTES,
        _courses(trace),
        modes,
        _spells(trace, modes, end_s),
        _sent(events),
        _acked(events),
        {
            "lost": _times(events, "retransmit"),
            **{kind: _times(events, kind) for kind in ("recovery", "timeout", "undo")},
        },
    )


def _of_stack(result: Result, stack: str) -> Recording:
    """Returns what a QUIC stack reports: windows and round trips, no states or ACKs."""
    trace = result.trace.filter(pl.col("flow") == _FLOW)
    end_s = result.scenario.duration / PS_PER_S
    return Recording(end_s, MSS_BYTES, _courses(trace), host=stack)


def _modes(scenario: Scenario) -> tuple[str, ...]:
    return SHOWN[PROTOCOLS[scenario.flows[0].cc.name].algorithm].modes


def _courses(trace: pl.DataFrame) -> dict[str, Course]:
    time_s = trace["time_s"].to_numpy()
    courses = {}
    for name, values in trace.to_dict().items():
        if values.dtype != pl.Float64 or name == "time_s":
            continue
        numbers = values.to_numpy()
        if name in _VOLUMES:
            numbers = np.where(np.isnan(numbers), np.inf, numbers * MSS_BYTES)
        if not np.isnan(numbers).all():
            courses[name] = Course(time_s, numbers)
    if "bw_bps" not in courses and "estimate_bps" in courses:
        courses["bw_bps"] = courses["estimate_bps"]
    return courses


def _spells(trace: pl.DataFrame, modes: tuple[str, ...], end_s: float) -> list[Spell]:
    if not modes:
        return []
    codes = (
        trace["mode"]
        .cast(pl.String)
        .replace_strict(
            list(modes), list(range(1, len(modes) + 1)), default=0, return_dtype=pl.Int64
        )
    )
    return spells_of(trace["time_s"].to_numpy(), codes.to_numpy(), modes, end_s)


def _sent(events: pl.DataFrame) -> Course:
    times = events.filter(pl.col("kind").is_in(["send", "retransmit"]))["time_s"].to_numpy()
    return Course(times, MSS_BYTES * np.arange(1.0, len(times) + 1))


def _acked(events: pl.DataFrame) -> Course:
    acks = events.filter(pl.col("kind") == "ack")
    return Course(acks["time_s"].to_numpy(), MSS_BYTES * acks["segment"].to_numpy().astype(float))


def _times(events: pl.DataFrame, kind: str) -> Numbers:
    return events.filter(pl.col("kind") == kind)["time_s"].to_numpy()
