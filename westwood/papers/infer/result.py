# SPDX-License-Identifier: BSD-3-Clause
"""Holds the results of a search over a paper's open settings.

Searching, choosing among the finalists, the final verdicts and the witnesses use disjoint sets of
seeds, and so do searches with different seeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from westwood.papers.infer import chance, parts, propose, published
from westwood.papers.infer.evaluate import ClaimOutcome
from westwood.papers.infer.space import Chosen, Open
from westwood.papers.infer.tree import Tree, grow

# The first seed and the number of runs: choosing among finalists and among witnesses, the verdicts,
# and the verdict on a witness, whose choice never saw these.
_RUNS = {"choosing": (1001, 6), "fresh": (2001, 10), "witness": (3001, 10)}
_BETWEEN_SEARCHES = 10_000
FINALISTS = 5  # besides the profile
WITNESSES = 100  # settings that may prove that a claim holds
CONFIRMING = ("choosing", "witness")  # seeds on which a witness has the claim, in this order
PROFILE = 0  # number of the profile's setting


def seeds_of(open_: Open, search: int, purpose: str) -> tuple[int, ...]:
    """Returns the seeds of the runs for a purpose; "search" is a purpose, too."""
    first, runs = _RUNS.get(purpose, (1, open_.seeds))
    first += _BETWEEN_SEARCHES * (search % _BETWEEN_SEARCHES)
    return tuple(range(first, first + runs))


@dataclass(frozen=True)
class TriedSetting:
    """A setting that was tried, with its number and its outcome on the seeds of the search."""

    number: int
    chosen: Chosen
    outcome: ClaimOutcome


@dataclass
class InferenceResult:
    """Holds what a search knows so far."""

    open: Open
    seed: int
    tried: dict[int, TriedSetting] = field(default_factory=dict)
    judged: dict[tuple[str, int, tuple[str, ...]], ClaimOutcome] = field(default_factory=dict)
    # Outcomes with one part reset.
    back: dict[tuple[int, str], ClaimOutcome] = field(default_factory=dict)
    # Outcomes with a value that the text excludes.
    excluded: dict[tuple[int, str], ClaimOutcome] = field(default_factory=dict)

    @property
    def different(self) -> dict[tuple[str, ...], TriedSetting]:
        """Distinct settings that were tried, since a filling batch may repeat a refined one."""
        different: dict[tuple[str, ...], TriedSetting] = {}
        for _, setting in sorted(self.tried.items()):
            different.setdefault(tuple(setting.chosen.values()), setting)
        return different

    @property
    def is_complete(self) -> bool:
        """Returns whether all settings were tried."""
        return len(self.different) == self.open.count

    @property
    def filling(self) -> list[TriedSetting]:
        """Settings that count for shares: those of filling batches, or all if all were tried."""
        if self.is_complete:
            return list(self.different.values())
        return [
            setting
            for n, setting in sorted(self.tried.items())
            if n != PROFILE and propose.fills(n)
        ]

    def finalists(self) -> list[int]:
        """Returns the profile and the best settings by the seeds of the search."""
        best = sorted(
            self.different.values(), key=lambda setting: (setting.outcome.cost, setting.number)
        )
        return list(dict.fromkeys((PROFILE, *(setting.number for setting in best[:FINALISTS]))))

    def claims(self) -> tuple[str, ...]:
        """Returns all claims of the paper that simulations decide."""
        return tuple(claim.id for claim in self.open.claims)

    def on(self, purpose: str, number: int, claims: Sequence[str] | None = None) -> ClaimOutcome:
        """Returns a setting's outcome on the full sweeps with the seeds of this purpose."""
        return self.judged[purpose, number, tuple(claims or self.claims())]

    @property
    def inferred(self) -> int:
        """Setting under which most claims hold, by the choosing seeds."""
        return min(self.finalists(), key=lambda n: (self.on("choosing", n).cost, n))

    def holding(self, claim: str) -> list[TriedSetting]:
        """Returns the settings under which a claim holds by the seeds of the search.

        Those nearest to the numbers published with the claim come first.
        """
        keys = [key for key, number in published.numbers().items() if number.claim == claim]
        holding = [
            setting for setting in self.different.values() if setting.outcome.failures[claim] == 0
        ]

        def far(setting: TriedSetting) -> tuple[float, float, int]:
            numbers = {key: setting.outcome.numbers[key] for key in keys}
            return published.distance(numbers), setting.outcome.cost, setting.number

        return sorted(holding, key=far)

    def witness(self, claim: str) -> int | None:
        """Returns a setting that makes a claim hold on seeds that its choice never saw.

        It is the inferred one or the profile, if the claim holds there. Otherwise it is the first
        one that has the claim again on the choosing seeds, and then on those for witnesses.
        """
        for number in (self.inferred, PROFILE):
            if self.on("fresh", number).failures[claim] == 0:
                return number
        confirmed = (
            number
            for number in self.candidates(claim)
            if all(self.confirms(purpose, number, claim) for purpose in CONFIRMING)
        )
        return next(confirmed, None)

    def candidates(self, claim: str) -> list[int]:
        """Returns the settings that may be a claim's witness, best first.

        The inferred setting and the profile are judged on fresh seeds already.
        """
        decided = (self.inferred, PROFILE)
        holding = [
            setting.number for setting in self.holding(claim) if setting.number not in decided
        ]
        return holding[:WITNESSES]

    def confirms(self, purpose: str, number: int, claim: str) -> bool:
        """Returns whether a setting that was judged for this claim alone has it."""
        outcome = self.judged.get((purpose, number, (claim,)))
        return outcome is not None and outcome.failures[claim] == 0

    def tree(self, claim: str) -> Tree:
        """Returns the tree of settings that the claim depends on."""
        cases = [(setting.chosen, setting.outcome.failures[claim] == 0) for setting in self.filling]
        return grow(self.open.settings, cases)

    def entry(self) -> dict[str, Any]:
        """Returns the results for JSON."""
        inferred = self.inferred
        profile, best = self.on("fresh", PROFILE), self.on("fresh", inferred)
        return {
            "paper": self.open.paper,
            "seed": self.seed,
            "settings": len(self.different),
            "filling": len(self.filling),
            "possible": self.open.count,
            "seeds": {
                purpose: list(seeds_of(self.open, self.seed, purpose))
                for purpose in ("search", *_RUNS)
            },
            "inferred": {
                "number": inferred,
                "settings": dict(self.tried[inferred].chosen),
                "needs": self._needs(inferred),
                "excluded": {
                    name: self.excluded[inferred, name].held for name in self.open.excluded
                },
            },
            "claims": [self._claim(claim) for claim in self.claims()],
            "chance": chance.counted(
                [
                    {claim: count == 0 for claim, count in setting.outcome.failures.items()}
                    for setting in self.filling
                ]
            ),
            "numbers": [
                {"number": key, "profile": profile.numbers[key], "inferred": best.numbers[key]}
                for key in published.numbers()
                if key in profile.numbers
            ],
        }

    def _needs(self, number: int) -> dict[str, list[str]]:
        """Returns the claims lost by resetting each setting, by the seeds of the search."""
        setting = self.tried[number]
        return {
            key: [c for c in setting.outcome.held if self.back[number, key].failures[c]]
            for key in self.open.differs(setting.chosen)
        }

    def _claim(self, claim: str) -> dict[str, Any]:
        inferred = self.inferred
        held, witness = len(self.holding(claim)), self.witness(claim)
        entry: dict[str, Any] = {"claim": claim, "held": held}
        for name, number in (("profile", PROFILE), ("inferred", inferred)):
            outcome = self.on("fresh", number)
            entry[name] = outcome.failures[claim] == 0
            entry[f"{name}_explanation"] = outcome.explanations[claim]
        if not (entry["inferred"] or entry["profile"]):
            report = [setting.outcome.explanations[claim] for setting in self.different.values()]
            entry["parts"] = parts.excluding(report)
            entry["unconfirmed"] = self._unconfirmed(claim)
        shown = None if witness is None else self.open.differs(self.tried[witness].chosen)
        return {**entry, "witness": shown, "tree": self.tree(claim).entry()}

    def _unconfirmed(self, claim: str) -> list[str]:
        """Returns the failures on other seeds of each setting that seemed to confirm the claim."""
        outcomes = (
            self.judged.get((purpose, number, (claim,)))
            for number in self.candidates(claim)
            for purpose in CONFIRMING
        )
        return [
            outcome.explanations[claim]
            for outcome in outcomes
            if outcome and outcome.failures[claim]
        ]
