# SPDX-License-Identifier: BSD-3-Clause
"""Measures the laboratory in headless Chromium: from a control's move to the new pictures.

`python -m bench.lab` prints a table; run `make lab` first to build the page.
"""

from __future__ import annotations

import json
import shutil
import statistics
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import sync_playwright

from westwood.draw import laboratory

MOVES = 40


@dataclass(frozen=True)
class Case:
    """A state of the page, and how soon its pictures must follow a move."""

    name: str
    duration: str
    controls: tuple[str, ...]
    wanted_ms: float | None = None  # None: no goal


CASES = (
    Case("60 s of a lone flow", "60s", ("westwood+",), 50),
    Case("10 min of a lone flow", "600s", ("westwood+",), 150),
    Case("60 s, four controls", "60s", ("newreno", "westwood+", "cubic", "bbr")),
    Case("10 min, four controls", "600s", ("newreno", "westwood+", "cubic", "bbr")),
)
# Pictures are seen in the frame after the one that draws them.
MOVE = """async (i) => {
    const next = lab.state;
    next.scenario.link[0].delay = `${40 + i}ms`;
    const began = performance.now();
    await lab.open(next);
    await new Promise(requestAnimationFrame);
    return performance.now() - began;
}"""


def measured(page: Any, case: Case) -> list[float]:
    """Returns the milliseconds of each move, after one that is not counted."""
    lines = json.dumps([{"tcp.cc": control} for control in case.controls])
    page.evaluate(
        f"""(() => {{
            const next = lab.state;
            next.scenario.duration = "{case.duration}";
            next.lines = {lines};
            return lab.open(next);
        }})()"""
    )
    return [page.evaluate(MOVE, move) for move in range(MOVES)]


def main() -> None:
    print("From a control's move to the new pictures, ms, in headless Chromium")
    print(f"{'':<24} {'median':>8} {'95 %':>8} {'wanted':>8}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        page.goto(laboratory.PAGE.as_uri())
        page.wait_for_selector("body[data-shown]")
        for case in CASES:
            times = measured(page, case)
            late = statistics.quantiles(times, n=20)[-1]
            wanted = f"{case.wanted_ms:8.0f}" if case.wanted_ms else f"{'-':>8}"
            print(f"{case.name:<24} {statistics.median(times):8.1f} {late:8.1f} {wanted}")
        browser.close()


if __name__ == "__main__":
    main()
