# SPDX-License-Identifier: BSD-3-Clause
"""The page works in Firefox: it shows the command line's rows, and a slider works."""

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from tests.lab.conftest import OURS
from tests.lab.test_rows import check_rows
from westwood.draw import laboratory

driving = pytest.importorskip("tests.lab.firefox", reason="needs tornado: make dev")
FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(FIREFOX is None, reason="needs Firefox: apt-get install firefox-esr"),
    pytest.mark.skipif(not laboratory.PAGE.exists(), reason="the page is not built: make lab"),
]
SLIDER = '[data-field="rate"] input[type="range"]'


@pytest.fixture
def firefox(tmp_path) -> Iterator[Any]:
    """Starts Firefox with the page open, 1280 px wide."""
    profile = tmp_path / "profile"
    profile.mkdir()
    started = driving.Firefox(FIREFOX, profile)
    started.of_tab("browsingContext.setViewport", viewport={"width": 1280, "height": 900})
    started.goto(laboratory.PAGE.as_uri())
    started.wait_for("document.body.dataset.shown")
    yield started
    started.close()


def test_the_page_in_firefox(firefox, westwood, tmp_path):
    for preset in ("table1", "fig5", "fading"):
        firefox.evaluate(f"lab.openPreset('{preset}')")
        check_rows(firefox, westwood, tmp_path)

    firefox.evaluate("lab.openPreset('path')")
    before, goodput_bps = firefox.screenshot(), firefox.evaluate("lab.rows")[0]["goodput_bps"]
    firefox.drag(SLIDER, begin=0.34, end=0.6)
    firefox.wait_for(f"lab.rows[0].goodput_bps > {1.2 * goodput_bps}")
    assert firefox.screenshot() != before

    assert firefox.problems == []
    assert all(url.startswith(OURS) for url in firefox.requests)
