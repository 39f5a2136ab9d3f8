# SPDX-License-Identifier: BSD-3-Clause
"""Checks the invariants of every run of every engine when its rows are made.

Packets are conserved, shares are between 0 and 1, no flow is faster than its path, and no wait is
longer than the run. A number that breaks an invariant is an engine's bug. It is kept, and a
one-line warning names it. tests/fuzz/invariants.hpp checks more, on random networks.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from westwood.control.catalogue import UDP
from westwood.errors import ImpossibleResult
from westwood.units import PS_PER_S

if TYPE_CHECKING:
    from westwood.results.columns import Row
    from westwood.results.raw import RawLinkSide, RawResult
    from westwood.scenario import Scenario
    from westwood.scenario.flows import Flow
    from westwood.scenario.links import Link

_EXACT = ("sim",)  # engines that measure to the picosecond
_NEAR = 1e-9  # relative tolerance for rounding
_SLACK_S = 0.05  # for the sampling intervals and clocks of other engines
_SHARES = ("utilisation", "jain", "loss_ratio", "retransmission_ratio")
_SIDES = ("forward", "backward")


class Broken(NamedTuple):
    """An impossible number, and the bound that it breaks."""

    where: str  # a flow, or a link and its direction
    column: str
    value: float
    bound: str

    def __str__(self) -> str:
        return f"{self.where}: {self.column} = {self.value:.9g}: expected {self.bound}"


def report(scenario: Scenario, seed: int, raw: RawResult, rows: Sequence[Row], engine: str) -> None:
    """Warns of each impossible number."""
    for breach in broken(scenario, raw, rows, engine):
        what = f"{scenario.name}, --engine {engine}, seed {seed}: {breach} (please report this)"
        warnings.warn(what, ImpossibleResult, stacklevel=2)


def broken(
    scenario: Scenario, raw: RawResult, rows: Sequence[Row], engine: str
) -> Iterator[Broken]:
    """Yields the impossible numbers of a run."""
    slack_s = 0.0 if engine in _EXACT else _SLACK_S
    for flow, row in zip(scenario._parts.flows, rows, strict=True):
        yield from _of_flow(scenario, flow, row, slack_s)
    for link, *sides in zip(scenario._parts.link, raw.forward, raw.backward, strict=True):
        for name, side in zip(_SIDES, sides, strict=True):
            yield from _of_side(f"{link.name} {name}", link, side, scenario.duration / PS_PER_S)


def _at_most(where: str, column: str, value: float, most: float, bound: str) -> Iterator[Broken]:
    """Yields the number if it exceeds the bound; NaN, an unknown value, never does."""
    if value > most + _NEAR * abs(most):
        yield Broken(where, column, value, f"at most {bound}, {most:.9g}")


def _at_least(where: str, column: str, value: float, least: float, bound: str) -> Iterator[Broken]:
    if value < least - _NEAR * abs(least):
        yield Broken(where, column, value, f"at least {bound}, {least:.9g}")


def _of_flow(scenario: Scenario, flow: Flow, row: Row, slack_s: float) -> Iterator[Broken]:
    name, simulated_s = flow.name, row["simulated_s"]
    for column in _SHARES:
        yield from _at_most(name, column, row[column], 1, "the whole")
        yield from _at_least(name, column, row[column], 0, "nothing")
    gone = row["queue_drops"] + row["lost"] + row["in_flight"]
    yield from _at_most(name, "queue_drops + lost + in_flight", gone, row["sent"], "sent")
    yield from _at_most(name, "retransmitted", row["retransmitted"], row["sent"], "sent")
    arrived_bps = row["throughput_bps"]
    yield from _at_most(name, "goodput_bps", row["goodput_bps"], arrived_bps, "throughput_bps")
    yield from _at_most(name, "completed_s", row["completed_s"], simulated_s + slack_s, "the run")
    path = scenario.paths[flow.from_, flow.to]
    most_bps = path.most_bps * (1 + slack_s)
    yield from _at_most(name, "throughput_bps", arrived_bps, most_bps, "its slowest link's rate")
    if flow.cc.name == UDP:
        return
    yield from _at_most(name, "mean_cwnd", row["mean_cwnd"], row["max_cwnd"], "max_cwnd")
    yield from _at_least(name, "mean_cwnd", row["mean_cwnd"], 1 if not slack_s else 0, "a segment")
    least_s = path.delay_s - slack_s if slack_s else path.least_rtt_s(flow.header)
    if not flow.optimistic_acks:
        yield from _at_least(name, "min_rtt_s", row["min_rtt_s"], least_s, "the path's round trip")
    most_s = row["mean_srtt_s"] + slack_s
    yield from _at_most(name, "min_rtt_s", row["min_rtt_s"], most_s, "mean_srtt_s")


def _of_side(where: str, link: Link, side: RawLinkSide, simulated_s: float) -> Iterator[Broken]:
    gone = side.lost + side.in_flight
    yield from _at_most(where, "lost + in_flight", gone, side.packets, "packets")
    yield from _at_most(where, "early_drops", side.early_drops, side.queue_drops, "queue_drops")
    yield from _at_most(where, "utilisation", side.utilisation, 1, "the whole")
    yield from _at_least(where, "utilisation", side.utilisation, 0, "nothing")
    longest_s = side.longest_wait_s
    yield from _at_most(where, "longest_wait_s", longest_s, simulated_s, "the run")
    if longest_s == longest_s:
        most_s = side.packets * longest_s
        yield from _at_most(where, "waited_s", side.waited_s, most_s, "packets x longest_wait_s")
    limit = link.queue.limit
    if limit.unit == "p" and limit.count is not None:
        mean = side.waited_s / simulated_s
        yield from _at_most(where, "mean_queue", mean, limit.count, "the queue's limit")
