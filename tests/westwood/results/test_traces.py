# SPDX-License-Identifier: BSD-3-Clause
"""Traces of a run (windows, queues, drops, transfers, links) and `westwood trace`."""

import math
import os
from typing import Any

import polars as pl
import pytest
from one_link import BACK, one_link

from westwood import Scenario, simulate
from westwood.control.catalogue import QUEUES
from westwood.engines import run_figures
from westwood.engines.result import Result
from westwood.results.traces import STATES, offered_rate

LINK: dict[str, Any] = {"name": "l", "rate": "3Mbps", "delay": "20ms", "queue": {"limit": "20p"}}
LINK |= {"loss": {"rate": 0.005}}
NETWORK = one_link(
    {"name": "long", "cc": "westwood+"},
    {"name": "udp", "app": {"kind": "udp", "rate": "300kbps"}},
    {"name": "web", "cc": "sack", "arrivals": {"every": "2s", "size": "20kB"}} | BACK,
    link=LINK,
    name="mixed",
    duration="40s",
)


@pytest.fixture(scope="module")
def result() -> Result:
    return simulate(NETWORK, 1, trace=True, queues=True, events=True)


def test_the_trace_has_what_a_researcher_plots(result):
    trace = result.trace
    columns = "flow transfer time_s cwnd ssthresh estimate_bps sample_bps rtt_s srtt_s rto_s"
    assert trace.columns == [*columns.split(), "in_flight", "state"]
    assert set(trace["state"].unique()) <= set(STATES)
    long = trace.filter(flow="long")
    assert (long["rto_s"] >= 1).all(), "RFC 6298, 2.4: at least a second"
    known = long.filter(pl.col("rtt_s").is_not_nan())
    assert (known["rtt_s"] >= 0.04).all() and (known["srtt_s"] >= 0.04).all()
    web = trace.filter(flow="web")
    assert web["transfer"].unique().sort().to_list() == list(
        range(1, result.transfers.filter(flow="web").height + 1)
    )
    assert trace.filter(flow="udp").is_empty()


def test_a_trace_names_the_modes_and_quantities_of_its_controls():
    """BBRv1's rows have no caps, CUBIC's no mode, and a run of CUBIC alone no such columns."""
    flows = [{"name": cc, "cc": cc} for cc in ("bbr3", "bbr", "cubic")]
    network = one_link(*flows, link=LINK, duration="12s")
    trace = simulate(network, 1, trace=True).trace
    caps, shared = ["inflight_longterm", "inflight_shortterm"], ["bw_bps", "min_rtt_s"]
    assert set(caps + shared) < set(trace.columns)
    assert not any(name.startswith("quantity") for name in trace.columns)
    last = {flow: rows.row(-1, named=True) for (flow,), rows in trace.group_by("flow")}
    modes = {
        flow: rows["mode"].unique(maintain_order=True).to_list()
        for (flow,), rows in trace.group_by("flow", maintain_order=True)
    }
    assert modes["bbr3"][:3] == ["Startup", "Drain", "ProbeBW_DOWN"]
    assert {"ProbeBW_CRUISE", "ProbeRTT"} < set(modes["bbr3"]) and modes["cubic"] == [None]
    assert modes["bbr"][:2] == ["Startup", "Drain"] and "ProbeBW_REFILL" not in modes["bbr"]
    for name in ("bbr", "bbr3"):
        assert 0.1e6 < last[name]["bw_bps"] < 3e6 and last[name]["min_rtt_s"] >= 0.04
        assert last[name]["pacing_bps"] > 0
    assert all(math.isnan(last["bbr"][name]) for name in caps)
    assert all(math.isnan(last["cubic"][name]) for name in (*caps, *shared, "pacing_bps"))
    alone = simulate(one_link(flows[2], link=LINK, duration="12s"), 1, trace=True).trace
    assert not {"mode", "pacing_bps", *shared} & set(alone.columns)


def test_sampling_returns_the_state_at_each_time(result):
    sampled = result.sampled(0.5).filter(flow="long")
    assert sampled["time_s"].to_list() == pytest.approx([0.5 * i for i in range(1, 81)])
    changes = result.trace.filter(flow="long")
    for row in sampled.iter_rows(named=True):
        before = changes.filter(pl.col("time_s") <= row["time_s"]).row(-1, named=True)
        assert {**before, "time_s": row["time_s"]} == pytest.approx(row, nan_ok=True)


def test_a_queue_never_holds_more_than_its_limit_and_empties(result):
    queue = result.queues.filter(direction="forward")
    assert queue["packets"].max() == 20 and queue["packets"].min() == 0
    assert queue["time_s"].is_sorted() and queue["time_s"].is_unique().all()
    assert (queue.filter(packets=0)["bytes"] == 0).all()
    # The mean over time equals that of the link's statistics.
    lengths = queue.with_columns(pl.col("time_s").diff().shift(-1).alias("held_s"))
    area = (lengths["packets"] * lengths["held_s"]).sum()
    (link,) = result.links.filter(direction="forward").to_dicts()
    assert area / 40 == pytest.approx(link["mean_queue"], rel=0.01)


