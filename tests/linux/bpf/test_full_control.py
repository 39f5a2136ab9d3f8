# SPDX-License-Identifier: BSD-3-Clause
"""linux/bpf/full_control.h makes its calls in the right order, and handles idle times."""

import sys

import polars as pl
import pytest
from machine import Namespace, joined, outcome

from westwood.kernel.recording import recording
from westwood.kernel.sockets import Match, sampling

pytestmark = pytest.mark.kernel
PATH = ("--rate", "20e6", "--delay", "0.04", "--queue", "60")
# Slow enough for a busy machine: the queue outlasts its stalls, so that the path keeps its rate.
RATE_BPS = 5e6
SLOW_PATH = ("--rate", RATE_BPS, "--delay", "0.04", "--queue", "60")
CC = "ww_cubic"
INITIAL_CWND = 10
# Sends 600 kB, is idle for a second, sends 100 kB, and prints cwnd before and after the 100 kB.
TALKER = f"""
import socket, struct, sys, time
one = socket.socket()
one.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"{CC}")
one.connect(("10.77.0.2", 5001))
def cwnd(): return struct.unpack_from("I", one.getsockopt(socket.IPPROTO_TCP, 11, 104), 80)[0]
one.sendall(bytes(600000)); time.sleep(2.0)
print(cwnd()); one.sendall(bytes(100000)); print(cwnd())
one.close()
"""


@pytest.fixture(scope="module")
def lossy(controls) -> pl.DataFrame:
    """Records a connection that loses a packet, and everything for half a second.

    It sends no tail loss probes. A busy machine sends one shortly before the timeout, which then
    leaves it in flight.
    """
    with joined(*SLOW_PATH, "--drop", "300", "--dark", "1.3,1.8") as (client, server):
        client.run("sysctl", "-qw", "net.ipv4.tcp_early_retrans=0")
        receiver = server.receive("10.77.0.2", 5001)
        with recording() as recorded:
            outcome(client.send("10.77.0.2", 5001, CC, 4.0), receiver, 1)
    assert recorded.dropped == 0
    return recorded.trace


def test_losses_timeouts_and_ends_of_recovery_take_turns(lossy):
    """Each recovery begins and ends once; a timeout also ends one, and has no end itself."""
    events = [event for event in lossy["event"] if event in ("loss", "exit", "timeout", "undo")]
    assert {"loss", "exit", "timeout"} <= set(events)
    recovers = False
    for event in events:
        assert recovers == (event == "exit") or event in ("timeout", "undo"), events
        recovers = event == "loss"


def test_a_timeout_continues_with_one_segment_more_than_in_flight(lossy):
    timeout = lossy.filter(event="timeout").row(0, named=True)
    before = lossy.filter(pl.col("time_s") < timeout["time_s"]).row(-1, named=True)
    assert timeout["cwnd"] == 1 and timeout["state"] == "loss"
    # RFC 5681, 3.1: since `before` each segment delivered has raised cwnd by at most one.
    delivered_bytes = timeout["delivered_bytes"] - before["delivered_bytes"]
    cwnd = before["cwnd"] + delivered_bytes / timeout["mss"]
    assert 2 <= timeout["ssthresh"] <= cwnd


def test_the_rate_sample_is_the_paths_rate(lossy):
    """The estimate comes from the kernel's samples: payload of 1448 in packets of 1500 bytes.

    Slow start and the time after the timeout have lower rates. A machine that stalls delivers less
    for two rounds, then more. At a load of 20 half of the estimates were within 5 %.
    """
    seen = lossy.filter(event="window")
    payload_bps = RATE_BPS * 1448 / 1500
    near = seen["estimate_bps"].is_between(0.95 * payload_bps, 1.05 * payload_bps)
    assert near.mean() > 0.25  # type: ignore[operator]


def test_the_end_of_pacing_shortens_no_round_trip(controls):
    """A loss ends paced slow start while a segment is still held back. If pacing ended at once, the
    kernel would send it with a later time stamp, and its RTT would be 15 ms too short.
    """
    path = ("--rate", 20e6, "--delay", 1.0, "--queue", 1000, "--drop", "3,4,5,6,7,8,9")
    with joined(*path) as (client, server):
        receiver = server.receive("10.77.0.2", 5001)
        with sampling(Match(remote_port=5001), client.pid, 0.01) as samples:
            outcome(client.send("10.77.0.2", 5001, CC, 4.0), receiver, 1)
    assert samples.frame()["rtt_min_s"].min() >= 1.0


def windows_around_an_idle_time(client: Namespace, server: Namespace) -> list[int]:
    server.receive("10.77.0.2", 5001)
    return [int(word) for word in client.run(sys.executable, "-c", TALKER).split()]


@pytest.mark.parametrize("restarts", [True, False])
def test_an_idle_time_reduces_the_window_if_the_sysctl_says_so(controls, restarts):
    """RFC 5681, 4.1: an old window is not valid any more; net.ipv4.tcp_slow_start_after_idle."""
    with joined(*PATH) as (client, server):
        client.run("sysctl", "-qw", f"net.ipv4.tcp_slow_start_after_idle={int(restarts)}")
        before, after = windows_around_an_idle_time(client, server)
    assert before > 2 * INITIAL_CWND
    assert after == (INITIAL_CWND if restarts else before)
