# SPDX-License-Identifier: BSD-3-Clause
"""Estimates the memory, disk space and time of runs before they start.

    packets of a flow    rate x active time / packet size; the rate is the least of its own,
                         window / RTT, and its share of the links on its route
    memory of a run      a fixed cost for each flow, transfer, segment in flight and recorded row
    total memory         memory of a run x concurrent runs + points and rows kept
    time                 packets x cost of one, until the first run's time has been measured

Runs that exceed the machine's memory or disk are refused, unless the caller skips the check. The
estimates ignore losses.
"""

from __future__ import annotations

import math
import os
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from westwood.control.catalogue import PROTOCOLS, shown_by
from westwood.control.loading import is_file
from westwood.engines import machine
from westwood.errors import InputError
from westwood.scenario import topology
from westwood.scenario.stacks import upstream
from westwood.units import PS_PER_S, format_size, format_time

if TYPE_CHECKING:
    from westwood.engines.contract import Job
    from westwood.scenario import Scenario
    from westwood.scenario.flows import Flow
    from westwood.scenario.links import Link

# Bytes, measured on x86-64; tests/westwood/engines/test_resources.py compares them with runs.
RUN = 5e6
FLOW = 7200  # in the scenario and the network, and its row
TRANSFER = 200  # completed, of a flow with arrivals
LIVE_TRANSFER = 2200
SEGMENT = 100  # in flight or queued
POINT = 12_000  # of a sweep
ROW = 7200  # of a run, including the final table
# A row of each table of a trace: in memory, including its frame, and on disk, where it exists
# twice until the files are complete.
WINDOWS, EVENTS, QUEUES, CAPTURED = (260, 124), (110, 60), (350, 58), (170, 124)
WITH_MODE = (360, 206)  # a row of windows with a control's mode and quantities
_SPOOLED = 250e6  # the most memory of a run whose trace goes to disk

_A_PROCESS = 150e6  # of ns-3 or the emulated path, which are separate programs

# Seconds on a core of 2020.
_A_PACKET = {"sim": 60e-9, "ns3": 20e-6, "ns2": 20e-6, "quinn": 2.5e-6, "noq": 3e-6}
_A_PACKET |= {"linux-um": 4e-6}
_A_STATE = {"exponential": 13e-9, "fixed": 1e-9}  # a change of a link's state, by its durations
_A_TRACED_ROW = 0.7e-6
_A_ROW, _A_POINT = 0.4e-3, 3e-3

_LITTLE = 32e6  # bytes; smaller estimates are not checked
_USED = 0.9  # the share of free memory or disk that a run may take
_ROUNDS = 8  # iterations that share links among flows
_SAMPLED_POINTS = 16


@dataclass(frozen=True)
class ResourceEstimate:
    """Holds estimates: bytes by the setting that causes them, and seconds of one core."""

    memory: Mapping[str, float]
    disk: Mapping[str, float]
    seconds: float

    @property
    def memory_bytes(self) -> float:
        """Returns the total memory."""
        return sum(self.memory.values())

    @property
    def disk_bytes(self) -> float:
        """Returns the total disk space."""
        return sum(self.disk.values())


@dataclass(frozen=True)
class Recorded:
    """Describes what a run records, and whether it goes to disk during the run."""

    windows: bool = False
    events: bool = False
    queues: bool = False
    capture: str | None = None
    on_disk: bool = False


NOTHING = Recorded()


@dataclass
class _Group:
    """Holds the rates of an entry of the scenario's flows, which stands for `count` flows."""

    flow: Flow
    route: list[tuple[str, int]]  # links with directions
    active_s: float
    most_bps: float  # of each flow, of IP packets
    bps: float = 0.0  # of each flow


def _shows(scenario: Scenario) -> bool:
    """Returns whether a trace has the columns of controls that show a mode or quantities."""
    names = {flow.cc.name for flow in scenario._parts.flows if not flow.cc.stack}
    all_shown = [shown_by(name) for name in names if name in PROTOCOLS or is_file(name)]
    return any(shown.modes or shown.quantities for shown in all_shown)


