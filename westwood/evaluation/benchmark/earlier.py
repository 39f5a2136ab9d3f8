# SPDX-License-Identifier: BSD-3-Clause
"""Defines the judge's first sections, on the first population, for comparison with older figures.

Their paths never change, so those figures can be measured again. wide.py has the other sections.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from westwood.evaluation.benchmark.cases import BBR, CUBIC, PACKETS_MOST, Section
from westwood.scenario.paths.earlier import QUEUE_LEAST
from westwood.scenario.paths.environment import PACKET_BYTES, Environment


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
        if drawn.bdp_packets * min(QUEUES_BDP) < QUEUE_LEAST:
            return None  # its queues would be longer than the cell says
        queue = round(queue_bdp * drawn.bdp_packets)
        return replace(drawn, flows=ours, beside_flows=theirs, queue_packets=queue)

    return fit


AMONG = (2, 4, 10, 50)
_LONG_US = 300_000_000  # time for flows to reach their shares
_SEGMENTS_A_FLOW = 4  # segments of an even share: with fewer, timeouts decide
_SEGMENTS_MOST = 400  # segments of an even share: with more, CUBIC needs longer to reach it


def _among(flows: int) -> Any:
    def fit(drawn: Environment) -> Environment | None:
        alike = replace(drawn, flows=flows, beside=None, beside_flows=0)
        alike = replace(alike, duration_us=max(_LONG_US, 500 * drawn.delay_us))
        # Jitter of up to one packet's time prevents phase effects, in which a few windows repeat
        # the same steps forever (Floyd and Jacobson 1992, who propose it).
        alike = replace(alike, jitter_us=max(1, round(8e6 * PACKET_BYTES / alike.rate_bps)))
        full = drawn.bdp_packets + drawn.queue_packets
        fits = _SEGMENTS_A_FLOW * flows <= full <= _SEGMENTS_MOST * flows
        fits = fits and alike.packets <= 4 * PACKETS_MOST
        return alike if fits else None

    return fit


_NEAREST_US, _SPREAD = 10_000, 16  # round trips of 10, 20, 40, 80 and 160 ms


def _mixed(drawn: Environment) -> Environment | None:
    longest = replace(drawn, delay_us=_SPREAD * _NEAREST_US)
    queue = round(min(drawn.queue_bdp, 1) * longest.bdp_packets)
    environment = replace(
        drawn,
        delay_us=_NEAREST_US,
        rtt_spread=_SPREAD,
        flows=5,
        beside=None,
        beside_flows=0,
        queue_packets=queue,
        duration_us=_LONG_US,
    )
    fits = queue >= _SEGMENTS_A_FLOW * environment.flows and environment.packets <= 4 * PACKETS_MOST
    return environment if fits else None


_TRANSFERS = 100  # expected per run, enough for a 95th percentile


def hundred_transfers(drawn: Environment) -> Environment | None:
    """Returns a path with about a hundred transfers; None if they are too many for it."""
    long = replace(drawn, duration_us=_TRANSFERS * drawn.short_every_us)
    return long if long.packets <= PACKETS_MOST else None


def _short_alone(drawn: Environment) -> Environment | None:
    return hundred_transfers(replace(drawn, flows=0))


def _short_beside(drawn: Environment) -> Environment | None:
    alone = _short_alone(drawn)
    return alone and replace(alone, beside="cubic", beside_flows=1)


def to_the_end(environment: Environment) -> dict[str, Any]:
    """Stops new transfers in the last 20 s, so that all can finish."""
    begun_s = environment.duration_us / 1e6
    return {"short.stop": f"{begun_s:.6f}s", "duration": f"{begun_s + 20:.6f}s"}


_COLLAPSING = 100  # flows, and packets per round trip


def _collapse(drawn: Environment) -> Environment | None:
    rate_bps = round(_COLLAPSING * 8e6 * PACKET_BYTES / drawn.delay_us)
    environment = replace(drawn, rate_bps=rate_bps, flows=_COLLAPSING, beside=None, beside_flows=0)
    environment = replace(
        environment, queue_packets=round(min(drawn.queue_bdp, 2) * environment.bdp_packets)
    )
    environment = replace(environment, duration_us=60_000_000)
    return environment if environment.packets <= PACKETS_MOST else None


SECTIONS = (
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
        "against CUBIC's flows",
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
        settings=to_the_end,
    ),
    Section("collapse", "100 flows, 100 packets a round trip", "beside", (("", _collapse),), 0.2),
)
