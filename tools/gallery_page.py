# SPDX-License-Identifier: BSD-3-Clause
"""Measures what docs/gallery.md shows of the gallery, and draws it; docs/gallery.json keeps it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tests.westwood.gallery import comparisons
from tools.pages import DOCS, Numbers, Page, Sample, table
from westwood import Scenario, simulate
from westwood.control import gallery
from westwood.control.catalogue import PROTOCOLS
from westwood.draw.style import MBPS, SOFT, look, subplots
from westwood.scenario.one_link import one_link

BESIDE = ("reno", "cubic", "westwood+", "bbr")
SEEDS = range(1, 6)
CLEAN: dict[str, Any] = {"rate": "20Mbps", "delay": "30ms", "queue": {"limit": "100p"}}
LOSSES = {"loss": {"kind": "uniform", "rate": 0.001}}
_OWN_COLOUR = "#048B77"


def path() -> Scenario:
    """Returns the path of the picture: 20 Mb/s, 60 ms, a queue of a BDP, 0.1 % of losses."""
    flow = {"name": "tcp", "cc": "reno", "recovery": "sack"}
    return one_link("gallery", "60s", CLEAN | LOSSES, flow)


def of_control(cc: str) -> dict[str, float]:
    """Returns the goodput and the queueing time of a control on the path, means over the seeds."""
    runs = [simulate(path().with_settings({"tcp.cc": cc}), seed).flow_rows[0] for seed in SEEDS]
    goodput = sum(run["goodput_bps"] for run in runs) / len(runs)
    queueing = sum(run["mean_srtt_s"] for run in runs) / len(runs) - 0.06
    return {"goodput_mbps": round(goodput / MBPS, 2), "queueing_ms": round(1000 * queueing, 1)}


def measured(stored: Numbers, words: Sequence[str]) -> Iterator[Numbers]:
    """Runs every control."""
    goodput = {cc: of_control(cc) for cc in _controls()}
    yield {"goodput": goodput, "windows": comparisons.measured()}


def _controls() -> tuple[str, ...]:
    return (*gallery.names(), *BESIDE)


def tables(stored: Numbers) -> dict[str, str]:
    """Returns the page's tables."""
    ordered = sorted(stored["goodput"].items(), key=lambda item: -item[1]["goodput_mbps"])
    goodput = [
        (f"`{cc}`", f"{row['goodput_mbps']:.2f}", f"{row['queueing_ms']:.1f}")
        for cc, row in ordered
    ]
    by_other: dict[str, list[str]] = {}
    for cc, differences in stored["windows"].items():
        for other, segments in differences:
            by_other.setdefault(other, []).append(f"`{cc}` {segments}")
    windows = [(other, ", ".join(cells)) for other, cells in by_other.items()]
    return {
        "gallery": table("`cc` | goodput, Mb/s: | queueing time, ms:", goodput),
        "windows": table("compared with | segments apart, at most", windows),
    }


def draw(stored: Numbers) -> None:
    """Draws goodput and queueing time of each control, the fastest on top."""
    rows = stored["goodput"]
    ordered = sorted(rows, key=lambda cc: rows[cc]["goodput_mbps"])
    titles = {cc: PROTOCOLS[cc].label for cc in BESIDE}
    titles |= {entry.name: entry.title for entry in gallery.entries()}
    colours = [SOFT if cc in BESIDE else _OWN_COLOUR for cc in ordered]
    with look():
        figure, (left, right) = subplots(1, 2, size=(7.2, 4.2), sharey=True)
        for axes, column, title in (
            (left, "goodput_mbps", "Goodput (Mb/s)"),
            (right, "queueing_ms", "Mean queueing time (ms)"),
        ):
            axes.barh([titles[cc] for cc in ordered], [rows[cc][column] for cc in ordered],
                      color=colours)  # fmt: skip
            axes.set(xlabel=title)
            axes.grid(visible=False, axis="y")
        more = [cc for cc in gallery.names() if _mbps(rows, cc) > _mbps(rows, "cubic")]
        among = f"{len(more)} of the gallery's {len(gallery.names())} controls"
        message = f"Where 0.1 % of the packets are lost, {among} carry more than CUBIC"
        figure.suptitle(f"{message}\n(grey: built in)")
        figure.savefig(DOCS / "img" / "gallery.png", metadata={"Software": None})


def _mbps(rows: Numbers, cc: str) -> float:
    return float(rows[cc]["goodput_mbps"])


def _names(stored: Numbers) -> Sample:
    return sorted(_controls()), sorted(stored["goodput"])


PAGE = Page(
    DOCS / "gallery.md",
    DOCS / "gallery.json",
    tables,
    measure=measured,
    samples={
        "controls": _names,
        "hybla.c": lambda stored: (of_control("hybla.c"), stored["goodput"]["hybla.c"]),
    },
    draw=draw,
)
