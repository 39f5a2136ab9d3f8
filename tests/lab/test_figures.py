# SPDX-License-Identifier: BSD-3-Clause
"""A report's figures are interactive plots, and pictures if scripts are off."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from westwood.cli import call
from westwood.control.catalogue import label
from westwood.draw import alive, laboratory, report
from westwood.draw.bars import grouped_bars
from westwood.draw.curves import Axis, curves
from westwood.draw.over_time import Line, TimePanel, courses
from westwood.results.folder import Folder

Opened = Callable[..., Any]
NASTY = "<img src=x onerror=seen()>", "</script><script>seen()</script>", "<!--<script>", "{{7*7}}"
# The data of the page's plots, by curve.
DRAWN = """[...document.querySelectorAll("figure")].flatMap((figure) => figure.plots.map((plot) =>
    plot.series.slice(1).map(({ label }, i) => [label, plot.data[0].map((x, at) =>
        [x, plot.data[i + 1][at]]).filter(([, y]) => y !== undefined && y !== null)])))"""


@pytest.fixture(scope="module")
def needs_script():
    if not alive.SCRIPT.exists():
        pytest.skip("the plots of reports are not built: make lab")


@pytest.fixture
def page_of(watched, needs_script) -> Opened:
    """Opens a folder's page in a watched tab."""

    def open_page(folder: Path, **how: Any) -> Any:
        page = watched(**how)
        page.goto((folder / "index.html").as_uri())
        return page

    return open_page


@pytest.fixture(scope="module")
def swept(tmp_path_factory) -> Path:
    """Runs a sweep over error rates, with its page and its data files."""
    folder = tmp_path_factory.mktemp("swept") / "out"
    asked = ["--set", "duration=3s", "--seeds", "3", "--out", str(folder)]
    assert call(["sweep", "loss", *asked]) == 0
    assert call(["report", str(folder), "--export"]) == 0
    return folder


def page_with(figure: Any, folder: Path, title: str = "A figure") -> Path:
    """Writes a page with this figure."""
    written = Folder(folder / "page", "", tell=lambda text: None)
    section = report.Section("one", title, report.figure(written, "one", lambda: figure))
    report.write(written, title, [section], "{}")
    return written.path


def points(names: tuple[str, ...]) -> pl.DataFrame:
    rows = [(name, x, 1.0 + n * x, 0.25) for n, name in enumerate(names) for x in (1.0, 2.0, 4.0)]
    return pl.DataFrame(rows, schema=["curve", "x", "y", "y_ci95"], orient="row")


def simple(names: tuple[str, ...] = ("one", "two")) -> Any:
    return curves(points(names), Axis("x", "x (m)"), Axis("y", "y (s)"), "Some", by="curve")


def test_the_curves_of_a_report_are_those_of_its_data_file(page_of, swept):
    (panel,) = page_of(swept).evaluate(DRAWN)
    summary = pl.read_csv(swept / "summary.csv").sort("bottleneck.loss.rate")
    curves = {name: [tuple(point) for point in drawn] for name, drawn in panel}
    assert curves == {
        label(cc): list(zip(mine["bottleneck.loss.rate"], mine["goodput_bps"] / 1e6, strict=True))
        for (cc,), mine in summary.group_by("cc")
    }


def test_the_curves_of_a_reproduction_are_those_of_its_data_file(page_of, westwood, tmp_path):
    westwood("reproduce", "blackout", "--seeds", "2", "--out", tmp_path / "made").printed()
    page = page_of(tmp_path / "made")
    (panel,) = page.evaluate(DRAWN)
    data = pl.read_csv(tmp_path / "made" / "data" / "blackout.csv")
    assert sorted(y for _, drawn in panel for _, y in drawn) == sorted(data["throughput_bps"] / 1e6)
    assert "westwood lab blackout" in page.locator("body").inner_text()
    follow(page, "blackout")
    assert page.evaluate("lab.state.preset") == "blackout"


def follow(page: Any, name: str) -> None:
    """Follows a figure's link to the laboratory, which is in the page's folder."""
    page.get_by_role("link", name=f"the laboratory with {name}").click()
    page.wait_for_selector("body[data-shown]")


def test_a_figure_of_a_report_opens_the_laboratory_in_its_state(page_of, swept):
    page = page_of(swept)
    follow(page, "scenario.toml")
    state = page.evaluate("lab.state")
    assert (state["scenario"]["name"], state["scenario"]["duration"]) == ("loss", "3s")
    assert [line["tcp.cc"] for line in state["lines"]] == ["reno", "westwood"]
    runs = pl.read_parquet(swept / "runs.parquet").filter(
        seed=1, **{"bottleneck.loss.rate": state["scenario"]["link"][1]["loss"]["rate"]}
    )
    shown = [row["goodput_bps"] for row in page.evaluate("lab.rows")]
    assert shown == runs.sort("cc")["goodput_bps"].to_list()


def test_without_the_laboratory_a_report_shows_the_command(monkeypatch, swept, tmp_path):
    monkeypatch.setattr(laboratory, "PAGE", tmp_path / "none.html")
    folder = shutil.copytree(swept, tmp_path / "out")
    assert call(["report", str(folder)]) == 0
    text = (folder / "index.html").read_text()
    assert "lab.html" not in text
    assert "<code>westwood lab scenario.toml</code>" in text


