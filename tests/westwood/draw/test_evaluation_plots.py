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
    figure = evaluation_plots.points(names, [series], 1.0, texts, at_most=True, is_course=False)
    (axes,) = figure.axes
    marks = [line for line in axes.lines if len(line.get_xdata()) == 1]
    return [float(line.get_ydata()[0]) for line in marks], {text.get_text() for text in axes.texts}


def test_a_run_that_never_ends_is_above_all_others() -> None:
    assert _levels(0.5, math.inf, 2.0) == ([2.5], {"asked for", "never"})


def test_runs_that_all_end_have_no_level_of_never() -> None:
    assert _levels(0.5, 2.0) == ([], {"asked for"})
