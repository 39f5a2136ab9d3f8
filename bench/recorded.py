# SPDX-License-Identifier: BSD-3-Clause
"""Compares today's figures with bench/recorded.json, which bench.run and bench.gym --record wrote.

Times do not compare across machines. Ratios to a peer and instructions per packet do; a row with
neither has its time relative to the base flow.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("recorded.json")
WORSE = 0.03  # relative; larger losses are reported
_TITLES = {
    "ns3": "times ns-3's cost per packet",
    "htsim": "times htsim's cost per packet",
    "instructions": "instructions per packet",
    "over_base": "times the base flow's cost per packet",
    "over_constant": "times a segment's cost at a constant rate",
}
_BETTER_IF_MORE = {"ns3", "htsim"}
Figures = dict[str, dict[str, float]]


def figures(results: Mapping[str, Any]) -> Figures:
    """Returns the comparable figures of a run's results, by row."""
    base = next(row["ns"] for row in results["parts"])
    figures_of: Figures = {}
    for table in ("flows", "parts", "short"):
        for row in results[table]:
            kept = {key: row[key] for key in ("ns3", "htsim", "instructions") if row.get(key)}
            figures_of[row["case"]] = kept or {"over_base": row["ns"] / base}
    return figures_of


def worse(now: Figures, before: Figures) -> Iterator[str]:
    """Yields the figures that got worse by more than WORSE."""
    for case, known in before.items():
        for key, old in known.items():
            new = now.get(case, {}).get(key)
            if new is None or not old:
                continue
            change = old / new - 1 if key in _BETTER_IF_MORE else new / old - 1
            if change > WORSE:
                yield f"{case}: {new:.4g} {_TITLES[key]}, {old:.4g} before: {change:.0%} worse"


def read() -> Figures:
    """Returns the recorded figures; empty if there are none."""
    return dict(json.loads(FILE.read_text())["figures"]) if FILE.is_file() else {}


def write(results: Mapping[str, Any]) -> None:
    """Records the figures of these results, with their machine."""
    _save(results["machine"], {**read(), **figures(results)})


def keep(some: Figures) -> None:
    """Records figures of another bench; the others stay."""
    _save(json.loads(FILE.read_text())["machine"], {**read(), **some})


def _save(machine: Mapping[str, Any], all_figures: Figures) -> None:
    FILE.write_text(json.dumps({"machine": machine, "figures": all_figures}, indent=1) + "\n")
