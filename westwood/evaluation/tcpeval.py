# SPDX-License-Identifier: BSD-3-Clause
"""Declares the block of draft-irtf-iccrg-tcpeval-01, the suite of 2014.

Its recorded sessions are gone. Here transfers of three exponential sizes arrive at random, on nine
paths, and bring 60, 85 or 110 % of the central link's rate. A tenth of them have packets of 536
bytes. Data go one way, nothing fills the queues before a run, and a run is shorter than the draft's
where that would carry more than _PACKETS_MOST packets.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from westwood.evaluation import measures
from westwood.evaluation.benchmark.targets import goodput, of_role, ratio
from westwood.evaluation.criterion import Clause, Criterion, Making, Part, Point, Runs, Threshold
from westwood.evaluation.measures import ALONE
from westwood.experiments.control import Control
from westwood.scenario import Scenario
from westwood.scenario.paths.environment import PROFILE

_NOTE = (
    "Transfers arrive at random instead of the recorded sessions, which are gone. Data go one way. "
    "The queues are empty at first. A run ends after the time of a million packets."
)
_OF_SCENARIOS = (
    f"{_NOTE} The satellite has 40 Mb/s in both directions, in the draft 4 Mb/s for ACKs. The "
    "wireless LAN is a link of 6 Mb/s with the Wi-Fi jitter of C4's draft."
)
_SOURCE = "draft-irtf-iccrg-tcpeval-01"
_OURS = "ours; the draft compares and gives no number"
_PACKETS_MOST = 1_000_000
_SECONDS_MOST = 3600.0
_Edges = tuple[tuple[float, ...], tuple[float, ...]]  # one-way delays, on the left and right
_LEFT_MS, _RIGHT_MS = (0.0, 12.0, 25.0), (2.0, 37.0, 75.0)
# Bytes of a transfer, and their share of the load: most transfers are short, most bytes are not.
_SIZES = ((8_000, 0.15), (100_000, 0.35), (3_000_000, 0.5))
# Bytes of a transfer's packets, and their share of the transfers.
_PACKETS = ((1500, 0.9), (536, 0.1))
_HEADER = 52
_PAYLOAD = 1 / sum(share * packet / (packet - _HEADER) for packet, share in _PACKETS)
LOADS = (60, 85, 110)


@dataclass(frozen=True)
class Central:
    """The central link of a basic scenario."""

    name: str
    mbps: float
    delay_ms: float
    buffer_ms: float
    edges_ms: _Edges = (_LEFT_MS, _RIGHT_MS)
    seconds_most: float = _SECONDS_MOST
    link: Mapping[str, Any] = field(default_factory=dict)
    loaded: Sequence[tuple[int, int]] = ()  # edges whose paths have the load; none: all


CENTRALS = (
    Central("data centre", 1000, 0.001, 10, ((0.01, 0.05, 0.1), (0.01, 0.05, 0.1))),
    Central("access", 100, 2, 100),
    Central("trans-oceanic", 1000, 65, 100),
    Central("GEO satellite", 40, 300, 100),
    Central("wireless LAN", 6, 2, 100, link={"wifi_jitter": {"mean": "1ms", "on": "both"}}),
    Central("dial-up", 0.064, 5, 1250),
)


def _seconds(central: Central) -> float:
    return min(central.seconds_most, _PACKETS_MOST * 0.012 / central.mbps)


def dumbbell(central: Central, load: float, control: Control, *more: Mapping[str, Any]) -> Scenario:
    """Returns the scenario of a central link with transfers on nine paths."""
    left, right = central.edges_ms
    edges = [_edge(f"left-{n}", f"l{n}", "a", ms) for n, ms in enumerate(left)]
    edges += [_edge(f"right-{n}", "b", f"r{n}", ms) for n, ms in enumerate(right)]
    return Scenario(
        name="tcpeval",
        duration=f"{_seconds(central):.3f}s",
        profile=PROFILE,
        link=[_central(central), *edges],
        flow=[*_transfers(central, load, control), *more],
    )


def _central(central: Central) -> dict[str, Any]:
    packets = max(2, math.ceil(central.buffer_ms * 1e3 * central.mbps / 12_000))
    return {
        "name": "central",
        "between": ["a", "b"],
        "rate": f"{central.mbps * 1000:g}kbps",
        "delay": f"{central.delay_ms:g}ms",
        "queue": {"kind": "droptail", "limit": f"{packets}p"},
        **central.link,
    }


def _edge(name: str, start: str, end: str, ms: float) -> dict[str, Any]:
    queue = {"kind": "droptail", "limit": "unlimited"}
    between = [start, end]
    return {"name": name, "between": between, "rate": "1Gbps", "delay": f"{ms:g}ms", "queue": queue}


def _transfers(central: Central, load: float, control: Control) -> Iterator[dict[str, Any]]:
    """Yields flows for each path, size and packet, whose transfers arrive by a Poisson process."""
    lefts, rights = (range(len(side)) for side in central.edges_ms)
    paths = central.loaded or [(left, right) for left in lefts for right in rights]
    path_bytes_s = load / 100 * central.mbps * 125_000 * _PAYLOAD / len(paths)
    for (left, right), (size, load_share), (packet, share) in itertools.product(
        paths, _SIZES, _PACKETS
    ):
        every_s = size / (share * load_share * path_bytes_s)
        yield {
            "name": f"tcp-{left}{right}-{size}-{packet}",
            "from": f"l{left}",
            "to": f"r{right}",
            "cc": {"name": control.cc, **control.settings},
            "packet": f"{packet}B",
            "arrivals": {"every": f"{every_s:.6f}s", "size": f"{size}B", "sizes": "exponential"},
        }


def _loads(central: Central, load: float) -> Making:
    return lambda control: {ALONE: dumbbell(central, load, control)}


_BASIC = [
    Point(f"{central.name}, {load} %", _loads(central, load))
    for central in CENTRALS
    for load in LOADS
]


def _basic() -> list[Criterion]:
    """The draft's three metrics, of the same runs."""

    def criterion(
        name: str, says: str, measure: Callable[[Runs], float], threshold: Threshold, **more: Any
    ) -> Criterion:
        return Criterion(
            f"tcpeval-{name}",
            f"{says} in six scenarios at three loads",
            _SOURCE,
            _BASIC,
            measure,
            threshold,
            axis="scenario and load",
            note=_OF_SCENARIOS,
            **more,
        )

    return [
        criterion(
            "delay",
            "Mean number of packets in the queue, over the reference's,",
            lambda runs: float(runs[ALONE][0]["mean_queue"]) + 0.1,
            Threshold(1.1, _OURS, at_most=True),
            compare="ratio",
            unit="packets",
        ),
        criterion(
            "drops",
            "Share of the packets that a queue drops, less the reference's,",
            lambda runs: measures.lost_share(runs[ALONE]),
            Threshold(0.01, _OURS, at_most=True),
            compare="difference",
        ),
        criterion(
            "use",
            "Utilisation, less the reference's,",
            lambda runs: float(runs[ALONE][0]["utilisation"]),
            Threshold(-0.05, _OURS),
            compare="difference",
        ),
    ]


