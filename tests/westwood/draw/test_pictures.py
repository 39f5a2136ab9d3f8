# SPDX-License-Identifier: BSD-3-Clause
"""Figures show what they should: they are read back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from westwood import InputError, Result, Scenario, simulate
from westwood.draw import panel, search_plots, style, views
from westwood.draw.bars import summary_bars
from westwood.draw.over_time import TracedRun, over_time
from westwood.draw.window import sawteeth
from westwood.engines import run_figures
from westwood.evaluation.discipline import MARKS_UNASKED
from westwood.results.tables import on_its_side


def traced(cc: str, duration: str = "20s", **settings: Any) -> Result:
    scenario = Scenario.preset("path").with_settings(
        {"duration": duration, "tcp.cc": cc, **settings}
    )
    return simulate(scenario, trace=True, queues=True, events=True)


@pytest.fixture(scope="module")
def bbr() -> Result:
    return traced("bbr")


@pytest.fixture(scope="module")
def reno() -> Result:
    return traced("reno")


# Two flows over three links, of which the narrowest is not the busiest: a flow begins there late.
QUEUES = {
    "4Mbps": {"limit": "20p"},
    "1Mbps": {"kind": "codel", "limit": "100p"},
    "2Mbps": {"kind": "pie", "limit": "100p"},
}
LOT = {
    "name": "lot",
    "duration": "12s",
    "link": [
        {"name": f"hop{i}", "between": [f"n{i}", f"n{i + 1}"], "rate": rate, "delay": "10ms"}
        | {"queue": queue}
        for i, (rate, queue) in enumerate(QUEUES.items(), start=1)
    ],
    "flow": [
        {"name": "long", "from": "n1", "to": "n4", "cc": "reno", "start": "8s"},
        {"name": "first", "from": "n1", "to": "n2", "cc": "cubic"},
    ],
}


@pytest.fixture(scope="module")
def lot() -> Result:
    return simulate(Scenario(**LOT), trace=True, queues=True, events=True)


def legends(figure: Any) -> list[Any]:
    return [*figure.legends, *(legend for axes in figure.axes if (legend := axes.get_legend()))]


def legend_texts(figure: Any) -> list[str]:
    return [text.get_text() for legend in legends(figure) for text in legend.get_texts()]


def heads(figure: Any) -> list[str]:
    return [axes.get_ylabel().replace("\n", " ") for axes in figure.axes]


def teeth(count: int, length_s: float) -> pl.DataFrame:
    times = [length_s * i / (10 * count) for i in range(10 * count)]
    return pl.DataFrame({"time_s": times, "cwnd": [10 + i % 10 for i in range(10 * count)]})


def test_many_sawteeth_are_not_drawn_as_a_band():
    assert sawteeth([teeth(30, 600)], (0.0, 600.0)) == (0.0, 600.0), "they can all be seen"
    first, last = sawteeth([teeth(30, 600), teeth(600, 600)], (0.0, 600.0))
    assert 0 < first < last < 600 and 10 <= (last - first) <= 40
    assert sawteeth([], (0.0, 5.0)) == (0.0, 5.0)


def test_a_figure_says_which_part_it_shows_and_starts_at_zero():
    trace = teeth(600, 600).with_columns(
        pl.lit("open").alias("state"),
        *(pl.lit(1.0).alias(name) for name in ("ssthresh", "estimate_bps", "rtt_s")),
    )
    figure = over_time([TracedRun("reno", "Reno", trace)], "path", (0.0, 600.0))
    low, high = figure.axes[0].get_xlim()
    assert figure.axes[0].get_title() == f"path, {low:g} to {high:g} s of 600 s"
    assert high - low < 60 and all(axes.get_ylim()[0] == 0 for axes in figure.axes)
    whole = over_time([TracedRun("reno", "Reno", trace)], "path", (0.0, 600.0), (0.0, 600.0))
    assert whole.axes[0].get_xlim() == (0, 600) and whole.axes[0].get_title() == "path"


def test_the_title_names_the_path(reno):
    title = reno.plot(start_s=0).axes[0].get_title()
    assert title == "path: 2 Mb/s, 45 ms one way, loss 0.5 %, queue 100 packets, seed 1"


@pytest.mark.parametrize(
    ("link", "shown", "told"),
    [(None, "hop1", "4 Mb/s"), ("hop2", "hop2", "1 Mb/s"), ("hop3", "hop3", "2 Mb/s")],
)
def test_title_and_panels_are_of_the_same_link(link, shown, told, lot):
    figure = lot.plot(start_s=0, link=link)
    title = figure.axes[0].get_title()
    assert title.startswith(f"lot: {told}, 10 ms one way, ") and f"(link {shown})" in title
    assert f"Queue of {shown} (packets)" in heads(figure)
    both = run_figures.draw([lot, lot], "windows", link=link)
    assert f"(link {shown})" in both.axes[0].get_title()
    assert f"Queue of {shown} (packets)" in heads(both)


@pytest.mark.parametrize(
    ("kind", "title"),
    [
        ("red", "RED"),
        ("codel", "CoDel"),
        ("fq_codel", "FQ-CoDel"),
        ("pie", "PIE"),
        ("fq_pie", "FQ-PIE"),
        ("cake", "CAKE"),
        ("dualpi2", "DualPI2"),
    ],
)
def test_drops_and_marks_are_those_of_the_links_discipline(kind, title):
    queue: dict[str, Any] = {"kind": kind, "limit": "60p"}
    if kind == "red":
        queue |= {"min": 5, "max": 15, "max_p": 0.1}
    for ecn in (False, True):
        if kind not in MARKS_UNASKED:
            queue |= {"ecn": ecn}
        settings = {"path.queue": queue, "path.loss.rate": 0, "tcp.ecn": ecn}
        figure = traced("cubic", **settings).plot(start_s=0)
        verb = f"marked by {title} (ECN)" if ecn else f"dropped by {title}"
        assert any(text.startswith(f"{verb}: ") for text in legend_texts(figure))
        assert not any("RED" in text for text in legend_texts(figure) if title != "RED")


def test_what_a_policer_drops_is_no_disciplines():
    policer = {"rate": "1Mbps", "burst": "15kB"}
    texts = legend_texts(traced("cubic", "10s", **{"path.policer": policer}).plot(start_s=0))
    assert any(text.startswith("dropped by the policer: ") for text in texts)


def test_a_control_without_an_estimate_has_no_panel_for_it(reno, bbr):
    assert any("Estimate" in head for head in heads(bbr.plot()))
    assert not any("Estimate" in head for head in heads(reno.plot()))
    overlay = run_figures.draw([reno, bbr], "windows")
    assert sum("Estimate" in head for head in heads(overlay)) == 1
    estimates = next(axes for axes in overlay.axes if "Estimate" in axes.get_ylabel())
    drawn = [line for line in estimates.lines if len(line.get_xdata())]
    assert [line.get_label() for line in drawn] == ["BBRv1"]


def test_protocols_are_drawn_over_each_other(reno, bbr):
    figure = run_figures.draw([reno, bbr], "windows")
    assert legend_texts(figure) == ["Reno", "BBRv1"]
    assert "Queue of path (packets)" in heads(figure)


def test_an_interval_is_seen_before_a_black_bar():
    frame = pl.DataFrame({"goodput_bps": [2e6, 1e6], "goodput_bps_ci95": [3e5, float("nan")]})
    figure = summary_bars([("bbr", "BBRv1"), ("reno", "Reno")], frame, "goodput_bps", "path")
    (bars,) = figure.axes[0].containers[-1:]
    _, caps, lines = bars.errorbar.lines if bars.errorbar else ([], [], [])
    assert caps and lines
    assert all(cap.get_path_effects() for cap in (*caps, *lines))


@pytest.mark.parametrize("view", views.VIEWS)
def test_every_view_is_drawn(view, bbr):
    figure = bbr.plot(view, start_s=1, end_s=9)
    assert any(len(axes.lines) or len(axes.patches) for axes in figure.axes)
    assert "path: 2 Mb/s" in figure.axes[0].get_title()
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_goodput_over_time_adds_up_to_what_was_acknowledged(reno):
    (steps,) = reno.plot("goodput").axes[0].patches
    mbps, edges_s, _ = steps.get_data()
    acknowledged = reno.events.filter(kind="ack")["segment"][-1]
    assert sum(mbps * np.diff(edges_s)) == pytest.approx(
        acknowledged * 8 * reno.scenario.flows[0].mss / 1e6
    )
    assert max(mbps) < 2 and edges_s[0] == 0 and edges_s[-1] == 20


def test_goodput_of_a_part_is_that_of_the_whole_there(reno):
    (part,) = reno.plot("goodput", start_s=5, end_s=8.25).axes[0].patches
    mbps, edges_s, _ = part.get_data()
    acks = reno.events.filter(kind="ack")
    at_5, at_8 = (acks.filter(pl.col("time_s") <= s)["segment"][-1] for s in (5, 8.25))
    assert sum(mbps * np.diff(edges_s)) == pytest.approx(
        (at_8 - at_5) * 8 * reno.scenario.flows[0].mss / 1e6
    )
    assert (edges_s[0], edges_s[-1]) == (5, 8.25)


def test_the_guide_names_every_view():
    guide = (Path(__file__).parents[3] / "docs/traces.md").read_text()
    assert [name for name in views.VIEWS if f"`{name}` |" not in guide] == ["windows"]


def test_the_distribution_of_delays_is_that_of_the_samples(reno):
    (line,) = reno.plot("delays").axes[0].lines
    shares, ms = line.get_ydata(), line.get_xdata()
    assert shares[-1] == 1 and list(shares) == sorted(shares) and list(ms) == sorted(ms)
    rtt = reno.trace["rtt_s"].drop_nans()
    assert (ms[0], ms[-1]) == pytest.approx((1000 * rtt.min(), 1000 * rtt.max()))


def test_the_sequence_graph_has_every_segment_sent_again(reno):
    figure = reno.plot("sequence", start_s=0)
    again = next(line for line in figure.axes[0].lines if line.get_label() == "sent again")
    assert len(again.get_xdata()) == reno.events.filter(kind="retransmit").height > 0


def test_long_names_do_not_run_off_the_figure(reno):
    names = [f"[2001:db8::{i}]:5201 - [2001:db8:1::{i}]:43210" for i in range(6)]
    trace = pl.concat(reno.trace.with_columns(pl.lit(name).alias("flow")) for name in names)
    flows = [(name, "westwood+") for name in names]
    figure = panel.draw(panel.Panel("recorded", flows, trace, (0.0, 20.0)))
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    width, height = canvas.get_width_height()
    for legend in legends(figure):
        box = legend.get_window_extent(renderer)
        assert box.x0 >= 0 and box.x1 <= width and box.y0 >= 0 and box.y1 <= height


@pytest.mark.parametrize(
    ("cc", "name"), [("westwood+", "filtered estimate"), ("westwood-cubic", "estimate")]
)
def test_an_estimate_is_called_filtered_where_the_control_has_a_filter(cc, name, reno):
    trace = reno.trace.with_columns(estimate_bps=pl.lit(1e6), sample_bps=pl.lit(1e6))
    flow = str(trace["flow"][0])
    figure = panel.draw(panel.Panel("t", [(flow, cc)], trace, (0.0, 20.0)))
    assert name in legend_texts(figure)


def test_the_legend_of_a_search_lies_above_its_points():
    figure = search_plots.search("veno", [2.0, 2.0, 1.5], [], "t")
    FigureCanvasAgg(figure).draw()
    (axes,) = figure.axes
    assert axes.get_legend().get_window_extent().y0 >= axes.bbox.y1


@pytest.mark.parametrize(
    ("value", "text"), [(0.9962, "0.996"), (0.9999999, "0.9999999"), (1.004, "1.00"), (0.5, "0.50")]
)
def test_rounding_never_makes_a_figure_reach_its_bound(value, text):
    assert on_its_side(value, 2, lambda bound: bound >= 1) == text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"view": "sequenze"}, 'view = "sequenze": no such view, did you mean "sequence"'),
        ({"link": "pth"}, 'link = "pth": no such link, did you mean "path"?'),
        (
            {"link": "path", "view": "delays"},
            'link = "path": expected none, since the view "delays"',
        ),
        ({"start_s": 30}, "start_s = 30.0: expected a start before the end"),
    ],
)
def test_a_view_that_cannot_be_drawn_is_reported(arguments, message, reno):
    with pytest.raises(InputError) as error:
        reno.plot(**arguments)
    assert message in str(error.value)


def test_a_missing_recording_is_named():
    scenario = Scenario.preset("path").with_settings({"duration": "1s"})
    with pytest.raises(InputError, match=r"expected simulate\(..., trace=True\)"):
        simulate(scenario).plot()
    with pytest.raises(InputError, match=r"expected simulate\(..., events=True\)"):
        simulate(scenario, trace=True).plot("sequence")


def test_a_layout_has_no_digits_that_depend_on_the_order_of_sets():
    """Each layout rounds the positions of the axes and moves them again in another size."""
    figure, axes = style.subplots(2, size=(6, 4))
    axes[0].set_ylabel("goodput, Mb/s")
    places = []
    for width in (6, 7):
        figure.set_size_inches(width, 4)
        figure.draw_without_rendering()
        places.append([number for axes_ in axes for number in axes_.get_position().bounds])
    assert places[0] != places[1]
    assert all(abs(number_ - round(number_, 9)) < 1e-15 for two in places for number_ in two)
