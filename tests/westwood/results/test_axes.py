# SPDX-License-Identifier: BSD-3-Clause
"""Axes have the units that people use, and are logarithmic where values span decades."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from matplotlib.figure import Figure

from westwood.experiments import summary_plots
from westwood.results.columns import averaged, axis


@pytest.mark.parametrize(
    ("column", "label", "scale"),
    [
        ("goodput_bps", "Goodput (Mb/s)", 1e6),
        ("mean_srtt_s", "Mean smoothed RTT (ms)", 1e-3),
        ("completion_s", "Completion time (s)", 1.0),
        ("mean_queue", "Mean queue (packets)", 1.0),
        ("jain", "Jain's index", 1.0),
    ],
)
def test_an_axis_has_its_columns_title_and_usual_unit(column, label, scale):
    assert axis(column) == (label, scale)


def test_what_does_not_depend_on_the_seed_is_not_averaged():
    assert not {"seed", "cc", "flow", "engine", "simulated_s", "cpu_s"} & set(averaged())


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ([0.001, 0.03], "linear"),
        ([0.001, 0.0301], "log"),
        ([0.0, 0.1, 0.2], "linear"),
        ([0.0, 0.001, 0.9], "linear"),
    ],
)
def test_a_swept_number_that_spans_a_ratio_of_30_is_logarithmic(values, scale):
    rows = [
        {"cc": "cubic", "flow": "tcp", "path.loss.rate": value, "runs": 2}
        | {"goodput_bps": 1e6, "goodput_bps_sd": 1.0, "goodput_bps_ci95": 1.0}
        for value in values
    ]
    figure = summary_plots.draw(pl.DataFrame(rows), ["path.loss.rate"], "goodput_bps", "Title")
    assert figure.axes[0].get_xscale() == scale


def runs_of(flows: int, **swept: list[Any]) -> pl.DataFrame:
    """Returns rows of two seeds, as simulate_many gives them, with a goodput of 1 Mb/s."""
    keys = [dict(zip(swept, values, strict=True)) for values in zip(*swept.values(), strict=True)]
    return pl.DataFrame(
        [
            {**key, "scenario": "s", "flow": f"f{flow}", "cc": "reno", "seed": seed, **GOODPUT}
            for key in keys
            for flow in range(flows)
            for seed in (1, 2)
        ]
    )


GOODPUT = {"goodput_bps": 1e6}


def curves(figure: Figure) -> int:
    return sum(len(axes.containers) for axes in figure.axes)


@pytest.mark.parametrize(("flows", "drawn"), [(1, 1), (8, 8), (9, 1)])
def test_more_than_eight_flows_are_drawn_as_their_mean(flows, drawn):
    rows = runs_of(flows, **{"path.rate": ["1Mbps", "2Mbps"]})
    assert curves(summary_plots.plot_means(rows)) == drawn


def test_only_settings_that_differ_from_the_protocol_are_drawn():
    """A point's number and a swept protocol would be axes of their own."""
    swept = {"point": [1, 2], "tcp.cc": ["reno", "reno"], "path.rate": ["1Mbps", "2Mbps"]}
    (axes,) = summary_plots.plot_means(runs_of(1, **swept)).axes
    assert axes.get_xlabel() == "Link rate (Mb/s)"
