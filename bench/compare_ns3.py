# SPDX-License-Identifier: BSD-3-Clause
"""Compares the simulator's `sack` flow with ns-3's NewReno with SACK: docs/comparison.md.

python -m bench.compare_ns3             simulate every point of bench/reference/, print them all
python -m bench.compare_ns3 --measure   run ns-3 again first, for the second set of points

A point agrees if our mean goodput is within 8 % of ns-3's mean or inside the range of its runs.
For a path in both sets the second set counts: its ten runs include the three of the first.
"""

from __future__ import annotations

import csv
import statistics
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from bench import ns3_peer
from westwood import Scenario, simulate_many

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "bench" / "reference"
PAGE = ROOT / "docs" / "comparison.md"
SETS = {"reference": "ns3-newreno-sack.csv", "more": "ns3-newreno-sack-more.csv"}
NAMES = {"reference": "one or three, made before this project", "more": "one or ten"}
SEEDS = 30
TOLERANCE = 0.08
DURATION_S = 200

# Rate (Mb/s), bottleneck delay (ms), delayed ACK count, PER, runs of ns-3.
MORE = [
    (2.0, 0.01, 1, 0.001, 10),
    (2.0, 0.01, 1, 0.005, 10),
    (2.0, 0.01, 1, 0.02, 10),
    (2.0, 0.01, 2, 0.02, 10),
    (2.0, 0.01, 4, 0.002, 10),
    (2.0, 10.0, 2, 0.002, 10),
    (2.0, 50.0, 2, 0.0005, 10),
    (2.0, 50.0, 2, 0.005, 10),
    (2.0, 100.0, 2, 0.001, 10),
    (2.0, 100.0, 2, 0.005, 10),
    (1.0, 10.0, 2, 0.005, 10),
    (4.0, 10.0, 2, 0.001, 10),
    (8.0, 0.01, 2, 0.0005, 10),
    (8.0, 50.0, 1, 0.001, 10),
    (1.0, 0.01, 2, 0.0, 1),
    (8.0, 50.0, 2, 0.0, 1),
]


@dataclass
class Point:
    """A path, with goodputs in bit/s, one value per run."""

    rate_mbps: float
    delay_ms: float
    delayed_ack: int
    per: float
    theirs: list[float] = field(default_factory=list)
    more: list[float] = field(default_factory=list)  # ns-3's runs with more seeds, if any
    ours: list[float] = field(default_factory=list)

    @property
    def path(self) -> str:
        acks = f", an ACK for {self.delayed_ack}" if self.delayed_ack != 2 else ""
        return f"{self.rate_mbps:g} Mb/s, {self.delay_ms:g} ms, {self.per:g}{acks}"

    @property
    def ratio(self) -> float:
        return statistics.mean(self.ours) / statistics.mean(self.theirs)

    @property
    def agrees(self) -> bool:
        mean, runs = statistics.mean(self.ours), self.more or self.theirs
        near = abs(mean / statistics.mean(runs) - 1) <= TOLERANCE
        return near or min(runs) <= mean <= max(runs)


def points(name: str) -> list[Point]:
    """Returns the points of one file of bench/reference/, with ns-3's goodputs."""
    found = _read(name)
    for path, point in _read(SETS["more"]).items():
        if path in found and name != SETS["more"]:
            found[path].more = point.theirs
    return list(found.values())


def _read(name: str) -> dict[tuple[float, float, int, float], Point]:
    found: dict[tuple[float, float, int, float], Point] = {}
    with (REFERENCE / name).open() as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            key = (
                float(row["bw_Mbps"]),
                float(row["bdelay_ms"]),
                int(row["delack"]),
                float(row["per"]),
            )
            found.setdefault(key, Point(*key)).theirs.append(float(row["goodput_bps"]))
    return found


def simulate_point(point: Point, seeds: int = SEEDS) -> None:
    """Adds our goodputs: profile ns3-3.44, which gives the reason for each setting."""
    scenario = Scenario.preset("table1").with_settings(
        {
            "profile": "ns3-3.44",
            "duration": f"{DURATION_S}s",
            "tcp.cc": "sack",
            "tcp.delayed_ack": point.delayed_ack,
            "access.queue.limit": "10000p",
            "bottleneck.rate": f"{point.rate_mbps}Mbps",
            "bottleneck.delay": f"{point.delay_ms}ms",
            "bottleneck.loss.rate": point.per,
            "bottleneck.loss.on": "forward",
        }
    )
    rows = simulate_many(scenario, range(1, seeds + 1 if point.per > 0 else 2))
    point.ours = rows["goodput_bps"].to_list()


