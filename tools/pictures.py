# SPDX-License-Identifier: BSD-3-Clause
"""Says which pictures of docs/img/ are older than what they show.

    python -m tools.pictures NAME.png...      keep what pictures show that were drawn again

docs/img/pictures.json has a fingerprint of each picture, and of the numbers that it shows: those
that a page keeps in its file, or the golden results of the controls that a run has. A picture whose
numbers have changed has to be drawn again. Screenshots of the laboratory are not among them.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tools import claim_tables, claims_page, drawings
from tools.pages import DOCS, fingerprint
from tools.shown import PICTURE
from westwood.papers.studies import STUDIES

FOLDER = DOCS / "img"
KEPT = FOLDER / "pictures.json"
_GOLDEN = DOCS.parent / "tests" / "golden" / "table.csv"
_OF_FILES = {
    "bbr3.png": "bbr3.json",
    "evaluation-c4.png": "own-evaluation.json",
    "evaluation-harm.png": "own-evaluation.json",
    "gallery.png": "gallery.json",
}
_OF_CONTROLS = {
    "effect.png": ("cubic", "westwood+", "bbr"),
    "frontier.png": ("cubic", "westwood+", "westwood-cubic", "bbr", "bbr3", "sack"),
    "handover.png": ("bbr",),
    "how-compared.png": ("newreno", "westwood+", "westwood-cubic"),
    "how-estimate.png": ("westwood+",),
    "how-sawtooth.png": ("newreno",),
    "trace.png": ("westwood+",),
    "westwood-cubic-evidence.png": ("westwood-cubic",),
}
_GALLERY = Path(claim_tables.GALLERY).name


def names() -> list[str]:
    """Returns the pictures, by their path below docs/img/."""
    pictures = sorted(str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.png"))
    return [name for name in pictures if not name.startswith("lab")]


def shows(name: str) -> str:
    """Returns a fingerprint of what a picture shows."""
    return fingerprint(_numbers(name))


def _numbers(name: str) -> Iterable[object]:
    if name in _OF_FILES:
        return [(DOCS / _OF_FILES[name]).read_text(encoding="utf-8")]
    if name in _OF_CONTROLS:
        return [*_golden(_OF_CONTROLS[name]), *_command(name), *_facts(name)]
    stored = claims_page.PAGE.read()
    if name == "published.png":
        return _published(claim_tables.published_numbers(stored["claims"]))
    folder, _, figure = name.removesuffix(".png").partition("/")
    assert folder == _GALLERY, f"{name}: say in tools/pictures.py what it shows"
    if figure.endswith(f"-{claim_tables.REDRAWN}"):
        study = figure.removesuffix(f"-{claim_tables.REDRAWN}")
        return _published(claim_tables.numbers_of(stored["claims"], study))
    return _study(stored, figure)


def _golden(controls: tuple[str, ...]) -> list[str]:
    rows = _GOLDEN.read_text(encoding="utf-8").splitlines()
    return [row for row in rows if row.partition(",")[0] in controls]


def _command(name: str) -> list[str]:
    """Returns the command that draws a picture, where its page has one."""
    texts = (page.read_text(encoding="utf-8") for page in sorted(DOCS.glob("*.md")))
    pictures = (match for text in texts for match in PICTURE.findall(text))
    return [" ".join(command.split()) for command, picture in pictures if picture == f"img/{name}"]


def _facts(name: str) -> list[object]:
    return [drawings.facts()] if name.startswith("how-") else []


def _published(numbers: Iterable[tuple[Any, float | None, str]]) -> list[object]:
    return [(number.name, number.value, ours) for number, ours, _ in numbers]


def _study(stored: dict[str, Any], name: str) -> list[object]:
    study = STUDIES[name]
    starts = [stored["fingerprints"].get(scenario) for scenario in study.scenarios]
    return [*starts, *(stored["claims"][claim]["measured"] for claim in study.claims)]


def picture(name: str) -> str:
    """Returns a fingerprint of a picture itself."""
    return hashlib.sha256((FOLDER / name).read_bytes()).hexdigest()[:16]


def keep(chosen: Iterable[str]) -> str:
    """Keeps what these pictures show; says which were not drawn since the last time."""
    recorded = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    stale = []
    for name in chosen:
        now = {"shows": shows(name), "picture": picture(name)}
        former = recorded.get(name, {})
        is_drawn = (FOLDER / name).stat().st_mtime > KEPT.stat().st_mtime if former else True
        if former.get("shows", now["shows"]) != now["shows"] and not is_drawn:
            stale.append(name)
        else:
            recorded[name] = now
    present = {name: recorded[name] for name in names() if name in recorded}
    KEPT.write_text(json.dumps(present, indent=1) + "\n", encoding="utf-8")
    return f"not drawn again: {', '.join(stale)}" if stale else ""


if __name__ == "__main__":
    sys.exit(keep(sys.argv[1:] or names()) or 0)