def estimate_run(
    scenario: Scenario, recorded: Recorded = NOTHING, engine: str = "sim"
) -> ResourceEstimate:
    """Estimates a single run."""
    links = {link.name: link for link in scenario._parts.link}
    groups = _shared(scenario, links)
    memory: defaultdict[str, float] = defaultdict(float, {"duration": RUN})
    packets = captured = 0.0
    for group in groups:
        flow = group.flow
        sent = flow.count * group.bps * group.active_s / (8 * flow.packet)
        packets += sent
        captured += (
            sent
            * (1 if flow.app.kind == "udp" else 1.5)
            * (recorded.capture in {name for name, _ in group.route})
        )
        key = f"{flow.name}.count"
        memory[key] += FLOW * flow.count
        if flow.arrivals is not None:
            key = f"{flow.name}.arrivals.every"
            memory[key] += _of_transfers(group, flow.count)
        elif flow.app.kind != "udp":
            segments = _window_segments(group, links)
            memory[f"{flow.name}.receive_window"] += SEGMENT * flow.count * segments
    rows = (
        (WITH_MODE if _shows(scenario) else WINDOWS, packets * recorded.windows),
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
        seconds = packets * _A_PACKET.get(upstream(engine), 0.0)
    seconds += _changing(scenario)
    if engine == "linux":
        seconds = scenario.duration / PS_PER_S
    return ResourceEstimate(memory, disk, seconds + _A_ROW * _flows(scenario))


def _changing(scenario: Scenario) -> float:
    """Returns the seconds for the changes of links' states, which silence does not save."""
    seconds = 0.0
    for link in scenario._parts.link:
        good, bad = (getattr(link.loss, name, None) for name in ("good", "bad"))
        if good and bad is not None:
            changes = 2 * scenario.duration / (good + bad)
            seconds += changes * _A_STATE[str(getattr(link.loss, "durations", "exponential"))]
    return seconds


def seconds_of(jobs: Sequence[Job], workers: int, engine: str) -> float:
    """Estimates how long jobs take, from a sample of them."""
    runs = sum(len(job.seeds) for job in jobs)
    if not runs:
        return 0.0
    step = max(1, len(jobs) // _SAMPLED_POINTS)
    chosen = jobs[::step]
    seconds = 0.0
    for job in chosen:
        recorded = Recorded(windows=job.more_columns is not None, events=job.needs_events)
        seconds += len(job.seeds) * estimate_run(job.scenario, recorded, engine).seconds
    longest = max(job.scenario.duration for job in chosen) / PS_PER_S if engine == "linux" else 0.0
    return max(longest, seconds * len(jobs) / len(chosen) / min(workers, runs))


def estimate_many(
    sampled: Sequence[Scenario], points: int, seeds: int, at_a_time: int, engine: str = "sim"
) -> ResourceEstimate:
    """Estimates the runs of all points from a sample; the time is for one core."""
    each = [estimate_run(scenario, engine=engine) for scenario in sampled]
    largest = max(each, key=lambda estimate: estimate.memory_bytes)
    kept = estimate_sweep(max(sampled, key=_flows), points, seeds)
    memory = {key: at_a_time * size for key, size in largest.memory.items()}
    for key, size in kept.memory.items():
        memory[key] = memory.get(key, 0.0) + size
    seconds = points * seeds * sum(estimate.seconds for estimate in each) / len(each)
    return ResourceEstimate(memory, {}, seconds + kept.seconds)


def sample(points: Sequence[Scenario]) -> list[Scenario]:
    """Returns a sample of the points, including the first and the last."""
    step = max(1, len(points) // _SAMPLED_POINTS)
    return [*points[::step], points[-1]]


def _shared(scenario: Scenario, links: Mapping[str, Link]) -> list[_Group]:
    """Shares the links among the flows; each round distributes what the last one left over."""
    routes = topology.routes(scenario._parts.link, scenario._parts.flow)
    groups = []
    for flow in scenario._parts.flow:
        end = min(scenario.duration, flow.stop) if flow.stop is not None else scenario.duration
        active_s: float = max(0, end - flow.start) / PS_PER_S
        route = routes[flow.from_, flow.to]
        groups.append(_Group(flow, route, active_s, _most_bps(flow, route, links, active_s)))
    left = {
        (link.name, side): link.mean_rate_bps("forward" if side == 0 else "backward")
        for link in scenario._parts.link
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
    """Returns the rate of IP packets that a flow would have on its own."""
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
    """Returns the segments that a flow has in flight and in its slowest link's queue."""
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
    """Returns the memory of completed transfers and of those that the links can't carry."""
    arrivals = group.flow.arrivals
    assert arrivals is not None
    number = count * group.active_s * PS_PER_S / arrivals.every
    late = max(0.0, 1 - group.bps / group.most_bps) if group.most_bps else 1.0
    return number * (TRANSFER + late * LIVE_TRANSFER)


def _flows(scenario: Scenario) -> int:
    return sum(flow.count for flow in scenario._parts.flow)


def estimate_sweep(scenario: Scenario, points: int, seeds: int) -> ResourceEstimate:
    """Estimates the memory for the points and rows of a sweep."""
    rows = points * seeds * _flows(scenario)
    key = "seeds" if seeds > points else "sweep"
    return ResourceEstimate({key: POINT * points + ROW * rows}, {}, _A_POINT * points)


def check(
    estimate: ResourceEstimate, scenario: Scenario, place: Path | None = None, workers: int = 1
) -> None:
    """Raises InputError if the estimate exceeds this machine; names the setting to blame.

    place: where files are written.
    """
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
            "are free here; --yes (in Python check_resources=False) runs it all the same"
        )
        raise InputError(problem, key=key, value=_value(scenario, key), source=scenario._source)


def check_run(scenario: Scenario, recorded: Recorded = NOTHING, engine: str = "sim") -> None:
    """Raises InputError if one run exceeds this machine."""
    check(estimate_run(scenario, recorded, engine), scenario)


def check_sweep(scenarios: Sequence[Scenario], seeds: int) -> None:
    """Checks the memory for all points and rows of these sweeps, before the points are made."""
    points = sum(math.prod(map(len, scenario.sweep.values())) for scenario in scenarios)
    check(estimate_sweep(scenarios[0], points, seeds), scenarios[0])


def check_many(
    points: Sequence[Scenario],
    seeds: int,
    workers: int | None,
    engine: str = "sim",
    *,
    check_resources: bool = True,
) -> ResourceEstimate:
    """Returns the estimate for all runs of all points; `check_resources` also checks it."""
    at_a_time = min(workers or os.cpu_count() or 1, len(points) * seeds)
    estimate = estimate_many(sample(points), len(points), seeds, at_a_time, engine)
    if check_resources:
        check(estimate, points[0], workers=at_a_time)
    return estimate


def _value(scenario: Scenario, key: str) -> Any:
    """Returns the scenario's value of a key, or ... for keys outside the scenario."""
    if key == "duration":
        return format_time(scenario.duration)
    if key == "seeds":
        return scenario.seeds
    for flow in scenario._parts.flow:
        name, _, rest = key.rpartition(flow.name + ".")
        if name == "" and rest == "count":
            return flow.count
        if name == "" and rest == "arrivals.every" and flow.arrivals is not None:
            return format_time(flow.arrivals.every)
        if name == "" and rest == "receive_window":
            return format_size(flow.receive_window)
    return ...


def format_bytes(size: float) -> str:
    """Formats a number of bytes for people."""
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if size >= 0.9995 * scale:  # three digits would be 1000 of the smaller unit
            return f"{size / scale:.3g} {unit}"
    return f"{size / 1e3:.3g} kB"
