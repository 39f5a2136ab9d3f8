# SPDX-License-Identifier: BSD-3-Clause
"""Curves and their links can be told apart, on the page and in files; the rest is mentioned."""

import random
from typing import Any

import pytest

from westwood.control.catalogue import PROTOCOLS
from westwood.scenario.preset_files import presets

MOST_CURVES = 16
LEGEND = """[...document.querySelectorAll('[data-panel="cwnd"] .chip')].map((chip) => {
    const line = chip.querySelector("line");
    return [chip.firstChild.nextSibling.textContent, line.getAttribute("stroke"),
            line.getAttribute("stroke-dasharray")]; })"""
# Opens a scenario of these flows with these controls side by side.
COMPARE = """async ([flows, controls]) => {
    const next = lab.state, [flow] = next.scenario.flow;
    next.scenario.duration = "2s";
    next.scenario.flow = flows.map((name) => ({ ...flow, name }));
    next.lines = controls.map((cc) => ({ "*.cc": cc }));
    delete next.preset;
    await lab.open(next); }"""
PARKING = """
name = "parking"
duration = "4s"
link = [
    { name = "first", between = ["a", "b"], rate = "8Mbps", delay = "5ms" },
    { name = "second", between = ["c", "b"], rate = "2Mbps", delay = "5ms" },
    { name = "third", between = ["c", "d"], rate = "4Mbps", delay = "5ms" },
]
flow = [
    { name = "through", from = "a", to = "d", cc = "westwood+" },
    { name = "cross", from = "a", to = "b", cc = "newreno" },
]
"""


def legend(page: Any) -> list[tuple[str, str, str]]:
    """Returns label, colour and dashes of each curve of the window's panel."""
    return [tuple(entry) for entry in page.evaluate(LEGEND)]


def expect_distinct(page: Any, what: object, *, by_label: bool = True) -> None:
    drawn = legend(page)
    assert drawn and (not by_label or len({label for label, *_ in drawn}) == len(drawn)), what
    assert len({tuple(style) for _, *style in drawn}) == len(drawn), what


def test_no_curves_of_a_preset_look_alike(tab):
    for name in presets():
        tab.evaluate("(name) => lab.openPreset(name)", name)
        # A label does not name the settings of a control, of which this preset varies one.
        expect_distinct(tab, name, by_label=name != "plateau-lengths")


def test_no_curves_of_flows_and_controls_look_alike(tab):
    choices = random.Random(7)
    alike = ["westwood", "westwood-ns3", "westwood-ucla", "bbr"]
    for case in range(25):
        names = [f"flow{number}" for number in range(choices.randint(1, 7))]
        controls = choices.sample(sorted(PROTOCOLS), choices.randint(1, 4)) if case else alike
        tab.evaluate(COMPARE, [names, controls])
        total = len(names) * len(controls)
        expect_distinct(tab, (names, controls))
        drawn = legend(tab)
        assert len(drawn) == min(total, MOST_CURVES)
        message = tab.locator("#said").inner_text()
        assert (f"{MOST_CURVES} of {total} curves are drawn" in message) == (total > MOST_CURVES)
        counts = [sum(label.endswith(f": {name}") for label, *_ in drawn) for name in names]
        assert len(names) == 1 or counts == sorted(counts, reverse=True), "the first flows of each"
        assert (
            tab.locator('[data-panel="estimate"] h2 small', has_text="estimate").count() > 0
        ) == (not tab.locator('[data-panel="estimate"] .u-wrap').count())


def test_a_curve_of_many_connections_says_so(tab):
    assert "connections" not in tab.locator("#said").inner_text()
    tab.evaluate(
        """(() => { const next = lab.state; next.scenario.flow[0].count = 3;
            return lab.open(next); })()"""
    )
    message = tab.locator("#said").inner_text()
    assert "of up to 3 connections shows the first, and the goodput of all" in message


def exported(page: Any, kind: str) -> bytes:
    """Returns the file that the menu exports."""
    page.locator("#export summary").click()
    with page.expect_download() as waited:
        page.locator("#menu button", has_text=kind).click()
    return bytes(waited.value.path().read_bytes())


@pytest.mark.parametrize("flows", [1, 3, 5])
def test_an_exported_picture_has_its_whole_legend(page, watched, flows):
    names = [f"a-flow-with-a-name-of-39-characters-{number}-x" for number in range(flows)]
    page.evaluate(COMPARE, [names, ["westwood-ns3", "westwood+-linux24", "westwood-cubic"]])
    labels = [label for label, *_ in legend(page)]
    picture = watched()
    picture.set_content(exported(page, "SVG").decode())
    texts = picture.evaluate(
        """[...document.querySelectorAll("text")].map((one) => {
            const { x, y, width, height } = one.getBBox();
            return [one.textContent, x, y, width, height]; })"""
    )
    width, height = picture.evaluate(
        "(({ width, height }) => [width, height])(document.querySelector('svg').viewBox.baseVal)"
    )
    shown = [text for text, *_ in texts]
    for label in labels:
        assert shown.count(label) >= 4, "in the panels of window, goodput, estimate and RTT"
    for text, x, y, wide, high in texts:
        assert x >= 0 and x + wide <= width and y >= 0 and y + high <= height, text
    ours = [legend_text for legend_text in texts if legend_text[0] in labels]
    for text, x, y, wide, _ in ours:
        for other, x2, y2, wide2, _ in ours:
            apart = abs(y - y2) > 8 or x + wide < x2 or x2 + wide2 < x
            assert (text, x, y) == (other, x2, y2) or apart, (text, other)


def test_titles_name_the_link_that_is_shown_and_it_can_be_chosen(tab):
    titles = (
        """[...document.querySelectorAll("#panels h2")].map((one) => one.firstChild.textContent)"""
    )
    assert "Queue of the bottleneck" in tab.evaluate(titles)
    tab.evaluate("(text) => lab.openToml(text)", PARKING)
    assert {"Queue of second, backward", "Estimate over the rate of second"} <= set(
        tab.evaluate(titles)
    )
    choose = tab.locator('[data-field="link"] select')
    rate = tab.locator('[data-field="rate"] input[type="text"]')
    assert (choose.input_value(), rate.input_value()) == ("second", "2Mbps")
    for name, bps in (("first", "8Mbps"), ("third", "4Mbps")):
        before = tab.get_attribute("body", "data-shown")
        choose.select_option(name)
        tab.wait_for_selector(f'body:not([data-shown="{before}"])')
        assert f"Queue of {name}" in tab.evaluate(titles)
        assert (tab.evaluate("lab.state.link"), rate.input_value()) == (name, bps)
    rate.fill("3Mbps")
    rate.press("Enter")
    rates = tab.evaluate("lab.state.scenario.link.map(({ rate }) => rate)")
    assert rates == ["8Mbps", "2Mbps", "3Mbps"]
