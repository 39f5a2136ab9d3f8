# SPDX-License-Identifier: BSD-3-Clause
"""Measures the patches of upstream/linux in Debian's kernel: docs/kernel-comparison.md.

    python -m upstream.linux_bench                   measures until every interval decides
    python -m upstream.linux_bench --minutes 20      starts no machine after this many minutes
    python -m upstream.linux_bench --only "90 ms"    only the paths whose name contains this
    python -m upstream.linux_bench --table           prints the table of all measurements
    python -m upstream.linux_bench --simulate        prints the same ratios from the simulator

Each patched state of tcp_westwood.c becomes a module with its own name, by Debian's kernel headers.
An emulated machine (westwood/kernel/emulated.py) has one netem path for every path and control. All
upload at once, turn by turn. The next machine has the paths that are not decided yet. The uploads
of a turn are a pair: they run in the same seconds on the same machine, with independent losses.
Rows are appended to build/bench/westwood_patches.jsonl.

A path is decided when the 99 % interval of the ratio lies on one side of 1, or within 3 % of it. It
is 99 % because it is checked after every machine. The table has 95 % intervals.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.linux.helpers.netem_paths import NETEM_PATH
from westwood import Scenario, simulate_many
from westwood.errors import RunError
from westwood.kernel import emulated
from westwood.results.metrics import half_width

ROOT = Path(__file__).resolve().parent.parent
SERIES = Path(__file__).parent / "linux"
RESULTS = ROOT / "build" / "bench" / "westwood_patches.jsonl"
HEADERS = emulated.CACHE / "headers"
SOURCE = "net/ipv4/tcp_westwood.c"
UPSTREAM = "westwood"
TURNS, SECONDS, OMITTED = 3, 30, 5  # the first OMITTED seconds are not measured
TOOLS = ("ip", "tc", "iperf3")
MODULES = (
    "kernel/drivers/net/veth.ko",
    "kernel/net/sched/sch_netem.ko",
    "kernel/net/ipv4/tcp_westwood.ko",
)
DECIDED, EQUAL, LEAST_PAIRS = 0.99, math.log(1.03), 5


@dataclass(frozen=True)
class Bottleneck:
    """A bottleneck, and the control of a second flow that shares it.

    The rate is in Mb/s, the one-way delay in ms, the loss in percent, the queue in packets.
    """

    rate: int
    delay: int
    loss: float
    queue: int
    beside: str = ""

    def __str__(self) -> str:
        lost = f"loss {self.loss:g} %" if self.loss else "no loss"
        beside = f", beside {self.beside}" if self.beside else ""
        return f"{self.rate} Mb/s, {2 * self.delay} ms, {lost}{beside}"


# The patched states in the simulator, as options of its westwood+-linux.
SIMULATED: tuple[dict[str, Any], ...] = (
    {"halve_on_loss": False},
    {"halve_on_loss": False, "filter": "ewma"},
)
SEEDS = range(1, 61)

PATHS = (
    Bottleneck(10, 45, 0.1, 100),
    Bottleneck(10, 45, 0.5, 100),
    Bottleneck(10, 45, 1, 100),
    Bottleneck(10, 10, 0.5, 100),
    Bottleneck(10, 100, 0.5, 200),
    Bottleneck(5, 25, 0, 25),
    Bottleneck(10, 25, 0, 45, beside="reno"),
)


def patches() -> list[Path]:
    """Returns the patches of the series, in order."""
    return sorted(SERIES.glob("*.patch"))


def controls() -> list[str]:
    """Returns the names of upstream's control and of each patched state."""
    return [UPSTREAM, *(f"{UPSTREAM}_{n}" for n in range(1, len(patches()) + 1))]


def fetch_headers() -> None:
    """Downloads the headers of the emulated kernel and its tcp_westwood.c with apt-get, once."""
    if (HEADERS / SOURCE).exists():
        return
    booted = emulated.image()
    assert booted is not None
    release = booted.name.removeprefix("vmlinuz-")
    names = [f"linux-headers-{release}", f"linux-headers-{release.replace('-amd64', '-common')}"]
    names += ["linux-kbuild-6.1", "linux-compiler-gcc-12-x86", "linux-source-6.1"]
    with tempfile.TemporaryDirectory(dir=emulated.CACHE, prefix=".headers-") as folder:
        part, packages = Path(folder) / "part", Path(folder) / "packages"
        packages.mkdir()
        if subprocess.run(["apt-get", "download", *names], cwd=packages).returncode != 0:
            raise RunError(f"apt-get did not fetch {' '.join(names)}")
        for package in packages.glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", str(package), str(part)], check=True)
        archive = next(part.glob("usr/src/linux-source-6.1.tar.xz"))
        words = [
            "tar",
            "-xJf",
            str(archive),
            "-C",
            str(part),
            "--strip-components=1",
            "--wildcards",
        ]
        subprocess.run([*words, f"*/{SOURCE}"], check=True)
        archive.unlink()
        common = next(part.glob("usr/src/*-common"))
        # It names the other package by its installed path.
        makefile = part / "usr" / "src" / names[0] / "Makefile"
        makefile.write_text(f"include {HEADERS / common.relative_to(part)}/Makefile\n")
        part.rename(HEADERS)


