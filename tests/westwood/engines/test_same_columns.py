# SPDX-License-Identifier: BSD-3-Clause
"""Columns mean the same in every engine.

The runs have one flow and end while its queue fills, which shows whether the engines stop counting
at the same moment. tests/linux/path tests Linux, which needs root and real time.
"""

import math
from typing import Any

import pytest
from one_link import one_link

from westwood import Result, Scenario, engines, simulate
from westwood.control.catalogue import DIRECTION_COLUMNS, FLOW_COLUMNS
from westwood.errors import UnavailableError

# Tolerances for other engines: relative, and in the column's unit.
OF_FLOW = {
    "delivered_bytes": (0.02, 3000),
    "ip_bytes_at_sink": (0.02, 3000),
    "sent": (0.02, 3),
    "retransmitted": (0.02, 2),
    "timeouts": (0, 0),
    "fast_recoveries": (0, 0),
    "ecn_reductions": (0, 0),
    "queue_drops": (0.05, 2),
    "lost": (0, 0),
    "in_flight": (0.05, 3),
    "mean_cwnd": (0.05, 1),
    "max_cwnd": (0.05, 2),
    "min_rtt_s": (0, 0.012),  # ns-3's handshake has options
    "start_s": (0, 1e-6),
    "last_arrival_s": (0, 0.3),  # two packets
}
OF_LINK = {
    "packets": (0.03, 4),
    "bytes": (0.03, 6000),
    "queue_drops": (0.05, 2),
    "early_drops": (0, 0),
    "marked": (0, 0),
    "lost": (0, 0),
    "in_flight": (0.05, 3),
    "utilisation": (0.03, 0.01),
    "longest_wait_s": (0.05, 0.13),
    "mean_queue": (0.05, 0.5),
    "mean_wait_s": (0.05, 0.1),
}
# Columns with another definition there, as the engines' pages explain.
ELSEWHERE = {
    "mean_srtt_s",
    "established_s",
    "completed_s",
    "receiver_limited_s",
    "application_limited_s",
}


def cut(profile: str, **changed: Any) -> Scenario:
    link = {"rate": "100kbps", "delay": "50ms", "queue": {"limit": "20p"}}
    flow = {"cc": "reno", "recovery": "newreno", "initial_cwnd": "2p"}
    return one_link(flow, link=link, duration="4s", profile=profile).with_settings(changed)


def of_flow(result: Result) -> dict[str, Any]:
    (transfer,) = result.transfers.to_dicts()
    return transfer


def of_link(result: Result) -> dict[str, Any]:
    return result.links.filter(direction="forward").to_dicts()[0]


def test_the_tables_have_every_measured_column():
    assert OF_FLOW.keys() | ELSEWHERE == FLOW_COLUMNS.keys()
    assert OF_LINK.keys() == DIRECTION_COLUMNS.keys() - {"waited_s"} | {"mean_queue", "mean_wait_s"}


@pytest.mark.parametrize("name", ["ns2", "ns3"])
@pytest.mark.parametrize("duration", ["2.3s", "4s"])
def test_each_column_agrees_with_the_simulator(name, duration):
    try:
        engine = engines.find(name)
    except UnavailableError as error:
        pytest.skip(str(error))
    scenario = cut(engine.profile or "", duration=duration)
    theirs, ours = engine.simulate(scenario), simulate(scenario)
    far = []
    for names, table in ((of_flow, OF_FLOW), (of_link, OF_LINK)):
        is_, should_be = names(theirs), names(ours)
        for column, (share, most) in table.items():
            if math.isnan(is_[column]):  # not measured by this engine
                continue
            if abs(is_[column] - should_be[column]) > max(share * abs(should_be[column]), most):
                far.append(f"{names.__name__}: {column} is {is_[column]}, here {should_be[column]}")
    assert not far, "\n".join(far)


def test_the_run_ends_with_queued_packets():
    result = simulate(cut("ns2-2005"))
    assert of_link(result)["in_flight"] > 10
    assert of_link(result)["mean_queue"] > 3
