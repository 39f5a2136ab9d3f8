# SPDX-License-Identifier: BSD-3-Clause
"""The page works in daily use: sliders, links, files, keys; on a phone and in dark mode."""

import csv
import io
import json
from typing import Any

import pytest

from tests.lab.test_curves import exported
from westwood.papers.studies import STUDIES


def shown(page: Any) -> int:
    """Counts how often the pictures were drawn."""
    return int(page.get_attribute("body", "data-shown"))


def wait_for_next(page: Any, before: int) -> None:
    """Waits until the pictures have been drawn again."""
    page.wait_for_selector(f'body:not([data-shown="{before}"])')


def picture(page: Any) -> bytes:
    """Returns a screenshot of the curves."""
    return bytes(page.locator("#panels").screenshot())


def drop(page: Any, name: str, text: str) -> None:
    """Drops a file on the page."""
    page.evaluate(
        """([name, text]) => {
            const data = new DataTransfer();
            data.items.add(new File([text], name));
            dispatchEvent(new DragEvent("drop", { dataTransfer: data, cancelable: true }));
        }""",
        [name, text],
    )


def field(page: Any, name: str, kind: str = "text") -> Any:
    """Finds the input of a control."""
    return page.locator(f'[data-field="{name}"] input[type="{kind}"]:visible')


def test_a_slider_that_is_dragged_changes_the_picture_and_the_rows(page):
    page.evaluate("lab.openPreset('path')")
    before, rows = picture(page), page.evaluate("lab.rows")
    slider = field(page, "rate", "range")
    box = slider.bounding_box()
    drawn = shown(page)
    page.mouse.move(box["x"] + 0.34 * box["width"], box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + box["height"] / 2, steps=8)
    page.mouse.up()
    wait_for_next(page, drawn)
    page.wait_for_timeout(200)
    assert field(page, "rate").input_value() != "2Mbps"
    assert picture(page) != before
    assert page.evaluate("lab.rows")[0]["goodput_bps"] > 1.2 * rows[0]["goodput_bps"]


def test_a_crowded_picture_is_drawn_in_strokes_a_pixel_wide(page):
    page.evaluate(
        """(() => {
            const { stroke } = CanvasRenderingContext2D.prototype;
            CanvasRenderingContext2D.prototype.stroke = function (...given) {
                widths.push(this.lineWidth);
                stroke.apply(this, given);
            };
        })()"""
    )
    for duration, widest in (("10min", 1), ("10s", 1.6)):
        drawn = page.evaluate(
            f"""(async () => {{
                window.widths = [];
                const next = lab.state;
                next.scenario.duration = "{duration}";
                await lab.open(next);
                return widths;
            }})()"""
        )
        assert round(max(drawn), 3) == widest


def test_a_link_holds_the_whole_state(page, opened):
    drawn = shown(page)
    field(page, "delay").fill("12.5ms")
    field(page, "delay").press("Enter")
    wait_for_next(page, drawn)
    page.get_by_role("button", name="Add a control").click()
    page.get_by_label("All in one network").check()
    page.wait_for_url("**#s=*")
    page.wait_for_timeout(700)  # the address follows a moment later
    link = page.url
    again = opened("#" + link.partition("#")[2])
    assert again.evaluate("lab.state") == page.evaluate("lab.state")
    assert again.evaluate("lab.rows") == page.evaluate("lab.rows")
    assert again.evaluate("lab.state.scenario.link[0].delay") == "12.5ms"


def test_a_copied_link_opens_in_any_copy_of_the_page(page, opened):
    """The page is a file of this machine, whose address helps nobody else."""
    page.evaluate(
        """() => Object.defineProperty(navigator, "clipboard",
            { value: { writeText: async (text) => { window.taken = text; } } })"""
    )
    page.evaluate("lab.openPreset('path')")
    page.locator("#share").click()
    page.wait_for_function("window.taken")
    link = page.evaluate("taken")
    assert link.startswith("#s=") and "any copy of this page" in page.locator("#said").inner_text()
    again = opened()
    drawn = shown(again)
    again.evaluate(
        """(text) => {
            const clipboardData = new DataTransfer();
            clipboardData.setData("text", text);
            document.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
        }""",
        f"See page.html{link} for it",
    )
    wait_for_next(again, drawn)
    assert again.evaluate("lab.state") == page.evaluate("lab.state")