def test_drops_agree_with_the_rows(result):
    data = result.drops.filter(packet="data")
    for row in result.flow_rows:
        mine = data.filter(flow=row["flow"])
        assert mine.filter(kind="queue").height == row["queue_drops"]
        assert mine.filter(kind="wire").height == row["lost"]
    assert result.drops["time_s"].is_sorted()


def test_a_syn_among_the_drops_is_neither_data_nor_an_ack():
    """The first packet that way is a SYN or its answer, whether a queue or a wire loses it."""
    for engine_side in ("forward", "backward"):
        lost = {"kind": "script", "packets": [1, 2], "on": engine_side}
        path = Scenario.preset("path").with_settings({"path.loss": lost, "duration": "20s"})
        drops = simulate(path, queues=True).drops.filter(kind="wire")
        assert drops["packet"].to_list() == ["syn", "syn"], engine_side


def test_transfers_are_summed_up_in_their_flows_row(result):
    transfers = result.transfers.filter(flow="web")
    (row,) = (row for row in result.flow_rows if row["flow"] == "web")
    done = transfers.filter(pl.col("completed_s").is_not_nan())
    assert row["transfers"] == transfers.height > 10
    assert row["completed"] == done.height
    assert row["sent"] == transfers["sent"].sum()
    assert row["completion_s"] == pytest.approx(done["completion_s"].mean())
    for column, share in (("completion_p50_s", 0.5), ("completion_p95_s", 0.95)):
        expected = done["completion_s"].quantile(share, "linear")
        assert row[column] == pytest.approx(expected)
    assert (done["delivered_bytes"] == 20_000).all()


def test_an_offered_rate_is_averaged_over_its_steps():
    rate = offered_rate([250, 500, 500, 1000], 2.0, 0.5)
    assert rate["time_s"].to_list() == [0.0, 0.5, 1.0, 1.5]
    bits = 8 * 1504 / 0.5
    assert rate["bps"].to_list() == [bits, 2 * bits, 2 * bits, 3 * bits]


def test_trace_writes_every_frame_and_draws(westwood, small_file, tmp_path):
    called = westwood("trace", small_file, "--out", "run", "--every", "100ms", "--events", "--plot")
    assert (called.code, called.err) == (0, "")
    assert called.out.splitlines() == ["run", "run/small-trace.png"]
    frames = {
        file.stem: pl.read_parquet(file) for file in (small_file.parent / "run").glob("*.parquet")
    }
    assert set(frames) == {"runs", "trace", "queues", "drops", "links", "transfers", "events"}
    assert frames["trace"].height <= 201
    assert (small_file.parent / "run" / "small-trace.svg").stat().st_size > 10_000
    again = Scenario.from_toml(small_file.parent / "run" / "scenario.toml")
    assert again.hash == Scenario.from_toml(small_file).hash


@pytest.mark.parametrize("kind", QUEUES)
def test_a_trace_has_the_columns_that_the_discipline_declares(kind, westwood, small_file):
    needed = ", min = 5, max = 15" if kind == "red" else ""
    queue = f'bottleneck.queue={{ kind = "{kind}", limit = "100p"{needed} }}'
    assert westwood("trace", small_file, "--out", "run", "--set", queue).code == 0
    states = pl.read_parquet(small_file.parent / "run" / "queue_states.parquet")
    assert set(states["column"]) == {column.name for column in QUEUES[kind].columns}
    assert states.columns == ["link", "direction", "time_s", "column", "value"]
    each = states.partition_by("link", "direction", "column", maintain_order=True)
    assert {trace_frame["link"][0] for trace_frame in each} == {"bottleneck"}
    for frame in each:
        assert frame["time_s"].is_sorted() and (frame["value"].diff().drop_nulls() != 0).all()


def test_a_capture_never_replaces_scenarios_pipes_links_or_results(westwood, small_file, tmp_path):
    scenario = small_file.read_bytes()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(small_file)
    assert westwood("run", small_file, "--out", "run").code == 0
    for name in (small_file.name, "pipe", "link", "run/runs.parquet", "absent/x.pcap"):
        called = westwood("trace", small_file, "--at", "bottleneck", "--pcap", name).refusal()
        assert called.startswith("westwood: --pcap = ")
    assert small_file.read_bytes() == scenario and (tmp_path / "pipe").is_fifo()


def test_the_panel_shows_the_busiest_link(result):
    shown = run_figures.panel_of(result, (0.0, 40.0))
    assert (shown.link, shown.queue_limit) == ("l", 20)
    assert shown.flows == [("long", "westwood+")], "flows with long-lived windows only"
    assert shown.capacity["bps"].to_list() == pytest.approx([3e6 * 1448 / 1500] * 2)
