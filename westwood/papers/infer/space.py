# SPDX-License-Identifier: BSD-3-Clause
"""Reads what a paper leaves open from open/PAPER.toml.

    seeds = 2                     runs of a point while searching
    longest = "200s"              maximum duration of a run while searching
    own = { scenario = ["KEY"] }  what a scenario sets itself, and no open setting changes
    [grid.SCENARIO]               its sweep while searching: the fewest points that claims need

    [NAME]                        an open setting
    what = "..."
    values = [{ is = "100 packets", set = { "bottleneck.queue.limit" = "100p" }, why = "..." }, ...]

The first value of each is the profile's, which changes nothing. apply.py lists what `set` may
address. `measures` names the column for the paper's "throughput". `excluded` has values that the
paper's text rules out: the search does not try them, and the report says what they would change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from westwood import files
from westwood.errors import InputError, suggestion
from westwood.papers.claims import Claim, claims
from westwood.papers.studies import STUDIES

_FOLDER = Path(__file__).with_name("open")
Chosen = Mapping[str, str]  # value of each setting by name


@dataclass(frozen=True)
class Value:
    """A plausible value of an open setting, and why it is plausible."""

    name: str
    set: Mapping[str, Any]
    why: str
    measures: str = ""


@dataclass(frozen=True)
class Setting:
    """Something that a paper leaves open; the optimiser treats it as a parameter with choices."""

    key: str
    what: str
    values: tuple[Value, ...]
    excluded: tuple[Value, ...] = ()
    low: int = field(default=0, init=False)
    high: int = field(default=0, init=False)
    is_logarithmic: bool = field(default=False, init=False)

    @property
    def choices(self) -> tuple[str, ...]:
        """Names of its values, the profile's first."""
        return tuple(value.name for value in self.values)

    @property
    def default(self) -> str:
        """The profile's value."""
        return self.values[0].name

    def has(self, value: object) -> bool:
        """Returns whether this is one of its values."""
        return value in self.choices

    def value(self, name: str) -> Value:
        """Returns the value with this name."""
        return next(value for value in self.values if value.name == name)


@dataclass(frozen=True)
class Open:
    """Everything that a paper leaves open, and how its claims are decided while searching."""

    paper: str
    seeds: int
    longest: str
    grid: Mapping[str, Mapping[str, tuple[Any, ...]]]
    keys_of: Mapping[str, tuple[str, ...]]
    settings: tuple[Setting, ...]

    @property
    def profile(self) -> dict[str, str]:
        """The profile's choice for each setting."""
        return {setting.key: setting.default for setting in self.settings}

    @property
    def count(self) -> int:
        """Number of possible settings."""
        product = 1
        for setting in self.settings:
            product *= len(setting.values)
        return product

    @property
    def claims(self) -> list[Claim]:
        """Claims of the paper that simulations decide, in order."""
        decided = {claim for study in STUDIES.values() for claim in study.claims}
        return [
            claim
            for claim in claims().values()
            if claim.paper.key == self.paper and claim.id in decided and not claim.undecidable
        ]

    def differs(self, chosen: Chosen) -> dict[str, str]:
        """Returns the choices that differ from the profile."""
        return {
            setting.key: chosen[setting.key]
            for setting in self.settings
            if chosen[setting.key] != setting.default
        }

    def values(self, chosen: Chosen, excluded: str = "") -> list[Value]:
        """Returns the values that differ from the profile; `excluded` replaces its setting's."""
        other = self.excluded.get(excluded)
        chosen = {key: name for key, name in chosen.items() if not other or key != other[0].key}
        values = [
            setting.value(chosen[setting.key])
            for setting in self.settings
            if setting.key in chosen and chosen[setting.key] != setting.default
        ]
        return [*values, other[1]] if other else values

    @property
    def excluded(self) -> dict[str, tuple[Setting, Value]]:
        """Values that the text rules out, by name, with their settings."""
        return {
            value.name: (setting, value) for setting in self.settings for value in setting.excluded
        }


def papers() -> list[str]:
    """Returns the papers with listed open settings, in the order of their claims."""
    listed = {path.stem for path in _FOLDER.glob("*.toml")}
    return [key for key in dict.fromkeys(c.paper.key for c in claims().values()) if key in listed]


@cache
def of(paper: str) -> Open:
    """Reads what this paper leaves open."""
    if paper not in papers():
        problem = f"unknown paper, {suggestion(paper, papers())}"
        raise InputError(problem, key="--infer", value=paper)
    data = files.read_toml(_FOLDER / f"{paper}.toml")
    grid = {
        scenario: {key: tuple(values) for key, values in sweep.items()}
        for scenario, sweep in data.pop("grid", {}).items()
    }
    keys_of = {scenario: tuple(keys) for scenario, keys in data.pop("own", {}).items()}
    seeds, longest = data.pop("seeds"), data.pop("longest")
    settings = tuple(
        Setting(key, entry["what"], _values(entry["values"]), _values(entry.get("excluded", ())))
        for key, entry in data.items()
    )
    return Open(paper, seeds, longest, grid, keys_of, settings)


def _values(data: Sequence[Mapping[str, Any]]) -> tuple[Value, ...]:
    return tuple(
        Value(entry["is"], entry.get("set", {}), entry["why"], entry.get("measures", ""))
        for entry in data
    )
