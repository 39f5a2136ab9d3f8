# SPDX-License-Identifier: BSD-3-Clause
"""On the frontier, names of nearby marks cover neither each other nor a mark."""

import itertools
import random

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Annotation, Text

from westwood.control.catalogue import PROTOCOLS, label
from westwood.draw.frontier import FrontierAxis, Mark, frontier
from westwood.results.intervals import Estimate


def exact(value: float) -> Estimate:
    return Estimate(value, value - 0.1, float("inf"))


@pytest.mark.parametrize("seed", range(4))
def test_names_do_not_overlap(seed):
    rng = random.Random(seed)
    marks = [
        Mark(label(cc), cc, exact(0.9 + 0.1 * rng.random()), exact(0.1 + 0.2 * rng.random()))
        for cc in PROTOCOLS
    ]
    figure = frontier(marks, FrontierAxis("kept", 0.85), FrontierAxis("loss", 0.85), "t")
    canvas = FigureCanvasAgg(figure)
    canvas.draw()

    (axes,) = figure.axes
    names = [text for text in axes.texts if isinstance(text, Annotation)]
    (corner,) = (text for text in axes.texts if text not in names)
    boxes = [Text.get_window_extent(name) for name in names]  # without the line to the mark
    assert [name.get_text() for name in names] and len(names) == len(marks)
    for left, other in itertools.combinations([corner.get_window_extent(), *boxes], 2):
        assert not left.overlaps(other)
    positions = [axes.transData.transform((mark.x.value, mark.y.value)) for mark in marks]
    assert not any(box.contains(*point) for box in boxes for point in positions)
    assert all(axes.bbox.x0 <= box.x0 and box.x1 <= axes.bbox.x1 for box in boxes)


def test_an_interval_that_the_frame_cuts_ends_in_an_arrow():
    """An interval that ends within the frame has none."""
    cut, whole = Estimate(1.0, 0.9, 5.0), Estimate(0.5, 0.4, 0.6)
    marks = [Mark("cut", "cubic", cut, whole), Mark("whole", "reno", whole, whole)]
    (axes,) = frontier(marks, FrontierAxis("kept", 0.85), FrontierAxis("loss", 0.85), "t").axes
    (arrow,) = (
        line for line in axes.lines if line.get_marker() in tuple("<>^v") and line.get_alpha()
    )
    assert arrow.get_marker() == ">"
    assert arrow.get_xydata().tolist() == [[axes.get_xlim()[1], 0.5]]
