# SPDX-License-Identifier: BSD-3-Clause
"""Decides the papers' claims.

A check (`westwood.papers.checks`) decides a claim. Other claims name the tests that prove them, or
where they will be decided; their verdict is TESTED. Nothing here changes a setting.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from westwood import files
from westwood.papers.checks import CHECKS
from westwood.papers.checks.common import Measured

_FILE = Path(__file__).with_name("claims.toml")

Decision = Literal["HOLDS", "DIFFERS", "TESTED"]


@dataclass(frozen=True)
class Paper:
    """A paper that makes claims."""

    key: str
    title: str
    reference: str


@dataclass(frozen=True)
class Claim:
    """A claim of a paper, and how to decide whether it holds."""

    id: str
    paper: Paper
    where: str
    says: str
    setup: str
    open: str
    measure: str
    quote: str = ""  # the paper's sentence
    history: str = ""  # how the check changed after its results were known
    tested: str = ""


@dataclass(frozen=True)
class ClaimVerdict:
    """The verdict on a claim, with the measurements."""

    claim: Claim
    verdict: Decision
    measured: dict[str, Any]
    explanation: str  # DIFFERS: what differs, where and by how much; TESTED: by what
    elsewhere: str = ""  # under which settings that the paper leaves open it holds

    def entry(self) -> dict[str, Any]:
        """Returns the entry in claims.json, without the settings of the runs."""
        return {
            "id": self.claim.id,
            "says": self.claim.says,
            "quote": self.claim.quote,
            "where": f"{self.claim.paper.title}: {self.claim.where}",
            "measure": self.claim.measure,
            "history": self.claim.history,
            "verdict": self.verdict,
            "published": {"setup": self.claim.setup, "open": self.claim.open},
            "measured": self.measured,
            "explanation": self.explanation,
            "elsewhere": self.elsewhere,
        }


@cache
def claims() -> dict[str, Claim]:
    """Reads all claims, by id."""
    data = files.read_toml(_FILE)
    papers = {key: Paper(key, **paper) for key, paper in data.items() if key != "claim"}
    return {c["id"]: Claim(**{**c, "paper": papers[c["paper"]]}) for c in data["claim"]}


def check(ids: Sequence[str], measured: Mapping[str, Measured]) -> list[ClaimVerdict]:
    """Decides these claims from the measurements, which are by scenario."""
    verdicts = []
    for claim_id in ids:
        finding = CHECKS[claim_id](measured)
        verdict: Decision = "DIFFERS" if finding.failures else "HOLDS"
        explanation = "; ".join(finding.failures)
        verdicts.append(ClaimVerdict(claims()[claim_id], verdict, finding.measured, explanation))
    return verdicts


def tested() -> list[ClaimVerdict]:
    """Returns the verdicts of the claims that no simulation here decides."""
    return [ClaimVerdict(one, "TESTED", {}, one.tested) for one in claims().values() if one.tested]
