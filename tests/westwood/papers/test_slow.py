# SPDX-License-Identifier: BSD-3-Clause
"""Tests what takes minutes: every experiment, its page in a browser, the tutorial."""

import html
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from westwood.papers.checks import CHECKS
from westwood.papers.claims import claims
from westwood.papers.studies import STUDIES

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[3]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
CHROMIUMS = """--headless --no-sandbox --disable-gpu --enable-logging=stderr --dump-dom
--window-size=1400,3200 --virtual-time-budget=20000"""
# In the page under test: its width, whether a figure or table overflows it, and the width of each
# figure. A figure is a picture, or plots if their script is built.
PROBE = """<script>
addEventListener("load", () => {
  const root = document.documentElement, width = root.clientWidth;
  const out = [...document.querySelectorAll("img, .plots, p, h1, h2, h3, .scroll, pre")]
    .filter(e => e.getBoundingClientRect().right > width + 1).map(e => e.tagName);
  const shown = e => e.naturalWidth === 0 ? 0 : e.clientWidth;
  const drawn = [...document.querySelectorAll("figure")].map(figure =>
    Math.max(...[...figure.querySelectorAll("img, .plots")].map(shown)));
  parent.postMessage(JSON.stringify({width, content: root.scrollWidth, out, drawn}), "*");
});
</script>"""
FRAME = """<!doctype html><body><pre id="seen"></pre>
<iframe id="page" style="width:%dpx;height:3000px;border:0" srcdoc="%s"></iframe>
<script>addEventListener("message", e => document.getElementById("seen").textContent = e.data)</script>
"""  # noqa: E501


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Iterator[Path]:
    """Returns the folder that `westwood reproduce all --quick` writes."""
    out = tmp_path_factory.mktemp("all") / "report"
    command = [sys.executable, "-m", "westwood", "reproduce", "all", "--quick", "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    yield out


def test_every_experiment_is_drawn_and_every_claim_is_decided(folder):
    entries = json.loads((folder / "claims.json").read_text())["claims"]
    assert [entry["id"] for entry in entries if entry["verdict"] != "TESTED"] == [
        claim for study in STUDIES.values() for claim in study.claims
    ]
    assert {entry["id"] for entry in entries} == set(claims())
    for entry in entries:
        assert (entry["verdict"] == "TESTED") == (entry["id"] not in CHECKS)
        assert (entry["explanation"] == "") == (entry["verdict"] == "HOLDS")
        if entry["figure"]:
            assert (folder / entry["figure"]).stat().st_size > 5000
    for study in STUDIES.values():
        for scenario in study.scenarios:
            assert (folder / "data" / f"{scenario}.csv").exists()
            assert (folder / "runs" / f"{scenario}.parquet").exists()
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert page.count("<figure>") == len(STUDIES)


@pytest.mark.skipif(not CHROMIUM, reason="no chromium: apt-get install chromium")
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_fits_a_phone_and_a_screen(width, folder, tmp_path):
    page = (folder / "index.html").read_text(encoding="utf-8").replace("</body>", PROBE + "</body>")
    frame = tmp_path / "frame.html"
    frame.write_text(FRAME % (width, html.escape(page)), encoding="utf-8")
    done = subprocess.run(
        [str(CHROMIUM), *CHROMIUMS.split(), frame.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
    )
    errors = [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
    assert not errors, errors
    match = re.search(r'<pre id="seen">(.*?)</pre>', done.stdout, re.S)
    assert match and match.group(1), done.stderr[-2000:]
    seen: dict[str, Any] = json.loads(html.unescape(match.group(1)))
    assert abs(seen["width"] - width) <= 20, "but for a scroll bar"
    assert seen["content"] <= seen["width"] and not seen["out"], "something is cut off"
    assert len(seen["drawn"]) == len(STUDIES)
    assert all(300 < shown <= width for shown in seen["drawn"])


def test_the_tutorial_runs(tmp_path):
    words = "sphinx-build -W -q -b html -D nb_execution_mode=force"
    command = [*words.split(), str(ROOT / "docs"), str(tmp_path)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, env=_with_our_programs()
    )
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "tutorial.html").read_text(encoding="utf-8")
    assert page.count("<img") >= 1 and "goodput_bps" in page


def _with_our_programs() -> dict[str, str]:
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
