# SPDX-License-Identifier: BSD-3-Clause
"""Opens the laboratory's page in Debian's Chromium; every test checks for errors and requests."""

import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from westwood.draw import laboratory

sync_api = pytest.importorskip("playwright.sync_api", reason="needs Playwright: make dev")
CHROMIUM = shutil.which("chromium")
OURS = ("file:", "data:", "blob:", "about:")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Starts a headless browser, one for all tests of a process."""
    if CHROMIUM is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    if not laboratory.PAGE.exists():
        pytest.skip("the page is not built: make lab")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def watched(browser) -> Iterator[Callable[..., Any]]:
    """Makes tabs; fails the test on an error in the console or a request to another server."""
    contexts, problems = [], []

    def new_page(
        url: str = "",
        *,
        width: int = 1280,
        height: int = 900,
        dark: bool = False,
        scripts: bool = True,
    ) -> Any:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            accept_downloads=True,
            java_script_enabled=scripts,
        )
        contexts.append(context)
        page = context.new_page()
        _watch(page, problems, url)
        return page

    yield new_page
    for context in contexts:
        context.close()
    assert not problems


@pytest.fixture
def opened(watched) -> Callable[..., Any]:
    """Opens the laboratory's page in a watched tab."""

    def open_page(behind: str = "", *, url: str = "", **how: Any) -> Any:
        page = watched(url, **how)
        page.goto((url or laboratory.PAGE.as_uri()) + behind)
        page.wait_for_selector("body[data-shown]")
        return page

    return open_page


def _watch(page: Any, problems: list[str], url: str = "") -> None:
    """Notes errors in a page's console, and requests to another server."""
    page.on(
        "console", lambda message: problems.append(message.text) if message.type == "error" else 0
    )
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: problems.extend(_foreign(request.url, url)))


def _foreign(asked: str, url: str) -> list[str]:
    ours = (*OURS, url) if url else OURS
    return [] if asked.startswith(ours) else [f"asked for {asked}"]


@pytest.fixture(scope="session")
def one_page(browser) -> Any:
    """Opens a page that several tests share to open many scenarios."""
    page = browser.new_context().new_page()
    page.goto(laboratory.PAGE.as_uri())
    page.wait_for_selector("body[data-shown]")
    return page


@pytest.fixture(scope="session")
def shared_tab(browser) -> Iterator[tuple[Any, list[str]]]:
    """Opens a tab that tests share; returns it with the list of the problems that it reports."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page, problems = context.new_page(), []
    _watch(page, problems)
    page.goto(laboratory.PAGE.as_uri())
    page.wait_for_selector("body[data-shown]")
    yield page, problems
    context.close()


@pytest.fixture
def tab(shared_tab) -> Iterator[Any]:
    """Returns the shared tab in its initial state; this takes a tenth of opening another tab."""
    page, problems = shared_tab
    page.evaluate('lab.openPreset("sawtooth")')
    yield page
    recent = problems.copy()
    problems.clear()
    assert not recent


@pytest.fixture
def page(opened) -> Any:
    return opened()
