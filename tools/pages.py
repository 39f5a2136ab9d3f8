# SPDX-License-Identifier: BSD-3-Clause
"""Writes pages of docs/: python -m tools.pages declared, or claims|ns2|torture FOLDER...

declared           what the code declares, on every page: tools/declared_tables.py
claims [FOLDER]    docs/claims.md, from `westwood reproduce NAME --out FOLDER`, of one study or all
ns2 [FOLDER...]    docs/ns2.md, each FOLDER from `westwood validate --engine ns2 --out FOLDER`
torture FOLDER [PAGE]    prints the results of `make torture`, and updates the page

A page has tables, each between `<!-- NAME -->` and `<!-- end of NAME -->`, and figures in its
sentences: the value between `<!-- NAME: KEY/KEY FORMAT -->` and `<!-- / -->`. FORMAT is Python's,
such as .2f, and may begin with a factor such as 1e-6*.

docs/verdicts.json and docs/ns2.json keep the numbers, each with fingerprints: short runs, whose
results change with the simulator, a profile or a scenario. tests/tools/test_pages.py fails if a
fingerprint or a page differs from the file.

A figure of a claim may name settings to try, with whole sweeps as in `westwood reproduce`:

    <!-- mobicom.friendliness with bottleneck.queue.limit=20p: together/ratio .2f -->0.97<!-- / -->
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from tools import claim_pictures, claim_tables, declared_tables
from tools.claim_tables import row
from westwood.results.verdicts import Verdict

DOCS = Path(__file__).resolve().parent.parent / "docs"
_DIGITS = 6
FIGURE = re.compile(
    r"<!-- (?P<name>[\w.-]+(?: with [^<>:]+)?): (?P<path>[^<>]+?) (?P<format>[\w.*%+-]+) -->"
    r"(?P<value>[^<>]*)<!-- / -->"
)
Numbers = dict[str, Any]


# Tables and figures of a page


def table_of(name: str, text: str) -> str:
    """Returns the table between the markers of this name."""
    start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    return text[text.index(start) + len(start) : text.index(end)]


def replace(page: Path, tables: dict[str, str]) -> None:
    """Replaces the tables of these names in the page, and nothing else."""
    page.write_text(_replaced(page.read_text(encoding="utf-8"), tables), encoding="utf-8")


def _replaced(text: str, tables: dict[str, str]) -> str:
    for name, table in tables.items():
        start = f"<!-- {name} -->\n"
        text = text.replace(f"{start}{table_of(name, text)}", f"{start}{table}")
    return text


def figure(numbers: Numbers, name: str, path: str, form: str) -> str:
    """Formats a number as a page quotes it."""
    value = numbers[name]
    for key in path.split("/"):
        value = value[int(key)] if isinstance(value, list) else value[key]
    factor, _, form = form.rpartition("*")
    return format(value * float(factor or 1), form)


def quoted(numbers: Numbers, text: str) -> str:
    """Returns the page's text with these numbers as its figures."""

    def now(found: re.Match[str]) -> str:
        value = figure(numbers, found["name"], found["path"], found["format"])
        return found[0].replace(f"-->{found['value']}<!--", f"-->{value}<!--")

    return FIGURE.sub(now, text)


def rounded(value: Any) -> Any:
    """Returns the value with its numbers rounded to the digits that pages quote."""
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    return [rounded(one) for one in value] if isinstance(value, list) else value


