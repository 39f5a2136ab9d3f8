# SPDX-License-Identifier: BSD-3-Clause
"""The cases that a control is judged on: paths of the population that no search draws.

A case is an environment and, in some sections, the cell of a table that it belongs to. It is run
with the control and with those that it is held against, on the same random numbers.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from westwood.scenario import Scenario
from westwood.search import population
from westwood.search.environment import PACKET_BYTES, Environment

_PURPOSE = "judge"
_PACKETS_MOST = 4_000_000  # of a run: 1 Gb/s for 48 s
_A_CELL = 1_000_000  # numbers of paths


@dataclass(frozen=True)
class Control:
    """Is a congestion control with its settings."""

    cc: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Names it: its protocol, and what is set otherwise."""
        changed = ", ".join(f"{key}={value}" for key, value in self.settings.items())
        return f"{self.cc} ({changed})" if changed else self.cc

    def __hash__(self) -> int:
        return hash(self.text)


CUBIC, BBR = Control("cubic"), Control("bbr")


@dataclass(frozen=True)
class Case:
    """Is what a control and those it is held against are run on."""

    section: str
    cell: str  # of the section; empty where it has one only
    environment: Environment
    settings: Mapping[str, Any] = field(default_factory=dict)  # of its scenario, beyond

    def scenario(self, control: Control) -> Scenario:
        """What is run with a control in question."""
        made = population.scenario(self.environment, control.cc, control.settings)
        return made.with_settings(self.settings) if self.settings else made


Cell = tuple[str, Callable[[Environment], Environment | None]]


@dataclass(frozen=True)
class Section:
    """Is a part of the table: which paths its cases are drawn from, and what becomes of them."""

    name: str
    says: str
    family: str  # of the population
    cells: tuple[Cell, ...]  # what runs over a path that was drawn; None: it does not fit
    share: float  # of the paths asked for that each cell gets
    against: tuple[Control, ...] = (CUBIC,)
    settings: Callable[[Environment], Mapping[str, Any]] = lambda environment: {}

    def cases(self, seed: int, paths: int) -> Iterator[Case]:
        """Draws the cases of all cells: the first ones stay as they are if more are drawn."""
        count = max(4, round(self.share * paths))
        for place, (cell, fit) in enumerate(self.cells):
            numbers = itertools.count(place * _A_CELL)
            drawn = (
                population.path(_PURPOSE, seed, self.family, n, _PACKETS_MOST) for n in numbers
            )
            fitting = (one for one in map(fit, drawn) if one is not None)
            for environment in itertools.islice(fitting, count):
                yield Case(self.name, cell, environment, self.settings(environment))


def _lone(drawn: Environment) -> Environment:
    return replace(drawn, aqm="droptail", flows=1, reverse_flows=0)


POINTS = {  # Mb/s, round trip in ms, BDP of queue, loss
    "point-lossy": (10, 90, 1, 0.005),
    "point-clean": (50, 100, 1, 0),
    "point-thin": (50, 100, 0.25, 0),
    "point-fast": (50, 100, 1, 0.001),
}


def _point(mbps: int, rtt_ms: int, queue_bdp: float, loss: float) -> Any:
    def fit(drawn: Environment) -> Environment:
        path = Environment(mbps * 10**6, rtt_ms * 1000, 1, 40_000_000, drawn.seed)
        path = replace(path, queue_packets=round(queue_bdp * path.bdp_packets))
        return replace(path, loss="uniform", loss_rate=loss) if loss else path

    return fit


MIXES = ((1, 1), (4, 4), (1, 10))  # flows of the control, of CUBIC
QUEUES_BDP = (0.25, 0.5, 1, 2, 4)


def _beside(ours: int, theirs: int, queue_bdp: float) -> Any:
    def fit(drawn: Environment) -> Environment | None:
        if drawn.bdp_packets * min(QUEUES_BDP) < population.QUEUE_LEAST:
            return None  # its queues would be longer than the cell says
        queue = round(queue_bdp * drawn.bdp_packets)
        return replace(drawn, flows=ours, beside_flows=theirs, queue_packets=queue)

    return fit


AMONG = (2, 4, 10, 50)
_LONG_US = 300_000_000  # in which flows find their shares
_SEGMENTS_A_FLOW = 4  # of an even share: fewer, and timeouts decide
_SEGMENTS_MOST = 400  # of an even share: of more, CUBIC's flows have not found theirs by then


