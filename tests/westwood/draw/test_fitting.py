# SPDX-License-Identifier: BSD-3-Clause
"""Figures fit the width of a column of a paper and that of a page."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib import legend
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from westwood import Result, Scenario, plot_means, simulate
from westwood.draw import campaign_plots, search_plots, states, trial_plots
from westwood.draw.bars import grouped_bars, summary_bars
from westwood.draw.curves import THROUGHPUT, Axis, curves, ratios, side_by_side
from westwood.draw.dots import DotPanel, dots
from westwood.draw.evaluation_plots import Series, points
from westwood.draw.over_time import Line, TimePanel, courses
from westwood.draw.style import Picture, adapt
from westwood.draw.views import VIEWS
from westwood.engines import run_figures

CM = 1 / 2.54
TITLE = "fig5: 2 Mb/s, 45 ms one way, loss 0.5 %, queue 100 packets; mean of 5 runs, 95 % intervals"
CCS = ("newreno", "sack", "westwood", "westwood+", "cubic", "bbr", "bbr3", "vegas")


@pytest.fixture(scope="module")
def results() -> list[Result]:
    path = Scenario.preset("table1").with_settings({"duration": "8s"})
    return [
        simulate(path.with_settings({"tcp.cc": cc}), trace=True, queues=True, events=True)
        for cc in ("westwood+", "cubic", "bbr")
    ]


@pytest.fixture(scope="module")
def six() -> Result:
    path = Scenario.preset("path").with_settings({"duration": "8s", "tcp.count": 6})
    return simulate(path, trace=True, queues=True, events=True)


def rows(ccs: tuple[str, ...], **swept: list[Any]) -> pl.DataFrame:
    rows_ = []
    keys, values = list(swept), np.array(np.meshgrid(*swept.values(), indexing="ij"), object)
    for point in values.reshape(len(keys), -1).T if keys else [[]]:
        for cc in ccs:
            for seed in (1, 2):
                row = {"scenario": "x", "flow": "tcp", "cc": cc, "seed": seed}
                rows_.append(
                    {**dict(zip(keys, point, strict=True)), **row, "goodput_bps": 1e6 + 1e5 * seed}
                )
    return pl.DataFrame(rows_)


LOSS, QUEUE = [0.001, 0.01, 0.1], ["10p", "20p", "50p", "100p"]
MEANS = pl.DataFrame(
    {
        "cc": CCS[:3],
        "size_bytes": [10**6] * 3,
        "number": [1, 2, 3],
        "pair": [1, 2, 3],
        "loss": [0.1, 0.2, 0.3],
        "time_s": [0.0, 1.0, 2.0],
        "cwnd": [1.0, 2.0, 3.0],
        "ssthresh": [1.0, 2.0, 3.0],
        "estimate_bps": [1e6] * 3,
        "srtt_s": [0.1] * 3,
        "rtt_s": [0.1] * 3,
        "delivered_bytes": [1e3, 2e3, 3e3],
        "state": ["open", "recovery", "open"],
        **{
            f"{name}{end}": [2e6, 3e6, 4e6]
            for name in ("goodput_bps", "throughput_bps", "retransmission_ratio")
            for end in ("", "_ci95", "_other")
        },
    }
)
LINE = Line("a line with a name", MEANS["time_s"], MEANS["cwnd"])
FIGURES: dict[str, Callable[[], Any]] = {
    "means": lambda: plot_means(rows(CCS), title=TITLE),
    "curves": lambda: plot_means(rows(CCS, **{"path.loss.rate": LOSS}), title=TITLE),
    "panels": lambda: plot_means(
        rows(CCS, **{"path.loss.rate": LOSS, "path.queue.limit": QUEUE}), title=TITLE
    ),
    "bars": lambda: plot_means(
        rows(CCS[:3], **{"bottleneck.queue": ["droptail, 50p", "red, 50p, min 5, max 15"]}),
        title=TITLE,
    ),
    "grouped bars": lambda: grouped_bars(
        [("20 flows together over a queue", [(cc, 2.0, 0.1) for cc in CCS])],
        "Goodput (Mb/s)",
        TITLE,
    ),
    "side by side": lambda: side_by_side(
        [(MEANS, Axis("loss", "Loss")), (MEANS, Axis("number", "Number"))], THROUGHPUT, TITLE
    ),
    "ratios": lambda: ratios(MEANS, ["goodput_bps", "throughput_bps"], TITLE, "ns-3"),
    "dots": lambda: dots(
        ["a path with 1 % loss and a short queue", "a short path"],
        [DotPanel(name, {cc: [1.0, 2.0] for cc in CCS}) for name in ("Goodput (Mb/s)", "RTT (ms)")],
        TITLE,
    ),
    "evaluation": lambda: points(
        ["0.05 BDP", "0.5 BDP", "1 BDP", "4 BDP"],
        [Series(cc, cc, *[[1.0, 2.0, 1.5, math.inf]] * 3) for cc in CCS],
        1.2,
        (TITLE, "Queue", "Share that CUBIC keeps"),
        at_most=True,
    ),
    "search": lambda: search_plots.search(
        "westwood+", [2.0, 1.5], [search_plots.ResetCost("cc.gain_of_probing", 1, 0.5, 2)], TITLE
    ),
    "sessions": lambda: campaign_plots.sessions(MEANS, TITLE),
    "uploads": lambda: campaign_plots.uploads(MEANS, TITLE),
    "dynamics": lambda: campaign_plots.dynamics([(cc, MEANS) for cc in CCS[:3]], TITLE),
    "pairs": lambda: trial_plots.pairs(
        MEANS, [trial_plots.GainCourse("cubic", [0.1], [0.0], [0.2])], "cubic", 0.05
    ),
    "one pair": lambda: trial_plots.side_by_side(dict.fromkeys(CCS[3:5], MEANS), TITLE),
    "states": lambda: states.over_time(
        [states.Connection("bbr3", [TimePanel("Rate (Mb/s)", [LINE])], [])] * 2, TITLE, 2.0
    ),
    "courses": lambda: courses([TimePanel("Window (segments)", [LINE] * 4)] * 3, TITLE),
}


def shares(figure: Any) -> tuple[float, float]:
    """Returns what the fullest row of axes takes of the width, and a column of the height."""
    across: dict[int, float] = {}
    down: dict[int, float] = {}
    for axes in figure.axes:
        place = axes.get_subplotspec()
        across[place.rowspan.start] = across.get(place.rowspan.start, 0) + axes.bbox.width
        down[place.colspan.start] = down.get(place.colspan.start, 0) + axes.bbox.height
    return max(across.values()) / figure.bbox.width, max(down.values()) / figure.bbox.height


def assert_fits(figure: Any) -> None:
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()  # type: ignore[no-untyped-call]
    width, height = shares(figure)
    assert width >= 0.6 and height >= 0.6, f"{width:.2f} of the width, {height:.2f} of the height"
    assert min(text.get_fontsize() for text in figure.findobj(Text) if text.get_text()) >= 7
    drawn = [part.get_window_extent(renderer) for key in figure.keys for part in key.drawn]
    drawn += [axes.title.get_window_extent(renderer) for axes in figure.axes if axes.get_title()]
    for number, box in enumerate(drawn):
        assert box.x0 >= -1 and box.x1 <= figure.bbox.width + 1
        assert box.y0 >= -1 and box.y1 <= figure.bbox.height + 1
        assert not any(box.overlaps(other) for other in drawn[number + 1 :])


@pytest.mark.parametrize("width_cm", [8.5, 18])
@pytest.mark.parametrize("name", FIGURES)
def test_axes_keep_most_of_a_figure(name, width_cm):
    assert_fits(adapt(FIGURES[name](), None, (width_cm * CM, None)))


@pytest.mark.parametrize("width_cm", [8.5, 18])
@pytest.mark.parametrize("view", VIEWS)
def test_views_fit(view, width_cm, results, six):
    for figure in (results[0].plot(view), run_figures.draw(results, view), six.plot(view)):
        assert_fits(adapt(figure, None, (width_cm * CM, None)))


def test_a_figure_may_change_its_size_before_each_drawing(results):
    figure = results[0].plot()
    assert isinstance(figure, Picture)
    for width_cm in (8.5, 18, 8.5, 30):
        adapt(figure, None, (width_cm * CM, None))
        assert_fits(figure)


def test_names_of_rows_lie_beside_their_rows_if_there_is_room():
    names = [("cubic", "a protocol with a long name and its settings"), ("bbr", "another one")]
    means = MEANS.head(2)
    wide, narrow = (
        adapt(summary_bars(names, means, "goodput_bps", "t"), None, (width_cm * CM, None))
        for width_cm in (24, 8.5)
    )
    for figure in (wide, narrow):
        FigureCanvasAgg(figure).draw()
    assert not wide.axes[0].texts
    assert [text.get_text() for text in narrow.axes[0].texts] == [name for _, name in names]


def test_a_slow_machine_gets_a_legend_without_a_warning(monkeypatch):
    """matplotlib warns if it looks for the best place for more than a second."""
    monkeypatch.setattr(legend.time, "perf_counter", itertools.count(0, 5).__next__)
    means = {"cc": ["reno", "cubic"] * 2, "x": [1, 1, 2, 2], "y": [1, 2, 3, 4], "y_ci95": [0.1] * 4}
    curves(pl.DataFrame(means), Axis("x", "x"), Axis("y", "y"), "t").draw_without_rendering()
