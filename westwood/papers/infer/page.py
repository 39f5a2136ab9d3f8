# SPDX-License-Identifier: BSD-3-Clause
"""Says which settings each paper may have used, and which claims hold under them.

    python -m westwood.papers.infer.page PAPER > details.md

It reads the reports in the package. notes.toml holds what only people can say about a paper; every
count is computed. The guide has a section for each paper; the page of one paper, which a search
also writes, has each claim with its parts, its conditions and what chance would do.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from westwood import files
from westwood.markup import markdown_table
from westwood.papers.claims import claims
from westwood.papers.infer import chance, parts, published, tree
from westwood.papers.infer.report import InferenceReport, packaged
from westwood.papers.infer.result import WITNESSES
from westwood.papers.infer.space import Setting

_NOTES = Path(__file__).with_name("notes.toml")
_SHOWN = 3  # failures shown of one setting


@cache
def _notes() -> Mapping[str, Any]:
    return files.read_toml(_NOTES)


def written(report: Mapping[str, InferenceReport], command: str) -> str:
    """Returns the page of these papers, in detail.

    The notes that people wrote about the package's runs are left out.
    """
    sections = [_notes()["title"], result(report.values()), _notes()["head"].strip()]
    sections += _method(report)
    for paper_report in report.values():
        note = _notes().get(paper_report.paper, {})
        shared = {key: note[key] for key in ("about", "pairs") if key in note}
        sections += _paper(paper_report, shared, command)
    return "\n".join(_with_blank_lines(sections)) + "\n"


def guide(report: Mapping[str, InferenceReport]) -> str:
    """Returns the guide's section: what was searched, how much of it holds, what people noted."""
    sections = [_notes()["head"].strip(), *_method(report)]
    for of_paper in report.values():
        note = _notes().get(of_paper.paper, {})
        heading, *search = _head(of_paper, note, of_paper.command, "###")
        notes = (*note.get("causes", {}).values(), note.get("closing", ""))
        sections += [heading, _joined(*search, _inferred_in_short(of_paper)), _joined(*notes)]
    return "\n".join(_with_blank_lines(sections)) + "\n"


def _joined(*texts: str) -> str:
    return " ".join(" ".join(texts).split())


def _method(report: Mapping[str, InferenceReport]) -> Iterator[str]:
    yield markdown_table(_SUMMARY, map(_summary, report.values()))
    yield _notes()["method"].strip().format(most=WITNESSES)


def result(reports: Collection[InferenceReport]) -> str:
    """Says what holds under one setting, what chance would do, and which claims never hold."""
    decided = sum(len(report.claims) for report in reports)
    profile, best = (
        sum(report.holding(how) for report in reports) for how in ("profile", "inferred")
    )
    beyond = [
        f"`{report.paper}`" for report in reports if report.holding("inferred") > report.by_chance
    ]
    chance_ = (
        f"For {', '.join(beyond)} that is more than the luckiest setting would hold by chance."
        if beyond
        else "No setting holds more claims than the luckiest one would by chance."
    )
    never = [f"`{claim}`" for report in reports for claim in report.never]
    nothing = [
        f"`{name}`" for report in reports for name in report.claims if report.decides_nothing(name)
    ]
    sentences = [
        f"Of {decided} claims {profile} hold under the profiles on fresh seeds, and {best} under "
        f"the best single setting of each paper.",
        chance_,
        f"No setting that was tried shows {', '.join(never)}." if never else "",
        f"Nearly every setting shows {', '.join(nothing)}." if nothing else "",
    ]
    return " ".join(filter(None, sentences))


_SUMMARY = (
    *("paper", "claims decided", "hold: profile, ten fresh seeds", "hold: one inferred setting"),
    *("by chance", "never", "decide nothing"),
)


def _summary(report: InferenceReport) -> Sequence[str]:
    numbers = (
        len(report.claims),
        report.holding("profile"),
        report.holding("inferred"),
        report.by_chance,
        len(report.never),
        sum(map(report.decides_nothing, report.claims)),
    )
    return (report.paper, *map(str, numbers))


def _inferred_in_short(report: InferenceReport) -> str:
    count = len(report.open.differs(report.inferred))
    if not count:
        return "No setting that was tried makes more claims hold than the profile."
    return f"The inferred setting differs from the profile in {count} of them."


def _paper(report: InferenceReport, note: Mapping[str, Any], command: str) -> Iterator[str]:
    yield from _head(report, note, command)
    yield "### Settings that it may have run"
    yield from _inferred(report)
    yield from _unchanged(report)
    yield "### What holds"
    yield markdown_table(_CLAIMS, (_claim(report, claim) for claim in report.claims))
    yield from _chance(report)
    yield from _asked_pairs(report, note)
    yield from _excluded(report)
    yield from _not_there(report)
    yield from _trees(report)
    yield from _numbers(report)


