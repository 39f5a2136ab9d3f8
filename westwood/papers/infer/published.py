# SPDX-License-Identifier: BSD-3-Clause
"""Reads the numbers that the papers' texts give, and their distance from the measurements.

In published.toml `path` leads to the number in a check's measurements, and `over` names a divisor.
"about" counts the relative distance in both directions, "at most" only an excess.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from westwood import files
from westwood.papers.claims import claims

_FILE = Path(__file__).parents[1] / "published.toml"


@dataclass(frozen=True)
class Number:
    """A number that a paper's text gives."""

    claim: str
    name: str
    path: tuple[str | int, ...]
    value: float
    kind: Literal["about", "at most"] = "about"
    unit: str = ""
    scale: float = 1.0  # converts it to the unit of the measurement

    @property
    def key(self) -> str:
        """Key in results."""
        return f"{self.claim}: {self.name}"

    def off(self, measured: float | None) -> float:
        """Returns the relative distance, at most 1; 1 if unknown."""
        if measured is None or not math.isfinite(measured):
            return 1.0
        gap = measured / self.value - 1
        return min(1.0, max(0.0, gap) if self.kind == "at most" else abs(gap))


@cache
def numbers() -> dict[str, Number]:
    """Returns all numbers by key."""
    data = files.read_toml(_FILE)["number"]
    all_numbers = [Number(**{**entry, "path": tuple(entry["path"])}) for entry in data]
    return {number.key: number for number in all_numbers if number.claim in claims()}


def read(measured: Mapping[str, Mapping[str, Any]]) -> dict[str, float | None]:
    """Reads the numbers of these claims from the checks' measurements, in the published units."""
    return {
        key: _measurement(measured[number.claim], number)
        for key, number in numbers().items()
        if number.claim in measured
    }


def beside(claim: str, measured: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Returns each number of a claim's text in words, with ours beside it."""
    ours = read({claim: measured})
    return [
        (
            numbers()[key].name,
            f"{'at most ' if numbers()[key].kind == 'at most' else ''}{numbers()[key].value:g} "
            f"{numbers()[key].unit}".strip(),
            "-" if value is None else f"{value:.4g} {numbers()[key].unit}".strip(),
        )
        for key, value in ours.items()
    ]


def _measurement(measured: Mapping[str, Any], number: Number) -> float | None:
    value: Any = measured
    for step in number.path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return float(value) * number.scale if math.isfinite(value) else None


def distance(measured: Mapping[str, float | None]) -> float:
    """Returns the mean distance, from 0 to 1; 0 if none is published."""
    offs = [numbers()[key].off(value) for key, value in measured.items()]
    return sum(offs) / len(offs) if offs else 0.0