def build(folder: Path) -> list[Path]:
    """Builds a module for each patched state. Returns them in the series' order."""
    (folder / SOURCE).parent.mkdir(parents=True)
    shutil.copyfile(HEADERS / SOURCE, folder / SOURCE)
    headers = next((HEADERS / "usr" / "src").glob("linux-headers-*-amd64"))
    modules = []
    for patch, name in zip(patches(), controls()[1:], strict=True):
        words = ["patch", "--strip=1", "--fuzz=0", "--silent", f"--input={patch}"]
        subprocess.run(words, cwd=folder, check=True)
        home = folder / name
        home.mkdir()
        text = (folder / SOURCE).read_text()
        assert text.count(f'"{UPSTREAM}"') == 1
        (home / f"tcp_{name}.c").write_text(text.replace(f'"{UPSTREAM}"', f'"{name}"'))
        (home / "Makefile").write_text(f"obj-m := tcp_{name}.o\nccflags-y := -Werror\n")
        words = ["make", "-C", str(headers), f"M={home}", "modules"]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode != 0:
            raise RunError(f"{patch.name} does not compile: {done.stderr[-2000:]}")
        modules.append(home / f"tcp_{name}.ko")
    return modules


def script(modules: list[Path], paths: list[Bottleneck]) -> str:
    numbered = list(enumerate(((path, cc) for path in paths for cc in controls()), 1))
    lines = [f"insmod /{module.name}" for module in modules] + [NETEM_PATH]
    for number, (path, _) in numbered:
        lines.append(f"netem_path {number} {path.rate} {path.delay} {path.loss:g} {path.queue}")
        if path.beside:
            lines.append(f"ip netns exec r{number} iperf3 -s -D -p 5202")
    lines += ["sleep 1", 'echo "## turns"', f"for turn in $(seq {TURNS}); do", "flows="]
    for number, (path, cc) in numbered:
        client = f"ip netns exec s{number} iperf3 -c 10.{number}.2.2 -t {SECONDS} -O {OMITTED} -f k"
        lines.append(f'{client} -C {cc} > /tmp/{number} 2>&1 & flows="$flows $!"')
        if path.beside:
            lines.append(f"{client} -p 5202 -C {path.beside} > /tmp/{number}.beside 2>&1 &")
            lines.append('flows="$flows $!"')
    lines.append("wait $flows")
    for number, (path, cc) in numbered:
        beside = f"$(grep receiver /tmp/{number}.beside)" if path.beside else ""
        output = f"$(grep receiver /tmp/{number})|$(grep sender /tmp/{number})|{beside}"
        lines.append(f'echo "$turn|{path}|{cc}|{output}"')
    return "\n".join([*lines, "done", ""])


def _mbps(output: str) -> float | None:
    rate = re.search(r"([\d.]+) Kbits/sec", output)
    return float(rate[1]) / 1000 if rate else None


def rows(printed: list[str]) -> list[dict[str, Any]]:
    """Reads the machine's turns; a failed upload is None."""
    rows = []
    for line in emulated.after(printed, "turns"):
        turn, path, cc, received, sent, beside = line.split("|")
        again = re.search(r"bits/sec +(\d+)", sent)
        row = {"turn": int(turn), "path": path, "cc": cc, "mbps": _mbps(received)}
        row |= {"resent": int(again[1]) if again else None, "beside_mbps": _mbps(beside)}
        rows.append(row)
    return rows


def measured() -> list[dict[str, Any]]:
    """Reads what all machines have measured so far."""
    if not RESULTS.exists():
        return []
    return [json.loads(line) for line in RESULTS.read_text().splitlines()]


@dataclass(frozen=True)
class Ratio:
    """The geometric mean of one's goodput over the other's, over pairs of the same turn."""

    mean: float
    deviation: float
    pairs: int

    def bounds(self, level: float = 0.95) -> tuple[float, float]:
        half = half_width(self.deviation, self.pairs, level)
        return math.exp(self.mean - half), math.exp(self.mean + half)

    @property
    def decided(self) -> bool:
        low, high = (math.log(bound) for bound in self.bounds(DECIDED))
        told = low > 0 or high < 0 or (low > -EQUAL and high < EQUAL)
        return told and self.pairs >= LEAST_PAIRS

    def __str__(self) -> str:
        low, high = self.bounds()
        return f"{math.exp(self.mean):.3f} ({low:.3f} to {high:.3f})"


