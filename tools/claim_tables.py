# SPDX-License-Identifier: BSD-3-Clause
"""Makes the tables of docs/claims.md: verdicts, counts, words, bounds, and Figure 5's settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from westwood.results.verdicts import Verdict

Numbers = dict[str, Any]
GALLERY = "img/papers"
REDRAWN = "published"  # the end of the names of pictures with a paper's own numbers
_SHOWN = 3  # differences of a claim
_NOT_SEARCHED = "-"
# Single settings that the 2013 paper leaves open, as `--set` takes them.
FIG5_SETTINGS = (
    "",
    "bottleneck.loss.on=forward",
    "bottleneck.queue.limit=20p",
    "flow.handshake_rtt=true",
    "flow.min_rto=1s",
    "flow.initial_ssthresh=unlimited",
    "flow.limited_transmit=true",
    "flow.delayed_ack=1",
    "cc.byte_counting=true",
    "westwood.filter=tustin-constant",
    "westwood.recovery=newreno",
)
FIG5_CLAIMS = ("order", "reno_equals_newreno", "westwoodplus_knee", "monotone")
_FIG5_CONTROLS = {
    "tahoe": "Tahoe",
    "reno": "Reno",
    "newreno": "NewReno",
    "westwood-ns3": "Westwood",
    "westwood+-ns3": "Westwood+",
}
_FIG5_AT = "0.005"


def row(*cells: object) -> str:
    """Returns a row of a table."""
    return f"| {' | '.join(map(str, cells))} |"


def _plain(text: str) -> str:
    """Escapes what Markdown would read as markup."""
    return text.replace("|", "\\|").replace("*", "\\*")


def count(claims: Mapping[str, Numbers]) -> dict[str, int]:
    """Counts the claims by verdict."""
    verdicts = [one["verdict"] for one in claims.values()]
    return {name: verdicts.count(name) for name in Verdict}


def decided(counts: Mapping[str, int]) -> int:
    """Returns the number of claims that the simulator judges."""
    return sum(counts.values()) - counts[Verdict.TESTED]


def verdicts(claims: Mapping[str, Numbers]) -> str:
    """Counts the verdicts in a sentence; adds a row for each decided claim."""
    from westwood.papers.infer.report import packaged

    reports = packaged().values()
    nothing = {claim for one in reports for claim in one.claims if one.decides_nothing(claim)}
    counts = count(claims)
    lines = [
        f"`westwood reproduce all` judges {decided(counts)} claims: {counts[Verdict.HOLDS]} HOLD, "
        f"{counts[Verdict.DIFFERS]} DIFFER, {counts[Verdict.NOT_DECIDABLE]} are NOT DECIDABLE; "
        f"{counts[Verdict.TESTED]} more are proven by separate tests.",
        "",
        row("claim", "verdict", "what is asked, or what differs"),
        row("---", "---", "---"),
    ]
    for name, one in claims.items():
        if one["verdict"] != Verdict.TESTED:
            says = _plain(one["explanation"] or one["measure"])
            if name in nothing:
                says += " Nearly every setting has it, so it decides nothing."
            lines.append(row(f"`{name}`", one["verdict"], says))
    return "\n".join(lines) + "\n"


def counts(claims: Mapping[str, Numbers]) -> str:
    """Counts for each paper: under the profile, under one inferred setting, never, by chance."""
    from westwood.papers.claims import claims as declared
    from westwood.papers.infer.report import packaged

    heads = ("profile", "one inferred setting", "by chance", "never", "decide nothing")
    lines = [row("paper", "claims", *heads), row("---", *["---:"] * (1 + len(heads)))]
    total = [0] * (1 + len(heads))
    for key, report in packaged().items():
        mine = [
            one["verdict"]
            for name, one in claims.items()
            if name in declared() and declared()[name].paper.key == key
        ]
        numbers = [
            len(report.claims),
            mine.count(Verdict.HOLDS),
            report.holding("inferred"),
            report.by_chance,
            len(report.never),
            sum(map(report.decides_nothing, report.claims)),
        ]
        lines.append(row(f"`{key}`", *numbers))
        total = [one + two for one, two in zip(total, numbers, strict=True)]
    return "\n".join([*lines, row("together", *total)]) + "\n"


def measured_noise(had: Mapping[str, float]) -> dict[str, float]:
    """Measures how often noise alone makes each word hold, unless that is known."""
    from westwood.papers.checks import noise

    return {word: had[word] if word in had else noise.share(word) for word in noise.WORDS}


def words(noise_shares: Mapping[str, float]) -> str:
    """Lists the words with what each asks, and how often noise makes it hold."""
    from westwood.papers.checks import noise
    from westwood.papers.checks import words as declared

    asked = dict(_asked(declared.__doc__ or ""))
    lines = [
        row("word", "what it asks", "noise", "holds by noise"),
        row("---", "---", "---", "---:"),
    ]
    for word, (invented, _) in noise.WORDS.items():
        share = f"{noise_shares[word]:.1%}" if word in noise_shares else _NOT_SEARCHED
        lines.append(row(word, asked[word], invented, share))
    return "\n".join(lines) + "\n"


def _asked(text: str) -> Iterable[tuple[str, str]]:
    """Reads the words and what they ask from the vocabulary's docstring."""
    from westwood.papers.checks import words as declared

    values = {name: getattr(declared, name) for name in declared.BOUNDS}
    for line in text.splitlines():
        if line.startswith("    "):
            named, _, asks = line.strip().partition("  ")
            for name, value in values.items():
                asks = asks.replace(f"1 + {name}", f"{1 + value:g}").replace(name, f"{value:.0%}")
            for word in named.split(", "):
                yield word, asks.strip()


