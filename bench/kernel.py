# SPDX-License-Identifier: BSD-3-Clause
"""`make bench`: what our congestion controls and their recorder cost in this machine's kernel.

python -m bench.kernel [--quick]     --quick: fewer turns

Everything runs on the loopback of a namespace, with iperf3, in turn with the kernel's own reno, so
that the machine cancels out. The figures are the median of the turns (the minimum is luck: in some
turns the ends share a cache) and the highest goodput. CPU time is that of both ends, with the
softirqs in their context. There are two paths: segments as the loopback takes them, with an ACK per
64 KiB; and packets of 1500 bytes one by one, with an ACK for every other, where a control runs
about thirty times as often. "reno again" shows the remaining noise. The kernel also counts the time
inside our programs, which other load does not disturb. Exits 77 with the reason where the tests of
tests/linux can't run. All figures are also in build/bench/kernel.json.
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from tests.linux.helpers import machine
from westwood.kernel import ww_kernel
from westwood.kernel.recording import recording

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "build" / "bench" / "kernel.json"
GB = 1e9
PATHS = {"segments of 64 KiB": "65536", "packets of 1500 bytes": "1500"}
BYTES = {"segments of 64 KiB": 1 << 29, "packets of 1500 bytes": 50 << 20}
PACED = "2G"  # bit/s
Measured = dict[str, float]


def iperf3(host: machine.Namespace, cc: str, *options: str) -> Measured:
    """Makes one transfer. Returns its CPU time per gigabyte and its goodput."""
    server = host.start("iperf3", "-s", "-1", "-p", "5201", "--forceflush")
    assert server.stdout is not None and "---" in server.stdout.readline()
    time.sleep(0.05)
    words = ("iperf3", "-c", "127.0.0.1", "-p", "5201", "-C", cc, "-J", *options)
    end = json.loads(host.run(*words))["end"]
    server.communicate()
    seconds, size = end["sum_sent"]["seconds"], end["sum_received"]["bytes"]
    use = end["cpu_utilization_percent"]
    cpu_s = (use["host_total"] + use["remote_total"]) / 100 * seconds
    return {"cpu_s_per_gb": cpu_s / (size / GB), "goodput_bps": 8 * size / seconds}


def transfer(host: machine.Namespace, cc: str, size: int) -> Callable[[], Measured]:
    return lambda: iperf3(host, cc, "-n", str(size))


def prepare(host: machine.Namespace, path: str) -> None:
    size = PATHS[path]
    host.run("ip", "link", "set", "lo", "mtu", size)
    if size == "1500":
        host.run("ip", "link", "set", "lo", "gso_max_size", "1500", "gso_max_segs", "1")


def in_turn(kinds: dict[str, Callable[[], Measured]], turns: int) -> dict[str, list[Measured]]:
    """Measures each kind once per turn, in a changing order."""
    order, seen = list(kinds), {name: [] for name in kinds}
    draw = random.Random(1)
    for _ in range(turns):
        draw.shuffle(order)
        for name in order:
            seen[name].append(kinds[name]())
    return seen


def compared(seen: dict[str, list[Measured]], reference: str) -> dict[str, dict[str, float]]:
    """Returns each kind's CPU time and highest goodput, with their ratios to the reference."""
    rows = {}
    for name, turns in seen.items():
        both = (turns, seen[reference])
        cpu, usual = (
            statistics.median(turn["cpu_s_per_gb"] for turn in turns_of) for turns_of in both
        )
        rate, most = (max(turn["goodput_bps"] for turn in turns_of) for turns_of in both)
        rows[name] = {
            "cpu_s_per_gb": cpu,
            "cpu_ratio": cpu / usual,
            "goodput_bps": rate,
            "goodput_ratio": rate / most,
        }
    return rows


def cpu_time(turns: int) -> dict[str, Any]:
    """Compares each control's CPU time per gigabyte with reno's."""
    results = {}
    for path, size in BYTES.items():
        with machine.alone() as host:
            prepare(host, path)
            names = ["reno", "reno again", *ww_kernel.CONTROLS]
            kinds = {name: transfer(host, name.split()[0], size) for name in names}
            seen = in_turn(kinds, turns)
        results[path] = compared(seen, "reno")
        print(f"CPU time per gigabyte, {path}, {turns} turns")
        for name, row in results[path].items():
            print(
                f"  {name:<12} {row['cpu_s_per_gb']:.3f} s/GB, {row['cpu_ratio']:.3f} of reno's; "
                f"at most {row['goodput_bps'] / 1e9:.2f} Gb/s"
            )
    return results