def test_a_slider_in_the_first_view_sets_the_share_of_lost_packets(opened):
    page = opened(width=1280, height=800)
    box = field(page, "loss-rate", "range").bounding_box()
    assert box["y"] + box["height"] <= 800
    assert field(page, "loss-rate").input_value() == "0.000833"  # of the preset's list
    before = page.evaluate("lab.rows")
    drawn = shown(page)
    field(page, "loss-rate").fill("2%")
    field(page, "loss-rate").press("Enter")
    wait_for_next(page, drawn)
    loss = page.evaluate("lab.state.scenario.link[0].loss")
    assert (loss["kind"], loss["rate"]) == ("uniform", 0.02)
    after = page.evaluate("lab.rows")
    assert all(
        new["goodput_bps"] < old["goodput_bps"] / 2 for new, old in zip(after, before, strict=True)
    )


def test_it_reads_the_toml_that_it_writes(page):
    page.evaluate("lab.openPreset('fading')")
    rows, text = page.evaluate("lab.rows"), page.evaluate("lab.toml")
    page.evaluate("lab.openPreset('table1')")
    drawn = shown(page)
    drop(page, "again.toml", text)
    wait_for_next(page, drawn)
    assert page.evaluate("lab.rows") == rows
    assert page.evaluate("lab.toml") == text


def test_an_invalid_value_is_reported_next_to_its_field(page):
    before = page.evaluate("lab.state")
    field(page, "rate").fill("2 bananas")
    field(page, "rate").press("Enter")
    assert field(page, "rate").get_attribute("aria-invalid") == "true"
    assert "unknown unit" in page.locator('[data-field="rate"]').inner_text()
    assert page.evaluate("lab.state") == before


def test_everything_is_reachable_by_keyboard(page):
    drawn = shown(page)
    slider = field(page, "rate", "range")
    slider.focus()
    page.keyboard.press("ArrowRight")
    wait_for_next(page, drawn)
    assert field(page, "rate").input_value() != "10Mbps"
    page.locator("#panels").focus()
    for key, is_zoomed in (("+", True), ("ArrowLeft", True), ("0", False)):
        drawn = shown(page)
        page.keyboard.press(key)
        wait_for_next(page, drawn)
        assert page.evaluate("'view' in lab.state") == is_zoomed
    page.keyboard.press("n")
    first = page.locator("#why h2").inner_text()
    page.keyboard.press("n")
    assert page.locator("#why h2").inner_text() != first
    page.keyboard.press("p")
    assert page.locator("#why h2").inner_text() == first


def test_every_control_has_a_name_for_screen_readers(page):
    nameless = page.evaluate(
        """[...document.querySelectorAll("button, select, input, [role]")].filter((one) =>
            one.checkVisibility() && !one.labels?.length && !one.getAttribute("aria-label") &&
            !one.textContent.trim() && one.getAttribute("role") !== "status")
            .map((one) => one.outerHTML)"""
    )
    assert nameless == []


def test_a_click_on_a_loss_says_what_the_sender_decided(page):
    page.evaluate(
        "lab.open({...lab.state, lines: [{'tcp.cc': 'westwood+'}], view: {from_s: 2, to_s: 12}})"
    )
    decision = next(
        candidate for candidate in page.evaluate("lab.decisions") if candidate["kind"] == "recovery"
    )
    over = page.locator('[data-panel="cwnd"] .u-over').bounding_box()
    x_px = over["x"] + over["width"] * (decision["time_s"] - 2) / 10
    for y in range(4, int(over["height"]), 6):
        page.mouse.click(x_px, over["y"] + y)
        if page.locator("#why h2").count():
            break
    text = page.locator("#why").inner_text()
    assert f"Westwood+ at {decision['time_s']:.3f} s" in text
    assert "ssthresh = BWE · RTTmin / segment" in text
    mss = 1500 - 52
    for listed in page.evaluate("lab.decisions"):
        if listed["kind"] == "recovery":
            expected = listed["estimate_bps"] * listed["rtt_min_s"] / (8 * mss)
            assert 0 <= expected - listed["ssthresh"] < 1.1  # rounded to whole segments


