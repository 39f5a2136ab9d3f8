# SPDX-License-Identifier: BSD-3-Clause
"""Measures what it costs a control that a QUIC stack does not report something.

`python -m tools.pages quic-reports` writes the table of docs/quic.md. Ours runs in the simulator,
which withholds one thing at a time (quic_reports.c), and inside each stack. All runs have seven
paths.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tools.pages import DOCS, Numbers, Page, table
from westwood import Scenario, simulate
from westwood.scenario.one_link import one_link

SOURCE = Path(__file__).with_suffix(".c")
CONTROLS = ("cubic", "bbr3")
# By the numbers of quic_reports.c.
WITHHELD = (
    "the control's rate: 1.25 windows per round trip (quinn)",
    "lost packets before the ACK that reveals them",
    "whether the window limits the sender",
    "whether the application limits it",
    "that a reduction was needless (quinn)",
)
STACKS = ("quinn", "noq")
SEEDS = (1, 2, 3)
# Settings of the path and of the flow.
PATHS: Mapping[str, Mapping[str, object]] = {
    "0.1 BDP": {"queue": {"limit": "0.1bdp"}},
    "1 BDP": {},
    "4 BDP": {"queue": {"limit": "4bdp"}},
    "losses": {"loss": {"rate": 0.01}},
    "reordering": {"reorder": {"rate": 0.02, "delay": "10ms"}},
    "marks": {"queue": {"kind": "codel", "limit": "4bdp"}, "ecn": True},
    "bursts": {"app": {"kind": "request", "size": "200kB", "think": "100ms"}},
}


def scenario(settings: Mapping[str, object], cc: str) -> Scenario:
    """Returns a path of 20 Mb/s and 40 ms with one flow."""
    of_link = {key: value for key, value in settings.items() if key not in ("ecn", "app")}
    of_flow = {key: value for key, value in settings.items() if key in ("ecn", "app")}
    link = {"rate": "20Mbps", "delay": "20ms", "queue": {"limit": "1bdp"}, **of_link}
    return one_link("reports", "30s", link, {"name": "one", "cc": cc, **of_flow}, ends=("a", "b"))


def goodputs(cc: str, engine: str = "sim", without: int = 0) -> list[float]:
    """Returns the mean goodput over the seeds for each path, in bit/s."""
    means = []
    for settings in PATHS.values():
        path = scenario(settings, cc)
        if without:
            path = path.with_settings({"one.cc.without": without})
        runs = (simulate(path, seed=seed, engine=engine).flow_rows for seed in SEEDS)
        means.append(statistics.mean(rows[0]["goodput_bps"] for rows in runs))
    return means


def withholding(control: str, folder: Path) -> Path:
    """Writes the control that hears less than `control`."""
    head = f"#define LIKE {control.upper()}\n#define LIKE_STATE struct ww_{control}_state\n"
    path = folder / f"less_{control}.c"
    path.write_text(head + SOURCE.read_text(encoding="utf-8"), encoding="utf-8")
    return path


def _ratios(ones: list[float], others: list[float]) -> str:
    """Returns the median ratio and, if one is beyond 2 %, the path with the largest change."""
    ratios = [ours / other for ours, other in zip(ones, others, strict=True)]
    farthest, path = max(zip(ratios, PATHS, strict=True), key=lambda both: abs(both[0] - 1))
    median = f"{statistics.median(ratios):.2f}"
    return median if abs(farthest - 1) < 0.02 else f"{median}; {farthest:.2f} with {path}"


def rows() -> Iterator[tuple[str, ...]]:
    """Yields the rows of the table."""
    with tempfile.TemporaryDirectory() as folder:
        whole = {control: goodputs(control) for control in CONTROLS}
        less = {control: str(withholding(control, Path(folder))) for control in CONTROLS}
        for number, what in enumerate(WITHHELD, start=1):
            ratios = (_ratios(goodputs(less[it], without=number), whole[it]) for it in CONTROLS)
            yield (what, *ratios)
    for stack in STACKS:
        ratios = (_ratios(goodputs(it, engine=stack), whole[it]) for it in CONTROLS)
        yield (f"all that {stack} does not report: ours inside {stack}", *ratios)


def measured(stored: Numbers, words: Sequence[str]) -> Iterator[Numbers]:
    """Yields the table."""
    yield {"quic reports": table("without | CUBIC | BBRv3", rows())}


PAGE = Page(DOCS / "quic.md", tables=lambda stored: stored, measure=measured)