def _head(
    report: InferenceReport, note: Mapping[str, Any], command: str, mark: str = "##"
) -> Iterator[str]:
    paper = next(claim.paper for claim in claims().values() if claim.paper.key == report.paper)
    yield f"{mark} {paper.title}"
    yield f"{paper.reference}{f' (https://doi.org/{paper.doi})' if paper.doi else ''}."
    yield note.get("about", "").strip()
    seeds = report.data["seeds"]
    possible = _count(report.data["possible"])
    drawn = f" It drew {report.data['filling']} of them without knowing any result."
    yield (
        f"The paper leaves {len(report.open.settings)} settings open, "
        f"with {possible} combinations. "
        f"The search tried {report.number}, with {len(seeds['search'])} seeds per point."
        f"{'' if report.data['filling'] == report.settings else drawn}"
    )
    yield (
        f"`{command}` repeats the search: the same seed and number give the same bytes. "
        f"Its runs have at most {_words(report.open.longest)}; those of the verdicts are whole."
    )


def _words(quantity: str) -> str:
    """Writes a quantity with a space before its unit."""
    number = quantity.rstrip("abcdefghijklmnopqrstuvwxyz")
    return f"{number} {quantity.removeprefix(number)}"


def _count(number: int) -> str:
    """Writes a number in full, or its order of magnitude."""
    return f"{number:_}".replace("_", " ") if number < 1_000_000 else f"{number / 1e6:.0f} million"


def _inferred(report: InferenceReport) -> Iterator[str]:
    differs = report.open.differs(report.inferred)
    count, held = len(report.claims), report.holding("inferred")
    claims_hold = "claim holds" if count == 1 else "claims hold"
    profile = report.holding("profile")
    first = f"Under the profile {profile} of {count} {claims_hold} on fresh seeds."
    if not differs:
        yield f"{first} No setting that was tried makes more of them hold."
    else:
        yield f"{first} Under this one setting {held} hold:"
        rows = (_row(report, setting) for setting in report.open.settings if setting.key in differs)
        yield markdown_table(_DIFFERS, rows)


def _unchanged(report: InferenceReport) -> Iterator[str]:
    differs = report.open.differs(report.inferred)
    same = [setting.what for setting in report.open.settings if setting.key not in differs]
    if same and differs:
        yield "These settings stay as in the profile:"
        yield _bullets(same)


_DIFFERS = ("setting", "profile", "inferred", "why it is plausible", "claims lost without it")


def _row(report: InferenceReport, setting: Setting) -> Sequence[str]:
    chosen = report.inferred[setting.key]
    lost = _listed(report.needs(setting.key))
    return (setting.what, setting.default, chosen, setting.value(chosen).why, lost)


_CLAIMS = ("claim", "profile", "inferred setting", "all settings", "what the paper says")


def _claim(report: InferenceReport, claim: str) -> Sequence[str]:
    return (
        f"`{claim}`",
        *(verdict.claim for verdict in report.verdicts(claim)),
        report.elsewhere(claim),
        claims()[claim].says,
    )


def _chance(report: InferenceReport) -> Iterator[str]:
    """Yields how many settings hold so many claims at once, beside what chance would do."""
    counts, count = report.data["chance"], len(report.claims)
    if count < 2:
        return
    yield "### What chance would do"
    yield (
        f"In the search, so many of the {counts['settings']} settings drawn blindly hold so many "
        "claims at once. The last column has what independent claims with these shares would give."
    )
    shares = report.shares
    chances = chance.at_once(shares)
    rows = [
        (str(number), str(held), f"{chances[number] * counts['settings']:.1f}")
        for number, held in enumerate(counts["together"])
    ]
    yield markdown_table(("claims", "settings", "by chance"), rows)
    held = report.holding("inferred")
    lucky = chance.expected(shares, held, report.settings)
    yield (
        f"The inferred setting holds {held}. By chance {lucky:.1f} of {report.number} settings "
        f"would hold as many in the search, and the luckiest would hold {report.by_chance}."
    )
    if nothing := [f"`{claim}`" for claim in report.claims if report.decides_nothing(claim)]:
        yield f"Nearly every setting has these claims, which decide nothing: {', '.join(nothing)}."
    if apart := [pair for pair in chance.pairs(counts) if pair.is_apart]:
        yield "These pairs hold together less than half as often as independent claims would:"
        yield _bullets(
            f"`{pair.first}` and `{pair.second}`: {pair.both} settings, "
            f"{pair.expected:.1f} by chance"
            for pair in apart
        )


