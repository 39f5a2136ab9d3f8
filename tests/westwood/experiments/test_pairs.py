# SPDX-License-Identifier: BSD-3-Clause
"""Protocols at the same point are compared seed by seed."""

from typing import Any

import pytest

from westwood import Scenario
from westwood.cli.pairs import print_pairs
from westwood.experiments import experiment
from westwood.experiments.pairs import pairs

Row = dict[str, Any]


def planned(*cc: str, sweep: dict[str, list[Any]] | None = None) -> experiment.Experiment:
    scenario = Scenario.preset("path").with_sweep(sweep or {})
    return experiment.plan(scenario, cc=cc, seeds=2)


def row(cc: str, seed: int, goodput_bps: float, **settings: Any) -> Row:
    return {"flow": "tcp", "cc": cc, "seed": seed, "goodput_bps": goodput_bps, **settings}


def test_each_protocol_is_compared_with_the_first_one_on_the_same_seeds():
    rows = [row("reno", 1, 1e6), row("reno", 2, 3e6), row("cubic", 2, 4e6), row("cubic", 1, 2e6)]
    (pair,) = pairs(planned("reno", "cubic"), rows)
    assert (pair["cc"], pair["minus"], pair["runs"]) == ("cubic", "reno", 2)
    assert (pair["mean"], pair["half"], pair["minus_mean"]) == (1e6, 0.0, 2e6)
    assert pair["ratio"] == pytest.approx(1.5)


def test_a_point_is_compared_with_itself_only():
    sweep = {"path.loss.rate": ["1%", "3%"]}
    rows = [
        row(cc, 1, goodput, **{"path.loss.rate": loss})
        for cc, loss, goodput in (("reno", "1%", 2e6), ("reno", "3%", 1e6), ("bbr", "1%", 3e6))
    ]
    rows.append(row("bbr", 1, 3e6, **{"path.loss.rate": "3%"}))
    point_pairs = pairs(planned("reno", "bbr", sweep=sweep), rows)
    assert [(pair["path.loss.rate"], pair["ratio"]) for pair in point_pairs] == [
        ("1%", 1.5),
        ("3%", 3.0),
    ]
    assert all(pair["half"] is None for pair in point_pairs), "one seed has no interval"


def test_a_seed_that_one_protocol_lacks_is_left_out():
    rows = [row("reno", 1, 1e6), row("reno", 2, 9e6), row("cubic", 1, 2e6)]
    (pair,) = pairs(planned("reno", "cubic"), rows)
    assert (pair["runs"], pair["mean"]) == (1, 1e6)


def test_the_baseline_is_the_same_at_every_point():
    sweep = {"path.loss.rate": ["1%", "3%"]}
    order = (("reno", "1%"), ("bbr", "1%"), ("bbr", "3%"), ("reno", "3%"))
    rows = [row(cc, 1, 1e6, **{"path.loss.rate": loss}) for cc, loss in order]
    point_pairs = pairs(planned("reno", "bbr", sweep=sweep), rows)
    assert [(pair["minus"], pair["cc"]) for pair in point_pairs] == [("reno", "bbr")] * 2


def test_many_flows_of_a_swept_protocol_count_as_their_mean():
    queue = {"bottleneck.queue": "50p"}
    rows = [
        row(cc, 1, goodput_bps * number, flow=f"tcp-{number}", **{"tcp.cc": cc}, **queue)
        for cc, goodput_bps in (("reno", 1e5), ("westwood", 2e5))
        for number in (1, 2, 3)
    ]
    (pair,) = pairs(experiment.plan(Scenario.preset("fairness"), seeds=1), rows)
    assert (pair["cc"], pair["minus"], pair["ratio"]) == ("westwood", "reno", 2.0)


def test_a_single_protocol_has_no_pairs():
    assert pairs(planned("reno"), [row("reno", 1, 1e6)]) == []


@pytest.mark.parametrize("flows", [("tcp",), ("tcp", "other")])
def test_a_table_names_the_flow_only_where_there_are_several(flows, capsys):
    sweep = {"path.loss.rate": ["1%", "3%"]}
    rows = [
        row(cc, 1, 1e6, flow=flow, **{"path.loss.rate": loss})
        for cc in ("reno", "bbr")
        for loss in ("1%", "3%")
        for flow in flows
    ]
    compared = pairs(planned("reno", "bbr", sweep=sweep), rows)
    print_pairs(compared, ["path.loss.rate"], names_flow=False)
    assert ("flow" in capsys.readouterr().out) == (len(flows) > 1)
