# SPDX-License-Identifier: BSD-3-Clause
"""Compares CUBIC of quinn, of noq, ours inside them and Linux's with ours in the simulator.

`python -m tools.pages quic FOLDER...` writes the tables of docs/quic.md. Each FOLDER comes from
`westwood validate --engine quinn`, `noq` or `linux --only quic,quic-short`, which have forty paths.
Speeds are in CPU time.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from bench.quic_causes import GOODPUT, MEDIAN, P95, Row, causes, is_far, ratio
from tools.pages import DOCS, Numbers, Page, table
from westwood import Scenario, simulate
from westwood.experiments.validation.compare import OTHER
from westwood.scenario.one_link import one_link

FIGURES = {GOODPUT: "goodput", MEDIAN: "completion, median", P95: "completion, p95"}
# Whose CUBIC the rows of an engine are.
LABELS = {
    ("quinn", "quinn:cubic"): "quinn's",
    ("noq", "noq:cubic"): "noq's",
    ("quinn", "cubic"): "ours in quinn",
    ("noq", "cubic"): "ours in noq",
    ("linux", "cubic"): "Linux's",
}


def path(rate: str, delay: str, queue: str, loss: float, cc: str, **flow: object) -> Scenario:
    """Returns a path of 20 s with one flow."""
    link = {"rate": rate, "delay": delay, "queue": {"limit": queue}, "loss": {"rate": loss}}
    return one_link("quic", "20s", link, {"name": "one", "cc": cc, **flow}, ends=("a", "b"))


def _read(folders: Sequence[str]) -> dict[tuple[str, str], dict[bool, list[Row]]]:
    """Returns the rows of each engine and control: with a flow that fills them, and short."""
    rows_of: dict[tuple[str, str], dict[bool, list[Row]]] = {key: {} for key in LABELS}
    for folder in map(Path, folders):
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        engine = manifest["engine"].split()[-1]
        points = pl.read_csv(folder / "validation.csv", infer_schema_length=None)
        for row in points.iter_rows(named=True):
            is_bulk = "short" not in row["grid"]
            rows_of[engine, row["cc"]].setdefault(is_bulk, []).append(row)
    return rows_of


def _ratios(rows: Sequence[Row], figure: str) -> str:
    """Returns the median of the ratios, how many are within 10 %, and the extremes."""
    ratios = sorted(ratio(row, figure) for row in rows)
    close = sum(not is_far(ratio) for ratio in ratios)
    middle = statistics.median(ratios)
    return f"{middle:.2f}; {close} of {len(ratios)}; {ratios[0]:.2f} to {ratios[-1]:.2f}"


def paths_table(folders: Sequence[str]) -> str:
    """Returns the table of the forty paths, and that of the causes."""
    rows_of = _read(folders)
    lines = []
    for key, label in LABELS.items():
        rows = rows_of[key]
        resent = statistics.median(float(row["retransmission_ratio" + OTHER]) for row in rows[True])
        cells = [_ratios(rows[figure == GOODPUT], figure) for figure in FIGURES]
        lines.append((label, f"{100 * resent:.2f} %", *cells))
    figures = " | ".join(FIGURES.values())
    causes_table = table(f"beyond 10 %, and why | {figures}", _causes(rows_of))
    return f"{table(f'CUBIC | resent, median: | {figures}', lines)}\n{causes_table}"


def _causes(rows_of: dict[tuple[str, str], dict[bool, list[Row]]]) -> Iterator[Sequence[str]]:
    for key, label in LABELS.items():
        if key[0] != "linux":
            rows = rows_of[key]
            cells = [causes(key[0], rows[figure == GOODPUT], figure) for figure in FIGURES]
            yield (label, *cells)


def speed_table() -> str:
    """Returns how much faster than real time a connection at 100 Mb/s and at 1 Gb/s runs."""
    lines = []
    for engine, cc in (
        *(("quinn", "quinn:cubic"), ("quinn", "quinn:bbr"), ("quinn", "cubic")),
        *(("noq", "noq:cubic"), ("noq", "noq:bbr3"), ("noq", "cubic"), ("noq", "bbr3")),
    ):
        cells = []
        for rate, simulated_s in (("100Mbps", 10), ("1Gbps", 3)):
            # The window keeps slow start from losing so much that quinn's receiver gives up.
            filled = path(rate, "20ms", "1bdp", 0, cc, receive_window="8MB")
            settings = filled.with_settings({"duration": f"{simulated_s}s"})
            costs = [simulate(settings, engine=engine).flow_rows[0]["cpu_s"] for _ in range(3)]
            cells.append(f"{simulated_s / statistics.median(costs):.0f}")
        lines.append((f"`{cc}`{' in ' + engine if ':' not in cc else ''}", *cells))
    return table("`cc` | 100 Mb/s: | 1 Gb/s:", lines)


def measured(stored: Numbers, words: Sequence[str]) -> Iterator[Numbers]:
    """Yields the tables."""
    yield {"quic tables": f"\n{paths_table(words)}\n{speed_table()}\n"}


PAGE = Page(DOCS / "quic.md", tables=lambda stored: stored, measure=measured)
