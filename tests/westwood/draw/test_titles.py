# SPDX-License-Identifier: BSD-3-Clause
"""Titles fit their figure."""

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from westwood.draw import titles
from westwood.draw.style import subplots

LONG = "path: 2 Mb/s, 45 ms, loss 0.5 %, queue 100 packets; mean of 5 runs, 95 % intervals"


def wrapped(text: str, limit: float) -> list[str]:
    return list(titles.wrapped(text, limit, len))


def test_a_short_title_stays_on_one_line():
    assert wrapped(LONG, 100) == [LONG]


def test_a_title_breaks_at_the_end_of_a_clause():
    assert wrapped(LONG, 60) == [
        "path: 2 Mb/s, 45 ms, loss 0.5 %, queue 100 packets;",
        "mean of 5 runs, 95 % intervals",
    ]


def test_no_line_ends_between_a_number_and_its_unit():
    lines = wrapped(LONG.replace(";", "").replace(",", ""), 24)
    assert all(len(line) <= 24 for line in lines) and len(lines) < 6
    assert not any(line[-1].isdigit() for line in lines[:-1])


def test_lines_have_about_the_same_length():
    assert wrapped("one two three four five six", 22) == ["one two three", "four five six"]


@pytest.mark.parametrize(("rows", "columns", "width"), [(1, 1, 3.0), (2, 1, 7.2), (1, 4, 9.0)])
def test_titles_lie_within_the_figure_and_apart(rows, columns, width):
    figure, panels = subplots(rows, columns, size=(width, 3.0), squeeze=False)
    figure.suptitle(LONG)
    for axes in panels[0]:
        axes.set_title("a panel whose name has many words")
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    boxes = [axes.title.get_window_extent() for axes in panels[0]]
    boxes.append(figure._suptitle.get_window_extent())  # type: ignore[attr-defined]
    assert all(box.x0 >= 0 and box.x1 <= figure.bbox.width for box in boxes)
    assert not any(box.overlaps(other) for n, box in enumerate(boxes) for other in boxes[n + 1 :])
