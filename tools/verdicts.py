# SPDX-License-Identifier: BSD-3-Clause
"""Writes the claims' verdicts and figures into docs/: python -m tools.verdicts [FOLDER].

FOLDER is the output of `westwood reproduce all --out FOLDER`. docs/verdicts.json keeps the quoted
part of it, the results of the pages' tries (tools/tries.py), which are run if they are new, and a
fingerprint of each scenario: numbers from the start of two of its runs. Without FOLDER the verdicts
are kept.
The figures are stale if the simulator, a profile or a scenario gives other numbers, at any commit.
tests/tools/test_verdicts.py then fails, as it does if a page differs from the file.

A page has the table `verdicts` between its markers, and figures in its sentences: the value between
`<!-- CLAIM: KEY/KEY FORMAT -->` and `<!-- / -->`. FORMAT is Python's, such as .2f, and may begin
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
    """Returns numbers that change with a scenario's results: starts of its first and last point."""
    from westwood import Scenario
    from westwood.engines.simulator import simulate

    found = {}
    for name in names:
        points = [point for _, point in Scenario.preset(name).points()]
        rows = [simulate(one.with_settings(_START)).rows for one in (points[0], points[-1])]
        measured = [
            row.select(column for column in _MEASURED if column in row).rows() for row in rows
        ]
        found[name] = hashlib.sha256(repr(measured).encode()).hexdigest()[:16]
    return found


def rounded(value: Any) -> Any:
    """Returns the value with its numbers rounded to the digits that pages quote."""
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    return [rounded(one) for one in value] if isinstance(value, list) else value


def kept(claims: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns the part of claims.json that docs/verdicts.json keeps."""
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
    """Counts the claims by verdict."""
    verdicts = [one["verdict"] for one in claims.values()]
    return {name: verdicts.count(name) for name in ("HOLDS", "DIFFERS", "TESTED")}


def table(claims: dict[str, Any]) -> str:
    """Returns a sentence that counts the verdicts, and a row for each decided claim."""
    count = counted(claims)
    lines = [
        f"`westwood reproduce all` decides {count['HOLDS'] + count['DIFFERS']} claims: "
        f"{count['HOLDS']} HOLD, {count['DIFFERS']} DIFFER; {count['TESTED']} more are proven by "
        "separate tests.",
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
    """Formats a measured value as a page quotes it."""
    value = claims[claim]["measured"]
    for key in path.split("/"):
        value = value[int(key)] if isinstance(value, list) else value[key]
    factor, _, form = form.rpartition("*")
    return format(value * float(factor or 1), form)


def quoted(claims: dict[str, Any], text: str) -> str:
    """Returns the page's text with the present figures."""

    def now(found: re.Match[str]) -> str:
        value = figure(claims, found["claim"], found["path"], found["format"])
        return found[0].replace(f"-->{found['value']}<!--", f"-->{value}<!--")

    return _FIGURE.sub(now, text)


def write(stored: dict[str, Any], page: Path) -> None:
    """Writes the table and the figures into a page."""
    replace(page, {TABLE: table(stored["claims"])})
    text = quoted(stored["claims"] | stored["tried"], page.read_text(encoding="utf-8"))
    page.write_text(text, encoding="utf-8")


def is_written(stored: dict[str, Any], page: Path) -> bool:
    """Returns whether a page's figures agree with the claims and the tries."""
    text = page.read_text(encoding="utf-8")
    is_quoted = quoted(stored["claims"] | stored["tried"], text) == text
    return table_of(TABLE, text) == table(stored["claims"]) and is_quoted


def with_tries(stored: dict[str, Any]) -> dict[str, Any]:
    """Adds the results of every try that a page quotes; runs the missing ones."""
    had = stored.get("tried", {})
    named = tries.named(page.read_text(encoding="utf-8") for page in PAGES)
    return {**stored, "tried": {one: had.get(one) or rounded(tries.measured(one)) for one in named}}


def read() -> dict[str, Any]:
    """Reads docs/verdicts.json."""
    stored: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return stored


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
