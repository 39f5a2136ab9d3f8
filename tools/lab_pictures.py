# SPDX-License-Identifier: BSD-3-Clause
"""Takes the laboratory's screenshots for README and docs/lab.md, after `make lab`."""

import shutil
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from westwood.draw import laboratory

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "img"


def opened(browser: Any, width: int, height: int, scheme: str, behind: str = "") -> Any:
    page = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme
    ).new_page()
    page.goto(laboratory.PAGE.as_uri() + behind)
    page.wait_for_selector("body[data-shown]")
    return page


def main() -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = opened(browser, 1280, 1000, "light")
        page.wait_for_timeout(400)
        page.screenshot(path=FOLDER / "lab.png")
        page.locator("#panels").focus()
        decisions = page.evaluate("lab.decisions")
        wanted = next(
            number
            for number, decision in enumerate(decisions)
            if decision["time_s"] > 4
            and decision["kind"] == "recovery"
            and decision["flow"] == "Westwood+"
        )
        for _ in range(wanted + 1):
            page.keyboard.press("n")
        page.locator("#why").screenshot(path=FOLDER / "lab-why.png")
        page = opened(browser, 1280, 900, "dark", "#preset=fig5")
        page.wait_for_selector('body[data-judged="5"]')
        page.locator('[data-field="loss-rate"] input:visible').first.fill("0.01")
        page.keyboard.press("Enter")
        page.wait_for_selector('body[data-judged="5"]')
        page.screenshot(path=FOLDER / "lab-paper.png")
        browser.close()


if __name__ == "__main__":
    main()
