# SPDX-License-Identifier: BSD-3-Clause
"""On a clean path every control of the default profile fills the link and loses little.

The paths are those of the grid `lossless`, which `westwood validate` runs in ns-3 as well: 1 to 100
Mb/s, 2 to 100 ms one way, queues from half a bandwidth-delay product, at least two packets here.
EXCEPTIONS lists controls that fail, with reasons. An outdated exception is an error as well.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import pytest

from westwood.control.catalogue import PROTOCOLS
from westwood.engines.simulator import simulate
from westwood.experiments.validation import GRIDS
from westwood.scenario import Scenario
from westwood.units import parse_rate, parse_time

FILLS = 0.90  # share of the link's payload rate
RESENDS = 0.02  # share of the segments sent
DURATION_S = 120
PACKET_BITS = 8 * 1500


@dataclass(frozen=True)
class Path:
    """A clean path: its name, its product of rate and round trip, and its queue, in packets."""

    name: str
    rate_bps: int
    delay: str
    bdp: float
    queue: int


def _path(rate: str, delay: str, queue: str) -> Path:
    bdp = parse_rate(rate) * 2 * parse_time(delay) / 1e12 / PACKET_BITS
    room = max(round(float(queue.removesuffix("BDP")) * bdp), 2)
    return Path(f"{rate} {delay} {queue}", parse_rate(rate), delay, bdp, room)


PATHS = [
    _path(point["rate"], point["delay"], point["queue"])
    for point in GRIDS["ns3"]["lossless"].points
]

Applies = Callable[[str, Path], bool]


def _holds_few(packets: int) -> Applies:
    """Covers paths that hold at most this many packets with their queue."""
    return lambda cc, path: path.bdp + path.queue <= packets


def _recovers(*recoveries: str) -> Applies:
    return lambda cc, path: PROTOCOLS[cc].recovery in recoveries


def _is_long(cc: str, path: Path) -> bool:
    return path.bdp >= 100


def _estimates(cc: str, path: Path) -> bool:
    return PROTOCOLS[cc].algorithm == "westwood" and path.bdp >= 300


def _both(condition: Applies, other: Applies) -> Applies:
    return lambda cc, path: condition(cc, path) and other(cc, path)


def _is_bbr(cc: str, path: Path) -> bool:
    return PROTOCOLS[cc].algorithm == "bbr" and path.queue <= path.bdp


def _counts_jiffies(cc: str, path: Path) -> bool:
    return cc == "westwood+-linux" and path.delay == "2ms"


def _counts_ticks(cc: str, path: Path) -> bool:
    return cc == "westwood-ucla" and path.delay == "2ms"


NO_SACK = _recovers("reno", "tahoe", "newreno")
# Requirements that a control fails: where, and why.
EXCEPTIONS: dict[str, list[tuple[Applies, str]]] = {
    "fills": [
        (
            _counts_ticks,
            "A window of twice the path and its queue loses many segments at once, which NewReno "
            "repairs one a round trip.",
        ),
        (
            _holds_few(25),
            "A window of a few packets is halved below the path, bursts of two take half of the "
            "queue, and of several drops one may lie beyond the recovery point.",
        ),
        (
            _both(NO_SACK, _is_long),
            "Slow start's overshoot is repaired at one hole a round trip (RFC 6582) or after a "
            "timeout from half of the window that overshot.",
        ),
        (
            _recovers("tahoe"),
            "Each loss empties the path: cwnd = 1 (Jacobson 1988).",
        ),
        (
            _recovers("reno"),
            "Several losses in a window wait for a timeout (Fall & Floyd 1996, 2.2).",
        ),
        (
            _estimates,
            "The estimate lags when slow start ends, and the window grows from there by a "
            "segment a round trip: Westwood's own way.",
        ),
    ],
    "resends": [
        (
            _counts_ticks,
            "UCLA's module counts RTTs in ticks of 10 ms: an RTTmin twice as long as the path, and "
            "more, gives twice the window.",
        ),
        (
            _holds_few(14),
            "A sawtooth between W/2 and W segments loses one of 3/8 W^2: over 2 % below W = 12, "
            "and more where several are lost at once.",
        ),
        (
            _is_bbr,
            "Version 1 does not answer losses and keeps two products of rate and RTT in flight "
            "(draft-cardwell-iccrg-bbr-congestion-control-00).",
        ),
        (
            _counts_jiffies,
            "tcp_westwood.c counts RTTs in jiffies of 4 ms: a round trip of 4 to 6 ms is one or "
            "two, and twice too large an RTTmin gives twice the window.",
        ),
        (
            _both(NO_SACK, _is_long),
            "After a timeout go-back-N sends again what had arrived.",
        ),
    ],
    "times out": [
        (
            NO_SACK,
            "Without SACK a lost retransmission, or several losses in a window, wait for the timer "
            "(Fall & Floyd 1996).",
        ),
        (
            _is_bbr,
            "Version 1's STARTUP sends 2.89 times what the path delivers for three rounds and more "
            "(4.3.2), so a segment may be lost four times in the second of an RTO.",
        ),
    ],
}


@cache
def _fails(cc: str, path: Path) -> dict[str, bool]:
    """Returns for each requirement whether the control fails it."""
    settings = {
        "tcp.cc": cc,
        "path.rate": f"{path.rate_bps}bps",
        "path.delay": path.delay,
        "path.queue.limit": f"{path.queue}p",
        "path.loss": {"kind": "none"},
        "tcp.receive_window": "32MiB",
        "duration": f"{DURATION_S}s",
    }
    scenario = Scenario.preset("path").with_settings(settings)
    result = simulate(scenario, 1)
    (row,) = result.flow_rows
    flow = scenario.flows[0]
    share = row["goodput_bps"] / (path.rate_bps * flow.mss / flow.packet)
    return {
        "fills": share < FILLS,
        "resends": row["retransmission_ratio"] > RESENDS,
        "times out": row["timeouts"] > 0 and _times_out_later(scenario),
    }


def _times_out_later(scenario: Scenario) -> bool:
    """Returns whether a timeout follows the first recovery, which ends slow start."""
    events = simulate(scenario, 1, events=True).events
    over = False
    for kind in events["kind"]:
        over |= kind == "exit"
        if over and kind == "timeout":
            return True
    return False


def _explained(paths: list[Path]) -> set[tuple[str, int]]:
    """Finds an exception for every failure on the paths; returns those that were used."""
    unexplained = []
    used = set()
    for cc, path in itertools.product(PROTOCOLS, paths):
        for key, fails in _fails(cc, path).items():
            reasons = [
                number for number, (applies, _) in enumerate(EXCEPTIONS[key]) if applies(cc, path)
            ]
            if fails and not reasons:
                unexplained.append(f"{cc} over {path.name} fails: {key}")
            if fails:
                used |= {(key, number) for number in reasons}
    assert not unexplained, "\n".join(unexplained)
    return used


def test_every_control_fills_a_clean_link_up_to_10_mbps_and_loses_little():
    _explained([path for path in PATHS if path.rate_bps <= 10_000_000])


@pytest.mark.slow
def test_every_control_fills_a_clean_link_and_loses_little():
    used = _explained(PATHS)
    idle = [
        EXCEPTIONS[key][number][1]
        for key in EXCEPTIONS
        for number in range(len(EXCEPTIONS[key]))
        if (key, number) not in used
    ]
    assert not idle, f"no exception any more: {idle}"


def test_modern_controls_fail_only_on_paths_of_few_packets():
    """SACK, CUBIC and Vegas pass on any path that holds more than 25 packets."""
    for cc, path in itertools.product(("sack", "cubic", "vegas", "veno"), PATHS):
        if path.bdp + path.queue > 25:
            assert not any(_fails(cc, path).values()), f"{cc} over {path.name}"
