# SPDX-License-Identifier: BSD-3-Clause
"""Each control reacts to losses as its papers say, by its own recording and by TCP_INFO.

A path of 20 Mb/s and 40 ms drops slow start's overshoot, a single packet chosen by number, and
everything for half a second. That gives fast recoveries and a timeout.
"""

import itertools
import math
import re
import time

import polars as pl
import pytest
from machine import joined, outcome

from westwood.control.catalogue import PROTOCOLS
from westwood.kernel import ww_kernel
from westwood.kernel.recording import recording

pytestmark = pytest.mark.kernel
PATH = ("--rate", "20e6", "--delay", "0.04", "--queue", "60")
FLOOR = 2  # segments
ATTEMPTS = 3
BPS_PER_BYTE = 8
FAMILY = [cc for cc, name in ww_kernel.CONTROLS.items() if PROTOCOLS[name].algorithm == "westwood"]


def run(cc: str, seconds: float, *losses: str) -> tuple[pl.DataFrame, list[str]]:
    """Runs a connection; returns its recording and TCP_INFO's values during it."""
    with joined(*PATH, *losses) as (client, server):
        receiver = server.receive("10.77.0.2", 5001)
        with recording() as recorded:
            sender = client.send("10.77.0.2", 5001, cc, seconds)
            infos = []
            while sender.poll() is None:
                infos.append(client.run("ss", "-tinH", "dport", "=", "5001"))
                time.sleep(0.04)
            outcome(sender, receiver, 1)
    assert recorded.dropped == 0
    return recorded.trace, infos


def bwe_times_rtt_min(row: dict[str, float]) -> int:
    """Computes BWE * RTTmin in segments from a row of the recording."""
    return int(row["estimate_bps"] * row["rtt_min_s"] / (BPS_PER_BYTE * row["mss"]))


def events_of(trace: pl.DataFrame, event: str) -> list[dict[str, float]]:
    return list(trace.filter(pl.col("event") == event).iter_rows(named=True))


@pytest.fixture(scope="module", params=FAMILY)
def lossy(request, controls) -> tuple[str, pl.DataFrame, list[str]]:
    """Runs a control over the lossy path; returns its name, its recording and TCP_INFO."""
    return (request.param, *run(request.param, 2.5, "--drop", "1100", "--dark", "1.3,1.8"))


def test_a_loss_sets_ssthresh_to_bwe_times_rtt_min(lossy):
    """The rule is in Mascolo 2001, section 2.2, and Dell'Aera 2003, section 2.2."""
    losses = events_of(lossy[1], "loss")
    assert losses, "no loss was recorded"
    for row in losses:
        assert row["ssthresh"] == pytest.approx(max(bwe_times_rtt_min(row), FLOOR), abs=1)
        assert row["state"] == "recovery" and row["lost"] > 0


def test_a_timeout_sets_the_same_ssthresh_and_a_window_of_one(lossy):
    timeouts = events_of(lossy[1], "timeout")
    assert timeouts, "no timeout was recorded"
    row = timeouts[0]
    assert row["ssthresh"] == pytest.approx(max(bwe_times_rtt_min(row), FLOOR), abs=1)
    assert row["cwnd"] == 1 and row["state"] == "loss"


def test_after_recovery_the_window_is_the_decided_one(lossy):
    cc, trace, _ = lossy
    decided: dict[str, float] | None = None
    exits = 0
    for row in trace.iter_rows(named=True):
        if row["event"] == "loss":
            decided = row
        elif row["event"] == "timeout":
            decided = None
        elif row["event"] == "exit" and decided is not None:
            exits += 1
            assert row["cwnd"] <= decided["cwnd"] + 1
            if cc == "ww_plus_rh":  # Dell'Aera 2003: at the end cwnd is BWE * RTTmin
                assert row["cwnd"] == row["ssthresh"]
                assert row["ssthresh"] == pytest.approx(max(bwe_times_rtt_min(row), FLOOR), abs=1)
            elif cc != "ww_nrplus":  # ww_nrplus has a plateau instead
                assert row["ssthresh"] == decided["ssthresh"]
                assert row["cwnd"] == min(decided["cwnd"], decided["ssthresh"])
    assert exits


def test_the_recording_and_tcp_info_agree(lossy):
    cc, trace, infos = lossy
    compared = 0
    for info in infos:
        words = dict(re.findall(r"(\w+):([\d.]+)", info))
        acked = pl.col("delivered_bytes") <= int(words.get("bytes_acked", 0))
        around = [
            *trace.filter(acked).tail(1).iter_rows(named=True),
            *trace.filter(~acked).head(1).iter_rows(named=True),
        ]
        if len(around) < 2 or any(row["state"] != "open" for row in around):
            continue
        compared += 1
        assert f" {cc} " in info and int(words["mss"]) == around[0]["mss"]
        assert around[0]["cwnd"] <= int(words["cwnd"]) <= around[1]["cwnd"]
        if "ssthresh" in words:  # ss omits an unlimited one
            assert int(words["ssthresh"]) == around[0]["ssthresh"]
    assert compared >= 1


def test_between_losses_the_window_grows_like_renos(lossy):
    """RFC 5681: cwnd grows by a segment each RTT in congestion avoidance, doubles in slow start."""
    rows = list(lossy[1].iter_rows(named=True))
    compared = 0
    for before, after in itertools.pairwise(rows):
        quiet = before["event"] in ("window", "exit") and after["event"] == "window"
        avoids = (
            before["state"] == after["state"] == "open" and before["cwnd"] >= before["ssthresh"]
        )
        if quiet and avoids and lossy[0] != "ww_nrplus":  # it grows from a plateau
            rounds = (after["time_s"] - before["time_s"]) / after["rtt_min_s"] + 1
            assert 0 <= after["cwnd"] - before["cwnd"] <= rounds + 1
            compared += 1
    assert compared or lossy[0] in ("ww_nrplus", "ww_westwood")  # their ssthresh is too high
    first = [row for row in rows if math.isnan(row["ssthresh"])]
    assert max(row["cwnd"] for row in first) > 100, "slow start doubled the first window of ten"


@pytest.mark.parametrize("cc", ["ww_plus", "ww_cubic"])
def test_spurious_losses_are_undone(controls, cc):
    """Delayed data are not lost: the windows return to their old values (RFC 5682, RFC 3522)."""
    for _ in range(ATTEMPTS):  # a busy machine may not send the held data in time
        trace, _ = run(cc, 2.4, "--hold", "1.2,1.8")
        events = list(trace["event"])
        if "timeout" in events and "undo" in events and events[events.index("undo") + 1] != "loss":
            break  # a loss on the same ACK would hide the undo's effect
    timeout = trace.filter(pl.col("event") == "timeout").row(0, named=True)
    undo = trace.filter(pl.col("event") == "undo").row(0, named=True)
    assert undo["time_s"] > timeout["time_s"]
    before = trace.filter(pl.col("time_s") < timeout["time_s"]).tail(1).row(0, named=True)
    after = trace.filter(pl.col("time_s") > undo["time_s"]).head(1).row(0, named=True)
    assert after["cwnd"] >= before["cwnd"] and after["ssthresh"] >= before["ssthresh"]
