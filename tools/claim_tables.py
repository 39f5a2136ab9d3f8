# SPDX-License-Identifier: BSD-3-Clause
"""Makes the tables of docs/claims.md and docs/papers.md: verdicts, words, figures, sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tools.pages import Numbers, table
from westwood import Scenario
from westwood.papers import claims as declared
from westwood.papers.checks import CHECKS, noise
from westwood.papers.checks import words as vocabulary
from westwood.papers.infer import page, published
from westwood.papers.infer.report import packaged
from westwood.papers.studies import STUDIES, PaperStudy
from westwood.results.verdicts import Verdict

GALLERY = "img/papers"
REDRAWN = "published"  # the end of the names of pictures with a paper's own numbers
_SHOWN = 3  # differences of a claim
_NOT_SEARCHED = "-"


def _plain(text: str) -> str:
    """Escapes what Markdown would read as markup."""
    return text.replace("*", "\\*")


def count(claims: Mapping[str, Numbers]) -> dict[Verdict, int]:
    """Counts the claims by verdict."""
    verdicts = [claim["verdict"] for claim in claims.values()]
    return {verdict: verdicts.count(verdict.claim) for verdict in Verdict}


def decided(counts: Mapping[Verdict, int]) -> int:
    """Returns the number of claims that the simulator judges."""
    return sum(counts.values()) - counts[Verdict.NOT_RUN]


def result(claims: Mapping[str, Numbers]) -> str:
    """Says in five sentences what holds, and what no setting shows."""
    counts = count(claims)
    return (
        f"`westwood reproduce all` judges {decided(counts)} claims: {counts[Verdict.MEETS]} HOLD, "
        f"{counts[Verdict.FAILS]} DIFFER, {counts[Verdict.CANNOT_TELL]} are NOT DECIDABLE; "
        f"{counts[Verdict.NOT_RUN]} more are proven by separate tests. {_by_paper(claims)} "
        f"{page.result(packaged().values())}\n"
    )


def verdicts(claims: Mapping[str, Numbers]) -> str:
    """Makes a row for each decided claim, with the open settings under which it holds."""
    under = {name: report.under(name) for report in packaged().values() for name in report.claims}
    rows = []
    for name, entry in claims.items():
        if entry["verdict"] != Verdict.NOT_RUN.claim:
            says = _plain("; ".join(_first(entry["explanation"])) or entry["measure"])
            rows.append((f"`{name}`", entry["verdict"], says, under.get(name, "")))
    return table("claim | verdict | what is asked, or what differs | of the open settings", rows)


def _by_paper(claims: Mapping[str, Numbers]) -> str:
    """Says how many of each paper's decidable claims hold."""
    verdicts_of: dict[str, list[str]] = {}
    for name, claim in claims.items():
        if (
            claim["verdict"] in (Verdict.MEETS.claim, Verdict.FAILS.claim)
            and name in declared.claims()
        ):
            verdicts_of.setdefault(declared.claims()[name].paper.key, []).append(claim["verdict"])
    holds = Verdict.MEETS.claim
    parts = (f"{all_.count(holds)} of {len(all_)} of `{key}`" for key, all_ in verdicts_of.items())
    return f"Where the source says enough, {', '.join(parts)} hold." if verdicts_of else ""


def _first(explanation: str) -> list[str]:
    """Returns the first differences of a claim; claims.json of `reproduce` has all of them."""
    parts = explanation.split("; ") if explanation else []
    more = len(parts) - _SHOWN
    return parts if more <= 0 else [*parts[:_SHOWN], f"{more} more"]


def measured_noise(had: Mapping[str, float]) -> dict[str, float]:
    """Measures how often noise alone makes each word hold, unless that is known."""
    return {word: had[word] if word in had else noise.share(word) for word in noise.WORDS}


def words(noise_shares: Mapping[str, float]) -> str:
    """Lists the words with what each asks, and how often noise makes it hold."""
    asked = dict(_asked(vocabulary.__doc__ or ""))
    rows = []
    for word, (invented, _) in noise.WORDS.items():
        share = f"{noise_shares[word]:.1%}" if word in noise_shares else _NOT_SEARCHED
        rows.append((word, asked[word], invented, share))
    return table("word | what it asks | noise | holds by noise:", rows)


def _asked(text: str) -> Iterable[tuple[str, str]]:
    """Reads the words and what they ask from the vocabulary's docstring."""
    values = {name: getattr(vocabulary, name) for name in vocabulary.BOUNDS}
    for line in text.splitlines():
        if line.startswith("    "):
            named, _, asks = line.strip().partition("  ")
            for name, value in values.items():
                asks = asks.replace(f"1 + {name}", f"{1 + value:g}").replace(name, f"{value:.0%}")
            for word in named.split(", "):
                yield word, asks.strip()


def published_numbers(claims: Mapping[str, Numbers]) -> list[tuple[Any, float | None, str]]:
    """Returns the published numbers with ours under the profile, and the verdict of the claim."""
    ours = published.read({name: claim["measured"] for name, claim in claims.items()})
    return [
        (number, ours[key], claims[number.claim]["verdict"])
        for key, number in published.numbers().items()
        if key in ours
    ]


def numbers_of(claims: Mapping[str, Numbers], study: str) -> list[tuple[Any, float, str]]:
    """Returns the published numbers of a study's figure with ours."""
    return [
        (number, ours, verdict)
        for number, ours, verdict in published_numbers(claims)
        if number.claim in STUDIES[study].claims and ours is not None
    ]


def gallery(claims: Mapping[str, Numbers]) -> str:
    """Shows the figure of each study beside the paper's numbers, and names its claims."""
    lines = []
    for name, study in STUDIES.items():
        decided_by = ", ".join(f"`{claim}`" for claim in study.claims)
        claims_of = f": {decided_by}" if study.claims else ""
        lines += [
            f"**{study.title}** (`{name}`, {_seeds(study)} a point){claims_of}",
            *_pictures(claims, name, study.title),
            "",
        ]
    return "\n".join(lines)


def _seeds(study: PaperStudy) -> str:
    """Says how many runs each point of a study has: as many as its scenarios declare."""
    counts = sorted({Scenario.preset(name).seeds for name in study.scenarios})
    return "1 run" if counts == [1] else f"{' or '.join(map(str, counts))} runs"


def sentences(claims: Mapping[str, Numbers]) -> str:
    """Lists each decided claim's sentence in its paper, and how its bound changed.

    What is asked stands on the page of verdicts, unless that page says what differs.
    """
    rows = []
    for name in CHECKS:
        claim = declared.claims()[name]
        sentence = f"“{claim.quote}”" if claim.quote else f"A figure of the slides. {claim.says}"
        asked = claim.measure if claims[name]["explanation"] else ""
        rows.append((f"`{name}`", *map(_plain, (sentence, asked, claim.history))))
    heads = "claim | the paper's sentence | asked | changed after its results were known"
    return table(heads, rows)


def _pictures(claims: Mapping[str, Numbers], name: str, title: str) -> Iterable[str]:
    ours = f"![{title}]({GALLERY}/{name}.png)"
    if not numbers_of(claims, name):
        return ["", ours]
    theirs = f"![{title}: the paper's numbers]({GALLERY}/{name}-{REDRAWN}.png)"
    return [
        "",
        *table("The paper's numbers, redrawn from its text | Ours", [(theirs, ours)]).splitlines(),
    ]
