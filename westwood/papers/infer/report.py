# SPDX-License-Identifier: BSD-3-Clause
"""What an inference report of a paper, read from its JSON; those of the package are in report/."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from westwood import files
from westwood.papers.infer import published, space
from westwood.papers.infer.space import Open
from westwood.papers.infer.tree import Tree

_FOLDER = Path(__file__).with_name("reports")
ALWAYS = 0.95  # a claim that holds under so many of all settings hangs on none
_MOSTLY = 0.5  # of a branch: where fewer hold it is no condition


@dataclass(frozen=True)
class InferenceReport:
    """Reads what `Found.entry` returned: what the pages say of a paper."""

    data: Mapping[str, Any]

    @property
    def paper(self) -> str:
        """Its key."""
        return str(self.data["paper"])

    @cached_property
    def claims(self) -> dict[str, Mapping[str, Any]]:
        """What is report of each claim."""
        return {one["claim"]: one for one in self.data["claims"]}

    @property
    def open(self) -> Open:
        """What the paper leaves open."""
        return space.of(self.paper)

    @property
    def settings(self) -> int:
        """How many settings were tried."""
        return int(self.data["settings"])

    @property
    def number(self) -> str:
        """How many settings were tried, in words."""
        return (
            f"all {self.settings}" if self.settings == self.data["possible"] else f"{self.settings}"
        )

    @property
    def inferred(self) -> Mapping[str, str]:
        """The one setting that most claims hold under."""
        chosen: Mapping[str, str] = self.data["inferred"]["settings"]
        return chosen

    def needs(self, key: str) -> Sequence[str]:
        """The claims that the inferred setting loses if this part of it is the profile's."""
        needed: Mapping[str, Sequence[str]] = self.data["inferred"]["needs"]
        return needed.get(key, ())

    def holding(self, where: str) -> int:
        """How many claims hold there, on fresh seeds: under the "profile", or the "inferred"."""
        return sum(bool(one[where]) for one in self.claims.values())

    def distance(self, where: str) -> float:
        """How far the published numbers are from what is measured there, on average."""
        return published.distance({one["number"]: one[where] for one in self.data["numbers"]})

    def share(self, claim: str) -> float:
        """The share of all settings under which it holds."""
        return self.tree(claim).share

    def tree(self, claim: str) -> Tree:
        """What it hangs on."""
        return Tree.read(self.claims[claim]["tree"])

    def verdict(self, claim: str) -> str:
        """HOLDS, HOLDS IF ..., NOT CONFIRMED or NEVER in N settings."""
        one = self.claims[claim]
        if one["witness"] is None:
            if one["held"]:
                return f"NOT CONFIRMED: in {one['held']} of {self.number} settings, not again"
            return f"NEVER in {self.number} settings"
        share = self.share(claim)
        if share >= ALWAYS:
            return f"HOLDS in {share:.0%} of settings"
        leaf, way = self.tree(claim).best()
        if not way:
            return f"HOLDS in {share:.0%} of settings"
        words = " and ".join(self.conditions(way))
        if leaf.share < _MOSTLY:
            return (
                f"HOLDS in {share:.0%} of settings, more with {words} ({leaf.share:.0%} of these)"
            )
        return f"HOLDS IF {words} ({leaf.share:.0%} of these; {share:.0%} of all)"

    def conditions(self, way: Mapping[str, Sequence[str]]) -> Iterator[str]:
        """Writes the way to a leaf in words."""
        for key, values in way.items():
            yield f"{self.what(key)}: {' or '.join(values)}"

    def what(self, key: str) -> str:
        """A setting's name in words."""
        return next(one.what for one in self.open.settings if one.key == key)


@cache
def packaged() -> dict[str, InferenceReport]:
    """What was inferred of each paper, and comes with the package."""
    found = {}
    for paper in space.papers():
        path = _FOLDER / f"{paper}.json"
        if path.exists():
            found[paper] = InferenceReport(json.loads(files.read(path, files.JSON_BYTES)))
    return found


def elsewhere(paper: str, claim: str) -> str:
    """What became of a claim under all settings that its paper leaves open; "" if unknown."""
    report = packaged().get(paper)
    return report.verdict(claim) if report and claim in report.claims else ""
