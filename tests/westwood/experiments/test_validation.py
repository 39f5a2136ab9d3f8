# SPDX-License-Identifier: BSD-3-Clause
"""The grids that compare two engines, and the criteria for their points."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from tracked import everything

from westwood.engines.contract import Job, RunSeed
from westwood.engines.simulator import SIMULATOR
from westwood.experiments.experiment import Experiment
from westwood.experiments.validation import chosen, compare, exceptions, page
from westwood.experiments.validation.exceptions import Exception_
from westwood.experiments.validation.grid import (
    Grid,
    Length,
    Point,
    always,
    crossed,
    listed,
    plan,
    product,
    scenario,
)
from westwood.experiments.validation.grids import GRIDS
from westwood.results.folder import Folder
from westwood.units import PS_PER_S

SMALL = Grid(
    says="two points",
    profile="ns3-3.44",
    protocols={"sack": {"recovery": "sack"}},
    points=product(rate=("2Mbps",), delay=("10ms",), loss=(0.0, 0.01)),
    length=always("10s"),
    seeds=3,
)


def point_scenario(point: Point, seed: int = 1, grid: Grid = SMALL) -> Any:
    return scenario(grid, "sack", point, seed)


def test_grids_have_the_declared_points():
    assert sum(grid.size for grid in GRIDS["ns3"].values()) >= 400
    assert GRIDS["ns3"]["single"].size == 64
    lossless = GRIDS["ns3"]["lossless"]
    assert len(lossless.points) == 48 and {"newreno", "sack", "cubic", "vegas"} <= set(
        lossless.protocols
    )
    assert {point["size"] for point in GRIDS["ns3"]["short"].points} >= {"10kB", "10MB"}
    points = GRIDS["linux"]["short-queues"].points
    assert len(points) == 40 and sum(point["beside"] > 0 for point in points) == 20
    assert sum(point["queue"].endswith("ms") for point in points) >= 20
    assert GRIDS["linux"]["short-queues"].close == 0.07


@pytest.mark.parametrize(
    ("engine", "name"), [(engine, name) for engine in GRIDS for name in GRIDS[engine]]
)
def test_a_grids_points_differ_and_have_the_same_columns(engine, name):
    points = GRIDS[engine][name].points
    assert len({tuple(point.items()) for point in points}) == len(points)
    assert len({tuple(point) for point in points}) == 1


def test_points_are_declared_as_products():
    both = crossed(listed("flows rate", (1, "1Mbps"), (2, "2Mbps")), product(loss=(0.0, 0.1)))
    assert both[1] == {"flows": 1, "rate": "1Mbps", "loss": 0.1} and len(both) == 4


def test_a_seed_draws_losses_and_starts_for_both_engines():
    grid = replace(SMALL, access={"rate": "1Gbps"})
    point = Point("2Mbps", "10ms", loss=0.01, flows=3, spread="5s")
    first, again, other = (point_scenario(point, seed, grid) for seed in (1, 1, 2))
    assert first == again and first != other
    assert first.link[-1].loss.packets != other.link[-1].loss.packets
    assert len({flow.start for flow in first.flow}) == 3
    assert all(flow.start < 5 * PS_PER_S for flow in first.flow)


def test_only_random_points_run_with_several_seeds():
    jobs = plan(SMALL).jobs
    assert [(job.settings["loss"], list(job.seeds)) for job in jobs] == [
        (0.0, [1]),
        *((0.01, [seed]) for seed in (1, 2, 3)),
    ]
    assert len(plan(SMALL, seeds=2, settings={"duration": "1s"}).jobs) == 3
    assert len(plan(replace(SMALL, is_random=True)).jobs) == 6  # a real machine varies anyway


def test_a_queue_may_be_in_bandwidth_delay_products_or_a_time():
    grid = replace(SMALL, flow={"packet": "1500B"})

    def limit(rate: str, delay: str, queue: str) -> Any:
        return point_scenario(Point(rate, delay, queue), grid=grid).link[-1].queue.limit.count

    assert limit("5Mbps", "100ms", "0.5BDP") == 41  # half of 83.3 packets
    assert limit("5Mbps", "100ms", "2BDP") == 166
    assert limit("1Mbps", "2ms", "0.5BDP") == 5  # at least room for a burst
    assert limit("5Mbps", "100ms", "7p") == 7
    assert limit("12Mbps", "20ms", "10ms") == 10
    assert limit("1Mbps", "20ms", "1ms") == 2, "no queue is shorter"


def test_competing_cubic_flows_have_rows_of_their_own():
    grid = replace(SMALL, access={"rate": "1Gbps"})
    scenario = point_scenario(Point(rate="2Mbps", delay="20ms", flows=2, beside=1.0), grid=grid)
    names = [(flow.name, flow.cc.name) for flow in scenario.flow]
    assert names == [
        ("tcp-1", "sack"),
        ("tcp-2", "sack"),
        ("cubic-1", "cubic"),
        ("cubic-2", "cubic"),
    ]
    assert {(flow.from_, flow.to) for flow in scenario.flow if flow.name.endswith("1")} == {
        ("sources-1", "sinks")
    }


def test_the_lossy_grid_has_24_drawn_paths_alone_and_beside_cubic():
    """They hold 50 to 2000 packets and lose 0.5 to 4 % of them."""
    points = GRIDS["linux"]["lossy"].points
    assert len(points) == 48 and sum(point["beside"] > 0 for point in points) == 24
    paths = {(point["rate"], point["delay"], point["queue"], point["loss"]) for point in points}
    assert len(paths) == 24
    assert all(0.005 <= loss <= 0.04 for _, _, _, loss in paths)


def test_runs_are_as_long_as_their_packets_take():
    length = Length(1000, "2s", "30s")
    assert length.of(Point("1Mbps", "1ms"), 1500) == "12s"
    assert length.of(Point("100Mbps", "1ms"), 1500) == "2s"
    assert length.of(Point("10kbps", "1ms"), 1500) == "30s"


def test_flows_are_divided_among_round_trips_and_directions():
    grid = replace(SMALL, access={"rate": "1Gbps"})
    mixed = point_scenario(Point("2Mbps", "10ms", flows=8, rtts="unequal", reverse=0.5), grid=grid)
    assert [flow.from_ for flow in mixed.flow] == [
        *(f"sources-{i}" for i in (1, 1, 2, 2, 3, 3, 4, 4)),
        *["sinks"] * 4,
    ]
    assert [flow.to for flow in mixed.flow[8:]] == [f"sources-{i}" for i in (1, 2, 3, 4)]
    assert [link.delay // 10**9 for link in mixed.link] == [2, 12, 27, 52, 10]


def test_red_thresholds_follow_the_queue_and_flows_use_ecn():
    red = point_scenario(Point("2Mbps", "10ms", queue="60p", aqm="red-ecn"))
    queue = red.link[-1].queue
    assert (queue.kind, queue.min, queue.max, queue.ecn) == ("red", 5, 15, True)
    assert red.flow[0].ecn and not point_scenario(Point("2Mbps", "10ms", aqm="red")).flow[0].ecn


def measured(**changes: float) -> dict[str, float]:
    defaults = dict.fromkeys(compare.METRICS, 100.0)
    return {**defaults, "goodput_bps": 1e6, "timeouts_a_minute": 3.0, **changes}


@pytest.mark.parametrize(
    ("changes", "missed"),
    [
        ({}, set()),
        ({"goodput_bps": 1.04e6, "retransmitted": 114.0, "timeouts_a_minute": 4.0}, set()),
        ({"goodput_bps": 1.06e6}, {"goodput"}),
        ({"goodput_bps": 0.94e6}, {"goodput"}),
        ({"retransmitted": 84.0}, {"retransmissions"}),
        ({"timeouts_a_minute": 1.9}, {"timeouts"}),
        ({"mean_queue": 111.0}, {"queueing"}),
        ({"completion_p95_s": 111.0}, {"completion"}),
    ],
)
def test_a_point_meets_its_criteria(changes, missed):
    theirs = {f"{key}_other": value for key, value in measured().items()}
    points = pl.DataFrame([{"loss": 0.01, **measured(**changes), **theirs}])
    (point,) = compare.judged("x", SMALL, "ns3", points).points.to_dicts()
    asked = {criterion.name for criterion in compare.criteria(SMALL)}
    assert {name for name in asked if not point[name]} == missed


def test_few_retransmissions_and_short_queues_may_differ_by_some():
    ours, theirs = {"retransmitted": 3.0, "mean_queue": 0.5}, {"retransmitted": 1.0}
    others = {f"{key}_other": v for key, v in measured(**theirs, mean_queue=0.1).items()}
    points = pl.DataFrame([{**measured(**ours), **others}])
    done = compare.judged("x", SMALL, "ns3", points)
    assert done.share("retransmissions") == done.share("queueing") == 1


def test_an_unmeasured_criterion_is_not_counted():
    nothing: dict[str, Any] = {"completion_median_s": None, "completion_p95_s": None}
    others = {f"{key}_other": v for key, v in {**measured(), **nothing}.items()}
    points = pl.DataFrame([{**measured(), **nothing, **others}])
    done = compare.judged("x", SMALL, "ns3", points)
    assert done.share("completion") is None
    assert "completion" not in {criterion.name for criterion, _ in done.shares}


def test_a_point_far_off_needs_a_reason(monkeypatch):
    others = {f"{key}_other": value for key, value in measured().items()}
    points = pl.DataFrame(
        [{"loss": loss, **measured(goodput_bps=1.2e6), **others} for loss in (0.0, 0.01)]
    )
    known = Exception_("ns3", "x", {"loss": (0.01,)}, "found in both traces")
    monkeypatch.setattr(exceptions, "EXCEPTIONS", (known,))
    done = compare.judged("x", SMALL, "ns3", points)
    assert (done.far.height, done.unexplained["loss"].to_list()) == (2, [0.0])
    assert compare.judged("y", SMALL, "ns3", points).unexplained.height == 2


@pytest.mark.parametrize("exception", exceptions.EXCEPTIONS)
def test_every_exception_covers_existing_points(exception):
    grid = GRIDS[exception.engine][exception.grid]
    for column, values in exception.where.items():
        there = {point.get(column) for point in grid.points} | {*grid.protocols}
        assert set(values) <= there | {1, 2, "forward", "backward"} and exception.reason


def test_an_engine_agrees_with_itself(tmp_path):
    grid = replace(SMALL, access={"rate": "1Gbps"}, length=always("5s"))
    grid = replace(grid, points=[{"rate": "2Mbps", "delay": "9ms", "flows": 2, "reverse": 0.5}])
    planned = plan(grid)
    itself = replace(SIMULATOR, name="ns3")
    done = compare.run("x", planned, grid, itself, workers=1, track=everything)
    assert done is not None and done.points["way"].to_list() == ["forward", "backward"]
    assert all(share == 1 for _, share in done.shares)
    folder = Folder(tmp_path / "v")
    written = page.write([done, replace(done, name="y")], "ns3", {"x": planned}, folder)
    assert "x, 2 points: goodput within 5% 100%" in written.read_text()
    table = pl.read_csv(tmp_path / "v" / "validation.csv")
    assert table["grid"].to_list() == ["x", "x", "y", "y"]
    assert table["goodput_ratio"].to_list() == [1.0] * 4


def test_cubic_flows_have_a_row_for_each_control_beside_them():
    points = [{"rate": "8Mbps", "delay": "9ms", "queue": "9p", "beside": 1.0}]
    protocols: dict[str, Any] = {"reno": {"recovery": "prr"}, "bbr": {"recovery": "prr"}}
    grid = replace(SMALL, points=points, protocols=protocols, length=always("8s"))
    done = compare.run("x", plan(grid), grid, SIMULATOR, workers=1, track=everything)
    rows = {(row["cc"], row["way"]): row for row in done.points.to_dicts()}
    assert list(rows) == [(cc, way) for cc in protocols for way in ("forward", "beside")]
    kept = [rows[cc, "beside"]["goodput_bps"] for cc in protocols]
    assert kept[0] > 1.5 * kept[1] and done.points["goodput_ratio"].to_list() == [1.0] * 4


def test_the_simulator_runs_our_control_of_a_stacks_name():
    """It runs once for quinn's CUBIC and ours, and both are compared with it."""
    protocols: dict[str, Any] = {"quinn:cubic": {}, "cubic": {}}
    grid = replace(SMALL, profile="rfc", protocols=protocols, length=always("2s"))
    planned = plan(grid, seeds=1)
    ran = compare.in_simulator(planned)
    assert (len(planned.jobs), len(ran.jobs)) == (4, 2)
    done = compare.run(
        "x", planned, grid, replace(SIMULATOR, prepare=_ours), workers=1, track=everything
    )
    assert done is not None
    assert done.points["cc"].to_list() == ["quinn:cubic"] * 2 + ["cubic"] * 2
    assert done.points["goodput_ratio"].to_list() == [1.0] * 4


def _ours(job: Job) -> RunSeed:
    """Prepares a job whose rows have the name of the stack's control, as the stack's have."""
    (plain,) = compare.in_simulator(Experiment(job.scenario, [job], [])).jobs
    run = SIMULATOR.prepare(plain)
    stack = {"cc": job.scenario.flow[0].cc.written, "scenario": job.scenario.hash}
    return lambda seed: [{**row, **stack} for row in run(seed)]


def test_grids_are_chosen_by_name():
    always = [name for name, grid in GRIDS["ns3"].items() if not grid.by_name]
    assert list(chosen("ns3", [])) == always != list(GRIDS["ns3"])
    assert list(chosen("ns3", ["short"])) == ["short"]
