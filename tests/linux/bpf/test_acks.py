# SPDX-License-Identifier: BSD-3-Clause
"""The core decides in the kernel as in the simulator, given the same ACKs at the same times.

tests/golden/acks holds ACKs and the decisions of the simulator's sender (replayed to the simulator
by tests/engine/replay_test.cpp). This test replays them to a socket of this kernel.
"""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest
from machine import HELPERS
from scripted_peer import MSS, PORT, Line, read

from westwood.kernel import ww_kernel
from westwood.kernel.recording import recording

pytestmark = pytest.mark.kernel
# ww_bbr3 paces, so what is in flight at each ACK depends on this host's timers. test_replay.py has
# its windows, given the calls of a recording.
CONTROLS = [name for name in ww_kernel.CONTROLS if name != "ww_bbr3"]
ACKS = Path(__file__).parents[2] / "golden" / "acks"
ATTEMPTS = 3
MOST_LATE_US = 300
UNLIMITED = 2**31 - 1  # a recording has NaN


@dataclass(frozen=True)
class Played:
    """A recording of ACKs, with the kernel's decision on each and our recorder's events."""

    lines: list[Line]
    decided: list[tuple[str, int, int]]  # state, cwnd, ssthresh
    trace: pl.DataFrame
    owns_recovery: bool

    def near(self, segments: int) -> int:
        """Returns by how many segments windows may differ.

        The slow start of ww_cubic pauses while the smoothed RTT is long. The host's own delay
        makes it pause some ACKs earlier than in the simulator: three in 19 of 20 runs at a load of
        25, with windows of 128 to 149 segments, and five in the other. The other controls differed
        by a segment at most, in 83 runs.
        """
        return 1 + (segments // 32 if self.owns_recovery else 0)


@pytest.fixture(scope="module", params=["one-drop", "tail"])
def losses(request) -> str:
    return str(request.param)


@pytest.fixture(scope="module", params=CONTROLS)
def played(request, losses, controls) -> Played:
    path = ACKS / f"{request.param}-{losses}.txt"
    command = ["unshare", "-n", sys.executable, HELPERS / "scripted_peer.py", request.param, path]
    for _ in range(ATTEMPTS):
        with recording(PORT) as recorded:
            out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        words = [line.split() for line in out.splitlines()]
        if max(int(late_us) for late_us, *_ in words) < MOST_LATE_US:
            decided = [(state, int(cwnd), int(ssthresh)) for _, state, cwnd, ssthresh in words]
            return Played(read(path), decided, recorded.trace, request.param.startswith("ww_cubic"))
    pytest.skip("this machine is too busy to play ACKs in time")


def test_the_kernel_decides_as_the_simulator(played):
    """They agree on each ACK, duplicate or not, in and after recovery and a timeout."""
    before = "open"
    for line, (state, cwnd, ssthresh) in zip(played.lines, played.decided, strict=True):
        assert state == line.state, line
        began, before = state == "recovery" != before, state
        if began and played.owns_recovery:  # room for the first retransmission until the next ACK
            assert cwnd >= line.cwnd - 1, line
            continue
        # They may differ by a segment: BWE * RTTmin is rounded to whole segments, and the kernel's
        # PRR divides by cwnd instead of RFC 6937's RecoverFS.
        assert abs(cwnd - line.cwnd) <= played.near(line.cwnd), line
        # In recovery the kernel's ssthresh is the target of PRR; the recording has the core's.
        if state != "recovery":
            assert abs(ssthresh - line.ssthresh) <= played.near(line.ssthresh), line


def test_decisions_on_losses_are_recorded(played):
    decided = {line.state: line.ssthresh for line in reversed(played.lines)}
    losses = played.trace.filter(pl.col("event").is_in(["loss", "timeout"]))
    assert losses.height == 1
    ssthresh = losses["ssthresh"].fill_nan(UNLIMITED)[0]
    expected = decided[losses["state"][0]]
    assert ssthresh == pytest.approx(expected, abs=played.near(expected))


def test_the_kernel_estimates_as_the_simulator(played, losses):
    expected = {line.segment: line.estimate_bps for line in reversed(played.lines)}
    sampled = played.trace.filter(pl.col("event") == "window")
    if losses != "tail":  # after a loss, duplicate ACKs have the same segment
        before = played.trace.filter(pl.col("event") == "loss")["delivered_bytes"][0]
        sampled = sampled.filter(pl.col("delivered_bytes") < before)
    assert sampled.height >= 2
    # A rate sample depends on send times. TCP paces segments in pairs, the simulator singly.
    within = 0.1 if played.owns_recovery else 0.03
    for delivered_bytes, bps in sampled.select("delivered_bytes", "estimate_bps").iter_rows():
        segment = (delivered_bytes - 1) // MSS  # the SYN counts as a byte
        assert bps == pytest.approx(expected[segment], rel=within), segment