def ratio(rows: list[dict[str, Any]], path: str, first: str, other: str, column: str) -> Ratio:
    """Compares two controls on a path."""
    by: dict[tuple[str, int], dict[str, float]] = {}
    for row in rows:
        if row["path"] == path and row[column]:
            by.setdefault((row["machine"], row["turn"]), {})[row["cc"]] = row[column]
    logs = [
        math.log(pair[first] / pair[other]) for pair in by.values() if {first, other} <= set(pair)
    ]
    if len(logs) < 2:
        return Ratio(math.nan, math.nan, len(logs))
    return Ratio(statistics.mean(logs), statistics.stdev(logs), len(logs))


def table(rows: list[dict[str, Any]]) -> str:
    """Returns the measurements as a table."""
    names = controls()
    over = [f"{name} / {UPSTREAM}" for name in names[1:]]
    lines = ["| path | pairs | " + " | ".join([*(f"`{n}`" for n in names), *over]) + " |"]
    lines.append("| --- | ---: | " + " | ".join(["---:"] * (len(names) + len(over))) + " |")
    for path in PATHS:
        for column in ("mbps", "beside_mbps") if path.beside else ("mbps",):
            cells = []
            for name in names:
                values = [r[column] for r in rows if (r["path"], r["cc"]) == (str(path), name)]
                there = [value for value in values if value]
                cells.append(f"{statistics.mean(there):.2f}" if there else "")
            ratios = [ratio(rows, str(path), n, UPSTREAM, column) for n in names[1:]]
            title = f"{path}" if column == "mbps" else f"the {path.beside} beside it"
            cells = [title, str(ratios[0].pairs), *cells, *map(str, ratios)]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def simulated(path: Bottleneck, options: dict[str, Any]) -> list[float]:
    """Simulates upstream's Westwood+ with other options: goodput in Mb/s, one value per seed."""
    link = {
        "name": "path",
        "between": ["a", "b"],
        "rate": f"{path.rate}Mbps",
        "delay": f"{path.delay}ms",
        "queue": {"limit": f"{path.queue}p"},
        "loss": {"rate": path.loss / 100},
    }
    cc = {"name": "westwood+-linux", **options}
    flow = {"name": "f", "from": "a", "to": "b", "cc": cc}
    duration = f"{OMITTED + SECONDS}s"
    scenario = Scenario(
        name="patches", duration=duration, profile="linux", link=[link], flow=[flow]
    )
    rows = simulate_many(scenario, SEEDS, workers=1).sort("seed")
    return [rate / 1e6 for rate in rows["goodput_bps"]]


def simulated_table() -> str:
    """Returns the simulator's ratios; a seed is a pair."""
    lines = ["| path | upstream | patch 1 / upstream | patches 1, 2 / upstream |"]
    lines.append("| --- | ---: | ---: | ---: |")
    for path in PATHS:
        if path.beside:
            continue
        upstream = simulated(path, {})
        cells = [f"{path}", f"{statistics.mean(upstream):.2f}"]
        for options in SIMULATED:
            pairs = zip(simulated(path, options), upstream, strict=True)
            logs = [math.log(first / other) for first, other in pairs]
            cells.append(str(Ratio(statistics.mean(logs), statistics.stdev(logs), len(logs))))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def undecided(rows: list[dict[str, Any]]) -> list[Bottleneck]:
    """Returns the paths where the ratio of any patched state is not decided yet."""
    return [
        path
        for path in PATHS
        if not all(
            ratio(rows, str(path), name, UPSTREAM, "mbps").decided for name in controls()[1:]
        )
    ]


def measure(minutes: float, only: str) -> None:
    """Runs machine after machine until every path in `only` is decided or time is up."""
    emulated.fetch()
    reason = emulated.missing_reason((*TOOLS, "patch", "make"))
    if reason:
        raise RunError(reason)
    fetch_headers()
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + 60 * minutes
    with tempfile.TemporaryDirectory(prefix="ww-patches-") as folder:
        modules = build(Path(folder))
        programs = [Path(str(emulated.find(tool))) for tool in TOOLS]
        while time.monotonic() < until:
            paths = [path for path in undecided(measured()) if only in str(path)]
            if not paths:
                break
            began = time.monotonic()
            printed = emulated.run(
                script(modules, paths), 3600, programs=programs, modules=MODULES, files=modules
            )
            machine = f"{int(time.time())}-{os.getpid()}"
            with RESULTS.open("a") as out:
                for row in rows(printed):
                    out.write(json.dumps({"machine": machine, **row}) + "\n")
            print(f"{TURNS} turns in {time.monotonic() - began:.0f} s of this host", flush=True)
            print(table(measured()), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m upstream.linux_bench")
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--only", default="")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--simulate", action="store_true")
    words = parser.parse_args()
    if words.simulate:
        print(simulated_table())
        return 0
    if not words.table:
        try:
            measure(words.minutes, words.only)
        except RunError as error:
            print(error)
            return 77
    print(table(measured()))
    left = undecided(measured())
    print("\nNot decided: " + ("; ".join(map(str, left)) or "none"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
