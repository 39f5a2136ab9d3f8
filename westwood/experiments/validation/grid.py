# SPDX-License-Identifier: BSD-3-Clause
"""Defines grids of points of a path that two engines run, each with every protocol.

A point says how it differs from `Point`; those values are its columns. `scenario` makes a network
of it: a bottleneck between a router and the sinks, preceded by an access link for each round trip,
if the grid has any. A seed draws the lost packets and the flows' starts for both engines alike, so
that the remaining differences are not luck.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from westwood.engines.contract import Job
from westwood.errors import InputError
from westwood.experiments.experiment import Experiment, check_seeds, first_seed
from westwood.scenario import Scenario, profiles
from westwood.scenario.declared import written_defaults
from westwood.units import PS_PER_S, TIME_UNITS, parse_rate, parse_size, parse_time

Settings = dict[str, Any]
# Prefixes of the names of flows to the sinks, flows from them, and competing CUBIC flows.
FORWARD, BACKWARD, BESIDE = "tcp", "back", "cubic"
_BESIDE: Settings = {"cc": "cubic", "recovery": "prr"}
_BDP = "BDP"
_PS_PER_MS = TIME_UNITS["ms"]
_LEAST_PACKETS = 2  # minimum for a queue given as a time
_SHORTEST_QUEUE = 5  # packets: half of the BDP of 1 Mb/s over 4 ms would be none
# RED as Floyd advises (1997): min 5, max three times min, max_p 0.1. As in ns-3 it spares short
# queues.
_RED = {"kind": "red", "max_p": 0.1, "weight": 0.002, "spared": 2}
_RED_SHARES = {"min": 1 / 12, "max": 1 / 4}  # thresholds over the queue's limit
AQMS = ("droptail", "red", "red-ecn")
# Disciplines of Linux with settings. PIE's two are what Linux always does.
_DISCIPLINES: Mapping[str, Settings] = {
    **{kind: {"kind": kind} for kind in ("codel", "fq_codel", "pie", "fq_pie", "cake")},
    "pie-linux": {"kind": "pie", "spaced": True, "steep": True},
    "cake-shaped": {"kind": "cake"},
}
_BANDWIDTHS = {"cake-shaped": 0.9}  # of a shaper, over the link's rate
# One-way delays in front of the bottleneck; each belongs to an equal share of the flows.
RTTS = {"equal": ("2ms",), "unequal": ("2ms", "12ms", "27ms", "52ms")}


@dataclass(frozen=True)
class Point:
    """Values that a point may vary, with their defaults."""

    rate: str  # rate of the bottleneck
    delay: str  # one-way delay of the bottleneck
    queue: str = "100p"  # packets; or a multiple of the BDP, "0.5BDP"; or a time, "5ms"
    loss: float = 0.0  # probability, in the forward direction of the bottleneck
    aqm: str = "droptail"  # of AQMS or _DISCIPLINES
    flows: int = 1  # flows to the sinks
    reverse: float = 0.0  # flows from the sinks, over forward flows
    beside: float = 0.0  # competing CUBIC flows, over forward flows
    rtts: str = "equal"
    spread: str = "0s"  # spread of the flows' starts
    size: str = ""  # payload of each flow; empty: unlimited
    delayed_ack: int = 2

    @property
    def is_drawn(self) -> bool:
        """Returns whether a seed makes a difference."""
        return self.loss > 0 or self.spread != "0s" or self.aqm != "droptail"


@dataclass(frozen=True)
class Length:
    """The duration of runs: this many packets at the bottleneck's rate, within bounds."""

    packets: int
    least: str
    most: str

    def of(self, point: Point, packet_bytes: int) -> str:
        """Returns the duration of a point's runs."""
        asked = 8 * packet_bytes * self.packets / parse_rate(point.rate)
        least, most = (parse_time(bound) / PS_PER_S for bound in (self.least, self.most))
        return f"{math.ceil(min(max(asked, least), most))}s"


def always(duration: str) -> Length:
    """Returns a fixed duration for all runs."""
    return Length(0, duration, duration)


