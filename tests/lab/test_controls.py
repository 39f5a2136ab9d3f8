# SPDX-License-Identifier: BSD-3-Clause
"""Every declared setting has a control: queues, losses, impairments and applications."""

import tomllib
from typing import Any

import pytest

from westwood.control.catalogue import (
    APPLICATIONS,
    IMPAIRMENTS,
    LOSSES,
    QUEUES,
    UDP,
    Setting,
    settings_of,
)
from westwood.scenario import Scenario

OF_CONNECTIONS = {kind: application for kind, application in APPLICATIONS.items() if kind != UDP}


@pytest.fixture
def page(tab) -> Any:
    return tab


def visible(page: Any, name: str) -> Any:
    return page.locator(f'[data-field="{name}"]:visible')


def choose(page: Any, name: str, value: str) -> None:
    visible(page, name).locator("select").select_option(value)


def fill(page: Any, name: str, value: str) -> None:
    text = visible(page, name).locator('input[type="text"]')
    text.fill(value)
    text.press("Enter")


def check_shown(page: Any, prefix: str, settings: list[Setting]) -> None:
    """Checks that each setting has one control, with its description."""
    for setting in settings:
        control = visible(page, f"{prefix}-{setting.name}")
        assert control.count() == 1, f"{prefix}-{setting.name}"
        assert control.locator("label").get_attribute("title") == setting.what


def in_python(page: Any) -> dict[str, Any]:
    """Returns the page's scenario as Python resolves it; Python accepts it."""
    return Scenario(**tomllib.loads(page.evaluate("lab.toml"))).resolved()


@pytest.mark.parametrize("kind", QUEUES)
def test_every_setting_of_a_queue(page, kind):
    choose(page, "discipline", kind)
    check_shown(page, kind, [*settings_of(kind).values()])
    assert in_python(page)["link"][0]["queue"]["kind"] == kind


@pytest.mark.parametrize("kind", LOSSES)
def test_every_setting_of_a_loss(page, kind):
    choose(page, "loss", kind)
    check_shown(page, "loss", [*settings_of(kind).values()])
    assert in_python(page)["link"][0]["loss"]["kind"] == kind


@pytest.mark.parametrize("kind", IMPAIRMENTS)
def test_an_impairment_is_switched_on_and_off(page, kind):
    before = in_python(page)
    assert visible(page, f"{kind}-on").count() == 0
    visible(page, kind).locator("input").check()
    check_shown(page, kind, [*settings_of(kind).values()])
    choose(page, f"{kind}-on", "backward")
    assert in_python(page)["link"][0][kind]["on"] == "backward"
    visible(page, kind).locator("input").uncheck()
    assert in_python(page) == before


@pytest.mark.parametrize("kind", OF_CONNECTIONS)
def test_every_setting_of_an_application(page, kind):
    choose(page, "app", kind)
    check_shown(page, "app", [*OF_CONNECTIONS[kind].settings])
    assert in_python(page)["flow"][0]["app"]["kind"] == kind


def test_a_policer_takes_its_rate_from_the_flows(page):
    visible(page, "policer").locator("input").check()
    fill(page, "policer-rate", "500kbps")
    page.wait_for_function("() => lab.rows.every((row) => row.goodput_bps < 500e3)")
    assert '"500kbps"' in page.evaluate("lab.toml")


def test_periods_come_and_go_together(page):
    """A source has both on and off, or neither."""
    choose(page, "app", "rate")
    fill(page, "app-on", "2s")
    app = in_python(page)["flow"][0]["app"]
    assert (app["on"], app["off"]) == ("2s", "2s")
    fill(page, "app-off", "3s")
    assert in_python(page)["flow"][0]["app"]["off"] == "3s"
    fill(page, "app-on", "")
    assert "off" not in in_python(page)["flow"][0]["app"]


def test_a_ladder_is_a_list_of_rates(page):
    choose(page, "app", "video")
    fill(page, "app-ladder", "1Mbps, 2.5Mbps")
    assert in_python(page)["flow"][0]["app"]["ladder"] == ("1Mbps", "2.5Mbps")
    fill(page, "app-ladder", "2Mbps, 1Mbps")
    assert "expected ascending rates" in visible(page, "app-ladder").inner_text()
    assert in_python(page)["flow"][0]["app"]["ladder"] == ("1Mbps", "2.5Mbps")


def test_a_slider_moves_every_setting_within_its_bounds(page):
    """Both ends of each slider are values that the engine accepts."""
    page.evaluate(
        "(() => { const { view, ...next } = lab.state; next.scenario.duration = '1s';"
        "return lab.open(next); })()"
    )
    for kind in QUEUES:
        choose(page, "discipline", kind)
        rising = {key for pair in QUEUES[kind].rising for key in pair}
        for key, setting in settings_of(kind).items():
            slider = visible(page, f"{kind}-{key}").locator('input[type="range"]')
            if setting.kind == "SWITCH" or key in rising:
                continue
            for end in ("1000", "500", "0"):
                slider.evaluate(
                    "(it, at) => { it.value = at; it.dispatchEvent(new Event('input')); }", end
                )
                source = visible(page, f"{kind}-{key}").locator(".source")
                assert source.is_hidden() or "more than 0" in source.inner_text(), (kind, key, end)
