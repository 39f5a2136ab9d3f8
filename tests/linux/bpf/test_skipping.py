# SPDX-License-Identifier: BSD-3-Clause
"""The controls survive a kernel that skips their operations: docs/linux-path.md.

skipping.bpf.c skips some operations and returns arbitrary numbers for them. `operations` skips one
operation in ten, but at most one of an ACK or timer: the next one corrects what it left. `acks`
skips all operations of every tenth ACK, like a kernel that cannot run programs in a softirq; then
nothing can be corrected before the next ACK. If this machine's kernel is such a kernel, it does so
now and then with every build. The path loses single packets, overflows its queue, goes dark for a
while, and delays some packets, so that there are recoveries, timeouts and undos. TCP_INFO and the
kernel's tracepoints show the windows.
"""

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest
from machine import eventually, joined, outcome, pins_in

from westwood.kernel import doctor, ww_kernel
from westwood.kernel.recording import recording
from westwood.kernel.sockets import Match, sampling

pytestmark = pytest.mark.kernel
CONTROLS = ("ww_plus", "ww_cubic", "ww_plus_rh", "ww_nrplus")
PORT, CONNECTIONS, SECONDS = 5001, 4, 5.0
LOST = ",".join(str(number) for number in range(500, 20000, 61))
PATH = ("--rate", 6e6, "--delay", 0.02, "--queue", 30)
LOSSES = ("--drop", LOST, "--dark", "2.0,2.6", "--hold", "3.2,3.7")
MOST = 200  # segments; pipe and queue together have 40, and slow start twice that
UNLIMITED = 2**31 - 1
SKIPS_ITSELF = any(check.note for check in doctor.checks() if check.name == "BPF programs")
NEAR = 0.8  # of the usual goodput; it was 0.97 to 1.02 in 14 runs at a load of 25
SHORT = 150  # connections, about 15 of which begin without init
KINDS = {"operations": "ww-skips-operations.bpf.o", "acks": "ww-skips-acks.bpf.o"}


IMPOSSIBLE = ~pl.col("cwnd").is_between(1, MOST)
IMPOSSIBLE |= pl.col("ssthresh").is_between(MOST, UNLIMITED, closed="none")


@dataclass(frozen=True)
class Seen:
    """A run's windows as seen from outside, and the number of operations detected as skipped."""

    goodput_bps: float
    samples: int
    impossible: int  # samples
    outlasting: int  # of these, those that follow another one and an ACK
    missed: int


def run(bpffs: Path) -> dict[str, Seen]:
    """Runs all controls, two at a time, each on a path of its own."""
    pairs = (pair(CONTROLS[first : first + 2], bpffs) for first in range(0, len(CONTROLS), 2))
    return {cc: seen for both in pairs for cc, seen in both.items()}


def pair(controls: Sequence[str], bpffs: Path) -> dict[str, Seen]:
    """Runs controls at the same time; the count of skipped operations is that of all."""
    before = ww_kernel.status()["missed"]
    ports = {cc: PORT + number for number, cc in enumerate(controls)}
    with ExitStack() as stack:
        paths = {cc: stack.enter_context(joined(*PATH, *LOSSES)) for cc in controls}
        receivers = {cc: paths[cc][1].receive("10.77.0.2", ports[cc]) for cc in controls}
        # None of ours is loaded, so the recorder treats these like any other control.
        with pins_in(bpffs / "none"), recording(cc=()) as recorded:
            samples = {
                cc: stack.enter_context(sampling(Match(remote_port=ports[cc]), path[0].pid, 0.01))
                for cc, path in paths.items()
            }
            senders = {
                cc: path[0].send("10.77.0.2", ports[cc], cc, SECONDS, CONNECTIONS)
                for cc, path in paths.items()
            }
            got = {cc: outcome(senders[cc], receivers[cc], CONNECTIONS) for cc in controls}
    missed = ww_kernel.status()["missed"] - before
    return {
        cc: seen(got[cc], samples[cc].frame(), recorded.trace, ports[cc], missed) for cc in controls
    }


