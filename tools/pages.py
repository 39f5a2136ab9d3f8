# SPDX-License-Identifier: BSD-3-Clause
"""Writes the numbers of pages: python -m tools.pages NAME [WORD...].

tools/page_table.py has the names.

A page has tables, each between `<!-- NAME -->` and `<!-- end of NAME -->`, and figures in its
sentences: the value between `<!-- NAME: KEY/KEY FORMAT -->` and `<!-- / -->`. FORMAT is Python's,
such as .2f, and may begin with a factor such as 1e-6*.

The numbers of most pages are kept in a file. tests/tools/test_pages.py fails if a page differs from
its file, or the file from what is measured again in a short time.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from westwood.markup import markdown_table

DOCS = Path(__file__).resolve().parent.parent / "docs"
_DIGITS = 6
FIGURE = re.compile(
    r"<!-- (?P<name>[\w.-]+(?: with [^<>:]+)?): (?P<path>[^<>]+?) (?P<format>[\w.*%+-]+) -->"
    r"(?P<value>[^<>]*)<!-- / -->"
)
Numbers = dict[str, Any]


def table(heads: str, rows: Iterable[Iterable[object]]) -> str:
    """Returns a table. " | " separates the heads; ":" at a head's end aligns the column right."""
    return f"{markdown_table(heads.split(' | '), rows)}\n"


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

    def now(match: re.Match[str]) -> str:
        value = figure(numbers, match["name"], match["path"], match["format"])
        return match[0].replace(f"-->{match['value']}<!--", f"-->{value}<!--")

    return FIGURE.sub(now, text)


def rounded(value: Any) -> Any:
    """Returns the value with its numbers rounded to the digits that pages quote."""
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    if isinstance(value, dict):
        return {key: rounded(part) for key, part in value.items()}
    return [rounded(part) for part in value] if isinstance(value, list) else value


def fingerprint(measured: Iterable[object]) -> str:
    return hashlib.sha256(repr(list(measured)).encode()).hexdigest()[:16]


Sample = tuple[object, object]  # a number measured now, and the kept one


def _nothing(stored: Numbers) -> dict[str, str]:
    return {}


@dataclass(frozen=True)
class Page:
    """A page, the file that keeps its numbers, and how these are shown, measured and checked."""

    page: Path
    file: Path | None = None
    tables: Callable[[Numbers], dict[str, str]] = _nothing
    figures: Callable[[Numbers], Numbers] | None = None  # None: another Page writes them
    # Takes the kept numbers and the command's words; yields the numbers after each finished part.
    measure: Callable[[Numbers, Sequence[str]], Iterable[Numbers]] | None = None
    samples: Mapping[str, Callable[[Numbers], Sample]] = field(default_factory=dict)
    draw: Callable[[Numbers], None] | None = None

    def read(self) -> Numbers:
        """Reads the kept numbers."""
        if self.file is None or not self.file.exists():
            return {}
        stored: Numbers = json.loads(self.file.read_text(encoding="utf-8"))
        return stored

    def text(self, stored: Numbers) -> str:
        """Returns the page's text with these numbers."""
        text = _replaced(self.page.read_text(encoding="utf-8"), self.tables(stored))
        return quoted(self.figures(stored), text) if self.figures else text

    def is_written(self, stored: Numbers) -> bool:
        """Returns whether the page has these numbers."""
        return self.text(stored) == self.page.read_text(encoding="utf-8")

    def write(self, stored: Numbers) -> None:
        """Writes the numbers into the page and the file."""
        if self.file:
            self.file.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
        self.page.write_text(self.text(stored), encoding="utf-8")

    def make(self, words: Sequence[str] = ()) -> None:
        """Measures the numbers, writes them, and draws the page's pictures."""
        assert self.measure is not None
        for numbers in self.measure(self.read(), words):
            self.write(rounded(numbers))
        if self.draw:
            self.draw(self.read())


if __name__ == "__main__":
    from tools.page_table import main

    sys.exit(main(sys.argv[1:]))
