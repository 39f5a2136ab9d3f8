# SPDX-License-Identifier: BSD-3-Clause
"""Reads the report of an inference from its JSON; reports/ holds those of the package."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from westwood import files
from westwood.papers.infer import chance, published, space
from westwood.papers.infer.space import Open
from westwood.papers.infer.tree import Tree
from westwood.results.verdicts import Verdict

_FOLDER = Path(__file__).with_name("reports")
ALWAYS = 0.95  # a claim with this share depends on no setting
_SMALL = 0.005  # a smaller share is not written in percent
_ALL = "the settings that the paper leaves open"


@dataclass(frozen=True)
class InferenceReport:
    """Answers questions about a paper from what `InferenceResult.entry` returned."""

    data: Mapping[str, Any]

    @property
    def paper(self) -> str:
        """Key of the paper."""
        return str(self.data["paper"])

    @cached_property
    def claims(self) -> dict[str, Mapping[str, Any]]:
        """Entries of the claims."""
        return {entry["claim"]: entry for entry in self.data["claims"]}

    @property
    def open(self) -> Open:
        """Settings that the paper leaves open."""
        return space.of(self.paper)

    @property
    def settings(self) -> int:
        """Number of settings tried."""
        return int(self.data["settings"])

    @property
    def number(self) -> str:
        """Number of settings tried, in words."""
        return (
            f"all {self.settings}" if self.settings == self.data["possible"] else f"{self.settings}"
        )

    @property
    def command(self) -> str:
        """The command that gives the same bytes."""
        paper, seed = self.paper, self.data["seed"]
        return f"westwood reproduce --infer {paper} --settings {self.settings - 1} --seed {seed}"

    @property
    def inferred(self) -> Mapping[str, str]:
        """The setting under which most claims hold."""
        chosen: Mapping[str, str] = self.data["inferred"]["settings"]
        return chosen

    def needs(self, key: str) -> Sequence[str]:
        """Returns the claims lost if this part of the inferred setting returns to the profile."""
        needed: Mapping[str, Sequence[str]] = self.data["inferred"]["needs"]
        return needed.get(key, ())

    def holding(self, where: str) -> int:
        """Counts the claims that hold on fresh seeds under the "profile" or "inferred" setting."""
        return sum(bool(claim[where]) for claim in self.claims.values())

    def distance(self, where: str) -> float:
        """Returns the mean distance of the published numbers from the measured ones."""
        return published.distance({entry["number"]: entry[where] for entry in self.data["numbers"]})

    @property
    def shares(self) -> list[float]:
        """Shares of all settings under which each claim holds."""
        return list(self.data["chance"]["shares"].values())

    @property
    def by_chance(self) -> int:
        """Number of claims that the luckiest setting would hold if they were independent."""
        return chance.by_chance(self.shares, self.settings)

    @property
    def never(self) -> list[str]:
        """Claims that no setting confirmed."""
        return [claim for claim, entry in self.claims.items() if entry["witness"] is None]

    def verdicts(self, claim: str) -> tuple[Verdict, Verdict]:
        """Returns the verdicts on fresh seeds under the profile and under the inferred setting."""
        entry = self.claims[claim]
        return Verdict.of(not entry["profile"]), Verdict.of(not entry["inferred"])

    def share(self, claim: str) -> float:
        """Returns the share of all settings under which the claim holds."""
        return self.tree(claim).share

    def tree(self, claim: str) -> Tree:
        """Returns the tree of settings that the claim depends on."""
        return Tree.read(self.claims[claim]["tree"])

    def decides_nothing(self, claim: str) -> bool:
        """Returns whether nearly every setting has the claim, so that it tells nothing."""
        return self.share(claim) >= ALWAYS

    def elsewhere(self, claim: str) -> str:
        """Says in a sentence under which of all settings that the paper leaves open it holds."""
        entry, share = self.claims[claim], self.share(claim)
        if entry["witness"] is None:
            if entry["held"]:
                judged = len(entry["unconfirmed"])
                return (
                    f"It held in {entry['held']} of {self.number} settings in the search. "
                    f"New seeds judged {judged} of them and confirmed none."
                )
            return f"It holds under none of {self.number} settings that the paper leaves open."
        if self.decides_nothing(claim):
            return f"It holds under {share:.0%} of {_ALL}, so it decides nothing."
        holds = f"It holds under {f'{share:.0%}' if share >= _SMALL else 'fewer than 1%'} of {_ALL}"
        leaf, branch = self.tree(claim).best()
        if not branch:
            return f"{holds}."
        words = " and ".join(self.conditions(branch))
        those = f"{leaf.share:.0%} of those with {words}"
        return f"{holds}, and under {those}."

    def under(self, claim: str) -> str:
        """Says briefly under which of the settings that the paper leaves open the claim holds."""
        entry, share = self.claims[claim], self.share(claim)
        if entry["witness"] is None:
            return f"none of {self.number}" + (" on new seeds" if entry["held"] else "")
        holds = f"{share:.0%}" if share >= _SMALL else "fewer than 1%"
        leaf, branch = self.tree(claim).best()
        if not branch or self.decides_nothing(claim):
            return holds
        return f"{holds}; {leaf.share:.0%} with {' and '.join(self.conditions(branch))}"

    def conditions(self, branch: Mapping[str, Sequence[str]]) -> Iterator[str]:
        """Yields the conditions on the path to a leaf, in words."""
        for key, values in branch.items():
            yield f"{self.what(key)}: {' or '.join(values)}"

    def what(self, key: str) -> str:
        """Returns a setting's name in words."""
        return next(setting.what for setting in self.open.settings if setting.key == key)


@cache
def packaged() -> dict[str, InferenceReport]:
    """Reads the reports that come with the package, by paper."""
    reports = {}
    for paper in space.papers():
        path = _FOLDER / f"{paper}.json"
        if path.exists():
            reports[paper] = InferenceReport(files.read_json(path))
    return reports


def elsewhere(paper: str, claim: str) -> str:
    """Says how a claim fares under all open settings of its paper; "" if unknown."""
    report = packaged().get(paper)
    return report.elsewhere(claim) if report and claim in report.claims else ""
