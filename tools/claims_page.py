# SPDX-License-Identifier: BSD-3-Clause
"""Writes docs/claims.md, docs/papers.md and the counts of claims on other pages.

`python -m tools.pages claims FOLDER` takes the results of `westwood reproduce NAME --out FOLDER`,
of one study or all. docs/verdicts.json keeps them, each with fingerprints: short runs, whose
results change with the simulator, a profile or a scenario. A figure of a claim may name settings to
try, with whole sweeps as in `westwood reproduce`:

    <!-- mobicom.friendliness with bottleneck.queue.limit=20p: together/ratio .2f -->0.97<!-- / -->
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tools import claim_pictures, claim_tables
from tools.pages import DOCS, Numbers, Page, Sample, fingerprint, rounded
from westwood import Scenario
from westwood.cli.options import settings_of
from westwood.engines.pool import run_jobs
from westwood.engines.simulator import prepare, simulate
from westwood.papers import claims as declared
from westwood.papers.infer import space
from westwood.papers.infer.evaluate import ClaimTestSet
from westwood.papers.infer.page import guide
from westwood.papers.infer.report import packaged
from westwood.papers.studies import STUDIES
from westwood.results.verdicts import Verdict

_START = {"duration": "60s"}
_MEASURED = ("flow", "cc", "delivered_bytes", "sent", "retransmitted", "timeouts", "goodput_bps")
_WITH = " with "
_TRIED = re.compile(rf"<!-- ([\w.]+{_WITH}[^<>:]+): ")


def scenario_fingerprints(names: Iterable[str]) -> dict[str, str]:
    """Returns a fingerprint of each scenario: starts of its first and last point."""

    def start(point: Scenario) -> list[tuple[Any, ...]]:
        rows = simulate(point.with_settings(_START)).rows
        return rows.select(column for column in _MEASURED if column in rows).rows()

    points = {name: [point for _, point in Scenario.preset(name).points()] for name in names}
    return {
        name: fingerprint([start(starts[0]), start(starts[-1])]) for name, starts in points.items()
    }


def kept_claims(claims: list[Numbers]) -> Numbers:
    """Returns the part of claims.json that docs/verdicts.json keeps."""
    undecided = {name for study in STUDIES.values() if not study.claims for name in study.scenarios}
    names = sorted({name for claim in claims for name in claim["settings"]} | undecided)
    kept = ("verdict", "measure", "explanation")
    return {
        "fingerprints": scenario_fingerprints(names),
        "claims": {
            claim["id"]: {
                **{key: claim[key] for key in kept},
                "measured": rounded(claim["measured"]),
            }
            for claim in claims
        },
    }


def _claim_tables(stored: Numbers) -> dict[str, str]:
    claims = stored["claims"]
    return {
        "result": claim_tables.result(claims),
        "verdicts": claim_tables.verdicts(claims),
        "words": claim_tables.words(stored["noise"]),
    }


def _claim_figures(stored: Numbers) -> Numbers:
    return {name: claim["measured"] for name, claim in (stored["claims"] | stored["tried"]).items()}


def tries(text: str) -> list[str]:
    """Lists the tries that a page quotes, each once: CLAIM with KEY=VALUE KEY=VALUE."""
    return sorted(set(_TRIED.findall(text)))


def tried(name: str) -> Numbers:
    """Runs a try; returns the verdict and the measurements of the claim's check."""
    claim, _, settings = name.partition(_WITH)
    open_ = space.of(declared.claims()[claim].paper.key)
    value = space.Value(name, settings_of(settings.split(" ")), "a page names it")
    plan = ClaimTestSet(open_, (claim,), tuple(range(1, 11)), thin=False).plan_with([value])
    findings = plan.findings(dict(run_jobs(plan.jobs.values(), prepare=prepare)))[claim]
    return {"verdict": Verdict.of(findings.failures).claim, "measured": dict(findings.measured)}


def _count_figures(stored: Numbers) -> Numbers:
    counts = claim_tables.count(stored["claims"])
    by_word = {verdict.claim: count for verdict, count in counts.items()}
    return {"count": {**by_word, "decided": claim_tables.decided(counts)}}


def _figure_tables(stored: Numbers) -> dict[str, str]:
    return {
        "open settings": guide(packaged()),
        "gallery": claim_tables.gallery(stored["claims"]),
        "sentences": claim_tables.sentences(stored["claims"]),
    }


def measured(stored: Numbers, words: Sequence[str]) -> Iterator[Numbers]:
    """Yields the numbers of all pages of claims.

    What a folder has replaces what is stored, and the tries of its claims run again.
    """
    had, noise = stored.get("tried", {}), stored.get("noise", {})
    for folder in words:
        claims = json.loads((Path(folder) / "claims.json").read_text(encoding="utf-8"))["claims"]
        new = kept_claims(claims)
        stored = {key: stored[key] | new[key] for key in new}
        had = {
            name: kept_try
            for name, kept_try in had.items()
            if name.partition(_WITH)[0] not in new["claims"]
        }
        for figure in {Path(claim["figure"]).stem for claim in claims if claim["figure"]}:
            drawn = DOCS / claim_tables.GALLERY / f"{figure}.png"
            claim_pictures.shrink(Path(folder) / drawn.name, drawn)
    named = tries(PAGE.page.read_text(encoding="utf-8"))
    tried_now = {name: had.get(name) or tried(name) for name in named}
    yield stored | {"noise": claim_tables.measured_noise(noise), "tried": tried_now}


def finish(stored: Numbers) -> None:
    """Writes the other pages, draws the pictures, and prints the counts."""
    for page in OTHERS.values():
        page.write(stored)
    claim_pictures.draw_published(stored["claims"], DOCS / "img" / "published.png")
    claim_pictures.redraw(stored["claims"], DOCS)
    counts = claim_tables.count(stored["claims"])
    print(", ".join(f"{count} {verdict.claim}" for verdict, count in counts.items()))


def _fingerprints(stored: Numbers) -> Sample:
    names = sorted({name for study in STUDIES.values() for name in study.scenarios})
    return scenario_fingerprints(names), {name: stored["fingerprints"].get(name) for name in names}


def _conditions(stored: Numbers) -> Sample:
    now = {claim.id: claim.measure for claim in declared.claims().values()}
    return now, {name: claim["measure"] for name, claim in stored["claims"].items()}


def _tries(stored: Numbers) -> Sample:
    return tries(PAGE.page.read_text(encoding="utf-8")), sorted(stored["tried"])


PAGE = Page(
    DOCS / "claims.md",
    DOCS / "verdicts.json",
    _claim_tables,
    _claim_figures,
    measured,
    {"fingerprints": _fingerprints, "conditions": _conditions, "tries": _tries},
    finish,
)
OTHERS = {
    "figures": Page(DOCS / "papers.md", PAGE.file, _figure_tables),
    # Pages that quote the number of claims: <!-- count: HOLDS .0f -->8<!-- / -->.
    **{
        page.stem: Page(page, PAGE.file, figures=_count_figures)
        for page in (DOCS / "index.md", DOCS.parent / "README.md", DOCS / "cli.md")
    },
}
