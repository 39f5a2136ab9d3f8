# SPDX-License-Identifier: BSD-3-Clause
"""Degradation metrics and figures agree with values computed by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from westwood.control.catalogue import label
from westwood.search.stress import degradation
from westwood.search.stress.attack import DISTURBING, Attack
from westwood.search.stress.degradation import RunAttack
from westwood.search.stress.figures import Figures, of_run

PATH = Attack(10_000_000, 100_000, 80, 20_000_000, 1)  # bit/s, us, packets, us, seed
CARRIED = 10e6 * 1448 / 1500
LEAST = CARRIED / 10  # the smallest denominator of a ratio
CC = "westwood+"


def figures(goodput_bps: float = 1e6, **more: Any) -> Figures:
    defaults: dict[str, Any] = dict.fromkeys(
        ("competing_bps", "timeouts", "loss_ratio", "queue_s"), 0.0
    )
    defaults |= {"total_bps": goodput_bps, "fairness": math.nan, "completion_s": math.nan}
    return Figures(**{"goodput_bps": goodput_bps, "transfers": 0, **defaults, **more})


def run_of(runs: dict[Any, Figures]) -> RunAttack:
    """Answers from a table by protocol, or by protocol, fraction of time and removed features."""

    def run(protocol: str, part: float = 1.0, without: tuple[str, ...] = ()) -> Figures:
        return runs.get((protocol, part, without)) or runs[protocol]

    return run


def measure(name: str, judged: Figures, other: Figures, attack: Attack = PATH) -> float:
    return degradation.DEGRADATIONS[name].measure(run_of({CC: judged, "cubic": other}), attack, CC)


@pytest.mark.parametrize(
    ("name", "judged", "other", "harm"),
    [
        ("below-cubic", figures(2e6), figures(8e6), 0.75),
        ("below-cubic", figures(9e6), figures(8e6), 0),
        ("below-cubic", figures(0.1e6), figures(0.3e6), 0.2e6 / LEAST),
        ("idle", figures(1e6, total_bps=CARRIED / 4), figures(), 0.75),
        ("idle", figures(1e6, total_bps=CARRIED), figures(), 0),
        ("timeouts", figures(timeouts=12), figures(timeouts=2), 10 / (10 + 5 + 2)),
        ("timeouts", figures(timeouts=2), figures(timeouts=12), 0),
        ("unfair", figures(fairness=0.6), figures(fairness=0.9), 1 / 3),
        ("unfair", figures(fairness=math.nan), figures(fairness=0.9), 0),
        ("unfair", figures(fairness=0.9), figures(fairness=math.nan), 0),
        ("late", figures(completion_s=2.0), figures(completion_s=0.5), 0.75),
        ("late", figures(completion_s=0.5), figures(completion_s=2.0), 0),
        ("late", figures(completion_s=math.nan), figures(completion_s=2.0), 0),
        ("starves", figures(competing_bps=1e6), figures(competing_bps=4e6), 0.75),
        ("starves", figures(competing_bps=0.0), figures(competing_bps=0.2e6), 0.2e6 / LEAST),
        ("losses", figures(loss_ratio=0.11), figures(loss_ratio=0.01), 1 - 0.02 / 0.12),
        ("losses", figures(loss_ratio=0.01), figures(loss_ratio=0.11), 0),
        ("queue", figures(queue_s=0.3), figures(queue_s=0.1), 1 - 0.2 / 0.4),
        ("queue", figures(queue_s=0.1), figures(queue_s=0.3), 0),
    ],
)
def test_degradations_against_cubic(name, judged, other, harm):
    assert measure(name, judged, other) == pytest.approx(harm)


def test_the_best_reference_is_another_control():
    runs = {CC: figures(2e6), "cubic": figures(3e6), "sack": figures(4e6), "bbr": figures(8e6)}
    below = degradation.DEGRADATIONS["below-best"]
    assert below.measure(run_of(runs), PATH, CC) == pytest.approx(0.75)
    assert below.measure(run_of(runs), PATH, "bbr") == 0
    assert below.measure(run_of(runs), PATH, "cubic") == pytest.approx(5 / 8)
    assert below.tell(run_of(runs), PATH, "bbr") == (
        f"{label('bbr')} gets 8 Mb/s where {label('sack')} gets 4 Mb/s"
    )


def test_disturbances_count_beyond_the_capacity_that_they_take():
    """A fifth of 5 Mb/s is lost, which leaves 4 Mb/s; the control gets 1 Mb/s of it."""
    attack = replace(PATH, loss="uniform", loss_rate=0.2)
    runs = {CC: figures(1e6, timeouts=3), (CC, 1.0, DISTURBING): figures(5e6)}
    disturbed = degradation.DEGRADATIONS["disturbed"]
    assert disturbed.measure(run_of(runs), attack, CC) == pytest.approx(0.8 * 3 / 4)
    assert disturbed.tell(run_of(runs), attack, CC) == (
        f"{label(CC)} falls from 5 Mb/s to 1 Mb/s, with 3 timeouts, "
        "where 20% of the capacity is taken"
    )


@pytest.mark.parametrize(
    ("calm_bps", "harm"), [(5e6, (5 - 2) / 5), (20e6, (8 - 2) / 8)], ids=["itself", "CUBIC"]
)
def test_stuck_measures_the_second_ci95(calm_bps, harm):
    """The goodput of the second half follows from those of the whole run and the first half."""
    runs = {
        (CC, 1.0, ()): figures(3e6),
        (CC, 0.5, ()): figures(4e6),  # leaves 2 Mb/s for the second half
        ("cubic", 1.0, ()): figures(6e6),
        ("cubic", 0.5, ()): figures(4e6),  # leaves 8 Mb/s
        (CC, 1.0, ("bursts",)): figures(calm_bps),
        (CC, 0.5, ("bursts",)): figures(calm_bps),
    }
    assert degradation.DEGRADATIONS["stuck"].measure(run_of(runs), PATH, CC) == pytest.approx(harm)


@pytest.mark.parametrize(("min_rto_us", "each_s"), [(1_000_000, 1.1), (0, 0.3)])
def test_stalled_is_the_time_of_a_flow_in_timeouts(min_rto_us, each_s):
    """Each timeout costs the minimum RTO and a round trip; two flows have ten together in 20 s."""
    attack = replace(PATH, flows=2, min_rto_us=min_rto_us)
    harm = measure("stalled", figures(timeouts=10), figures(), attack)
    assert harm == pytest.approx(5 * each_s / 20)
    taken = replace(attack, loss="uniform", loss_rate=0.5)
    assert measure("stalled", figures(timeouts=10), figures(), taken) == pytest.approx(harm / 2)
    assert measure("stalled", figures(timeouts=10**6), figures(), attack) == 1


def test_figures_of_a_run_are_sums_by_role():
    names = ["tcp-1", "tcp-2", "beside", "short", "bursts", "reverse"]
    flows = {  # delivered bytes, timeouts, queue drops, sent, start, completion
        "tcp-1": (3_000_000, 2, 10, 2000, 0.0, math.nan),
        "tcp-2": (1_000_000, 1, 5, 700, 0.0, math.nan),
        "beside": (2_000_000, 7, 3, 1400, 0.0, math.nan),
        "short": (50_000, 4, 2, 36, 1.0, 1.5),
        "bursts": (9_000_000, 0, 900, 9000, 0.0, math.nan),
        "reverse": (8_000_000, 5, 50, 6000, 0.0, math.nan),
    }
    columns = ("delivered_bytes", "timeouts", "queue_drops", "sent", "start_s", "completed_s")
    rows = [flows[name] for name in names]
    rows.append((10_000, 0, 0, 7, 8.0, math.nan))  # an unfinished transfer
    connections: dict[str, Any] = dict(zip(columns, zip(*rows, strict=True), strict=True))
    connections["source"] = [0, 1, 2, 3, 4, 5, 3]

    run_figures = of_run(names, connections, SimpleNamespace(waited_s=100.0), 10.0, 12_000_000.0)  # type: ignore[arg-type]

    assert run_figures == Figures(
        goodput_bps=pytest.approx(3.2e6),
        competing_bps=pytest.approx(1.6e6),
        total_bps=pytest.approx(8 * 6_060_000 / 10),
        fairness=pytest.approx(4**2 / (2 * (3**2 + 1))),
        timeouts=3,
        loss_ratio=20 / 4143,
        queue_s=pytest.approx(100 / 10 * 0.001),  # ten packets of a millisecond each
        completion_s=pytest.approx((0.5 + 2.0) / 2),
        transfers=2,
    )