def test_intervals_are_drawn_and_written(page_of, tmp_path):
    page = page_of(page_with(simple(), tmp_path))
    read = page.evaluate("JSON.parse(document.querySelector('figure > script').textContent)")
    (panel,) = read["panels"]
    for curve in panel["curves"]:
        assert curve["low"] == [y - 0.25 for y in curve["y"]]
        assert curve["high"] == [y + 0.25 for y in curve["y"]]
    over = page.locator(".u-over").bounding_box()
    page.mouse.move(over["x"] + over["width"] - 2, over["y"] + over["height"] / 2)
    assert page.locator(".switches output").all_inner_texts() == [
        "1 (0.75 to 1.25)",
        "5 (4.75 to 5.25)",
    ]


def test_a_switch_hides_its_curve(page_of, tmp_path):
    page = page_of(page_with(simple(), tmp_path))
    drawn = """() => {
        const { ctx } = document.querySelector("figure").plots[0];
        const { data } = ctx.getImageData(0, 0, ctx.canvas.width, ctx.canvas.height);
        const dots = (...rgb) => data.filter((red, at) =>
            at % 4 === 0 && rgb.every((one, i) => data[at + i] === one)).length;
        return [dots(0x00, 0x0c, 0x8c), dots(0xe1, 0x32, 0x00)].map((count) => count > 50); }"""
    assert page.evaluate(drawn) == [True, True]
    page.get_by_label("two").focus()
    page.keyboard.press("Space")
    page.wait_for_function(f"() => ({drawn})().join() === 'true,false'")
    page.get_by_label("two").check()
    page.wait_for_function(f"() => ({drawn})().join() === 'true,true'")


def test_dragging_zooms_and_a_button_shows_all(page_of, tmp_path):
    page = page_of(page_with(simple(), tmp_path))
    scale = "(({min, max}) => [min, max])(document.querySelector('figure').plots[0].scales.x)"
    whole = page.evaluate(scale)
    over = page.locator(".u-over").bounding_box()
    middle = over["y"] + over["height"] / 2
    page.mouse.move(over["x"] + 0.25 * over["width"], middle)
    page.mouse.down()
    page.mouse.move(over["x"] + 0.5 * over["width"], middle, steps=4)
    page.mouse.up()
    page.wait_for_timeout(50)
    least, most = page.evaluate(scale)
    assert least - whole[0] == pytest.approx(0.25 * (whole[1] - whole[0]), rel=0.02)
    assert most - least == pytest.approx(0.25 * (whole[1] - whole[0]), rel=0.02)
    page.get_by_role("button", name="Show all").click()
    page.wait_for_timeout(50)
    assert page.evaluate(scale) == whole


def test_names_are_text(page_of, tmp_path):
    page = page_of(page_with(simple(NASTY), tmp_path, NASTY[0]))
    assert tuple(page.locator(".switches label").all_inner_texts()) == NASTY
    assert page.locator("figure.alive").count() == 1
    assert page.locator("img:not([src^='data:image/svg'])").count() == 0


def test_panels_over_time_share_their_cursor(page_of, tmp_path):
    times = pl.Series([0.0, 1.0, 1.0, 3.0])
    line = Line("window", times, pl.Series([1.0, 2.0, 1.5, 4.0]))
    figure = courses([TimePanel("a", [line], {"pipe": 3.0}), TimePanel("b", [line])], "Two")
    page = page_of(page_with(figure, tmp_path))
    first, second = page.evaluate(DRAWN)
    assert dict(first)["pipe"][0][1] == dict(first)["pipe"][-1][1] == 3.0
    assert dict(second)["window"] == [[0, 1], [1, 2], [1, 1.5], [3, 4]]
    over = page.locator(".u-over").first.bounding_box()
    page.mouse.move(over["x"] + over["width"] - 2, over["y"] + 20)
    assert page.locator(".switches output").all_inner_texts() == ["4", "3", "4"]


@pytest.mark.parametrize("scripts", [True, False])
def test_without_scripts_the_picture_is_shown(page_of, swept, scripts):
    page = page_of(swept, scripts=scripts)
    assert page.locator("figure img").is_visible() != scripts
    assert page.locator("figure canvas").count() == 0 or scripts


def test_figures_without_curves_stay_pictures(page_of, tmp_path):
    page = page_of(page_with(grouped_bars([("", [("reno", 1.0, 0.1)])], "x", "Bars"), tmp_path))
    assert page.locator("figure img").is_visible()
    assert page.locator("script").count() == 0


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_cut_off(page_of, swept, width):
    page = page_of(swept, width=width, dark=width == 390)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    box = page.locator(".plots canvas").last.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= width


def test_a_page_without_the_script_is_complete(monkeypatch, tmp_path):
    monkeypatch.setattr(alive, "SCRIPT", tmp_path / "plots.js")
    text = (page_with(simple(), tmp_path) / "index.html").read_text()
    assert "<script" not in text and "data:image/svg+xml" in text
