# SPDX-License-Identifier: BSD-3-Clause
"""`lab.show(scenario)` shows the laboratory in a notebook, with the scenario as its state."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from one_link import with_link

from tests.lab.test_rows import figures
from westwood import Scenario, extras, lab
from westwood.draw import laboratory
from westwood.errors import UnavailableError

pytest.importorskip("anywidget", reason="needs the extra lab: make .venv")
NOTEBOOK = "http://notebook.example/"
# Acts as a notebook does with a widget: a model with its state, and a cell to fill.
RENDER = """async ([script, state]) => {
    const { default: widget } = await import(
        URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
    window.leave = widget.render({
        model: { get: (name) => state[name] }, el: document.querySelector("#cell") });
}"""
FILE = with_link('queue = { limit = "1bdp" }\nloss = { packets = [3, 17] }')


def from_file(folder: Path) -> Scenario:
    (folder / "mine.toml").write_text(FILE)
    return Scenario.from_toml(folder / "mine.toml")


def changed(folder: Path) -> Scenario:
    settings = {"duration": "20s", "path.rate": "3Mbps", "tcp.cc": "westwood+"}
    return Scenario.preset("path").with_settings(settings)


def built(folder: Path) -> Scenario:
    """Builds a scenario from the parts of another, as a program may."""
    other = from_file(folder)
    return Scenario(name="again", duration="4s", link=other.link, flow=other.flow)


@pytest.fixture
def cell(watched) -> Callable[[Scenario], Any]:
    """Shows a scenario's widget in a page of another origin; returns the frame."""

    def show(scenario: Scenario) -> Any:
        state = {
            name: value
            for name, value in lab.show(scenario).get_state().items()
            if isinstance(value, (str, int))
        }
        page = watched(NOTEBOOK)
        answer = '<!doctype html><link rel="icon" href="data:,"><div id="cell"></div>'
        page.route(NOTEBOOK, lambda route: route.fulfill(body=answer, content_type="text/html"))
        page.goto(NOTEBOOK)
        page.evaluate(RENDER, [state["_esm"], state])
        frame = page.query_selector("iframe").content_frame()
        frame.wait_for_selector("body[data-shown]")
        return frame

    return show


@pytest.mark.parametrize("make", [from_file, changed, built])
def test_a_cell_shows_the_rows_of_the_command_line(cell, westwood, tmp_path, make):
    scenario = make(tmp_path)
    frame = cell(scenario)
    (tmp_path / "same.toml").write_text(scenario.to_toml())
    ran = westwood("run", tmp_path / "same.toml", "--seeds", "1", "--json")
    rows = figures(json.loads(ran.out)["runs"])
    assert figures(frame.evaluate("lab.rows")) == rows
    assert frame.locator("#rows tbody tr").count() == len(rows)
    assert frame.locator("#message").is_hidden()


def test_in_a_cell_sliders_work_and_the_state_is_kept(cell):
    frame = cell(Scenario.preset("path").with_settings({"duration": "20s"}))
    before = frame.evaluate("lab.rows")
    slider = frame.locator('[data-field="rate"] input[type="range"]:visible')
    slider.focus()
    slider.press("ArrowRight")
    frame.wait_for_function(
        "before => lab.rows[0].goodput_bps > before", arg=before[0]["goodput_bps"]
    )
    frame.wait_for_function("() => location.hash.startsWith('#s=')")
    assert frame.evaluate("location.protocol") == "blob:"
    assert frame.locator("#share").is_hidden()  # a link to a frame is useless


def test_a_preset_comes_with_its_claims(cell):
    frame = cell(Scenario.preset("fig5"))
    assert frame.evaluate("lab.state.preset") == "fig5"
    assert frame.locator(".claim").count() == 6


def test_without_the_widget_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(extras, "has", lambda module: False)
    with pytest.raises(UnavailableError, match=r"^lab\.show\(\) needs anywidget: pip install"):
        lab.show(Scenario.preset("path"))


def test_without_the_page_it_says_how_to_build_it(monkeypatch, tmp_path):
    monkeypatch.setattr(laboratory, "PAGE", tmp_path / "page.html")
    with pytest.raises(UnavailableError, match=r"not built here: make lab$"):
        lab.show(Scenario.preset("path"))
