# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of what a criterion found."""

from __future__ import annotations

import math

from westwood.draw import evaluation_plots
from westwood.draw.evaluation_plots import Series


def _levels(*values: float) -> tuple[list[float], set[str]]:
    """Returns the heights of single marks, and the words at the right of the picture."""
    series = Series("CUBIC", "cubic", values, values, values)
    names = [str(place) for place in range(len(values))]
    texts = ("title", "x", "y")
    figure = evaluation_plots.points(names, [series], 1.0, texts, at_most=True)
    (axes,) = figure.axes
    marks = [line for line in axes.lines if len(line.get_xdata()) == 1]
    return [float(line.get_ydata()[0]) for line in marks], {text.get_text() for text in axes.texts}


def test_a_run_that_never_ends_is_above_all_others():
    assert _levels(0.5, math.inf, 2.0) == ([2.5], {"asked for", "never"})


def test_runs_that_all_end_have_no_level_of_never():
    assert _levels(0.5, 2.0) == ([], {"asked for"})


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