def fingerprint(measured: Iterable[object]) -> str:
    return hashlib.sha256(repr(list(measured)).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Page:
    """A page, the file of its numbers, and how the tables and figures come from these."""

    page: Path
    file: Path
    tables: Callable[[Numbers], dict[str, str]]
    figures: Callable[[Numbers], Numbers]

    def read(self) -> Numbers:
        """Reads the file of the numbers."""
        stored: Numbers = json.loads(self.file.read_text(encoding="utf-8"))
        return stored

    def text(self, stored: Numbers) -> str:
        """Returns the page's text with these numbers."""
        text = self.page.read_text(encoding="utf-8")
        return quoted(self.figures(stored), _replaced(text, self.tables(stored)))

    def is_written(self, stored: Numbers) -> bool:
        """Returns whether the page has these numbers."""
        return self.text(stored) == self.page.read_text(encoding="utf-8")

    def write(self, stored: Numbers) -> None:
        """Writes the numbers into the page and the file."""
        self.file.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
        self.page.write_text(self.text(stored), encoding="utf-8")


# The claims

_START = {"duration": "60s"}
_MEASURED = ("flow", "cc", "delivered_bytes", "sent", "retransmitted", "timeouts", "goodput_bps")
_WITH = " with "
_TRIED = re.compile(rf"<!-- ([\w.]+{_WITH}[^<>:]+): ")


def scenario_fingerprints(names: Iterable[str]) -> dict[str, str]:
    """Returns a fingerprint of each scenario: starts of its first and last point."""
    from westwood import Scenario
    from westwood.engines.simulator import simulate

    def start(point: Scenario) -> list[tuple[Any, ...]]:
        rows = simulate(point.with_settings(_START)).rows
        return rows.select(column for column in _MEASURED if column in rows).rows()

    points = {name: [point for _, point in Scenario.preset(name).points()] for name in names}
    return {name: fingerprint([start(of[0]), start(of[-1])]) for name, of in points.items()}


def kept_claims(claims: list[Numbers]) -> Numbers:
    """Returns the part of claims.json that docs/verdicts.json keeps."""
    from westwood.papers.studies import STUDIES

    undecided = {name for one in STUDIES.values() if not one.claims for name in one.scenarios}
    names = sorted({name for claim in claims for name in claim["settings"]} | undecided)
    kept = ("verdict", "measure", "explanation")
    return {
        "fingerprints": scenario_fingerprints(names),
        "claims": {
            one["id"]: {**{key: one[key] for key in kept}, "measured": rounded(one["measured"])}
            for one in claims
        },
    }


def _claim_tables(stored: Numbers) -> dict[str, str]:
    claims = stored["claims"]
    return {
        "verdicts": claim_tables.verdicts(claims),
        "words": claim_tables.words(stored["noise"]),
    }


def _claim_figures(stored: Numbers) -> Numbers:
    return {name: one["measured"] for name, one in (stored["claims"] | stored["tried"]).items()}


def tries(text: str) -> list[str]:
    """Lists the tries that a page quotes, each once: CLAIM with KEY=VALUE KEY=VALUE."""
    return sorted(set(_TRIED.findall(text)))


def tried(name: str) -> Numbers:
    """Runs a try; returns the verdict and the measurements of the claim's check."""
    from westwood.cli.options import settings_of
    from westwood.engines.pool import run_jobs
    from westwood.engines.simulator import prepare
    from westwood.papers.claims import claims
    from westwood.papers.infer import space
    from westwood.papers.infer.evaluate import ClaimTestSet

    claim, _, settings = name.partition(_WITH)
    open_ = space.of(claims()[claim].paper.key)
    value = space.Value(name, settings_of(settings.split(" ")), "a page names it")
    plan = ClaimTestSet(open_, (claim,), tuple(range(1, 11)), thin=False).plan_with([value])
    found = plan.findings(dict(run_jobs(plan.jobs.values(), prepare=prepare)))[claim]
    return {"verdict": Verdict.of(found.failures), "measured": dict(found.measured)}


CLAIMS = Page(DOCS / "claims.md", DOCS / "verdicts.json", _claim_tables, _claim_figures)


def _count_figures(stored: Numbers) -> Numbers:
    counts = claim_tables.count(stored["claims"])
    return {"count": {**counts, "decided": claim_tables.decided(counts)}}


# Other pages that quote the number of claims: <!-- count: HOLDS .0f -->8<!-- / -->.
COUNTING = [
    Page(page, CLAIMS.file, lambda stored: {}, _count_figures)
    for page in (DOCS / "index.md", DOCS.parent / "README.md", DOCS / "cli.md")
]


FIGURES = Page(
    DOCS / "paper-figures.md",
    CLAIMS.file,
    lambda stored: {
        "published": claim_tables.published(stored["claims"]),
        "gallery": claim_tables.gallery(stored["claims"]),
        "sentences": claim_tables.sentences(stored["claims"]),
    },
    lambda stored: {},
)


def write_claims(folder: str | None = None) -> None:
    """Writes docs/claims.md, the page of figures and the counts on other pages.

    What the folder has replaces what is stored, and the tries of its claims run again.
    """
    stored = CLAIMS.read()
    had, noise = stored.get("tried", {}), stored.get("noise", {})
    if folder:
        said = json.loads((Path(folder) / "claims.json").read_text(encoding="utf-8"))["claims"]
        new = kept_claims(said)
        stored = {key: stored[key] | new[key] for key in new}
        had = {
            name: one for name, one in had.items() if name.partition(_WITH)[0] not in new["claims"]
        }
        for figure_ in {Path(one["figure"]).stem for one in said if one["figure"]}:
            drawn = DOCS / claim_tables.GALLERY / f"{figure_}.png"
            claim_pictures.shrink(Path(folder) / drawn.name, drawn)
    stored["noise"] = rounded(claim_tables.measured_noise(noise))
    named = tries(CLAIMS.page.read_text(encoding="utf-8"))
    stored["tried"] = {one: had.get(one) or rounded(tried(one)) for one in named}
    for page in (CLAIMS, FIGURES, *COUNTING):
        page.write(stored)
    claim_pictures.draw_published(stored["claims"], DOCS / "img" / "published.png")
    claim_pictures.redraw(stored["claims"], DOCS)
    counts = claim_tables.count(stored["claims"])
    print(", ".join(f"{count} {name}" for name, count in counts.items()))


# The comparison with ns-2

CLOSE = 0.05
_TOGETHER = ("tahoe", "reno", "newreno", "sack")
_NAMES = {
    **dict(zip(_TOGETHER, ("Tahoe", "Reno", "NewReno", "SACK"), strict=True)),
    "vegas": "Vegas",
    "westwood+-linux": "Linux's Westwood",
}
_OF_MODULE = "westwood-ucla"
_OF_GRIDS = ("goodput_bps", "sent", "retransmitted", "timeouts")


def grid_fingerprint(name: str) -> str:
    """Returns a fingerprint of our side of a grid: short runs at two of its points."""
    from westwood.engines.simulator import simulate
    from westwood.experiments.validation.grid import Point, scenario
    from westwood.experiments.validation.ns2_grids import NS2

    grid = NS2[name]
    names = [_OF_MODULE] * 2 if _OF_MODULE in grid.protocols else ["reno", "sack"]
    points = [Point(**grid.points[place]) for place in (3, 10)]
    return fingerprint(
        simulate(scenario(grid, cc, point, 1, "20s")).rows.select(_OF_GRIDS).rows()
        for cc, point in zip(names, points, strict=True)
    )


def kept_points(points: pl.DataFrame) -> Numbers:
    """Returns the page's numbers for the points of a grid: by protocol, and for groups of four."""
    if _OF_MODULE in points["cc"]:
        return {_OF_MODULE: _agreement(points)}
    by_name = {name: _agreement(points.filter(pl.col("cc") == name)) for name in _NAMES}
    together = points.filter(pl.col("cc").is_in(_TOGETHER))
    return {**by_name, "together": _agreement(together)}


def _agreement(points: pl.DataFrame) -> Numbers:
    ratios = points["goodput_ratio"]
    within = int(((ratios - 1).abs() <= CLOSE).sum())
    found = {
        "points": len(points),
        "within": within,
        "share": within / len(points),
        "least": ratios.min(),
        "most": ratios.max(),
        "timeouts": points["timeouts"].mean(),
    }
    return {key: rounded(value) for key, value in found.items()}


def _ns2_tables(stored: Numbers) -> dict[str, str]:
    """Returns a table of protocols by grids, and one of UCLA's module by grids."""
    grids = {name: one for name, one in stored["grids"].items() if _OF_MODULE not in one}
    sums = [one["together"] for one in grids.values()]
    rows = {
        name: row(_NAMES[name], *(_cell(one[name]) for one in grids.values())) for name in _NAMES
    }
    lines = [row("", *(f"`{name}`" for name in grids)), row("---", *("---" for _ in grids))]
    lines += [rows.pop(name) for name in _TOGETHER]
    lines += [row("together", *(f"{o['within']} of {o['points']}, {o['share']:.0%}" for o in sums))]
    lines += [row("timeouts within one per minute", *(f"{one['timeouts']:.0%}" for one in sums))]
    lines += rows.values()
    module = [row("", "goodput within 5 %", "timeouts within one per minute"), row(*["---"] * 3)]
    for name, one in stored["grids"].items():
        if found := one.get(_OF_MODULE):
            module.append(row(f"`{name}`", _cell(found), f"{found['timeouts']:.0%}"))
    tables = {"against ns-2": lines, "against the module": module}
    return {name: "\n".join(one) + "\n" for name, one in tables.items()}


def _cell(one: Numbers) -> str:
    return f"{one['within']} of {one['points']}, {one['least']:.2f} to {one['most']:.2f}"


# A figure is <!-- ns2: GRID/PROTOCOL/KEY FORMAT -->.
NS2 = Page(DOCS / "ns2.md", DOCS / "ns2.json", _ns2_tables, lambda stored: {"ns2": stored["grids"]})


def write_ns2(folders: Iterable[str]) -> None:
    """Writes docs/ns2.md; grids without a new folder keep their numbers."""
    from westwood.experiments.validation.ns2_grids import NS2 as GRIDS

    stored = NS2.read()
    for folder in folders:
        points = pl.read_csv(Path(folder) / "validation.csv", schema_overrides={"grid": pl.String})
        for (name,), some in points.group_by("grid", maintain_order=True):
            stored["grids"][str(name)] = kept_points(some)
            stored["fingerprints"][str(name)] = grid_fingerprint(str(name))
    NS2.write({what: {name: some[name] for name in sorted(GRIDS)} for what, some in stored.items()})


# make torture


def torture_table(attacks: Iterable[Numbers]) -> str:
    """Lists the files of attacks: how many passed, their rounds and time, below the first seed."""
    attacks = sorted(attacks, key=lambda one: str(one["attack"]))
    first = ", ".join(sorted({str(one["first_seed"]) for one in attacks}))
    by_file: dict[str, list[Numbers]] = {}
    for one in attacks:
        file, _, _ = str(one["attack"]).partition("::")
        by_file.setdefault(Path(file).stem.removeprefix("test_"), []).append(one)
    lines = [f"The first seed was {first}; each further round took the next one.", ""]
    lines += [row("attacks", "passed", "rounds", "seconds"), row("---", "---", "---:", "---:")]
    for name, some in by_file.items():
        passed = sum(one["outcome"] == "passed" for one in some)
        rounds, seconds = (sum(one[key] for one in some) for key in ("rounds", "seconds"))
        cells = (f"{passed} of {len(some)}", rounds, f"{seconds:.0f}")
        lines.append(row(f"`{name}`".replace("_", " "), *cells))
    return "\n".join(lines) + "\n"


def write_torture(folder: str, page: str | None = None) -> None:
    """Prints the table of the attacks, each of which left a JSON file (tests/conftest.py)."""
    table = torture_table(json.loads(file.read_text()) for file in Path(folder).glob("*.json"))
    print(table)
    if page:
        replace(Path(page), {"torture": table})


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["declared"]:
            for one in declared_tables.PAGES:
                replace(one, declared_tables.tables(one.read_text(encoding="utf-8")))
        case ["claims"] | ["claims", _]:
            write_claims(*sys.argv[2:])
        case ["ns2", *folders]:
            write_ns2(folders)
        case ["torture", _] | ["torture", _, _]:
            write_torture(*sys.argv[2:])
        case _:
            sys.exit("usage: python -m tools.pages declared, or claims|ns2|torture FOLDER...")
