# SPDX-License-Identifier: BSD-3-Clause
"""Compares CUBIC, Vegas and others with ns-3's own: docs/comparison.md.

python -m bench.comparators                  simulate every point and write the table
python -m bench.comparators --measure        run ns-3 again first (minutes)
python -m bench.comparators --measure vegas  run ns-3 again first, for these protocols only

A point agrees if our mean goodput is within 10 % of ns-3's.
"""

from __future__ import annotations

import csv
import statistics
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from bench import compare_ns3, ns3_peer
from westwood import Scenario, simulate_many
from westwood.catalogue import PROTOCOLS

FILE = compare_ns3.REFERENCE / "ns3-comparators.csv"
TOLERANCE = 0.10
DURATION_S = 100
SEEDS = 30
# The protocols for which ns-3 has its own code; compare_ns3 covers Reno's window rules.
NAMES = {
    name: one.ns3
    for name, one in PROTOCOLS.items()
    if one.ns3 not in ("", "WwTcpWestwood") and one.algorithm != "reno"
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
class Point:
    """The goodputs of a protocol on a path, in bit/s, one value per run."""

    cc: str
    rate_mbps: float
    delay_ms: float
    per: float
    queue: int
    delayed_ack: int
    theirs: list[float] = field(default_factory=list)
    ours: list[float] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{self.cc}-{self.rate_mbps:g}M-{self.delay_ms:g}ms-{self.per:g}-{self.delayed_ack}"

    @property
    def path(self) -> str:
        return f"{self.rate_mbps:g} Mb/s, {self.delay_ms:g} ms, {self.per:g}"

    @property
    def ratio(self) -> float:
        return statistics.mean(self.ours) / statistics.mean(self.theirs)

    @property
    def agrees(self) -> bool:
        return abs(self.ratio - 1) <= TOLERANCE


def points() -> list[Point]:
    """Returns the points of the reference file, with ns-3's goodputs."""
    found: dict[tuple[str, float, float, float, int, int], Point] = {}
    with FILE.open() as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            key = (
                row["cc"],
                float(row["rate_mbps"]),
                float(row["delay_ms"]),
                float(row["per"]),
                int(row["queue"]),
                int(row["delayed_ack"]),
            )
            found.setdefault(key, Point(*key)).theirs.append(float(row["goodput_bps"]))
    return list(found.values())


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
    program = ns3_peer.peer()
    kinds = [(cc, path, 2) for cc in names for path in PATHS]
    kinds += [("vegas", path, 1) for path in PATHS if "vegas" in names]  # see docs/comparison.md
    jobs = [(*kind, seed) for kind in kinds for seed in range(1, 6 if kind[1][2] else 2)]

    def goodput(job: tuple[str, tuple[float, float, float, int], int, int]) -> float:
        cc, (rate, delay, per, queue), delayed_ack, seed = job
        result = ns3_peer.run(
            program,
            cc=NAMES[cc],
            rate=rate * 1e6,
            delay=delay / 1e3,
            loss=per,
            queue=queue,
            access=100e6,
            access_delay=1e-3,
            payload=1460,
            ssthresh=2**32 - 1,
            seed=seed,
            delayed_ack=delayed_ack,
            duration=DURATION_S,
        )
        return float(result["delivered_bytes"]) * 8 / DURATION_S

    with ThreadPoolExecutor(2) as pool:
        rates = list(pool.map(goodput, jobs))
    lines = FILE.read_text().splitlines(keepends=True)
    kept = [line for line in lines if line.partition(",")[0] not in names]
    for job, bps in zip(jobs, rates, strict=True):
        cc, path, delayed_ack, seed = job
        settings = ",".join(f"{value:g}" for value in (*path, delayed_ack, seed))
        kept.append(f"{cc},{settings},{bps:.1f}\n")
    FILE.write_text("".join(kept))


def table(compared: list[Point]) -> Iterator[str]:
    yield (
        "| protocol | ratio | | Mb/s | delay (ms) | PER | queue | delayed ACK | ns-3 runs "
        "| ns-3 mean (range), kb/s | ours, kb/s |"
    )
    yield "| :--- | ---: | :--- | ---: | ---: | ---: | ---: | ---: | ---: | :--- | ---: |"
    for p in compared:
        theirs = statistics.mean(p.theirs) / 1e3
        spread = f"{min(p.theirs) / 1e3:.0f}..{max(p.theirs) / 1e3:.0f}"
        ours = statistics.mean(p.ours) / 1e3
        yield (
            f"| {p.cc} | {p.ratio:.3f} | {'agrees' if p.agrees else 'DIFFERS'} "
            f"| {p.rate_mbps:g} | {p.delay_ms:g} | {p.per:g} | {p.queue} "
            f"| {p.delayed_ack} | {len(p.theirs)} | {theirs:.1f} ({spread}) | {ours:.1f} |"
        )


def main() -> int:
    if "--measure" in sys.argv[1:]:
        measure(sys.argv[2:] or list(NAMES))
    compared = points()
    for point in compared:
        simulate_point(point)
    groups: dict[str, list[Point]] = {}
    for point in compared:
        acks = ", an ACK per segment" if point.delayed_ack == 1 else ""
        groups.setdefault(f"{PROTOCOLS[point.cc].label}{acks}", []).append(point)
    compare_ns3.write("comparators", compare_ns3.summary(groups))
    print("\n".join(table(compared)))
    print(f"points that differ: {sum(not point.agrees for point in compared)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
