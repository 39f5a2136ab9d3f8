# SPDX-License-Identifier: BSD-3-Clause
"""The papers' claims, and the checks that hold them against what was measured.

A check reads a summary (see `metrics.summarise`) with the columns `per`, `cc`, `throughput_bps` and
`throughput_bps_half`, a row a point and protocol. It never changes a setting: it only looks.
"""

from __future__ import annotations

import itertools
import math
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import polars as pl

from westwood.protocols import label

VALUE = "throughput_bps"
WESTWOOD, WESTWOOD_PLUS = "westwood-ns3", "westwood+-ns3"
_FILE = Path(__file__).parent / "data" / "claims.toml"
_TIE = 0.03  # as far apart as Reno and NewReno may be in the order
_ALIKE = 0.1  # as far apart as they may be to "perform alike"


@dataclass(frozen=True)
class Claim:
    """What a paper says, and how it is decided whether that holds."""

    id: str
    paper: str
    where: str
    says: str
    setup: str
    open: str
    measure: str


@dataclass(frozen=True)
class Verdict:
    """What came of checking a claim."""

    claim: Claim
    verdict: Literal["HOLDS", "DIFFERS"]
    measured: dict[str, Any]
    explanation: str  # of DIFFERS: what differs, where and by how much

    def entry(self) -> dict[str, Any]:
        """The entry in claims.json, without the settings of the runs."""
        return {
            "id": self.claim.id,
            "says": self.claim.says,
            "where": f"{self.claim.paper}: {self.claim.where}",
            "measure": self.claim.measure,
            "verdict": self.verdict,
            "published": {"setup": self.claim.setup, "open": self.claim.open},
            "measured": self.measured,
            "explanation": self.explanation,
        }


@dataclass(frozen=True)
class Finding:
    """What a check measured, and each place where the claim fails."""

    measured: dict[str, Any]
    failures: list[str]


@cache
def claims() -> dict[str, Claim]:
    """All claims by id, the paper given by its title and reference."""
    data = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    papers = {key: f"{p['title']} ({p['reference']})" for key, p in data.items() if key != "claim"}
    return {c["id"]: Claim(**{**c, "paper": papers[c["paper"]]}) for c in data["claim"]}


def check(ids: Sequence[str], points: pl.DataFrame) -> list[Verdict]:
    """Holds the claims against the points."""
    verdicts = []
    for claim_id in ids:
        finding = CHECKS[claim_id](points)
        verdict: Literal["HOLDS", "DIFFERS"] = "DIFFERS" if finding.failures else "HOLDS"
        explanation = "; ".join(finding.failures)
        verdicts.append(Verdict(claims()[claim_id], verdict, finding.measured, explanation))
    return verdicts


def _order(points: pl.DataFrame) -> Finding:
    """Westwood > Westwood+ > Reno, NewReno > Tahoe; Reno and NewReno within 3 % of each other."""
    above = [
        (WESTWOOD, WESTWOOD_PLUS),
        (WESTWOOD_PLUS, "reno"), (WESTWOOD_PLUS, "newreno"),
        ("reno", "tahoe"), ("newreno", "tahoe"),
    ]  # fmt: skip
    table = _table(points, 0.001, 0.02)
    failures, leads = [], []
    for row in table:
        for upper, lower in above:
            lead = row[upper] / row[lower] - 1
            leads.append((lead, upper, lower, row["per"]))
            if lead <= 0:
                failures.append(
                    f"at {row['per']:g} {label(upper)} is {-lead:.1%} below {label(lower)}"
                )
        apart = abs(row["reno"] / row["newreno"] - 1)
        if apart > _TIE:
            failures.append(f"at {row['per']:g} Reno and NewReno are {apart:.1%} apart")
    least, upper, lower, per = min(leads)
    return Finding(
        {
            "smallest_lead": {"of": upper, "over": lower, "at": per, "relative": least},
            "throughput_bps": {f"{row['per']:g}": _without_per(row) for row in table},
        },
        failures,
    )


def _reno_equals_newreno(points: pl.DataFrame) -> Finding:
    table = _table(points, 0.0, 0.005)
    gaps = {row["per"]: abs(row["reno"] / row["newreno"] - 1) for row in table}
    failures = [
        f"at {per:g} Reno and NewReno are {gap:.1%} apart"
        for per, gap in gaps.items()
        if gap >= _ALIKE
    ]
    worst = max(gaps, key=lambda per: gaps[per])
    return Finding({"largest_difference": {"at": worst, "relative": gaps[worst]}}, failures)


def _westwoodplus_knee(points: pl.DataFrame) -> Finding:
    table = _table(points, 0.0005, 0.005)
    halves = {
        row["per"]: math.hypot(row[WESTWOOD], row[WESTWOOD_PLUS])
        for row in _table(points, 0.0005, 0.005, f"{VALUE}_half")
    }
    gaps = [(row["per"], row[WESTWOOD] - row[WESTWOOD_PLUS]) for row in table]
    failures = [
        f"from {before:g} to {after:g} the gap shrinks from {_mbps(one, halves[before])}"
        f" to {_mbps(two, halves[after])}"
        for (before, one), (after, two) in itertools.pairwise(gaps)
        if two < one - math.hypot(halves[before], halves[after])
    ]
    (first, least), (last, most) = gaps[0], gaps[-1]
    if most - least <= math.hypot(halves[first], halves[last]):
        failures.append(f"the gap does not widen from {first:g} to {last:g} beyond its intervals")
    measured = {f"{per:g}": {"mean": gap, "half": _or_null(halves[per])} for per, gap in gaps}
    return Finding({"gap_bps": measured}, failures)


def _monotone(points: pl.DataFrame) -> Finding:
    failures, steepest = [], (-1.0, "", 0.0)
    for (cc,), curve in points.sort("per").group_by("cc", maintain_order=True):
        for low, high in itertools.pairwise(curve.iter_rows(named=True)):
            rise = high[VALUE] - low[VALUE]
            steepest = max(steepest, (rise / low[VALUE], str(cc), high["per"]))
            if rise > low[f"{VALUE}_half"] + high[f"{VALUE}_half"]:
                failures.append(
                    f"{label(str(cc))} rises by {rise / 1e6:.3f} Mb/s"
                    f" from {low['per']:g} to {high['per']:g}"
                )
    rise, cc, per = steepest
    return Finding({"largest_rise": {"of": cc, "up_to": per, "relative": rise}}, failures)


def _table(
    points: pl.DataFrame, low: float, high: float, column: str = VALUE
) -> list[dict[str, Any]]:
    """A dictionary an error rate from `low` to `high`: `per` and each protocol's `column`."""
    inside = points.filter(pl.col("per").is_between(low, high)).sort("per")
    return list(inside.pivot("cc", index="per", values=column).iter_rows(named=True))


def _mbps(value: float, half: float) -> str:
    return f"{value / 1e6:.3f} ± {half / 1e6:.3f} Mb/s"


def _or_null(value: float) -> float | None:
    """JSON has no NaN."""
    return None if math.isnan(value) else value


def _without_per(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != "per"}


CHECKS: dict[str, Callable[[pl.DataFrame], Finding]] = {
    "ns3.fig5.order": _order,
    "ns3.fig5.reno_equals_newreno": _reno_equals_newreno,
    "ns3.fig5.westwoodplus_knee": _westwoodplus_knee,
    "ns3.fig5.monotone": _monotone,
}
