# SPDX-License-Identifier: BSD-3-Clause
"""The core decides in the kernel as in the simulator, given the same ACKs at the same times.

tests/golden/acks holds ACKs and what the simulator's sender decides on each (replayed there by
tests/engine/replay_test.cpp); here they go to a socket of this kernel.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from scripted_peer import MSS, PORT, read

from westwood import kernel

pytestmark = pytest.mark.kernel
HERE = Path(__file__).parent
ACKS = HERE.parent / "golden" / "acks"
ATTEMPTS = 3
MOST_LATE_US = 300


def play(cc: str, path: Path) -> tuple[list[tuple[str, int, int]], pl.DataFrame]:
    """What the kernel decided on each ACK of a recording, and its own recording."""
    command = ["unshare", "-n", sys.executable, HERE / "scripted_peer.py", cc, path]
    for _ in range(ATTEMPTS):
        with kernel.recording(PORT) as recorded:
            out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        words = [line.split() for line in out.splitlines()]
        if max(int(late_us) for late_us, *_ in words) < MOST_LATE_US:
            decided = [(state, int(cwnd), int(ssthresh)) for _, state, cwnd, ssthresh in words]
            return decided, recorded.trace
    pytest.skip("this machine is too busy to play ACKs in time")


@pytest.mark.parametrize("losses", ["one-drop", "tail"])
@pytest.mark.parametrize("cc", kernel.CONTROLS)
def test_the_kernel_decides_as_the_simulator(cc: str, losses: str, controls: Path) -> None:
    path = ACKS / f"{cc}-{losses}.txt"
    lines = read(path)
    decided, trace = play(cc, path)
    assert len(decided) == len(lines)
    for line, (state, cwnd, ssthresh) in zip(lines, decided, strict=True):
        assert state == line.state, line
        # A segment: BWE * RTTmin is cut to whole ones, and PRR divides by cwnd, not by RecoverFS.
        assert abs(cwnd - line.cwnd) <= 1, line
        if state != "recovery":  # then it is where PRR goes to; the core's is in the recording
            assert abs(ssthresh - line.ssthresh) <= 1, line
    first = {line.state: line.ssthresh for line in reversed(lines)}
    found = trace.filter(pl.col("event").is_in(["loss", "timeout"]))
    assert found.height == 1
    assert found["ssthresh"][0] == pytest.approx(first[found["state"][0]], abs=1)


@pytest.mark.parametrize("cc", kernel.CONTROLS)
def test_the_kernel_estimates_as_the_simulator(cc: str, controls: Path) -> None:
    path = ACKS / f"{cc}-tail.txt"
    expected: dict[int, list[float]] = {}
    for line in read(path):
        expected.setdefault(line.segment, []).append(line.estimate_bps)
    _, trace = play(cc, path)
    sampled = trace.filter(pl.col("event") == "window")
    assert sampled.height >= 5
    for delivered_bytes, bps in sampled.select("delivered_bytes", "estimate_bps").iter_rows():
        segment = (delivered_bytes - 1) // MSS  # the SYN counts
        assert bps == pytest.approx(expected[segment][0], rel=0.03), segment