def _asked_pairs(report: InferenceReport, note: Mapping[str, Any]) -> Iterator[str]:
    """Yields whether claims that the notes name exclude others, as far as the search tells."""
    asked = note.get("pairs", {"do": (), "exclude": ()})
    wanted = [{first, second} for first in asked["do"] for second in asked["exclude"]]
    pairs = [
        pair for pair in chance.pairs(report.data["chance"]) if {pair.first, pair.second} in wanted
    ]
    if not pairs:
        return
    yield f"### {asked['title']}"
    yield (
        f"Of the {report.data['chance']['settings']} settings drawn blindly, so many have both "
        "claims. The last column is the probability that independent claims share so few "
        "settings, or fewer (Fisher's exact test)."
    )
    rows = (
        (
            f"`{p.second}`",
            f"`{p.first}`",
            str(p.both),
            f"{p.expected:.1f}",
            f"{p.at_most_by_chance:.2g}",
        )
        for p in pairs
    )
    yield markdown_table(("claim", "and", "settings", "by chance", "probability"), rows)


def _excluded(report: InferenceReport) -> Iterator[str]:
    """Yields what the inferred setting holds with values that the text excludes."""
    if not report.open.excluded:
        return
    yield "### Values that the text excludes"
    yield (
        "The search does not try these values. The inferred setting with each of them, on the same "
        "fresh seeds, shows whether its claims need what the text excludes."
    )
    held = {claim for claim, entry in report.claims.items() if entry["inferred"]}
    rows = []
    for name, (setting, value) in report.open.excluded.items():
        mine = set(report.data["inferred"]["excluded"][name])
        cells = (str(len(mine)), _listed(mine - held), _listed(held - mine))
        rows.append((f"{setting.what}: {name}", value.why, *cells))
    heads = ("value", "why it is excluded", "claims that hold", "in addition", "lost")
    yield markdown_table(heads, rows)


def _listed(claims_: Iterable[str]) -> str:
    return ", ".join(f"`{claim.partition('.')[2]}`" for claim in sorted(claims_)) or "none"


def _not_there(report: InferenceReport) -> Iterator[str]:
    """Yields the claims that fail under the inferred setting: where, and where else they hold."""
    for claim, entry in report.claims.items():
        if entry["inferred"]:
            continue
        yield f"`{claim}` differs under the inferred setting:"
        yield _bullets(entry["inferred_explanation"].split("; "))
        if entry["witness"] is None and entry["held"]:
            texts = entry["unconfirmed"]
            yield (
                f"It held in {entry['held']} of {report.number} settings with the search's thin "
                f"grid, short runs and no intervals. Whole sweeps on new seeds judged {len(texts)} "
                "of them and confirmed none."
            )
            yield from _first(texts)
        elif entry["witness"] is None:
            yield f"It holds under none of {report.number} settings."
        elif entry["witness"]:
            yield "It holds, on seeds that chose nothing, with these settings:"
            yield _bullets(
                f"{report.what(key)}: {value}" for key, value in entry["witness"].items()
            )
            if others := len(entry.get("unconfirmed", ())):
                yield f"New seeds did not confirm it in {others} that the search ranked higher."
        else:
            yield "It holds under the profile."
        yield parts.written(entry["parts"]) if "parts" in entry else ""


def _first(explanations: Sequence[str]) -> Iterator[str]:
    """Yields the first differences under the best of these settings."""
    if explanations:
        failures = explanations[0].split("; ")
        more = len(failures) - _SHOWN
        yield "Under the best of them:"
        yield _bullets([*failures[:_SHOWN], *([f"{more} more differences"] if more > 0 else [])])


def _bullets(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def _trees(report: InferenceReport) -> Iterator[str]:
    hanging = [name for name in report.claims if report.tree(name).setting]
    if not hanging:
        return
    yield "### Settings that decide the claims"
    for claim in hanging:
        lines = tree.drawn(report.tree(claim), report.what)
        yield "\n".join((f"```text\n{claim}", *lines, "```"))
    others = [name for name in report.claims if name not in hanging and report.share(name) > 0]
    if others:
        shares = ", ".join(f"`{name}` ({report.share(name):.0%})" for name in others)
        yield f"No single setting or pair of settings decides these claims: {shares}."


def _numbers(report: InferenceReport) -> Iterator[str]:
    if not report.data["numbers"]:
        return
    yield "### Numbers in its text"
    rows = []
    for row in report.data["numbers"]:
        number = published.numbers()[row["number"]]
        cells = [
            cell
            for where in ("profile", "inferred")
            for cell in (_shown(row[where]), f"{number.off(row[where]):.0%}")
        ]
        bound = "at most " if number.kind == "at most" else ""
        says = f"{bound}{number.value:g} {number.unit}".strip()
        rows.append((number.name, f"`{number.claim}`", says, *cells))
    yield markdown_table(_NUMBERS, rows)
    far = (f"{report.distance(where):.0%}" for where in ("profile", "inferred"))
    yield "On average they are {} off under the profile and {} under the inferred one.".format(*far)


_NUMBERS = ("number", "claim", "published", "profile", "off", "inferred", "off")


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _with_blank_lines(parts: Iterable[str]) -> Iterator[str]:
    for place, part in enumerate(text for text in parts if text):
        yield from ([""] if place else [])
        yield part


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(written({name: packaged()[name]}, packaged()[name].command), end="")