def _buffers() -> Criterion:
    def point(percent: int) -> Point:
        central = Central("access", 100, 2, percent)  # a BDP at 100 ms
        return Point(f"{percent} %", _loads(central, 85))

    return Criterion(
        "tcpeval-buffers",
        "Mean number of packets in the queue of the access link at 85 %, over the reference's",
        f"{_SOURCE}, delay against throughput",
        [point(percent) for percent in (10, 20, 50, 100, 200)],
        lambda runs: float(runs[ALONE][0]["mean_queue"]) + 0.1,
        Threshold(1.1, _OURS, at_most=True),
        "packets",
        compare="ratio",
        axis="buffer, of the BDP at 100 ms",
        note=_NOTE,
    )


# Delays of the edges: of the new flow's first node and the load's, then of their second nodes.
_RAMPS_MS = (((0.0, 0.0), (38.0, 38.0)), ((23.0, 12.0), (35.0, 1.0)), ((12.0, 23.0), (1.0, 35.0)))


def _ramp_up() -> Criterion:
    """A new flow without slow start beside a load of another round trip."""

    def point(mbps: int, megabytes: float, edges_ms: _Edges) -> Point:
        central = Central("ramp-up", mbps, 2, 80, edges_ms, seconds_most=60, loaded=[(1, 1)])
        new, load = (2 * (2 + left + right) for left, right in zip(*edges_ms, strict=True))

        def runs(control: Control) -> Mapping[str, Scenario]:
            flow = {
                "name": "new",
                "from": "l0",
                "to": "r0",
                "cc": {"name": control.cc, **control.settings},
                "size": f"{megabytes}MB",
                "start": "2s",
                "initial_cwnd": "10p",
                "initial_ssthresh": "10p",
            }
            return {ALONE: dumbbell(central, 50, control, flow)}

        return Point(f"{megabytes:g} MB, {mbps} Mb/s, {new:g}/{load:g} ms", runs)

    finished = measures.completion("new")
    return Criterion(
        "tcpeval-ramp-up",
        "Time in which a new flow delivers its first bytes beside a load of half the link, over "
        "the reference's",
        f"{_SOURCE}, ramp-up",
        [
            point(mbps, megabytes, edges_ms)
            for mbps in (10, 1000)
            for megabytes in (0.15, 1.5)
            for edges_ms in _RAMPS_MS
        ],
        lambda runs: finished(runs[ALONE]),
        Threshold(1.1, _OURS, at_most=True),
        "s",
        compare="ratio",
        axis="bytes, rate, round trips of the flow and of the load",
        note="ssthresh begins at the initial window, so that a window-based control has no slow "
        "start. BBR's start-up does not use ssthresh.",
    )


