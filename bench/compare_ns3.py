# SPDX-License-Identifier: BSD-3-Clause
"""Compares the simulator's `sack` flow with ns-3's NewReno with SACK: docs/comparison.md.

python -m tools.pages reference           simulate every point of bench/reference/, print them all
python -m tools.pages reference measure   run ns-3 again first, for the second set of points

A point agrees if our mean goodput is within 8 % of ns-3's mean or inside the range of its runs.
For a path in both sets the second set counts: its ten runs include the three of the first.
"""

from __future__ import annotations

import csv
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from bench import ns3_peer
from tools.pages import DOCS, Numbers, Page, table
from westwood import Scenario, simulate_many

REFERENCE = Path(__file__).with_name("reference")
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
class Compared:
    """Goodputs of ns-3 and ours on a path, in bit/s, one value per run."""

    theirs: list[float] = field(default_factory=list, kw_only=True)
    ours: list[float] = field(default_factory=list, kw_only=True)

    @property
    def ratio(self) -> float:
        return statistics.mean(self.ours) / statistics.mean(self.theirs)

    @property
    def agrees(self) -> bool:
        raise NotImplementedError

    @property
    def path(self) -> str:
        raise NotImplementedError

    @property
    def line(self) -> str:
        """What is compared, with all values."""
        theirs = statistics.mean(self.theirs) / 1e3
        spread = f"{min(self.theirs) / 1e3:.0f} to {max(self.theirs) / 1e3:.0f}"
        ours = f"{statistics.mean(self.ours) / 1e3:.1f}"
        verdict = "agrees" if self.agrees else "DIFFERS"
        runs = f"{len(self.theirs)} runs of ns-3: {theirs:.1f} ({spread})"
        return f"{self.ratio:.3f} {verdict:<7} {self.path}; kb/s: {runs}, ours {ours}"


@dataclass
class Point(Compared):
    """A path of NewReno with SACK."""

    rate_mbps: float
    delay_ms: float
    delayed_ack: int
    per: float
    more: list[float] = field(default_factory=list)  # ns-3's runs with more seeds, if any

    @property
    def path(self) -> str:
        acks = f", an ACK for {self.delayed_ack}" if self.delayed_ack != 2 else ""
        return f"{self.rate_mbps:g} Mb/s, {self.delay_ms:g} ms, {self.per:g}{acks}"

    @property
    def agrees(self) -> bool:
        mean, runs = statistics.mean(self.ours), self.more or self.theirs
        near = abs(mean / statistics.mean(runs) - 1) <= TOLERANCE
        return near or min(runs) <= mean <= max(runs)


def reference(file: Path) -> Iterator[dict[str, str]]:
    """Yields the rows of a file of ns-3's runs."""
    with file.open() as lines:
        yield from csv.DictReader(line for line in lines if not line.startswith("#"))


_Any = TypeVar("_Any", bound=Compared)


def points(name: str) -> list[Point]:
    """Returns the points of one file of bench/reference/, with ns-3's goodputs."""
    by_path = _read(name)
    for path, point in _read(SETS["more"]).items():
        if path in by_path and name != SETS["more"]:
            by_path[path].more = point.theirs
    return list(by_path.values())


def _read(name: str) -> dict[tuple[float, float, int, float], Point]:
    points: dict[tuple[float, float, int, float], Point] = {}
    for row in reference(REFERENCE / name):
        rate, delay, per = (float(row[key]) for key in ("bw_Mbps", "bdelay_ms", "per"))
        key = (rate, delay, int(row["delack"]), per)
        points.setdefault(key, Point(*key)).theirs.append(float(row["goodput_bps"]))
    return points


def peer_goodputs(runs: Sequence[Mapping[str, Any]], duration_s: int) -> Iterator[float]:
    """Yields ns-3's goodput of each run, in bit/s; two runs at a time."""
    program = ns3_peer.peer()

    def goodput(options: Mapping[str, Any]) -> float:
        result = ns3_peer.run(program, duration=duration_s, **options)
        return float(result["delivered_bytes"]) * 8 / duration_s

    with ThreadPoolExecutor(2) as pool:
        yield from pool.map(goodput, runs)


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
    jobs = [(point, seed) for point in MORE for seed in range(1, point[4] + 1)]
    runs = [
        {"cc": "TcpNewReno", "rate": rate * 1e6, "delay": delay / 1e3, "delayed_ack": delayed_ack,
         "loss": per, "seed": seed}
        for (rate, delay, delayed_ack, per, _), seed in jobs
    ]  # fmt: skip
    lines = [
        "# Unmodified ns-3 3.44, NewReno with SACK, by bench/ns3_peer.cc: one row a run of\n",
        f"# {DURATION_S} s. Settings: {SETS['reference']}. By compare_ns3.py --measure.\n",
        "bw_Mbps,bdelay_ms,delack,per,seed,goodput_bps\n",
    ]
    for (point, seed), bps in zip(jobs, peer_goodputs(runs, DURATION_S), strict=True):
        lines.append(f"{','.join(map(str, point[:4]))},{seed},{bps:.1f}\n")
    (REFERENCE / SETS["more"]).write_text("".join(lines))


def summary(groups: Mapping[str, Sequence[Compared]]) -> str:
    """Returns a table with a row per group: how many paths agree, and which differ."""
    rows = []
    for group, compared in groups.items():
        ratios = [point.ratio for point in compared]
        apart = [point for point in compared if not point.agrees]
        differ = "; ".join(f"{point.path}: {point.ratio:.3f}" for point in apart)
        spread = f"{min(ratios):.3f} to {max(ratios):.3f}"
        rows.append((group, len(compared), len(compared) - len(apart), spread, differ))
    return table("runs | paths: | agree: | ours ÷ ns-3 | where they differ", rows)


def simulated(points: Sequence[_Any], simulate: Callable[[_Any], None]) -> Sequence[_Any]:
    """Adds our goodputs to the points, and prints them."""
    for point in points:
        simulate(point)
        print(point.line)
    return points


def measured(stored: Numbers, words: Sequence[str]) -> Iterator[Numbers]:
    """Yields the table."""
    if "measure" in words:
        measure()
    sets = {NAMES[name]: simulated(points(file), simulate_point) for name, file in SETS.items()}
    yield {"reference": summary(sets)}


PAGE = Page(DOCS / "comparison.md", tables=lambda stored: stored, measure=measured)
