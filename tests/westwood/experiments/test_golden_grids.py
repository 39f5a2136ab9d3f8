# SPDX-License-Identifier: BSD-3-Clause
"""The grids of `validate` have the same points and scenarios in every version.

The pages that compare engines name the grids: tests/golden/grids.json, which `make golden` writes.
"""

from dataclasses import replace

import pytest
from golden_files import assert_golden

from westwood.experiments.validation import grid as grids_of
from westwood.experiments.validation.grid import Grid, Length, Point
from westwood.experiments.validation.grids import GRIDS

SHOWN = 12  # scenarios of each grid


def scenarios(grid: Grid) -> list[str]:
    """Returns hashes of scenarios, evenly spread over the grid."""
    pairs = [(cc, columns) for cc in grid.protocols for columns in grid.points]
    step = max(1, len(pairs) // SHOWN)
    grid_scenarios = []
    for number, (cc, columns) in enumerate(pairs[::step], 1):
        point = Point(**columns, **({"delayed_ack": 1} if grid.alternate_delayed_ack else {}))
        grid_scenarios.append(grids_of.scenario(grid, cc, point, number).hash)
    return grid_scenarios


@pytest.mark.parametrize("engine", [engine for engine in GRIDS if engine != "linux-um"])
def test_the_scenarios_of_the_grids(engine):
    hashes = {
        name: [grid.size, grid.seeds, grid.keys, grid.close, grid.far, *scenarios(grid)]
        for name, grid in GRIDS[engine].items()
    }
    assert_golden(f"grids-{engine}", hashes)


def test_linux_runs_the_same_grids_in_virtual_time():
    assert GRIDS["linux-um"] is GRIDS["linux"]


def test_half_of_the_points_acknowledge_each_segment():
    """Neighbouring points and protocols alternate; a point without draws runs once."""
    (grid,) = [grid_ for grid_ in GRIDS["ns3"].values() if grid_.alternate_delayed_ack][:1]
    drawn = next(point for point in grid.points if Point(**point).is_drawn)
    fixed = next((point for point in grid.points if not Point(**point).is_drawn), None)
    small = replace(
        grid,
        points=[drawn, *([fixed] if fixed else [])],
        protocols=dict(list(grid.protocols.items())[:2]),
        seeds=3,
        length=grids_of.always("1s"),
    )
    planned = grids_of.plan(small)
    seen = [
        (job.scenario.flow[0].cc.name, job.settings["delayed_ack"], job.seeds[0])
        for job in planned.jobs
        if {key: job.settings[key] for key in drawn} == drawn
    ]
    first, second = list(small.protocols)
    acks = {cc: {ack for name, ack, _ in seen if name == cc} for cc in (first, second)}
    assert acks[first] != acks[second] and all(len(ack) == 1 for ack in acks.values())
    assert len(seen) == 2 * 3 and {seed for *_, seed in seen} == {1, 2, 3}
    if fixed:
        assert len(planned.jobs) == 2 * (3 + 1)
        always = replace(small, is_random=True)
        assert len(grids_of.plan(always, seeds=2).jobs) == 2 * (2 + 2)


@pytest.mark.parametrize(
    ("rate", "duration"), [("1Mbps", "120s"), ("10Mbps", "13s"), ("100Mbps", "5s")]
)
def test_runs_last_for_a_number_of_packets_within_bounds(rate, duration):
    """10 000 packets of 1500 bytes are 120 Mb: 12 s at 10 Mb/s, and a little more here."""
    point = Point(**{**next(iter(GRIDS["ns3"].values())).points[0], "rate": rate})
    assert Length(10_100, "5s", "120s").of(point, 1500) == duration
