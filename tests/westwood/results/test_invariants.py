# SPDX-License-Identifier: BSD-3-Clause
"""Rows of random scenarios break no invariant and agree with the traces of the same run."""

import dataclasses
import math
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from one_link import one_link

from westwood import Result, Scenario, simulate
from westwood.cli import process
from westwood.control.catalogue import QUEUES
from westwood.draw.views import VIEWS
from westwood.errors import ImpossibleResult
from westwood.evaluation.discipline import MARKS_UNASKED
from westwood.results import invariants
from westwood.results.raw import link_side
from westwood.results.rows import rows_of_run
from westwood.units import PS_PER_S

RATES = st.sampled_from(["1kbps", "17kbps", "200kbps", "1Mbps", "20Mbps"])
DELAYS = st.sampled_from(["0s", "1us", "3ms", "200ms", "7s"])
HELD = [kind for kind, queue in QUEUES.items() if queue.holds]
LIMITS = st.sampled_from(["1p", "3p", "30p", "10000p", "unlimited", "2kB", "1MiB"])


@st.composite
def links(draw: st.DrawFn) -> dict[str, Any]:
    """Draws a link without its ends."""
    queue: dict[str, Any] = {"limit": draw(LIMITS)}
    if draw(st.integers(0, 4)) == 0:
        queue |= {"kind": "red", "min": 2.0, "max": 9.0, "ecn": draw(st.booleans())}
    elif draw(st.integers(0, 3)) == 0:
        target = draw(st.sampled_from(["1us", "5ms", "1s"]))
        kind = draw(st.sampled_from(HELD))
        queue |= {"kind": kind, "target": "5ms" if kind == "dualpi2" else target}
        if kind not in MARKS_UNASKED:
            queue["ecn"] = draw(st.booleans())
    link = {"rate": draw(RATES), "delay": draw(DELAYS), "queue": queue}
    match draw(st.integers(0, 5)):
        case 3 if queue.get("kind") in HELD:  # they need a rate
            pass
        case 0:
            link["loss"] = {"rate": draw(st.sampled_from([0.01, 0.3])), "on": "both"}
        case 1:
            link["jitter"] = "40ms"
        case 2:
            link["reorder"] = {"rate": 0.2, "delay": "300ms", "on": "both"}
        case 3:
            times = draw(st.lists(st.integers(0, 300), max_size=20))
            link["trace"] = {"forward": sorted([*times, 301])}
    return link


@st.composite
def flows(draw: st.DrawFn) -> dict[str, Any]:
    """Draws a flow without its ends: TCP, arriving transfers, or UDP."""
    flow: dict[str, Any] = {"start": draw(st.sampled_from(["0s", "1ms", "90ms"]))}
    if draw(st.booleans()):
        flow["stop"] = draw(st.sampled_from(["91ms", "130ms", "1s", "100s"]))
    if draw(st.integers(0, 2)) == 0:
        rate = draw(st.sampled_from(["3kbps", "300kbps", "5Mbps"]))
        return flow | {"app": {"kind": "udp", "rate": rate}}
    flow["cc"] = draw(st.sampled_from(["reno", "cubic", "bbr", "westwood+"]))
    flow["initial_cwnd"] = draw(st.sampled_from(["1p", "10p", "100p"]))
    flow["ecn"] = draw(st.booleans())
    match draw(st.integers(0, 2)):
        case 0:
            flow["size"] = draw(st.sampled_from(["1B", "10kB", "300kB"]))
        case 1:
            every = draw(st.sampled_from(["50ms", "900ms", "1000s"]))
            flow["arrivals"] = {"every": every, "size": "5kB"}
    return flow


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    """Draws a chain of links with flows over parts of it, in both directions."""
    nodes = [f"n{number}" for number in range(draw(st.integers(2, 4)))]
    its_links = [
        draw(links()) | {"name": f"link{n}", "between": [nodes[n], nodes[n + 1]]}
        for n in range(len(nodes) - 1)
    ]
    its_flows = []
    for n in range(draw(st.integers(1, 3))):
        ends = draw(st.permutations(nodes))
        its_flows.append(draw(flows()) | {"name": f"flow{n}", "from": ends[0], "to": ends[1]})
    duration = draw(st.sampled_from(["91ms", "500ms", "3s", "20s"]))
    return Scenario(name="drawn", duration=duration, link=its_links, flow=its_flows)


@given(scenarios(), st.integers(1, 1000))
@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_run_breaks_no_invariant_and_its_traces_agree(scenario, seed):
    result = simulate(scenario, seed, trace=True, queues=True, events=True)  # warnings are errors
    length_s = scenario.duration / PS_PER_S
    for link in result.links.to_dicts():
        there = (pl.col("link") == link["link"]) & (pl.col("direction") == link["direction"])
        queue = result.queues.filter(there)
        assert queue.is_empty() or 0 <= queue["time_s"].min() <= queue["time_s"].max() <= length_s  # type: ignore[operator]
        times, packets = [*queue["time_s"].to_list(), length_s], queue["packets"].to_list()
        area = math.fsum(count * (times[n + 1] - times[n]) for n, count in enumerate(packets))
        assert link["mean_queue"] == pytest.approx(area / length_s, rel=1e-6, abs=1e-9)
        drops = result.drops.filter(there)
        assert drops.filter(kind="wire").height == link["lost"]
        assert drops.filter(pl.col("kind").is_in(["queue", "early"])).height == link["queue_drops"]
    for frame in (result.trace, result.events, result.drops):
        assert frame.is_empty() or frame["time_s"].max() <= length_s  # type: ignore[operator]
    flows = dict(zip([flow.name for flow in scenario.flows], scenario.flows, strict=True))
    of_flow = {row["flow"]: row for row in result.flow_rows}
    for name, rows in result.transfers.partition_by("flow", as_dict=True).items():
        row, flow = of_flow[str(name[0])], flows[str(name[0])]
        count = row["sent"] - row["queue_drops"] - row["lost"] - row["in_flight"]
        arrived = int(rows["ip_bytes_at_sink"].sum())
        if flow.app.kind == "udp" or (flow.size is None and flow.arrivals is None):
            assert arrived == count * flow.packet
        assert arrived <= count * flow.packet
    _check_windows(result)


