# SPDX-License-Identifier: BSD-3-Clause
"""Estimates what runs will take before they start: memory, disk space and time.

    packets of a flow    its rate (its own, its window's over the round trip, or its share of the
                         links on its route) x the time it is active / size of a packet
    memory of a run      what is kept a flow, a transfer, a segment in flight, a recorded row
    memory in all        a run's x runs at a time, and the points and rows that are kept
    time                 packets x the cost of one; it is replaced by what was measured as soon as
                         the first run has ended

What does not fit into the machine is refused, unless `yes` is said. Losses are not looked at: an
estimate is what a path without losses would take.
"""

from __future__ import annotations

import math
import os
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from westwood.engines import machine
from westwood.errors import InputError
from westwood.scenario import topology
from westwood.units import PS_PER_S

if TYPE_CHECKING:
    from westwood.scenario import Scenario
    from westwood.scenario.flows import Flow
    from westwood.scenario.links import Link

# Bytes, as measured on x86-64; tests/westwood/engines/test_resources.py holds them against runs.
RUN = 5e6  # of any
FLOW = 7200  # of the scenario, in the network, while it runs, and its row
TRANSFER = 200  # that has been, of a flow with arrivals
LIVE_TRANSFER = 2200
SEGMENT = 100  # in flight or waiting
POINT = 12_000  # of a sweep
ROW = 7200  # of a run, with the table that is made of all rows in the end
# A row of each table of a trace: in memory, with the frame that is made of it, and on disk, where
# it lies twice until the files are whole.
WINDOWS, EVENTS, QUEUES, CAPTURED = (260, 124), (110, 60), (350, 58), (170, 124)
_SPOOLED = 250e6  # all of a run whose trace goes to disk, at most

_A_PROCESS = 150e6  # ns-3 and the emulated path are programs of their own

# Seconds, on a core of 2020.
_A_PACKET = {"sim": 60e-9, "ns3": 20e-6}
_A_TRACED_ROW = 0.7e-6
_A_ROW, _A_POINT = 0.4e-3, 3e-3

_LITTLE = 32e6  # bytes, for which nobody asks how much there is
_USED = 0.9  # of what is free, at most: others take some, too
_ROUNDS = 8  # of sharing links among flows
_SAMPLED_POINTS = 16


@dataclass(frozen=True)
class ResourceEstimate:
    """Holds bytes by the key that asks for them, and seconds of one core."""

    memory: Mapping[str, float]
    disk: Mapping[str, float]
    seconds: float

    @property
    def memory_bytes(self) -> float:
        """The memory in all."""
        return sum(self.memory.values())

    @property
    def disk_bytes(self) -> float:
        """The disk space in all."""
        return sum(self.disk.values())


@dataclass(frozen=True)
class Recorded:
    """Says what a run records, and whether that goes to disk meanwhile."""

    windows: bool = False
    events: bool = False
    queues: bool = False
    capture: str | None = None
    on_disk: bool = False


NOTHING = Recorded()
_TRIALS = 3  # short runs that tell how fast this machine is


@dataclass
class _Group:
    """Is an entry of the scenario's flows, of which there are `count` alike."""

    flow: Flow
    route: list[tuple[str, int]]  # the links, and the direction in each
    active_s: float
    most_bps: float  # of each, of IP packets
    bps: float = 0.0  # of each


def estimate_run(
    scenario: Scenario, recorded: Recorded = NOTHING, engine: str = "sim"
) -> ResourceEstimate:
    """Estimates one run."""
    links = {link.name: link for link in scenario.link}
    groups = _shared(scenario, links)
    memory: defaultdict[str, float] = defaultdict(float, {"duration": RUN})
    packets = captured = 0.0
    for group in groups:
        flow = group.flow
        sent = flow.count * group.bps * group.active_s / (8 * flow.packet)
        packets += sent
        captured += (
            sent
            * (1.5 if flow.app.kind == "bulk" else 1)
            * (recorded.capture in {name for name, _ in group.route})
        )
        key = f"{flow.name}.count"
        memory[key] += FLOW * flow.count
        if flow.arrivals is not None:
            key = f"{flow.name}.arrivals.every"
            memory[key] += _of_transfers(group, flow.count)
        elif flow.app.kind == "bulk":
            segments = _window_segments(group, links)
            memory[f"{flow.name}.receive_window"] += SEGMENT * flow.count * segments
    rows = (
        (WINDOWS, packets * recorded.windows),
        (EVENTS, 2 * packets * recorded.events),
        (QUEUES, 1.5 * packets * recorded.queues),
        (CAPTURED, captured),
    )
    disk = {}
    if recorded.on_disk:
        disk["duration"] = sum(size * count for (_, size), count in rows)
        memory["duration"] += min(_SPOOLED, disk["duration"])
    else:
        memory["duration"] += sum(size * count for (size, _), count in rows)
    seconds = packets * _A_PACKET["sim"] + sum(count for _, count in rows) * _A_TRACED_ROW
    if engine != "sim":
        memory["--engine"] += _A_PROCESS
        seconds = packets * _A_PACKET["ns3"]
    if engine == "linux":
        seconds = scenario.duration / PS_PER_S
    return ResourceEstimate(memory, disk, seconds + _A_ROW * _flows(scenario))