def seen(got: int, sampled: pl.DataFrame, recorded: pl.DataFrame, port: int, missed: int) -> Seen:
    sent = recorded.filter(pl.col("flow").str.contains(f">10.77.0.2:{port}", literal=True))
    events = set(sent["event"].cast(pl.String))
    assert {"loss", "timeout", "exit"} <= events, "the path has no losses"
    traced = sent.filter(pl.col("event").is_in(["window", "retransmit"]))
    impossible = sampled.filter(IMPOSSIBLE).height + traced.filter(IMPOSSIBLE).height
    samples = sampled.height + traced.height
    return Seen(8 * got / SECONDS, samples, impossible, outlasting(sampled), missed)


def outlasting(sampled: pl.DataFrame) -> int:
    """Counts the samples whose window is impossible as in the one before, despite an ACK since."""
    acks = pl.col("delivered") + pl.col("dsacks")
    still = IMPOSSIBLE & IMPOSSIBLE.shift(1) & (acks > acks.shift(1))
    return sampled.sort("time_s").filter(still.over("flow")).height


def test_nothing_is_counted_if_no_operation_is_skipped(controls):
    """A connection without losses shows no sign of a skipped operation."""
    before = ww_kernel.status()["missed"]
    with joined("--rate", 20e6, "--delay", 0.01, "--queue", 2000) as (client, server):
        receiver = server.receive("10.77.0.2", PORT)
        for cc in CONTROLS:
            outcome(client.send("10.77.0.2", PORT, cc, 0.5), receiver, 1)
    assert ww_kernel.status()["missed"] - before <= 1
    assert eventually(
        lambda: all(not control["sockets"] for control in ww_kernel.status()["controls"])
    )


@pytest.fixture(scope="module")
def usual(controls) -> dict[str, Seen]:
    """Runs the controls as built for users."""
    return run(controls)


@pytest.fixture(scope="module", params=KINDS)
def skipping(request, usual, bpffs, tmp_path_factory) -> Iterator[tuple[str, Path]]:
    """Loads the controls that skip operations; yields what they skip."""
    program = ww_kernel.program()
    build = program.parent
    if not (build / "CMakeCache.txt").exists():
        pytest.skip("needs what make linux builds")
    make = ["cmake", "--build", str(build), "--target", "ww-bpf-skipping"]
    subprocess.run(make, check=True, capture_output=True)
    folder = tmp_path_factory.mktemp("skipping")
    shutil.copy(program, folder / "ww-kernel")
    shutil.copy(build / KINDS[request.param], folder / "ww.bpf.o")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(ww_kernel.VARIABLE, str(folder / "ww-kernel"))
        ww_kernel.load()
        yield request.param, bpffs


@pytest.fixture(scope="module")
def skipped(skipping) -> dict[str, Seen]:
    """Runs the controls that skip operations."""
    return run(skipping[1])


@pytest.fixture(params=CONTROLS)
def compared(request, skipping, skipped, usual) -> tuple[str, Seen, Seen]:
    """Yields what is skipped, and a control's windows with and without skipping."""
    return skipping[0], skipped[request.param], usual[request.param]


def test_no_window_is_impossible(compared):
    """Only if the kernel skips all operations of an ACK, one may be until the next ACK."""
    kind, seen, usual = compared
    assert seen.samples > 100 and usual.samples > 100
    assert usual.impossible == 0 or SKIPS_ITSELF
    assert seen.impossible == 0 or SKIPS_ITSELF or kind == "acks"


def test_no_impossible_window_outlasts_an_ack(compared):
    """With `acks` one in ten does, since the next ACK is skipped, too."""
    kind, seen, usual = compared
    assert usual.outlasting == 0
    assert seen.outlasting <= (3 if kind == "acks" else 0)


def test_goodput_stays_near(compared):
    _, seen, usual = compared
    assert seen.goodput_bps > NEAR * usual.goodput_bps


def test_skipped_operations_are_counted(compared):
    _, seen, usual = compared
    assert usual.missed < seen.missed
    assert usual.missed <= 3 or SKIPS_ITSELF


def test_connections_that_began_without_init_work(skipping):
    """Their release may be skipped, too: such a connection stays in the count of sockets."""
    counted = {control["name"]: control for control in ww_kernel.status()["controls"]}["ww_plus"]
    with joined("--rate", 50e6, "--delay", 0.002, "--queue", 1000) as (client, server):
        receiver = server.receive("10.77.0.2", PORT)
        outcome(client.send("10.77.0.2", PORT, "ww_plus", 1.0, SHORT), receiver, SHORT)
        more = {control["name"]: control for control in ww_kernel.status()["controls"]}["ww_plus"]
    assert more["total"] - counted["total"] == SHORT
