# SPDX-License-Identifier: BSD-3-Clause
"""Writes the claims' verdicts and figures into docs/: python -m tools.verdicts [FOLDER].

FOLDER is what `westwood reproduce all --out FOLDER` wrote. What of it is quoted is kept in
docs/verdicts.json, with what the pages' tries (tools/tries.py) came to, which are run, and a
fingerprint of each scenario: numbers of how two of its runs start. Without FOLDER the verdicts
stay, and only tries that are new are run.
Where the simulator, a profile or a scenario gives other numbers now, the figures are stale,
whatever the commit: tests/tools/test_verdicts.py says so, and what a page quotes otherwise than
the file says.

A page has the table `verdicts` between its markers, and figures in its sentences: the value after
`<!-- CLAIM: KEY/KEY FORMAT -->`, up to `<!-- / -->`. FORMAT is Python's, such as .2f, and may begin
with a factor such as 1e-6*.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any

from tools import tries
from tools.tables import replace, table_of

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "docs/verdicts.json"
PAGES = (ROOT / "docs/claims.md",)
TABLE = "verdicts"
_DIGITS = 6
_START = {"duration": "60s"}
_MEASURED = ("flow", "cc", "delivered_bytes", "sent", "retransmitted", "timeouts", "goodput_bps")
_FIGURE = re.compile(
    r"<!-- (?P<claim>[\w.]+(?: with [^<>:]+)?): (?P<path>[^<>]+?) (?P<format>[\w.*%+-]+) -->"
    r"(?P<value>[^<>]*)<!-- / -->"
)


def fingerprints(names: list[str]) -> dict[str, str]:
    """What tells that a scenario's results are others: the start of its first and last point."""
    from westwood import Scenario
    from westwood.engines.simulator import simulate

    found = {}
    for name in names:
        points = [point for _, point in Scenario.preset(name).points()]
        rows = [simulate(one.with_settings(_START)).rows for one in (points[0], points[-1])]
        told = [row.select(column for column in _MEASURED if column in row).rows() for row in rows]
        found[name] = hashlib.sha256(repr(told).encode()).hexdigest()[:16]
    return found


def rounded(value: Any) -> Any:
    """The same with numbers of few digits, which is all that a page quotes."""
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    return [rounded(one) for one in value] if isinstance(value, list) else value


def kept(claims: list[dict[str, Any]]) -> dict[str, Any]:
    """What docs/verdicts.json has of claims.json."""
    names = sorted({name for claim in claims for name in claim["settings"]})
    return {
        "fingerprints": fingerprints(names),
        "claims": {
            one["id"]: {
                **{key: one[key] for key in ("verdict", "measure", "explanation")},
                "measured": rounded(one["measured"]),
            }
            for one in claims
        },
    }


def counted(claims: dict[str, Any]) -> dict[str, int]:
    """How many claims have each verdict."""
    verdicts = [one["verdict"] for one in claims.values()]
    return {name: verdicts.count(name) for name in ("HOLDS", "DIFFERS", "TESTED")}


def table(claims: dict[str, Any]) -> str:
    """The sentence that counts the verdicts, and a row for each decided claim."""
    count = counted(claims)
    lines = [
        f"`westwood reproduce all` decides {count['HOLDS'] + count['DIFFERS']} claims: "
        f"{count['HOLDS']} HOLD, {count['DIFFERS']} DIFFER; {count['TESTED']} more are proven by "
        "tests of their own.",
        "",
        "| claim | verdict | what is asked, or what differs |",
        "| --- | --- | --- |",
    ]
    for name, one in claims.items():
        if one["verdict"] != "TESTED":
            says = (one["explanation"] or one["measure"]).replace("|", "\\|").replace("*", "\\*")
            lines.append(f"| `{name}` | {one['verdict']} | {says} |")
    return "\n".join(lines) + "\n"


def figure(claims: dict[str, Any], claim: str, path: str, form: str) -> str:
    """A measured value as a sentence quotes it."""
    value = claims[claim]["measured"]
    for key in path.split("/"):
        value = value[int(key)] if isinstance(value, list) else value[key]
    factor, _, form = form.rpartition("*")
    return format(value * float(factor or 1), form)


def quoted(claims: dict[str, Any], text: str) -> str:
    """The page with the figures of its sentences as they are now."""

    def now(found: re.Match[str]) -> str:
        value = figure(claims, found["claim"], found["path"], found["format"])
        return found[0].replace(f"-->{found['value']}<!--", f"-->{value}<!--")

    return _FIGURE.sub(now, text)


def write(told: dict[str, Any], page: Path) -> None:
    """Writes the table and the figures into a page."""
    replace(page, {TABLE: table(told["claims"])})
    text = quoted(told["claims"] | told["tried"], page.read_text(encoding="utf-8"))
    page.write_text(text, encoding="utf-8")


def is_written(told: dict[str, Any], page: Path) -> bool:
    """Says whether a page quotes what the claims and the tries say."""
    text = page.read_text(encoding="utf-8")
    is_quoted = quoted(told["claims"] | told["tried"], text) == text
    return table_of(TABLE, text) == table(told["claims"]) and is_quoted


def with_tries(told: dict[str, Any]) -> dict[str, Any]:
    """The same with every try that a page quotes; those it lacks are run."""
    had = told.get("tried", {})
    named = tries.named(page.read_text(encoding="utf-8") for page in PAGES)
    return {**told, "tried": {one: had.get(one) or rounded(tries.measured(one)) for one in named}}


def read() -> dict[str, Any]:
    """The file of what the pages quote."""
    told: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return told


if __name__ == "__main__":
    found = read()
    if sys.argv[1:]:
        said = json.loads((Path(sys.argv[1]) / "claims.json").read_text(encoding="utf-8"))
        found = kept(said["claims"])
    found = with_tries(found)
    FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    for one in PAGES:
        write(found, one)
    print(", ".join(f"{count} {name}" for name, count in counted(found["claims"]).items()))