def _among(flows: int) -> Any:
    def fit(drawn: Environment) -> Environment | None:
        alike = replace(drawn, flows=flows, beside=None, beside_flows=0)
        alike = replace(alike, duration_us=max(_LONG_US, 500 * drawn.delay_us))
        # Without it a few windows may repeat the same steps for ever (phase effects: Floyd and
        # Jacobson 1992, whose remedy this is): up to one packet's time of jitter.
        alike = replace(alike, jitter_us=max(1, round(8e6 * PACKET_BYTES / alike.rate_bps)))
        full = drawn.bdp_packets + drawn.queue_packets
        fits = _SEGMENTS_A_FLOW * flows <= full <= _SEGMENTS_MOST * flows
        fits = fits and alike.packets <= 4 * _PACKETS_MOST
        return alike if fits else None

    return fit


_NEAREST_US, _SPREAD = 10_000, 16  # round trips of 10, 20, 40, 80 and 160 ms


def _mixed(drawn: Environment) -> Environment | None:
    longest = replace(drawn, delay_us=_SPREAD * _NEAREST_US)
    queue = round(min(drawn.queue_bdp, 1) * longest.bdp_packets)
    made = replace(
        drawn,
        delay_us=_NEAREST_US,
        rtt_spread=_SPREAD,
        flows=5,
        beside=None,
        beside_flows=0,
        queue_packets=queue,
        duration_us=_LONG_US,
    )
    fits = queue >= _SEGMENTS_A_FLOW * made.flows and made.packets <= 4 * _PACKETS_MOST
    return made if fits else None


_TRANSFERS = 100  # expected of a run, of which the 95th percentile is a figure


def _short_alone(drawn: Environment) -> Environment | None:
    long = replace(drawn, flows=0, duration_us=_TRANSFERS * drawn.short_every_us)
    return long if long.packets <= _PACKETS_MOST else None


def _short_beside(drawn: Environment) -> Environment | None:
    alone = _short_alone(drawn)
    return alone and replace(alone, beside="cubic", beside_flows=1)


def _to_the_end(environment: Environment) -> dict[str, Any]:
    """Lets the last transfers end: none begins in the last 20 s."""
    begun_s = environment.duration_us / 1e6
    return {"short.stop": f"{begun_s:.6f}s", "duration": f"{begun_s + 20:.6f}s"}


_COLLAPSING = 100  # flows, and packets a round trip


def _collapse(drawn: Environment) -> Environment | None:
    rate_bps = round(_COLLAPSING * 8e6 * PACKET_BYTES / drawn.delay_us)
    made = replace(drawn, rate_bps=rate_bps, flows=_COLLAPSING, beside=None, beside_flows=0)
    made = replace(made, queue_packets=round(min(drawn.queue_bdp, 2) * made.bdp_packets))
    made = replace(made, duration_us=60_000_000)
    return made if made.packets <= _PACKETS_MOST else None


SECTIONS = {
    one.name: one
    for one in (
        Section("clean", "one flow, no loss", "clean", (("", _lone),), 1),
        Section("loss", "one flow, random loss", "lossy", (("", _lone),), 1, (CUBIC, BBR)),
        Section(
            "point",
            "Mb/s on single paths",
            "clean",
            tuple((name, _point(*path)) for name, path in POINTS.items()),
            0.1,
            (CUBIC, BBR),
        ),
        Section(
            "beside",
            "beside CUBIC's flows",
            "beside",
            tuple(
                (f"{ours}+{theirs}, {queue:g} BDP", _beside(ours, theirs, queue))
                for ours, theirs in MIXES
                for queue in QUEUES_BDP
            ),
            0.2,
        ),
        Section(
            "among",
            "among themselves",
            "beside",
            tuple((f"{flows} flows", _among(flows)) for flows in AMONG),
            0.05,
        ),
        Section("mixed", "round trips of 10 to 160 ms", "beside", (("", _mixed),), 0.2),
        Section(
            "short",
            "transfers of 10 kB to 1 MB",
            "short",
            (("alone", _short_alone), ("beside CUBIC", _short_beside)),
            0.2,
            settings=_to_the_end,
        ),
        Section(
            "collapse", "100 flows, 100 packets a round trip", "beside", (("", _collapse),), 0.2
        ),
    )
}
