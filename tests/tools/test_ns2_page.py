# SPDX-License-Identifier: BSD-3-Clause
"""docs/ns2.md quotes the stored comparison with ns-2, and the simulator still gives its numbers."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from tools import ns2_page

CURE = "run: westwood validate --engine ns2 --grid NAME --out NAME; python -m tools.ns2_page NAME"
STORED = ns2_page.read()


def test_the_page_agrees_with_the_file() -> None:
    assert ns2_page.is_written(STORED["grids"]), CURE


def test_the_figures_are_of_todays_simulator_profiles_and_grids() -> None:
    now = {name: ns2_page.fingerprint(name) for name in STORED["fingerprints"]}

    assert now == STORED["fingerprints"], CURE


def test_a_stale_page_is_detected_and_rewritten(tmp_path: Path) -> None:
    ratios = {"tahoe": [1.0, 1.2], "reno": [0.96, 1.04]}
    others = {name: [1.0] for name in ("newreno", "sack", "vegas", "westwood+-linux")}
    rows = [
        {"cc": name, "goodput_ratio": ratio, "timeouts": ratio < 1.1}
        for name, some in {**ratios, **others}.items()
        for ratio in some
    ]
    module = {"cc": ["westwood-ucla"] * 2, "goodput_ratio": [0.97, 1.06], "timeouts": [True, False]}
    grids = {
        "2001": ns2_page.kept(pl.DataFrame(rows)),
        "2002": ns2_page.kept(pl.DataFrame(module)),
    }
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- against ns-2 -->\n<!-- end of against ns-2 -->\n"
        "<!-- against the module -->\n<!-- end of against the module -->\n"
        "Up to <!-- ns2: 2001/tahoe/most .2f -->9<!-- / -->.\n"
    )

    assert not ns2_page.is_written(grids, page)
    ns2_page.write(grids, page)

    assert ns2_page.is_written(grids, page)
    text = page.read_text()
    assert "| Tahoe | 1 of 2, 1.00 to 1.20 |" in text and "| together | 5 of 6, 83% |" in text
    assert "| `2002` | 1 of 2, 0.97 to 1.06 | 50% |" in text
    assert "-->1.20<!-- / -->." in text
