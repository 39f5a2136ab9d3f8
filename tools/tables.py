# SPDX-License-Identifier: BSD-3-Clause
"""Tables in pages of docs/ that a program writes: each between `<!-- NAME -->` and its end."""

from __future__ import annotations

from pathlib import Path


def table_of(name: str, text: str) -> str:
    """The table between the markers of this name."""
    start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    return text[text.index(start) + len(start) : text.index(end)]


def replace(page: Path, tables: dict[str, str]) -> None:
    """Replaces the tables of these names in the page; what stands around them stays."""
    text = page.read_text(encoding="utf-8")
    for name, table in tables.items():
        start = f"<!-- {name} -->\n"
        text = text.replace(f"{start}{table_of(name, text)}", f"{start}{table}")
    page.write_text(text, encoding="utf-8")