@dataclass(frozen=True)
class Grid:
    """Points to run with every protocol, and how closely the engines must agree."""

    says: str
    profile: str
    protocols: Mapping[str, Settings]  # settings of each protocol's flows
    points: Sequence[Settings]  # fields of `Point`; all points have the same keys
    length: Length
    seeds: int
    flow: Settings = field(default_factory=dict)  # settings of every flow
    # Settings of access links; empty: there are none.
    access: Settings = field(default_factory=dict)
    red: Settings = field(default_factory=dict)  # settings of RED, if they differ from ns-3's
    alternate_delayed_ack: bool = False  # half of the points have an ACK for each segment
    close: float = 0.05
    far: float = 0.10
    median: bool = False
    is_random: bool = False  # runs differ without random draws, as on a real machine
    has_range: bool = False  # also asks whether the other engine lies within the range of the seeds
    workers: int | None = None
    by_name: bool = False  # runs only on request, since not every machine can run it

    @property
    def keys(self) -> list[str]:
        """Columns that identify its points."""
        extra = ["delayed_ack"] if self.alternate_delayed_ack else []
        return ["cc", *self.points[0], *extra]

    @property
    def size(self) -> int:
        """Number of its points."""
        return len(self.protocols) * len(self.points)


def product(**values: Sequence[Any]) -> list[Settings]:
    """Returns every combination of these values."""
    return [
        dict(zip(values, combination, strict=True))
        for combination in itertools.product(*values.values())
    ]


def listed(names: str, *values: tuple[str | float, ...]) -> list[Settings]:
    """Returns these points, with values in the order of the names."""
    return [dict(zip(names.split(), value, strict=True)) for value in values]


def crossed(*parts: Sequence[Settings]) -> list[Settings]:
    """Returns every combination of partial points."""
    chosen = itertools.product(*parts)
    return [{key: settings[key] for settings in ones for key in settings} for ones in chosen]


def plan(
    grid: Grid, seeds: int | None = None, settings: Settings | None = None, seed_set: int = 1
) -> Experiment:
    """Plans the grid's runs; points without random draws run once.

    settings: those of every run that differ, by key. seed_set: see `first_seed`.
    """
    check_seeds(seeds)
    changed = dict(settings or {})
    duration = changed.pop("duration", None)
    if duration is not None:
        try:
            parse_time(duration)
        except InputError as error:
            raise error.located(key="duration") from None
    first = first_seed(seed_set)
    jobs: list[Job] = []
    order = enumerate(grid.protocols)
    for (number, cc), (place, columns) in itertools.product(order, enumerate(grid.points)):
        shown = dict(columns)
        if grid.alternate_delayed_ack:
            shown["delayed_ack"] = 1 + (place + number) % 2
        point = Point(**shown)
        count = (grid.seeds if seeds is None else seeds) if point.is_drawn or grid.is_random else 1
        for seed in range(first, first + count):
            run = scenario(grid, cc, point, seed, duration).with_settings(changed)
            jobs.append(Job(run, [seed], shown))
    return Experiment(jobs[0].scenario, jobs, [])


def scenario(grid: Grid, cc: str, point: Point, seed: int, duration: str | None = None) -> Scenario:
    """Makes the scenario of a point with one protocol and seed."""
    flow = {"cc": cc, "delayed_ack": point.delayed_ack, **grid.flow, **grid.protocols[cc]}
    packet = _packet(grid, flow)
    lasts = duration or grid.length.of(point, packet)
    frames = parse_rate(point.rate) * parse_time(lasts) / PS_PER_S / (8 * packet)
    bottleneck = {
        "name": "bottleneck",
        "between": ["router", "sinks"] if grid.access else ["sources-1", "sinks"],
        "rate": point.rate,
        "delay": point.delay,
        "queue": _queue(grid, point, packet),
        "loss": _loss(seed, point.loss, frames),
    }
    return Scenario(
        name="validation",
        profile=grid.profile,
        duration=lasts,
        link=[*_access(grid, point), bottleneck],
        flow=list(_flows(grid, point, flow, seed, parse_time(lasts))),
    )


