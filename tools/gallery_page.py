# SPDX-License-Identifier: BSD-3-Clause
"""Measures what docs/family.md shows of the gallery, and draws it: python -m tools.gallery_page.

docs/gallery.json keeps the numbers. tests/tools/test_gallery_page.py compares them with the page
and some of them with new runs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.westwood.gallery import comparisons
from tools.claim_tables import row
from tools.pages import Numbers, replace
from westwood import Scenario, simulate
from westwood.catalogue import PROTOCOLS
from westwood.control import gallery
from westwood.draw.style import MBPS, SOFT, look, subplots

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE, FILE, PICTURE = DOCS / "family.md", DOCS / "gallery.json", DOCS / "img" / "gallery.png"
BESIDE = ("reno", "cubic", "westwood+", "bbr")
SEEDS = range(1, 6)
_OWN_COLOUR = "#048B77"


def path() -> Scenario:
    """Returns the path of the picture: 20 Mb/s, 60 ms, a queue of a BDP, 0.1 % of losses."""
    link = {
        "name": "path",
        "between": ["source", "sink"],
        "rate": "20Mbps",
        "delay": "30ms",
        "queue": {"limit": "100p"},
        "loss": {"kind": "uniform", "rate": 0.001},
    }
    flow = {"name": "tcp", "from": "source", "to": "sink", "cc": "reno", "recovery": "sack"}
    return Scenario(name="gallery", duration="60s", link=[link], flow=[flow])


def measured(cc: str) -> dict[str, float]:
    """Returns the goodput and the queueing time of a control on the path, means over the seeds."""
    runs = [simulate(path().with_settings({"tcp.cc": cc}), seed).flow_rows[0] for seed in SEEDS]
    goodput = sum(run["goodput_bps"] for run in runs) / len(runs)
    queueing = sum(run["mean_srtt_s"] for run in runs) / len(runs) - 0.06
    return {"goodput_mbps": round(goodput / MBPS, 2), "queueing_ms": round(1000 * queueing, 1)}


def numbers() -> Numbers:
    goodput = {cc: measured(cc) for cc in (*gallery.names(), *BESIDE)}
    return {"goodput": goodput, "windows": comparisons.measured()}


def tables(stored: Numbers) -> dict[str, str]:
    """Returns the page's tables."""
    goodput = ["| `cc` | goodput, Mb/s | queueing time, ms |", "| --- | ---: | ---: |"]
    for cc, one in sorted(stored["goodput"].items(), key=lambda item: -item[1]["goodput_mbps"]):
        goodput.append(row(f"`{cc}`", f"{one['goodput_mbps']:.2f}", f"{one['queueing_ms']:.1f}"))
    windows = ["| compared with | segments apart, at most |", "| --- | --- |"]
    by_other: dict[str, list[str]] = {}
    for cc, found in stored["windows"].items():
        for other, segments in found:
            by_other.setdefault(other, []).append(f"`{cc}` {segments}")
    windows += [row(other, ", ".join(cells)) for other, cells in by_other.items()]
    return {"gallery": "\n".join([*goodput, ""]), "windows": "\n".join([*windows, ""])}


def picture(stored: Mapping[str, Mapping[str, float]]) -> Any:
    """Draws goodput and queueing time of each control, the fastest on top."""
    ordered = sorted(stored, key=lambda cc: stored[cc]["goodput_mbps"])
    titles = {cc: PROTOCOLS[cc].label for cc in BESIDE}
    titles |= {one.name: one.title for one in gallery.entries()}
    colours = [SOFT if cc in BESIDE else _OWN_COLOUR for cc in ordered]
    with look():
        figure, (left, right) = subplots(1, 2, size=(7.2, 3.8), sharey=True)
        for axes, column, title in (
            (left, "goodput_mbps", "Goodput (Mb/s)"),
            (right, "queueing_ms", "Mean queueing time (ms)"),
        ):
            axes.barh([titles[cc] for cc in ordered], [stored[cc][column] for cc in ordered],
                      color=colours)  # fmt: skip
            axes.set(xlabel=title)
            axes.grid(visible=False, axis="y")
        return figure


def main() -> None:
    stored = numbers()
    FILE.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    replace(PAGE, tables(stored))
    picture(stored["goodput"]).savefig(PICTURE, metadata={"Software": None})


if __name__ == "__main__":
    main()