def measure() -> None:
    """Runs ns-3 at the points of MORE and writes their file."""
    program = ns3_peer.peer()
    jobs = [(point, seed) for point in MORE for seed in range(1, point[4] + 1)]

    def goodput(job: tuple[tuple[float, float, int, float, int], int]) -> float:
        (rate, delay, delayed_ack, per, _), seed = job
        result = ns3_peer.run(
            program,
            cc="TcpNewReno",
            rate=rate * 1e6,
            delay=delay / 1e3,
            delayed_ack=delayed_ack,
            loss=per,
            seed=seed,
            duration=DURATION_S,
        )
        return float(result["delivered_bytes"]) * 8 / DURATION_S

    with ThreadPoolExecutor(2) as pool, (REFERENCE / SETS["more"]).open("w") as file:
        file.write(
            "# Unmodified ns-3 3.44, NewReno with SACK, by bench/ns3_peer.cc: one row a run of\n"
        )
        file.write(
            f"# {DURATION_S} s. Settings: {SETS['reference']}. By compare_ns3.py --measure.\n"
        )
        file.write("bw_Mbps,bdelay_ms,delack,per,seed,goodput_bps\n")
        for ((rate, delay, delayed_ack, per, _), seed), bps in zip(
            jobs, pool.map(goodput, jobs), strict=True
        ):
            file.write(f"{rate},{delay},{delayed_ack},{per},{seed},{bps:.1f}\n")


def table(compared: list[Point]) -> Iterator[str]:
    yield (
        "| ratio | | Mb/s | delay (ms) | delayed ACK | PER | ns-3 runs "
        "| ns-3 mean (range), kb/s | ours, kb/s |"
    )
    yield "| ---: | :--- | ---: | ---: | ---: | ---: | ---: | :--- | ---: |"
    for p in compared:
        theirs = statistics.mean(p.theirs) / 1e3
        spread = f"{min(p.theirs) / 1e3:.0f}..{max(p.theirs) / 1e3:.0f}"
        yield (
            f"| {p.ratio:.3f} | {'agrees' if p.agrees else 'DIFFERS'} "
            f"| {p.rate_mbps:g} | {p.delay_ms:g} | {p.delayed_ack} | {p.per:g} | {len(p.theirs)} "
            f"| {theirs:.1f} ({spread}) | {statistics.mean(p.ours) / 1e3:.1f} |"
        )


class Compared(Protocol):
    """A path with both goodputs, of this module or of bench.comparators."""

    @property
    def path(self) -> str: ...
    @property
    def ratio(self) -> float: ...
    @property
    def agrees(self) -> bool: ...


def summary(groups: Mapping[str, Sequence[Compared]]) -> Iterator[str]:
    """Yields a table with a row per group: how many paths agree, and which differ."""
    yield "| runs | paths | agree | ours ÷ ns-3 | where they differ |"
    yield "| :--- | ---: | ---: | :--- | :--- |"
    for group, compared in groups.items():
        ratios = [point.ratio for point in compared]
        apart = [point for point in compared if not point.agrees]
        differ = "; ".join(f"{point.path}: {point.ratio:.3f}" for point in apart)
        agree = len(compared) - len(apart)
        spread = f"{min(ratios):.3f} to {max(ratios):.3f}"
        yield f"| {group} | {len(compared)} | {agree} | {spread} | {differ} |"


def write(name: str, lines: Iterable[str]) -> None:
    """Replaces the table between the page's two markers."""
    start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    page = PAGE.read_text()
    before, _, rest = page.partition(start)
    _, _, after = rest.partition(end)
    PAGE.write_text(before + start + "\n" + "\n".join(lines) + "\n" + end + after)


def main() -> int:
    if "--measure" in sys.argv[1:]:
        measure()
    groups: dict[str, Sequence[Compared]] = {}
    for name, file in SETS.items():
        compared = points(file)
        for point in compared:
            simulate_point(point)
        print("\n".join(table(compared)))
        groups[NAMES[name]] = compared
    write("reference", summary(groups))
    print(f"the summary is in {PAGE.relative_to(ROOT)}")
    return 0 if all(point.agrees for point in groups[NAMES["reference"]]) else 1


if __name__ == "__main__":
    sys.exit(main())
