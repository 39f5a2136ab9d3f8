# SPDX-License-Identifier: BSD-3-Clause
"""What criteria measure, on rows written by hand."""

import math
import os
from types import SimpleNamespace

import numpy as np
import pytest

from westwood import _engine
from westwood.engines import simulator
from westwood.engines.contract import Job
from westwood.engines.result import Result
from westwood.evaluation import basics, measures, running
from westwood.evaluation.benchmark.cases import Control
from westwood.results.columns import Row


def flow(name: str, **columns: float) -> Row:
    return {"flow": name, **columns}


def test_harm_is_the_share_of_the_solo_performance_that_is_lost():
    runs = {
        "solo": [flow("beside", goodput_bps=40e6)],
        "beside": [flow("beside", goodput_bps=10e6)],
    }
    assert measures.harm(measures.others_goodput)(runs) == pytest.approx(0.75)


def test_harm_of_a_time_has_the_longer_time_below_the_line():
    """From 1 s to 4 s, three quarters are lost, as with a rate that falls to a quarter."""
    runs = {"solo": [flow("beside", mean_srtt_s=1.0)], "beside": [flow("beside", mean_srtt_s=4.0)]}
    assert measures.harm(measures.others_rtt, more_is_better=False)(runs) == pytest.approx(0.75)


def test_transfers_of_which_none_ends_lose_everything():
    runs = {"solo": [flow("short", x=1.0)], "beside": [flow("short", x=math.inf)]}
    assert measures.harm(lambda rows: rows[0]["x"], more_is_better=False)(runs) == 1


def test_an_unfinished_transfer_takes_forever():
    measure = measures.completion("tcp")
    assert measure([flow("tcp", completion_s=2.0, completed=1, transfers=1)]) == 2.0
    assert measure([flow("tcp", completion_s=math.nan, completed=0, transfers=1)]) == math.inf
    assert measure([flow("tcp", completion_s=2.0, completed=1, transfers=2)]) == math.inf


def result(times_ms: list[float], kinds: list[str]) -> Result:
    """Returns a run over 20 Mb/s, where a segment takes 0.6 ms, with these events."""
    events = {
        "connection": np.zeros(len(kinds), int),
        "kind": np.array([_engine.EVENT_KINDS.index(kind) for kind in kinds]),
        "time_s": np.array(times_ms) / 1e3,
    }
    run = basics.scenario(basics.path(20, 40, 1), Control("cubic"))
    return Result(run, 1, [], SimpleNamespace(  # type: ignore[arg-type]
        connections={}, forward=[], backward=[],
        records=SimpleNamespace(pieces=lambda table: iter([events]))))  # fmt: skip


def test_segments_that_leave_in_one_half_of_a_segments_time_are_a_burst():
    times = [0.0, 0.1, 0.29, 0.31, *(n * 0.6 for n in range(1, 96)), 90.0]
    kinds = ["send", "retransmit", "send", *96 * ["send"], "ack"]
    (burst,) = measures.bursts(result(times, kinds)).values()
    assert burst == {"burst": 1.0, "largest_burst": 3.0}  # 96 of 99 leave alone
    (burst,) = measures.bursts(result(times[:40], kinds[:40])).values()
    assert burst == {"burst": 3.0, "largest_burst": 3.0}  # 37 of 40 do


@pytest.mark.parametrize(("cc", "usual"), [("cubic", 2), ("bbr", 1), ("paced", 1)])
def test_a_paced_sender_sends_segment_by_segment_and_others_as_acks_arrive(cc, usual):
    """A receiver acknowledges every second segment."""
    control = Control(os.fspath(running.PACED) if cc == "paced" else cc)
    run = basics.scenario(basics.path(20, 40, 1, 20), control)
    job = Job(run, [1], more_columns=measures.bursts, needs_events=True)
    (row,) = simulator.prepare(job)(1)
    assert row["burst"] == usual
    assert row["largest_burst"] >= 10  # the initial window


@pytest.mark.parametrize("loss_rate", [0.0, 0.01])
def test_paced_cubic_has_the_goodput_of_cubic_alone(loss_rate):
    path = basics.path(20, 40, 1, loss="uniform", loss_rate=loss_rate)
    cubic, paced = (
        simulator.simulate(basics.scenario(path, Control(cc)), seed=1).flow_rows[0]["goodput_bps"]
        for cc in ("cubic", os.fspath(running.PACED))
    )
    assert paced == pytest.approx(cubic, rel=0.15)