def _check_windows(result: Result) -> None:
    """Checks that each transfer's mean cwnd lies within its trace, which ends with the transfer.

    In fast recovery without SACK the trace shows cwnd inflated: there it is ssthresh.
    """
    traces = result.trace.partition_by("flow", "transfer", as_dict=True)
    for row in result.transfers.filter(pl.col("mean_cwnd").is_not_nan()).to_dicts():
        trace = traces[row["flow"], row["transfer"]]
        in_recovery = trace.filter(state="recovery")["ssthresh"]
        least = min([trace["cwnd"].min(), *in_recovery])
        assert least * (1 - 1e-9) <= row["mean_cwnd"] <= trace["cwnd"].max() * (1 + 1e-9)  # type: ignore[operator]
        assert not trace["time_s"][-1] > row["completed_s"]


def _run(**flow: Any) -> Result:
    scenario = one_link(flow, link={"rate": "1Mbps", "queue": {"limit": "1000p"}})
    return simulate(scenario, trace=True, queues=True, events=True)


@pytest.mark.parametrize(
    "flow",
    [
        {"cc": "reno", "initial_cwnd": "100p"},
        {"app": {"kind": "udp", "rate": "100Mbps"}},
    ],
)
def test_transfers_continue_after_the_stop(flow):
    result = _run(stop="30ms", **flow)
    (row,), (last_s,) = result.flow_rows, result.transfers["last_arrival_s"]
    assert 0.5e6 < row["goodput_bps"] < row["throughput_bps"] <= 1e6
    (delivered,) = result.transfers["delivered_bytes"]
    assert row["goodput_bps"] == pytest.approx(8 * delivered / last_s)


def test_a_flow_without_arrivals_has_empty_frames_and_figures():
    result = _run(cc="reno", arrivals={"every": "100000s", "size": "10kB"})
    assert result.transfers.is_empty() and result.trace.is_empty() and result.queues.is_empty()
    assert result.transfers.schema == _run(cc="reno").transfers.schema
    for view in VIEWS:
        assert result.plot(view).axes


def test_an_engine_rounds_each_transmission_to_picoseconds():
    """52 bytes take 69333.33 ps each way: the handshake's round trip lacks 0.67 ps."""
    flow, link = {"header": "52B", "cc": "reno"}, {"rate": "6Gbps", "delay": "1us"}
    scenario = one_link(flow, link=link, profile="linux", duration="1ms")
    assert simulate(scenario, seed=1).flow_rows[0]["min_rtt_s"] == pytest.approx(
        2.138666e-6, rel=1e-9
    )


def _with_side(result: Result, **wrong: float) -> list[str]:
    """Returns the broken invariants after changing a number of the link's forward direction."""
    (side,) = result.raw.forward
    numbers = {name: getattr(side, name) for name in dir(side) if not name.startswith("_")}
    raw = dataclasses.replace(result.raw, forward=[link_side({**numbers, **wrong})])
    return [
        str(problem) for problem in invariants.broken(result.scenario, raw, result.flow_rows, "sim")
    ]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("utilisation", 1.01),
        ("utilisation", -0.1),
        ("longest_wait_s", 10.1),
        ("waited_s", 1e7),
        ("in_flight", 10**6),
        ("early_drops", 7),
    ],
)
def test_a_link_that_breaks_an_invariant_is_named(column, value):
    result = _run(cc="reno")
    assert _with_side(result) == []
    (first, *_) = _with_side(result, **{column: value})
    assert first.startswith("path forward: ") and column in first and "expected" in first


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("min_rtt_s", 0.02),
        ("min_rtt_s", 5.0),
        ("mean_cwnd", 1e6),
        ("mean_cwnd", -0.064),
        ("goodput_bps", 1.1e6),
        ("throughput_bps", 1.1e6),
        ("completed_s", 11.0),
        ("retransmitted", 10**6),
        ("in_flight", 10**6),
        ("loss_ratio", -0.1),
        ("retransmission_ratio", 1.2),
        ("jain", 1.1),
    ],
)
def test_a_flow_that_breaks_an_invariant_is_named(column, value):
    result = _run(cc="reno")
    (row,) = result.flow_rows
    rows = [row | {column: value}]
    problems = [
        str(problem) for problem in invariants.broken(result.scenario, result.raw, rows, "sim")
    ]
    assert problems and all(problem.startswith("tcp: ") for problem in problems)
    assert any(column in problem for problem in problems)


def test_an_impossible_number_is_reported_and_kept(capsys):
    result = _run(cc="reno")
    raw = dataclasses.replace(
        result.raw, connections={**result.raw.connections, "ip_bytes_at_sink": [10**8]}
    )
    with pytest.warns(
        ImpossibleResult, match="throughput_bps = 80000000: expected at most"
    ) as all_:
        (row,) = rows_of_run(result.scenario, 1, raw, {}, "sim")
    assert row["throughput_bps"] == 8e7
    process._show(all_[0].message, ImpossibleResult, "file.py", 1)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("westwood: s, --engine sim, seed 1: tcp: throughput_bps = ")