def test_a_point_of_a_papers_figure_is_a_click_away(opened):
    page = opened("#preset=fig5")
    before = page.evaluate("lab.rows")
    drawn = shown(page)
    page.get_by_role("button", name="0.05", exact=True).click()
    wait_for_next(page, drawn)
    assert field(page, "loss-rate").input_value() == "0.05"
    after = page.evaluate("lab.rows")
    assert [row["cc"] for row in after][-2:] == ["westwood-ns3", "westwood+-ns3"]
    assert all(
        after_row["goodput_bps"] < two["goodput_bps"]
        for after_row, two in zip(after, before, strict=True)
    )


def test_the_menu_shows_whole_titles(page):
    titles = page.locator("#preset option").all_inner_texts()
    title = STUDIES["fig11"].title
    assert f"ack-compression: {title}" in titles


def test_files_can_be_downloaded(page):
    files = {}
    for name in ("Scenario", "SVG", "PNG", "CSV", "JSON"):
        files[name] = exported(page, name)
    assert files["Scenario"].decode() == page.evaluate("lab.toml")
    assert files["PNG"].startswith(b"\x89PNG")
    assert files["SVG"].startswith(b"<svg") and files["SVG"].count(b"<path") > 20
    assert json.loads(files["JSON"])[0]["flow"] == "tcp"
    rows = list(csv.DictReader(io.StringIO(files["CSV"].decode())))
    assert {row["run"] for row in rows} == {"NewReno", "Westwood+"}
    open_ = [float(row["cwnd"]) for row in rows if row["phase"] == "0"]  # not inflated by recovery
    assert max(open_) == max(row["max_cwnd"] for row in page.evaluate("lab.rows"))


def test_escape_and_a_click_elsewhere_close_the_menu(page):
    menu, head = page.locator("#menu"), page.locator("#export summary")
    head.click()
    menu.wait_for()
    page.keyboard.press("Escape")
    menu.wait_for(state="hidden")
    head.click()
    menu.wait_for()
    page.locator("#about").click()
    menu.wait_for(state="hidden")


def test_a_long_run_shows_its_progress_and_can_be_stopped(page):
    page.evaluate(
        """(() => { const next = lab.state; next.scenario.duration = "24h";
            next.scenario.link[0].rate = "10Gbps"; lab.open(next); })()"""
    )
    page.locator("#stop").wait_for()
    page.locator("#stop").click()
    page.locator("#stop").wait_for(state="hidden")
    assert "Stopped" in page.locator("#said").inner_text()
    drawn = shown(page)
    page.evaluate("lab.openPreset('path')")
    assert shown(page) == drawn + 1


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_cut_off(opened, width, dark):
    page = opened("#preset=fig5", width=width, dark=dark)
    page.locator("#command summary").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    cut = page.evaluate(
        """[...document.querySelectorAll("body *")].filter((one) => {
            const style = getComputedStyle(one);
            const scrolls = one.closest(".scroll, pre, select, .skip");
            const { left, right, width } = one.getBoundingClientRect();
            if (!one.checkVisibility() || scrolls || width === 0) return false;
            const hides = style.overflowX !== "visible" && one.scrollWidth > one.clientWidth + 1;
            return left < -1 || right > innerWidth + 1 || (hides && one.tagName !== "INPUT");
        }).map((one) => one.outerHTML.slice(0, 120))"""
    )
    assert cut == []
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, ground[4:-1].split(","))) < 200) == dark
