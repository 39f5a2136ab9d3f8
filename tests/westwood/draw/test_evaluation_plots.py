# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of what a criterion found."""

from __future__ import annotations

import itertools
import math

import pytest

from westwood.draw import evaluation_plots
from westwood.draw.evaluation_plots import Series


def _levels(*values: float) -> tuple[list[float], set[str]]:
    """Returns the heights of single marks, and the words beside the picture."""
    series = Series("CUBIC", "cubic", values, values, values)
    names = [str(place) for place in range(len(values))]
    texts = ("title", "x", "y")
    figure = evaluation_plots.points(names, [series], 1.0, texts, at_most=True)
    (axes,) = figure.axes
    marks = [line for line in axes.lines if len(line.get_xdata()) == 1]
    figure.draw_without_rendering()
    texts = [*axes.texts, *(text for key in figure.legends for text in key.get_texts())]
    return [float(line.get_ydata()[0]) for line in marks], {text.get_text() for text in texts}


def test_a_run_that_never_ends_is_above_all_others():
    assert _levels(0.5, math.inf, 2.0) == ([2.5], {"CUBIC", "asked for", "never"})


def test_runs_that_all_end_have_no_level_of_never():
    assert _levels(0.5, 2.0) == ([], {"CUBIC", "asked for"})


def test_a_heat_map_numbers_the_cells_that_fail_with_the_worst_row_first():
    cubic = Series("CUBIC", "cubic", (0.5, 3.0, math.nan), (), ())
    bbr = Series("BBRv1", "bbr", (1.5, 0.9, math.inf), (), ())
    figure = evaluation_plots.shares(["a", "b", "c"], [cubic, bbr], "title", "scale")
    axes = figure.axes[0]
    rows = [text.get_text() for text in axes.get_yticklabels()]
    assert rows == ["c", "b", "a"]
    assert [text.get_text() for text in axes.texts] == ["never", "3.00", "1.50"]
    heads = [text.get_text() for text in axes.get_xticklabels()]
    assert heads == ["CUBIC\n1 fail", "BBRv1\n2 fail"]


@pytest.mark.parametrize(("apart", "named"), [(0.5, ["CUBIC", "BBRv1", "asked for"]), (0.0, [])])
def test_curves_are_named_where_they_end_if_they_end_apart(apart, named):
    """Where four curves end at one point, there is no room for their names."""
    ends = {"CUBIC": 2.0, "BBRv1": 2.0 + apart, "Vegas": 2.0, "NewReno": 2.0}
    shown = ["CUBIC", "BBRv1"] if apart else list(ends)
    series = [Series(name, "cubic", *[(1.0, ends[name])] * 3) for name in shown]
    figure = evaluation_plots.points(["a", "b"], series, 1.0, ("title", "x", "y"), at_most=False)
    figure.draw_without_rendering()
    texts = {text.get_text(): text for text in figure.axes[0].texts}
    assert sorted(texts) == sorted(named)
    assert bool(figure.legends) != bool(named)
    heights = [texts[name].get_window_extent() for name in named]
    for higher, lower in itertools.combinations(heights, 2):
        assert not higher.overlaps(lower)