def _packet(grid: Grid, flow: Settings) -> int:
    """Returns the size of a full segment's packet in bytes."""
    of_profile = profiles.get(grid.profile).defaults("flow")
    return parse_size({**written_defaults("flow", leave_out=()), **of_profile, **flow}["packet"])


def _queue(grid: Grid, point: Point, packet: int) -> Settings:
    """Returns the bottleneck's queue; BDPs and times become whole packets."""
    packets = point.queue.removesuffix("p")
    if point.queue.endswith("ms"):
        held = parse_rate(point.rate) * parse_time(point.queue) / PS_PER_S / (8 * packet)
        packets = str(max(_LEAST_PACKETS, round(held)))
    if point.queue.endswith(_BDP):
        one_way = parse_time(point.delay) + max(map(parse_time, _access_delays(grid, point)))
        in_flight = parse_rate(point.rate) * 2 * one_way / PS_PER_S / (8 * packet)
        share = float(point.queue.removesuffix(_BDP))
        packets = str(max(_SHORTEST_QUEUE, int(share * in_flight)))
    limit = {"limit": f"{packets}p"}
    if point.aqm in _DISCIPLINES:
        used = _BANDWIDTHS.get(point.aqm)
        shaper = {"bandwidth": f"{used * parse_rate(point.rate):.0f}bps"} if used else {}
        return {**_DISCIPLINES[point.aqm], **limit, **shaper}
    if point.aqm == "droptail":
        return {"kind": "droptail", **limit}
    thresholds = {name: share * int(packets) for name, share in _RED_SHARES.items()}
    return {**_RED, **grid.red, **limit, **thresholds, "ecn": point.aqm == "red-ecn"}


def _access_delays(grid: Grid, point: Point) -> Sequence[str]:
    if not grid.access:
        return ("0s",)
    return (grid.access["delay"],) if "delay" in grid.access else RTTS[point.rtts]


def _access(grid: Grid, point: Point) -> Iterator[Settings]:
    """Returns the access links, one for each round trip."""
    for place, delay in enumerate(_access_delays(grid, point) if grid.access else (), start=1):
        ends = {"name": f"access-{place}", "between": [f"sources-{place}", "router"]}
        yield {**ends, "delay": delay, **grid.access}


def _flows(grid: Grid, point: Point, flow: Settings, seed: int, lasts: int) -> Iterator[Settings]:
    """Returns the flows in both directions; the seed draws their starts in the first half."""
    groups = len(_access_delays(grid, point))
    starts = np.random.default_rng([seed, 1])
    backward = round(point.flows * point.reverse)
    groups_of_flows = [(FORWARD, place, point.flows) for place in range(point.flows)]
    groups_of_flows += [(BACKWARD, place, backward) for place in range(backward)]
    beside = round(point.flows * point.beside)
    groups_of_flows += [(BESIDE, place, beside) for place in range(beside)]
    for name, place, many in groups_of_flows:
        ends = [f"sources-{1 + place * groups // many}", "sinks"]
        source, other = reversed(ends) if name == BACKWARD else ends
        start_ms = int(starts.uniform(0, min(parse_time(point.spread), lasts / 2) / _PS_PER_MS))
        more: Settings = {"size": point.size} if point.size else {}
        if point.aqm == "red-ecn":
            more["ecn"] = True
        if name == BESIDE:
            more |= _BESIDE
        named = {"name": f"{name}-{place + 1}", "from": source, "to": other}
        yield {**named, "start": f"{start_ms}ms", **flow, **more}


def _loss(seed: int, rate: float, most: float) -> Settings:
    """Draws the numbers of the lost packets."""
    if rate == 0:
        return {"kind": "none"}
    gaps = np.random.default_rng(seed).geometric(rate, size=int(1.2 * most * rate) + 100)
    return {"kind": "script", "packets": gaps.cumsum().tolist(), "on": "forward"}
