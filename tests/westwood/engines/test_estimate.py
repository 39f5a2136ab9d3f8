# SPDX-License-Identifier: BSD-3-Clause
"""Per-ACK Westwood's estimate never exceeds the largest flight over the smallest RTT.

Without this bound, the algorithm as printed in the paper estimates 11 times the rate of a 1 kb/s
drop-tail link, and hundreds of times that of one with jitter
(docs/decisions.md, 2).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st
from one_link import one_link

from westwood import Scenario, simulate

PACKET = 1500
SEGMENT = PACKET - 40


def path(rate: float, jitter_ms: int, ack_loss: float, delayed_ack: int, **cc: object) -> Scenario:
    """Returns a path for about 600 packets with a queue of 50."""
    duration = f"{max(5, 600 * PACKET * 8 / rate):.3f}s" if rate < 1e8 else "300ms"
    link = {"rate": f"{rate:.0f}bps", "delay": "20ms", "jitter": f"{jitter_ms}ms"}
    link |= {"queue": {"limit": "50p"}, "loss": {"rate": ack_loss, "on": "backward"}}
    flow = {"cc": {"name": "westwood", **cc}, "delayed_ack": delayed_ack}
    return one_link(flow, link=link, duration=duration)


def traced(scenario: Scenario) -> dict[str, npt.NDArray[np.float64]]:
    """Returns columns of a trace, from the first estimate on."""
    trace = simulate(scenario, 1, trace=True).trace
    names = ("time_s", "estimate_bps", "sample_bps", "in_flight", "rtt_s")
    return {name: trace[name].cast(pl.Float64).to_numpy() for name in names}


def most_over_bound(scenario: Scenario) -> tuple[float, float]:
    """Returns the largest estimate and sample in units of the bound."""
    seen = traced(scenario)
    if np.isnan(seen["estimate_bps"]).all():
        return 0, 0
    # A trace has the flight after an ACK; the bound uses the flight before it.
    flight = seen["in_flight"].max() + np.abs(np.diff(seen["in_flight"], prepend=0)).max()
    smallest_rtt_s = np.nanmin(seen["rtt_s"])
    bound = 8 * SEGMENT * flight / smallest_rtt_s
    return float(np.nanmax(seen["estimate_bps"]) / bound), float(
        np.nanmax(seen["sample_bps"]) / bound
    )


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    rate=st.floats(3, 9).map(lambda power: 10**power),
    jitter_ms=st.sampled_from([0, 1, 5, 20, 50]),
    ack_loss=st.sampled_from([0, 0.05, 0.3]),
    delayed_ack=st.sampled_from([1, 2, 8]),
)
def test_the_estimate_never_exceeds_the_flight_over_the_smallest_rtt(
    rate, jitter_ms, ack_loss, delayed_ack
):
    estimate, sample = most_over_bound(path(rate, jitter_ms, ack_loss, delayed_ack))
    assert estimate <= 1 and sample <= 1


def test_as_printed_in_the_paper_it_exceeds_the_bound_by_far():
    """Shows why the bound exists, and that the test above can fail."""
    letter = {"bound_samples": False}
    assert most_over_bound(path(1e3, 0, 0, 2))[0] < 0.5
    assert most_over_bound(path(1e3, 0, 0, 2, **letter))[1] > 3
    assert most_over_bound(path(1e6, 20, 0, 1, **letter))[1] > 2


def test_the_estimate_on_a_full_link_is_its_rate():
    for rate in (1e6, 1e7):
        seen = traced(path(rate, 0, 0, 2))
        late = seen["time_s"] > 0.8 * seen["time_s"].max()
        share = np.median(seen["estimate_bps"][late]) * PACKET / SEGMENT / rate
        assert 0.7 < share < 1.02
