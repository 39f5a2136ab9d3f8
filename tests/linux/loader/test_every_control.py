# SPDX-License-Identifier: BSD-3-Clause
"""westwood kernel record records the connections of every control, by the kernel's tracepoints."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

import polars as pl
import pytest
from machine import Namespace, alone, eventually, joined, outcome

from westwood.kernel import reading, ww_kernel
from westwood.kernel.recording import Recording, recording

pytestmark = pytest.mark.kernel
PORT = 5001
PATH = ("--rate", 10e6, "--delay", 0.02, "--queue", 1000)
LOST = "200,400,401"
KERNELS = ("cubic", "reno")


def transfer(sender: Namespace, receiver: Namespace, *ccs: str, seconds: float = 1) -> int:
    """Sends with one control after the other; returns the bytes of the last."""
    sink = receiver.receive("10.77.0.2", PORT)
    return [outcome(sender.send("10.77.0.2", PORT, cc, seconds), sink, 1) for cc in ccs][-1]


@contextmanager
def path(*options: object) -> Iterator[tuple[Namespace, Namespace, Recording]]:
    """Joins two namespaces and records all of the sender's connections."""
    with joined(*PATH, *options) as (sender, receiver), recording(PORT, cc=()) as recorded:
        yield sender, receiver, recorded


def sent(recorded: Recording) -> pl.DataFrame:
    return recorded.trace.filter(pl.col("flow").str.contains(f">10.77.0.2:{PORT}", literal=True))


@pytest.mark.parametrize("cc", KERNELS)
def test_a_trace_has_its_losses_and_windows(bpffs, cc):
    """Three packets are lost, which takes two recoveries, or one on a busy machine."""
    with path("--drop", LOST) as (sender, receiver, recorded):
        delivered = transfer(sender, receiver, cc)
    # A connection of the previous test may still be ending.
    trace = sent(recorded).filter(pl.col("cc").str.starts_with("ww_").not_())
    events = trace["event"].cast(pl.String)
    assert (events[0], events[-1], set(trace["cc"])) == ("start", "end", {cc})
    losses = trace.filter(event="loss")
    assert losses.height in (1, 2) and (losses["ssthresh"] < losses["cwnd"]).all()
    exits = trace.filter(event="exit")
    # The ACK that ends a recovery may let cwnd grow at once, by the segments that it acknowledges.
    assert exits["cwnd"].is_between(exits["ssthresh"], losses["cwnd"].max()).all() and len(exits)
    again = trace.filter(event="retransmit")
    assert again["retransmitted"].is_sorted() and again["retransmitted"][-1] >= 3
    windows = trace.filter(event="window")
    assert windows["time_s"].diff().drop_nulls().min() >= 0.05
    assert 0.019 < windows["rtt_min_s"].min() < 0.04 and windows["srtt_s"].is_not_nan().all()
    assert trace["estimate_bps"].is_nan().all(), "other controls have no estimate"
    assert 8e6 < windows["sample_bps"].tail(5).median() < 11e6
    assert delivered <= trace["delivered_bytes"][-1] <= delivered + 2


def test_a_timeout_is_recorded_as_one(bpffs):
    """The path carries nothing for half a second."""
    with path("--queue", 30, "--dark", "0.3,0.9") as (sender, receiver, recorded):
        transfer(sender, receiver, "reno", seconds=1.5)
    timeouts = sent(recorded).filter(event="timeout")
    assert timeouts.height >= 1 and set(timeouts["state"].cast(pl.String)) == {"loss"}
    assert timeouts["cwnd"][0] <= 2


def test_delayed_packets_lead_to_an_undo(bpffs):
    """Half the link's rate is sent, so that no queue interferes and the hold outlasts the RTO."""
    with path("--hold", "0.3,0.9") as (sender, receiver, recorded):
        sink = receiver.receive("10.77.0.2", PORT)
        outcome(sender.send("10.77.0.2", PORT, "reno", 1.5, rate=6e5), sink, 1)
    assert "undo" in sent(recorded)["event"].cast(pl.String)


@pytest.mark.usefixtures("loaded")
def test_ours_are_recorded_once_among_the_others():
    """They are recorded once, by their own programs with the estimate, not by the tracepoints."""
    with path("--drop", LOST) as (sender, receiver, recorded):
        transfer(sender, receiver, "ww_plus", "cubic")
    ours, cubic = (sent(recorded).filter(cc=cc) for cc in ("ww_plus", "cubic"))
    assert ours.filter(event="start").height == cubic.filter(event="start").height == 1
    assert ours.filter(event="window")["estimate_bps"].is_not_nan().all()
    assert "retransmit" not in ours["event"].cast(pl.String)
    assert ours.filter(event="loss").height >= 1, "the lost packets belong to the first connection"
    assert recorded.dropped == 0 and recorded.trace["time_s"].max() < 60


@pytest.mark.usefixtures("loaded")
def test_without_ours_loaded_their_last_connections_are_recorded():
    with joined(*PATH) as (sender, receiver):
        sink = receiver.receive("10.77.0.2", PORT)
        sending = sender.send("10.77.0.2", PORT, "ww_plus", 1.2)
        time.sleep(0.5)
        ww_kernel.unload()
        with recording(PORT, cc=()) as recorded:
            outcome(sending, sink, 1)
    assert {"window", "end"} <= set(sent(recorded).filter(cc="ww_plus")["event"].cast(pl.String))


def test_only_the_requested_controls_are_recorded(bpffs, westwood, tmp_path):
    with alone() as host:
        sink = host.receive("127.0.0.1", PORT)
        with recording(cc=("reno",)) as recorded:
            for cc in KERNELS:
                outcome(host.send("127.0.0.1", PORT, cc, 0.2, rate=2e5), sink, 1)
    assert set(recorded.trace["cc"]) == {"reno"}
    file = tmp_path / "reno.parquet"
    recorded.trace.write_parquet(file)
    assert reading.read(file)[0].height == recorded.trace.height
    called = westwood("trace", file, "--plot")
    assert (called.code, called.err) == (0, "")


def programs() -> set[int]:
    listed = subprocess.run(["bpftool", "-j", "prog", "list"], capture_output=True, check=True)
    return {
        program["id"]
        for program in json.loads(listed.stdout)
        if program.get("name", "").startswith("trace_")
    }


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_stays_in_the_kernel(bpffs, tmp_path, number):
    program = ww_kernel.program()
    words = [program, "record", ww_kernel.pins(), 0, 1 << 16, 0, ww_kernel.bpf_object(program)]
    before = programs()
    with (tmp_path / "csv").open("wb") as out:
        recorder = subprocess.Popen([str(word) for word in words], stdout=out)
    assert eventually(lambda: os.path.getsize(tmp_path / "csv") > 0)
    assert len(programs() - before) == 4
    recorder.send_signal(number)
    recorder.wait()
    assert eventually(lambda: programs() == before)