def estimate_many(
    sampled: Sequence[Scenario], points: int, seeds: int, at_a_time: int, engine: str = "sim"
) -> ResourceEstimate:
    """Estimates the runs of all points, of which these are some; the seconds are of one core."""
    each = [estimate_run(one, engine=engine) for one in sampled]
    largest = max(each, key=lambda one: one.memory_bytes)
    kept = estimate_sweep(max(sampled, key=_flows), points, seeds)
    memory = {key: at_a_time * size for key, size in largest.memory.items()}
    for key, size in kept.memory.items():
        memory[key] = memory.get(key, 0.0) + size
    seconds = points * seeds * sum(one.seconds for one in each) / len(each)
    return ResourceEstimate(memory, {}, seconds + kept.seconds)


def sample(points: Sequence[Scenario]) -> list[Scenario]:
    """Takes some of many points, the first and the last among them."""
    step = max(1, len(points) // _SAMPLED_POINTS)
    return [*points[::step], points[-1]]


def _shared(scenario: Scenario, links: Mapping[str, Link]) -> list[_Group]:
    """Shares the links among the flows: what is left goes to those that want more, in rounds."""
    routes = topology.routes(scenario.link, scenario.flow)
    groups = []
    for flow in scenario.flow:
        end = min(scenario.duration, flow.stop) if flow.stop is not None else scenario.duration
        active_s: float = max(0, end - flow.start) / PS_PER_S
        route = routes[flow.from_, flow.to]
        groups.append(_Group(flow, route, active_s, _most_bps(flow, route, links, active_s)))
    left = {
        (link.name, side): link.mean_rate_bps("forward" if side == 0 else "backward")
        for link in scenario.link
        for side in (0, 1)
    }
    for _ in range(_ROUNDS):
        wanting: Counter[tuple[str, int]] = Counter()
        hungry = [group for group in groups if group.bps < 0.999 * group.most_bps]
        if not hungry:
            break
        for group in hungry:
            wanting.update(dict.fromkeys(group.route, group.flow.count))
        for group in hungry:
            share = min((max(0.0, left[hop]) / wanting[hop] for hop in group.route), default=0.0)
            more = min(share, group.most_bps - group.bps)
            group.bps += more
            for hop in group.route:
                left[hop] -= more * group.flow.count
                wanting[hop] -= group.flow.count
    return groups


def _most_bps(
    flow: Flow, route: Sequence[tuple[str, int]], links: Mapping[str, Link], active_s: float
) -> float:
    """Returns the most that a flow alone would send, of IP packets."""
    app = flow.app
    if app.kind == "udp":
        share = 1.0 if app.on is None or app.off is None else app.on / max(1, app.on + app.off)
        return float(app.rate * share)
    whole = 8 * flow.packet / flow.mss  # bits on the wire for a byte of payload
    if flow.arrivals is not None:
        return float(whole * flow.arrivals.size * PS_PER_S / flow.arrivals.every)
    trip_s = _trip_s(route, links)
    window = whole * flow.receive_window / trip_s if trip_s else math.inf
    size = whole * flow.size / active_s if flow.size is not None and active_s else math.inf
    return float(min(window, size))


def _trip_s(route: Sequence[tuple[str, int]], links: Mapping[str, Link]) -> float:
    delay_ps: int = sum(links[name].delay for name, _ in route)
    return 2 * delay_ps / PS_PER_S


def _window_segments(group: _Group, links: Mapping[str, Link]) -> float:
    """How many segments a flow has in flight, and in the queue of its slowest link."""
    flow, route = group.flow, group.route
    most: float = flow.receive_window / flow.mss
    slowest = min(
        (links[name] for name, _ in route), key=lambda link: link.mean_rate_bps("forward")
    )
    limit = slowest.queue.limit
    queue = math.inf if limit.count is None else float(limit.count)
    if limit.unit != "p":
        queue /= flow.packet
    in_flight = group.bps * _trip_s(route, links) / (8 * flow.packet)
    return float(min(most, 2 * in_flight + queue / flow.count))


def _of_transfers(group: _Group, count: int) -> float:
    """Transfers that have been, and those that live since the links can't carry them."""
    arrivals = group.flow.arrivals
    assert arrivals is not None
    number = count * group.active_s * PS_PER_S / arrivals.every
    late = max(0.0, 1 - group.bps / group.most_bps) if group.most_bps else 1.0
    return number * (TRANSFER + late * LIVE_TRANSFER)


def _flows(scenario: Scenario) -> int:
    return sum(flow.count for flow in scenario.flow)


def estimate_sweep(scenario: Scenario, points: int, seeds: int) -> ResourceEstimate:
    """Estimates what is kept of a sweep, before its points are made."""
    rows = points * seeds * _flows(scenario)
    key = "seeds" if seeds > points else "sweep"
    return ResourceEstimate({key: POINT * points + ROW * rows}, {}, _A_POINT * points)


def slowness() -> float:
    """Measures how many times as long as estimated a short run takes on this machine, now."""
    from westwood.engines.simulator import simulate
    from westwood.scenario import Scenario

    scenario = Scenario.preset("path").with_settings({"duration": "100s"})
    expected_s = estimate_run(scenario).seconds
    begin = time.perf_counter()
    for _ in range(_TRIALS):
        simulate(scenario)
    return (time.perf_counter() - begin) / _TRIALS / expected_s


def check(
    estimate: ResourceEstimate, scenario: Scenario, place: Path | None = None, workers: int = 1
) -> None:
    """InputError names what asks for more than this machine has; `place` is where files go."""
    for what, parts, free in (
        ("memory", estimate.memory, machine.free_memory),
        ("disk space", estimate.disk, partial(machine.free_disk, place or Path())),
    ):
        total = sum(parts.values())
        if total < _LITTLE or total <= _USED * free():
            continue
        key = max(parts, key=lambda name: parts[name])
        at_a_time = f" with {workers} workers" if workers > 1 and what == "memory" else ""
        problem = (
            f"takes about {format_bytes(total)} of {what}{at_a_time}, and {format_bytes(free())} "
            "are free here; --yes (in Python yes=True) runs it all the same"
        )
        raise InputError(problem, key=key, value=_value(scenario, key), source=scenario._source)


def check_sweep(scenarios: Sequence[Scenario], seeds: int) -> None:
    """Does what `check` does before the points of these scenarios' sweeps are made."""
    points = sum(math.prod(map(len, one.sweep.values())) for one in scenarios)
    check(estimate_sweep(scenarios[0], points, seeds), scenarios[0])


def check_many(
    points: Sequence[Scenario],
    seeds: int,
    workers: int | None,
    engine: str = "sim",
    *,
    yes: bool = False,
) -> ResourceEstimate:
    """Does what `check` does for all runs of all points, unless `yes`; returns what they need."""
    at_a_time = min(workers or os.cpu_count() or 1, len(points) * seeds)
    estimate = estimate_many(sample(points), len(points), seeds, at_a_time, engine)
    if not yes:
        check(estimate, points[0], workers=at_a_time)
    return estimate


def _value(scenario: Scenario, key: str) -> Any:
    """What the scenario says under a key; ... where nothing does."""
    from westwood.units import format_size, format_time

    if key == "duration":
        return format_time(scenario.duration)
    if key == "seeds":
        return scenario.seeds
    for flow in scenario.flow:
        name, _, rest = key.rpartition(flow.name + ".")
        if name == "" and rest == "count":
            return flow.count
        if name == "" and rest == "arrivals.every" and flow.arrivals is not None:
            return format_time(flow.arrivals.every)
        if name == "" and rest == "receive_window":
            return format_size(flow.receive_window)
    return ...


def format_bytes(size: float) -> str:
    """Writes a number of bytes for reading."""
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if size >= scale:
            return f"{size / scale:.3g} {unit}"
    return f"{size / 1e3:.3g} kB"
