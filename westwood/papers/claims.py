# SPDX-License-Identifier: BSD-3-Clause
"""Decides the papers' claims.

A check (`westwood.papers.checks`) decides a claim, unless the source says too little: then
`undecidable` says why. Other claims name the tests that prove them. Nothing here changes a setting.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from westwood import files, markup
from westwood.papers.checks import CHECKS
from westwood.papers.checks.common import Measured
from westwood.results.journal import json_ready
from westwood.results.verdicts import Verdict

_FILE = Path(__file__).with_name("claims.toml")


@dataclass(frozen=True)
class Paper:
    """A paper that makes claims."""

    key: str
    title: str
    reference: str
    doi: str = ""


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
    cause: str = ""  # why it differs under the profile, in a line
    undecidable: str = ""  # why nothing can show whether it holds


@dataclass(frozen=True)
class ClaimVerdict:
    """The verdict on a claim, with the measurements."""

    claim: Claim
    verdict: Verdict
    measured: dict[str, Any]
    explanation: str  # what differs, where and by how much; why it is not decidable; what tests it
    remark: str = ""  # what a reader of the verdict should know
    elsewhere: str = ""  # under which settings that the paper leaves open it holds
    numbers: Sequence[tuple[str, str, str]] = ()  # what, the paper's number, ours

    @property
    def why(self) -> str:
        """Why, in a line: the first difference and its cause; else what is asked or why not."""
        if self.verdict is not Verdict.FAILS:
            return self.explanation or self.remark or self.claim.measure
        first, *others = self.explanation.split("; ")
        more = f" (and {len(others)} more)" if others else ""
        cause = f" {self.claim.cause}" if self.claim.cause else ""
        return f"{first[:1].upper()}{first[1:]}{more}.{cause}"

    def entry(self) -> dict[str, Any]:
        """Returns the entry in claims.json, without the settings of the runs."""
        return {
            "id": self.claim.id,
            "says": self.claim.says,
            "quote": self.claim.quote,
            "where": f"{self.claim.paper.title}: {self.claim.where}",
            "measure": self.claim.measure,
            "history": self.claim.history,
            "verdict": self.verdict.claim,
            "published": {"setup": self.claim.setup, "open": self.claim.open},
            "measured": json_ready(self.measured),
            "explanation": self.explanation,
            "cause": self.claim.cause,
            "remark": self.remark,
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
        claim, finding = claims()[claim_id], CHECKS[claim_id](measured)
        verdict = Verdict.CANNOT_TELL if claim.undecidable else Verdict.of(finding.failures)
        explanation = claim.undecidable or "; ".join(finding.failures)
        claim_verdict = ClaimVerdict(claim, verdict, finding.measured, explanation, finding.remark)
        verdicts.append(claim_verdict)
    return verdicts


def markdown(verdicts: Sequence[ClaimVerdict]) -> str:
    """Returns the verdicts as text for a pull request."""
    rows = [(verdict.claim.id, verdict.verdict.claim, verdict.why) for verdict in verdicts]
    return markup.markdown_table(("claim", "verdict", "why"), rows)


def tested() -> list[ClaimVerdict]:
    """Returns the verdicts of the claims that no simulation here decides."""
    proven = (claim for claim in claims().values() if claim.tested)
    return [ClaimVerdict(claim, Verdict.NOT_RUN, {}, claim.tested) for claim in proven]
