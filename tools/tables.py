# SPDX-License-Identifier: BSD-3-Clause
"""Replaces generated tables in docs/, each between `<!-- NAME -->` and `<!-- end of NAME -->`."""

from __future__ import annotations

from pathlib import Path


def table_of(name: str, text: str) -> str:
    """Returns the table between the markers of this name."""
    start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    return text[text.index(start) + len(start) : text.index(end)]


def replace(page: Path, tables: dict[str, str]) -> None:
    """Replaces the tables of these names in the page, and nothing else."""
    text = page.read_text(encoding="utf-8")
    for name, table in tables.items():
        start = f"<!-- {name} -->\n"
        text = text.replace(f"{start}{table_of(name, text)}", f"{start}{table}")
    page.write_text(text, encoding="utf-8")