def programs(turns: int) -> dict[str, Any]:
    """Measures the share of CPU time inside our programs, by the kernel's own count."""
    results = {}
    path = "packets of 1500 bytes"
    with machine.alone() as host, counted():
        prepare(host, path)
        for name in ww_kernel.CONTROLS:
            shares, calls, spent = [], 0, 0.0
            for _ in range(turns):
                before = run_time()
                got = iperf3(host, name, "-n", str(BYTES[path]))
                after = run_time()
                spent = after[0] - before[0]
                calls = after[1] - before[1]
                shares.append(spent / (got["cpu_s_per_gb"] * BYTES[path] / GB))
            results[name] = {"share": statistics.median(shares), "ns_per_call": spent / calls * 1e9}
            print(
                f"  {name:<12} {100 * results[name]['share']:.2f} % of the CPU time is in its "
                f"programs, {results[name]['ns_per_call']:.0f} ns per call"
            )
    return results


@contextmanager
def counted() -> Iterator[None]:
    """Makes the kernel count the run time of BPF programs within the block."""
    switch = Path("/proc/sys/kernel/bpf_stats_enabled")
    before = switch.read_text()
    switch.write_text("1")
    try:
        yield
    finally:
        switch.write_text(before)


def run_time() -> tuple[float, int]:
    """Returns seconds in our programs since they were loaded, and calls."""
    listed = subprocess.run(["bpftool", "-j", "prog", "list"], capture_output=True, check=True)
    ours = [program for program in json.loads(listed.stdout) if "ww_" in program.get("name", "")]
    return (
        sum(program.get("run_time_ns", 0) for program in ours) / 1e9,
        sum(program.get("run_cnt", 0) for program in ours),
    )


def recorder(turns: int) -> dict[str, Any]:
    """Measures what `kernel record` costs a flow of 2 Gb/s: goodput, CPU time of each process."""
    size = 1 << 29
    with machine.alone() as host, counted():
        prepare(host, "packets of 1500 bytes")

        def once(recorded: bool) -> Measured:
            with recording() if recorded else nullcontext():
                process = ww_kernel.status()["recorder"]
                before, began = run_time()[0], on_cpu(process)
                got = iperf3(host, "ww_plus", "-b", PACED, "-n", str(size))
                got["programs_s"] = run_time()[0] - before
                got["recorder_s"] = on_cpu(process) - began
                got["cpu_s"] = got["cpu_s_per_gb"] * size / GB
                return got

        seen = in_turn({"without": lambda: once(False), "recorded": lambda: once(True)}, turns)
    row = compared(seen, "without")["recorded"]
    for key in ("cpu_s", "programs_s", "recorder_s"):
        for name, runs in seen.items():
            row[f"{key}_{name}"] = statistics.median(run[key] for run in runs)
    more_s = row["recorder_s_recorded"] + row["programs_s_recorded"] - row["programs_s_without"]
    row["more"] = more_s / row["cpu_s_without"]
    print(
        f"recorded at 2 Gb/s: {row['goodput_bps'] / 1e9:.3f} Gb/s, {row['goodput_ratio']:.4f} "
        f"of that without; {100 * row['more']:.2f} % more CPU time in recorder and programs"
    )
    return row


def on_cpu(process: int) -> float:
    """Returns the CPU seconds of a process, or 0 if there is none."""
    if process == 0:
        return 0.0
    return int(Path(f"/proc/{process}/schedstat").read_text().split()[0]) / 1e9


def thousand() -> dict[str, Any]:
    """Counts the recorded events with 1000 flows at once, each at a tenth of a Mb/s."""
    count = 1000
    with machine.alone() as host:
        receiver = host.receive("127.0.0.1", 5001)
        with recording() as recorded:
            sender = host.send("127.0.0.1", 5001, "ww_plus", 10, count, 12500)
            machine.eventually(lambda: ww_kernel.status()["controls"][1]["sockets"] == count, 10)
            at_once = ww_kernel.status()["controls"][1]["sockets"]
            machine.outcome(sender, receiver, count)
    events = recorded.trace["event"].value_counts()
    seen = dict(events.iter_rows())
    print(
        f"{at_once} connections at once: {recorded.events} events, {recorded.dropped} dropped; "
        f"{seen['start']} starts, {seen['window']} windows, {seen['end']} ends"
    )
    return {"at_once": at_once, "events": recorded.events, "dropped": recorded.dropped, **seen}


def main() -> int:
    reason = machine.missing_reason()
    if reason:
        print(f"without the kernel: {reason}", file=sys.stderr)
        return 77
    turns = 5 if "--quick" in sys.argv[1:] else 50
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, machine.own_bpffs(Path(folder)) as ours:
        if not ours:
            print("our controls are loaded here: westwood kernel unload", file=sys.stderr)
            return 77
        ww_kernel.load()
        results = {"thousand": thousand(), "recorder": recorder(turns // 4)}
        results |= {"programs": programs(5), "cpu": cpu_time(turns)}
    RESULTS.write_text(json.dumps(results, indent=1))
    print(f"all figures: {RESULTS.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
