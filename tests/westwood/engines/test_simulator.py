# SPDX-License-Identifier: BSD-3-Clause
"""Runs are reproducible to the byte and complete, and their counters add up."""

import io
import math

import polars as pl
import pytest

from westwood import Scenario, simulate, simulate_many
from westwood.engines.contract import Job
from westwood.engines.pool import run_jobs
from westwood.engines.simulator import prepare
from westwood.results import columns

COST = tuple(column.name for column in columns.COST)
COLUMNS = {column.name for column in columns.columns()}


def bytes_of(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.drop(COST, strict=False).write_parquet(buffer)
    return buffer.getvalue()


def test_the_same_seed_gives_the_same_bytes(small):
    first, second = (simulate(small, 7, trace=True, events=True) for _ in range(2))
    assert bytes_of(first.rows) == bytes_of(second.rows)
    assert bytes_of(first.trace) == bytes_of(second.trace)
    assert bytes_of(first.events) == bytes_of(second.events)
    assert first.trace.height > 100
    assert bytes_of(simulate(small, 8, trace=True).trace) != bytes_of(first.trace)


def test_tracing_does_not_change_a_run(small):
    untraced, traced = simulate(small, 1), simulate(small, 1, trace=True, events=True)
    assert bytes_of(untraced.rows) == bytes_of(traced.rows)
    assert untraced.trace.is_empty() and untraced.events.is_empty()


def test_protocols_see_the_same_random_numbers():
    """Common random numbers: a seed loses the same packets, whatever the protocol."""
    scenario = Scenario.preset("table1").with_settings({"duration": "5s"})
    tahoe, reno = (
        simulate(scenario.with_settings({"tcp.cc": cc}), 1, events=True).events
        for cc in ("tahoe", "reno")
    )
    first = tahoe.filter(pl.col("kind") == "retransmit")["time_s"][0]
    same = pl.col("time_s") < first
    assert tahoe.filter(same).equals(reno.filter(same))


def test_a_row_has_the_documented_columns_and_adds_up(small):
    (row,) = simulate(small, 1).rows.to_dicts()
    assert set(row) == COLUMNS
    assert (row["flow"], row["cc"], row["engine"]) == ("tcp", "westwood+", "sim")
    assert (row["scenario"], row["seed"], row["simulated_s"]) == (small.hash, 1, 20.0)
    assert 0 < row["goodput_bps"] < row["throughput_bps"] < 2e6
    syn_bits = 2 * 52 * 8  # there and back
    assert row["min_rtt_s"] == pytest.approx(0.05 + syn_bits * (1 / 1e7 + 1 / 2e6))
    assert row["min_rtt_s"] < row["mean_srtt_s"]
    assert math.isnan(row["completed_s"]) and row["jain"] == 1


def test_two_flows_have_a_row_each_and_share_the_link(small):
    data = small.resolved()
    second = {**data["flow"][0], "name": "second", "cc": "newreno", "start": "1s"}
    both = Scenario(**{**data, "flow": [data["flow"][0], second]})
    rows = simulate(both, 1, trace=True)
    assert rows.rows["flow"].to_list() == ["tcp", "second"]
    assert rows.rows["throughput_bps"].sum() < 2.1e6
    assert rows.rows["jain"].n_unique() == 1
    assert rows.trace["flow"].unique().sort().to_list() == ["second", "tcp"]
    assert rows.trace.filter(pl.col("flow") == "second")["time_s"].min() >= 1  # type: ignore[operator]


def test_a_sized_flow_completes_and_its_rates_end_there(small):
    (row,) = simulate(small.with_settings({"tcp.size": "100kB", "tcp.start": "2s"}), 1).flow_rows
    assert 2 < row["completed_s"] < 20
    assert row["goodput_bps"] == pytest.approx(8e5 / (row["completed_s"] - 2))


def test_a_protocol_without_estimator_has_none_in_its_trace(small):
    trace = simulate(small.with_settings({"tcp.cc": "newreno"}), 1, trace=True).trace
    assert trace["estimate_bps"].is_nan().all()


def test_a_sweep_over_tables_and_mixed_numbers_keeps_its_columns(small):
    data = small.resolved()
    data["sweep"] = {
        "tcp.cc": [{"name": "westwood", "filter": "none"}, "reno"],
        "bottleneck.loss.rate": [0, 0.01, "5%"],
    }
    frame = simulate_many(Scenario(**data), [1])
    assert frame.height == 6
    assert frame["cc"].to_list() == ["westwood"] * 3 + ["reno"] * 3
    assert frame["bottleneck.loss.rate"].to_list() == ["0", "0.01", "5%"] * 2


def test_an_abandoned_sweep_starts_no_further_run(small):
    runs = run_jobs([Job(small, range(1, 10**9))], prepare, workers=2)
    place, rows = next(runs)
    runs.close()
    assert place < 100 and rows[0]["flow"] == "tcp"