def bounds() -> str:
    """Lists for each decided claim the paper's sentence, its bounds, and how these changed."""
    from westwood.papers.checks import CHECKS
    from westwood.papers.claims import claims as declared

    lines = []
    for name in CHECKS:
        one = declared()[name]
        sentence = f"“{one.quote}”" if one.quote else f"A figure of the slides. {one.says}"
        lines += [f"**`{name}`** {_plain(sentence)}", "", f"- {_plain(one.measure)}"]
        lines += [f"- Changed after its results were known. {one.history}"] if one.history else []
        lines.append("")
    return "\n".join(lines)


def fig5_try(setting: str, claim: str) -> str:
    """Returns the name of a try of a claim of Figure 5 under a setting."""
    name = f"ns3.fig5.{claim}"
    return f"{name} with {setting}" if setting else name


def fig5_settings(found: Mapping[str, Numbers]) -> str:
    """Lists Figure 5's throughputs under single settings, and the claims that differ."""
    heads = (*_FIG5_CONTROLS.values(), "what differs")
    lines = [row("change", *heads), row("---", *["---:"] * (len(heads) - 1), "---")]
    for setting in FIG5_SETTINGS:
        tries = {claim: found[fig5_try(setting, claim)] for claim in FIG5_CLAIMS}
        here = tries["order"]["measured"]["throughput_bps"][_FIG5_AT]
        differs = [claim for claim, one in tries.items() if one["verdict"] == Verdict.DIFFERS]
        cells = [f"{here[cc] / 1e6:.3f}" for cc in _FIG5_CONTROLS]
        lines.append(row(f"`{setting}`" if setting else "none", *cells, ", ".join(differs)))
    return "\n".join(lines) + "\n"


def published_numbers(claims: Mapping[str, Numbers]) -> list[tuple[Any, float | None, str]]:
    """Returns the published numbers with ours under the profile, and the verdict of the claim."""
    from westwood.papers.infer import published

    ours = published.read({name: one["measured"] for name, one in claims.items()})
    return [
        (number, ours[key], claims[number.claim]["verdict"])
        for key, number in published.numbers().items()
        if key in ours
    ]


def published(claims: Mapping[str, Numbers]) -> str:
    """Lists the published numbers with ours."""
    heads = ("number", "claim", "published", "ours", "ours over published", "verdict of the claim")
    lines = [row(*heads), row("---", "---", "---:", "---:", "---:", "---")]
    for number, ours, verdict in published_numbers(claims):
        bound = "at most " if number.kind == "at most" else ""
        cells = ("-", "-") if ours is None else (f"{ours:.4g}", f"{ours / number.value:.2f}")
        says = f"{bound}{number.value:g} {number.unit}".strip()
        lines.append(row(number.name, f"`{number.claim}`", says, *cells, verdict))
    return "\n".join(lines) + "\n"


def numbers_of(claims: Mapping[str, Numbers], study: str) -> list[tuple[Any, float, str]]:
    """Returns the published numbers of a study's figure with ours."""
    from westwood.papers.studies import STUDIES

    return [
        (number, ours, verdict)
        for number, ours, verdict in published_numbers(claims)
        if number.claim in STUDIES[study].claims and ours is not None
    ]


def gallery(claims: Mapping[str, Numbers]) -> str:
    """Shows the figure of each study beside the paper's numbers, with sentences and verdicts."""
    from westwood.papers.claims import claims as declared
    from westwood.papers.studies import STUDIES

    lines = []
    for name, study in STUDIES.items():
        lines += [f"### {study.title}", "", *_pictures(claims, name, study.title), ""]
        for claim in study.claims:
            quoted, told = declared()[claim], claims[claim]
            sentence = f"“{quoted.quote}”" if quoted.quote else quoted.says
            lines.append(f"- **{told['verdict']}** `{claim}`: {_plain(sentence)}")
            if told["explanation"]:
                lines += [
                    f"  - {_plain(part)}" for part in told["explanation"].split("; ")[:_SHOWN]
                ]
        lines.append("")
    return "\n".join(lines) + "\n"


def _pictures(claims: Mapping[str, Numbers], name: str, title: str) -> Iterable[str]:
    from westwood.papers.claims import claims as declared

    ours = f"![{title}]({GALLERY}/{name}.png)"
    numbers = numbers_of(claims, name)
    if not numbers:
        return [ours, "", "Not readable: the text gives no number of this figure, only words."]
    sources = "; ".join(dict.fromkeys(declared()[one.claim].where for one, *_ in numbers))
    theirs = f"![{title}: the paper's numbers]({GALLERY}/{name}-{REDRAWN}.png)"
    return [
        row(f"The paper's numbers, redrawn from its text ({sources})", "Our figure"),
        row("---", "---"),
        row(theirs, ours),
    ]
