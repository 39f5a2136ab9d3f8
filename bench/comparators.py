# SPDX-License-Identifier: BSD-3-Clause
"""Compares CUBIC, Vegas and others with ns-3's own: docs/comparison.md.

python -m tools.pages comparators                  simulate every point and write the table
python -m tools.pages comparators measure          run ns-3 again first (minutes)
python -m tools.pages comparators measure vegas    run ns-3 again first, for these protocols only

A point agrees if our mean goodput is within 10 % of ns-3's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bench import compare_ns3
from tools.pages import DOCS, Numbers, Page
from westwood import Scenario, simulate_many
from westwood.control.catalogue import PROTOCOLS

FILE = compare_ns3.REFERENCE / "ns3-comparators.csv"
TOLERANCE = 0.10
DURATION_S = 100
SEEDS = 30
# The protocols for which ns-3 has its own code; compare_ns3 covers Reno's window rules.
NAMES = {
    name: protocol.ns3
    for name, protocol in PROTOCOLS.items()
    if protocol.ns3 not in ("", "WwTcpWestwood") and protocol.algorithm != "reno"
}
# Rate (Mb/s), one-way delay (ms), PER and queue (packets) of the bottleneck, after 100 Mb/s, 1 ms.
PATHS = [
    (2.0, 45.0, 0.0, 50),
    (2.0, 45.0, 0.005, 50),
    (10.0, 20.0, 0.001, 50),
    (10.0, 50.0, 0.0, 100),
    (20.0, 10.0, 0.01, 50),
    (5.0, 100.0, 0.001, 100),
]


@dataclass
class Point(compare_ns3.Compared):
    """A protocol on a path."""

    cc: str
    rate_mbps: float
    delay_ms: float
    per: float
    queue: int
    delayed_ack: int

    @property
    def name(self) -> str:
        return f"{self.cc}-{self.rate_mbps:g}M-{self.delay_ms:g}ms-{self.per:g}-{self.delayed_ack}"

    @property
    def path(self) -> str:
        return f"{self.rate_mbps:g} Mb/s, {self.delay_ms:g} ms, {self.per:g}"

    @property
    def agrees(self) -> bool:
        return abs(self.ratio - 1) <= TOLERANCE


def points() -> list[Point]:
    """Returns the points of the reference file, with ns-3's goodputs."""
    points: dict[tuple[str, float, float, float, int, int], Point] = {}
    for row in compare_ns3.reference(FILE):
        rate, delay, per = (float(row[key]) for key in ("rate_mbps", "delay_ms", "per"))
        key = (row["cc"], rate, delay, per, int(row["queue"]), int(row["delayed_ack"]))
        points.setdefault(key, Point(*key)).theirs.append(float(row["goodput_bps"]))
    return list(points.values())


def simulate_point(point: Point, **changes: object) -> None:
    """Adds our goodputs: profile ns3-3.44, packets of 1500 bytes, no limit to slow start."""
    scenario = Scenario.preset("table1").with_settings(
        {
            "profile": "ns3-3.44",
            "duration": f"{DURATION_S}s",
            "tcp.cc": point.cc,
            "tcp.packet": "1500B",
            "tcp.delayed_ack": point.delayed_ack,
            "tcp.initial_ssthresh": "unlimited",
            "access.rate": "100Mbps",
            "access.delay": "1ms",
            "access.queue.limit": "10000p",
            "bottleneck.rate": f"{point.rate_mbps}Mbps",
            "bottleneck.delay": f"{point.delay_ms}ms",
            "bottleneck.queue.limit": f"{point.queue}p",
            "bottleneck.loss.rate": point.per,
            "bottleneck.loss.on": "forward",
            "tcp.flight_excludes_sacked": point.cc != "cubic",  # ns-3's CUBIC reduces cwnd
            **changes,
        }
    )
    rows = simulate_many(scenario, range(1, SEEDS + 1 if point.per > 0 else 2))
    point.ours = rows["goodput_bps"].to_list()


def measure(names: Sequence[str]) -> None:
    """Runs ns-3 at every point of these protocols and writes their rows of the reference file."""
    kinds = [(cc, path, 2) for cc in names for path in PATHS]
    kinds += [("vegas", path, 1) for path in PATHS if "vegas" in names]  # see docs/comparison.md
    jobs = [(*kind, seed) for kind in kinds for seed in range(1, 6 if kind[1][2] else 2)]
    fixed = {"access": 100e6, "access_delay": 1e-3, "payload": 1460, "ssthresh": 2**32 - 1}
    runs = [
        {"cc": NAMES[cc], "rate": rate * 1e6, "delay": delay / 1e3, "loss": per, "queue": queue,
         "seed": seed, "delayed_ack": delayed_ack, **fixed}
        for cc, (rate, delay, per, queue), delayed_ack, seed in jobs
    ]  # fmt: skip
    rates = list(compare_ns3.peer_goodputs(runs, DURATION_S))
    lines = FILE.read_text().splitlines(keepends=True)
    kept = [line for line in lines if line.partition(",")[0] not in names]
    for job, bps in zip(jobs, rates, strict=True):
        cc, path, delayed_ack, seed = job
        settings = ",".join(f"{value:g}" for value in (*path, delayed_ack, seed))
        kept.append(f"{cc},{settings},{bps:.1f}\n")
    FILE.write_text("".join(kept))


def measured(stored: Numbers, words: Sequence[str]) -> Iterator[Numbers]:
    """Yields the table."""
    if words:
        measure(words[1:] or list(NAMES))
    groups: dict[str, list[Point]] = {}
    for point in compare_ns3.simulated(points(), simulate_point):
        acks = ", an ACK per segment" if point.delayed_ack == 1 else ""
        groups.setdefault(f"{PROTOCOLS[point.cc].label}{acks}", []).append(point)
    yield {"comparators": compare_ns3.summary(groups)}


PAGE = Page(DOCS / "comparison.md", tables=lambda stored: stored, measure=measured)
