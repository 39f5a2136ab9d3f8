# SPDX-License-Identifier: BSD-3-Clause
"""ns-2's counters become our columns as computed by hand; a scenario always gives one script.

The scripts are in tests/golden/ns2.json, which `make golden` writes; no ns-2 is needed.
"""

import math
from types import SimpleNamespace
from typing import Any

import pytest
from golden_files import assert_golden, digest

from westwood.engines import ns2
from westwood.experiments.validation import grid as grids_of
from westwood.experiments.validation.grid import Point
from westwood.experiments.validation.ns2_grids import NS2

SAID = {
    "in_order": "14980",
    "sent": "21",
    "arrived": "16",
    "queue_drops": "2",
    "lost": "1",
    "reductions": "5",
    "timeouts": "2",
}


def counts(handshake: bool = True, **texts: str) -> dict[str, float]:
    """Converts the counters of a flow with packets of 1500 bytes, 1448 of which are payload."""
    flow: Any = SimpleNamespace(packet=1500, header=40, mss=1448, handshake_rtt=handshake)
    return ns2._counts(flow, {**SAID, **texts})


def test_a_flows_counters_are_those_without_the_syn():
    counters = counts(in_order="15040")
    assert (counters["sent"], counters["in_flight"]) == (20, 20 - 15 - 2 - 1)
    assert counters["ip_bytes_at_sink"] == 15 * 1500
    assert counters["delivered_bytes"] == 10 * 1448, "15 000 bytes behind a SYN of 40"
    assert counters["fast_recoveries"] == 3
    assert counts(in_order="15039")["delivered_bytes"] == 9 * 1448


def test_a_flow_without_a_handshake_counts_from_its_first_packet():
    counters = counts(handshake=False, in_order="15000")
    assert (counters["sent"], counters["in_flight"]) == (21, 21 - 16 - 3)
    assert counters["delivered_bytes"] == 10 * 1448 and counters["ip_bytes_at_sink"] == 16 * 1500


def test_a_flow_that_sent_nothing_has_no_negative_counts():
    none = dict.fromkeys(SAID, "0")
    assert counts(**none) == pytest.approx(
        {**dict.fromkeys(SAID, 0.0), **dict.fromkeys(counts(), 0.0)}
    )
    assert counts(**{**none, "timeouts": "3"})["fast_recoveries"] == 0
    tiny: Any = SimpleNamespace(packet=1, header=0, mss=1, handshake_rtt=True)
    assert ns2._counts(tiny, none)["delivered_bytes"] == 0


def test_what_a_link_sends_after_the_end_is_not_utilisation():
    texts = {"bps": "12000", "sent_bytes": "15000", "last_departure_s": "9.5"}
    assert ns2._side(texts, 1500, 10.0).utilisation == pytest.approx((10 - 0.5) / 10)
    early = {**texts, "sent_bytes": "7500", "last_departure_s": "5"}
    assert ns2._side(early, 1500, 10.0).utilisation == pytest.approx(0.5)
    none = {**texts, "sent_bytes": "0", "last_departure_s": "9.9"}
    assert ns2._side(none, 1500, 10.0).utilisation == 0
    assert math.isnan(ns2._side(texts, 1500, 10.0).waited_s)


def test_a_scenario_gives_the_same_script_in_every_version():
    hashes: dict[str, Any] = {}
    for name, grid in NS2.items():
        points = [grid.points[0], grid.points[len(grid.points) // 2], grid.points[-1]]
        for cc in grid.protocols:
            scripts = [
                ns2.script(grids_of.scenario(grid, cc, Point(**columns), 1, "5s"))
                for columns in points
            ]
            hashes[f"{name} {cc}"] = [digest(script.encode()) for script in scripts]
    first = next(iter(NS2.values()))
    whole = ns2.script(grids_of.scenario(first, "newreno", Point(**first.points[0]), 1, "5s"))
    assert_golden("ns2", {**hashes, "newreno": whole.splitlines()})
