# SPDX-License-Identifier: BSD-3-Clause
"""Slow starts over a path, as their drafts describe them."""

import polars as pl
import pytest

from westwood import Scenario, simulate
from westwood.evaluation.basics import path
from westwood.results.columns import Row
from westwood.scenario.paths.environment import given

_RTT_MS = 100


def transfer(mbps: float, control: str, segments: int, rtt_ms: int = _RTT_MS, **cc: object) -> Row:
    """Returns the row of a transfer by itself, with a queue of 1 BDP and 10 segments at first."""
    data = given(path(mbps, rtt_ms, 1, 30), control, cc)
    data["flow"][0] |= {"size": f"{1448 * segments}B", "initial_cwnd": "10p"}
    (row,) = simulate(Scenario(**data)).flow_rows
    return row


def completion_rtts(control: str, slow_start: str, segments: int) -> float:
    """Returns the round trips of a transfer over 1 Gb/s, handshake and last ACK included."""
    row = transfer(1000, control, segments, slow_start=slow_start)
    assert row["retransmitted"] == 0
    return 1000 * row["completed_s"] / _RTT_MS


@pytest.mark.parametrize("control", ["reno", "cubic", "westwood+"])
def test_rapid_start_reaches_the_bdp_in_fewer_round_trips(control: str) -> None:
    """Section 1: the sender "reaches the path BDP in fewer RTTs than with 2x slow start"."""
    # 10 (2^n - 1) >= 1200 after 7 flights, and 10 (3^n - 1) / 2 after 5; the last is paced.
    assert completion_rtts(control, "standard", 1200) == pytest.approx(8, abs=0.2)
    assert completion_rtts(control, "rapid-start", 1200) == pytest.approx(7, abs=0.2)


@pytest.mark.parametrize("segments", [350, 700, 1400, 3400])  # 0.5 to 4.9 MB
@pytest.mark.parametrize(("mbps", "rtt_ms"), [(100, 60), (100, 100), (100, 200), (1000, 60)])
def test_suss_takes_a_fifth_less_time_than_hystart(mbps: float, rtt_ms: int, segments: int) -> None:
    """Abstract: "over 20% improvement in flow completion time", below 5 MB and above 50 ms."""
    times = [
        transfer(mbps, "cubic", segments, rtt_ms, slow_start=word)["completed_s"]
        for word in ("hystart", "suss")
    ]
    fills_path = segments > 2 * mbps * rtt_ms / 12  # then the rest of the transfer takes its time
    assert times[1] < (0.9 if fills_path else 0.8) * times[0]


def test_suss_compares_with_the_other_starts_as_its_authors_measured() -> None:
    """Their evaluation page: 50 Mb/s, 100 ms, 1 BDP; seconds of 5 MB, packets lost of 20 MB."""
    measured = {"standard": (1.5, 1105), "hystart": (1.29, 40), "hystart++": (1.5, 704)}
    for word, (seconds, lost) in (measured | {"suss": (1.11, 35)}).items():
        row = transfer(50, "cubic", 3453, slow_start=word)
        assert row["completed_s"] - 0.15 == pytest.approx(seconds, rel=0.05), word  # from SYN on
        resent = transfer(50, "cubic", 13813, slow_start=word)["retransmitted"]
        assert resent == pytest.approx(lost, rel=0.4), word


def resumed(control: str, segments: int, mbps: float, rtt_ms: int, saved_bdp: float) -> Row:
    """Returns the row of a transfer by Careful Resume that remembers so many BDP."""
    saved = {"resume_cwnd": int(saved_bdp * mbps * rtt_ms / 12), "resume_rtt": f"{rtt_ms}ms"}
    return transfer(mbps, control, segments, rtt_ms, slow_start="careful-resume", **saved)


@pytest.mark.parametrize(("segments", "published"), [(690, 0.62), (3660, 5 / 9)])
def test_careful_resume_saves_the_time_to_find_what_is_known(
    segments: int, published: float
) -> None:
    """RFC 9959, 1.4: over a satellite 1 MB in 62 % less time, 5.3 MB in 4 s instead of 9."""
    standard = transfer(50, "cubic", segments, 600, slow_start="standard")
    again = resumed("cubic", segments, 50, 600, 2)  # the path and its queue
    assert again["retransmitted"] == 0
    assert 1 - again["completed_s"] / standard["completed_s"] == pytest.approx(published, abs=0.04)


@pytest.mark.parametrize("control", ["sack", "cubic"])
def test_careful_resume_reaches_a_known_capacity_in_two_round_trips(control: str) -> None:
    """3.3: half the capacity, paced over the round trip that follows the initial window's."""
    # 10, then half of 416, then what slow start makes of it: all but the last is paced or clocked.
    known = resumed(control, 620, 50, 100, 1)
    assert 1000 * known["completed_s"] / 100 == pytest.approx(5, abs=0.2)
    unknown = transfer(50, control, 620, slow_start="standard")
    assert 1000 * unknown["completed_s"] / 100 == pytest.approx(7.8, abs=0.2)


@pytest.mark.parametrize("control", ["sack", "cubic"])
def test_safe_retreat_leaves_a_path_that_has_less_than_remembered(control: str) -> None:
    """3.5: a jump to 4 BDP loses packets, and half of what has arrived drains the path."""
    data = given(
        path(50, 100, 1, 30),
        control,
        {"slow_start": "careful-resume", "resume_cwnd": 8 * 416, "resume_rtt": "100ms"},
    )
    data["flow"][0] |= {"size": "5MB", "initial_cwnd": "10p"}
    result = simulate(Scenario(**data), trace=True)
    trace = result.trace
    assert (trace["cwnd"] == 4 * 416).any()
    retreat = trace.filter(pl.col("ssthresh").is_not_nan())
    assert retreat["ssthresh"][0] < 416, "half of what has arrived: the path and its queue hold 832"
    after = retreat.filter(pl.col("state") == "open")
    assert after["cwnd"][0] == retreat["ssthresh"][0]
    assert after["ssthresh"][0] < 4 * 416, "Beta PipeSize"
    (row,) = result.flow_rows
    assert row["completed_s"] < 1.4
    assert row["timeouts"] == 0
