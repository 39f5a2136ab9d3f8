# SPDX-License-Identifier: BSD-3-Clause
"""The plots of a page draw what the picture shows: `alive.read`."""

from __future__ import annotations

import json

import polars as pl

from westwood.draw import alive
from westwood.draw.bars import grouped_bars
from westwood.draw.curves import Axis, panels

X, Y = Axis("x", "x (m)", log=True), Axis("y", "y (kb/s)", 1e3)


def points() -> pl.DataFrame:
    rows = [
        (cc, by, x, 1e3 * y * x, 100.0)
        for cc, y in (("reno", 1.0), ("westwood+", 30.0))
        for by in ("<a>", "b")
        for x in (1.0, 10.0)
    ]
    return pl.DataFrame(rows, schema=["cc", "by", "x", "y", "y_ci95"], orient="row")


def test_curves_are_read_back_with_their_intervals():
    text = alive.read(panels(points(), X, Y, "Title", "by", "kind"))
    assert "<" not in text
    read = json.loads(text)
    assert read["by"] == "kind"
    assert [panel_["title"] for panel_ in read["panels"]] == ["Reno", "Westwood+"]
    for panel, largest in zip(read["panels"], (10.0, 300.0), strict=True):
        assert (panel["x"]["name"], panel["x"]["log"]) == ("x (m)", True)
        assert panel["y"]["name"] == "y (kb/s)"
        for curve, name in zip(panel["curves"], ("<a>", "b"), strict=True):
            assert (curve["name"], curve["x"]) == (name, [1.0, 10.0])
            assert curve["y"] == [largest / 10, largest]
            assert curve["high"][1] - curve["low"][1] > 0.19


def test_panels_that_share_an_axis_show_all_of_it():
    for panel in json.loads(alive.read(panels(points(), X, Y, "Title", "by", "kind")))["panels"]:
        least, most = panel["y"]["limits"]
        assert least == 0 and most > 300


def test_anything_but_a_curve_is_not_read():
    assert alive.read(grouped_bars([("", [("reno", 1.0, 0.1)])], "x", "Bars")) == ""