def _datagrams(mbps: float, start_s: int, stop_s: int = 60) -> dict[str, Any]:
    return {
        "name": f"udp-{start_s}",
        "from": "l0",
        "to": "r0",
        "app": {"kind": "udp", "rate": f"{mbps * 1000:g}kbps"},
        "start": f"{start_s}s",
        "stop": f"{stop_s}s",
    }


# 75 Mb/s that end after 30 s, that begin then, and that grow in 30 steps.
_TRANSIENTS: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "falls": [_datagrams(75, 0, 30)],
    "rises": [_datagrams(75, 30)],
    "rises in steps": [_datagrams(2.5, second) for second in range(30)],
}


def _transients() -> Criterion:
    def point(name: str, cross: Sequence[Mapping[str, Any]]) -> Point:
        central = Central("transient", 100, 10, 123)

        def runs(control: Control) -> Mapping[str, Scenario]:
            cc = {"name": control.cc, **control.settings}
            long = {"name": "long", "from": "l1", "to": "r1", "cc": cc}
            return {ALONE: dumbbell(central, 1, control, long, *cross)}

        return Point(f"traffic {name}", runs)

    return Criterion(
        "tcpeval-transients",
        "Goodput of a flow when 75 Mb/s of datagrams on a link of 100 begin or end, over the "
        "reference's",
        f"{_SOURCE}, transients",
        [point(name, cross) for name, cross in _TRANSIENTS.items()],
        lambda runs: goodput(of_role(runs[ALONE], "long")) / 1e6,
        Threshold(0.9, _OURS),
        "Mb/s",
        compare="ratio",
        axis="100 Mb/s, 118 ms",
        note="The draft measures the time until cwnd is 80 % of the BDP, and what the datagrams "
        "lose. Goodput of a minute contains both.",
    )


def _parking_lot() -> Criterion:
    def runs(control: Control) -> Mapping[str, Scenario]:
        cc = {"name": control.cc, **control.settings}
        hop = _central(Central("hop", 100, 10, 60))
        hops = [hop | {"name": f"hop-{n}", "between": [f"n{n}", f"n{n + 1}"]} for n in range(3)]
        flows = [{"name": "through", "from": "n0", "to": "n3", "cc": cc}]
        flows += [
            {"name": f"cross-{n}", "from": f"n{n}", "to": f"n{n + 1}", "cc": cc} for n in range(3)
        ]
        common = {"start_spread": "3s"}
        return {
            ALONE: Scenario(
                name="parking-lot",
                duration="60s",
                profile=PROFILE,
                link=hops,
                flow=[flow | common for flow in flows],
            )
        }

    def share(run_rows: Runs) -> float:
        crossing = of_role(run_rows[ALONE], "cross")
        return ratio(3 * goodput(of_role(run_rows[ALONE], "through")), goodput(crossing))

    return Criterion(
        "tcpeval-parking-lot",
        "Goodput of a flow over three bottlenecks over that of flows over one, or the inverse if "
        "it is larger",
        f"{_SOURCE}, several bottlenecks",
        [Point("three links", runs)],
        share,
        Threshold(10, _OURS, at_most=True),
        "through over crossing",
        compare="either way",
        axis="100 Mb/s each",
        note="Endless flows instead of sessions that bring 60, 80 and 100 % of each link.",
    )


PART = Part(
    "tcpeval",
    "The common TCP evaluation suite",
    _SOURCE,
    (*_basic(), _buffers(), _ramp_up(), _transients(), _parking_lot()),
    only_full=True,
    clauses=(
        Clause("basic", "Six scenarios", tuple(f"tcpeval-{n}" for n in ("delay", "drops", "use"))),
        Clause("", "Delay against throughput", ("tcpeval-buffers",)),
        Clause("", "Ramp-up", ("tcpeval-ramp-up",)),
        Clause("", "Transients", ("tcpeval-transients",)),
        Clause("", "Impact on standard TCP", ("harm-cubic", "harm-sack")),
        Clause("", "Intra-protocol and inter-RTT fairness", ("among", "rtt-unfair")),
        Clause("", "Several bottlenecks", ("tcpeval-parking-lot",)),
    ),
)
