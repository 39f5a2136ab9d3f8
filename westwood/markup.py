# SPDX-License-Identifier: BSD-3-Clause
"""Writes tables in HTML, for notebooks, and in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """Writes an HTML table; escapes all text."""
    from html import escape

    above = f"<caption>{escape(caption)}</caption>" if caption else ""
    head = "".join(f"<th>{escape(title)}</th>" for title in heads)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    return f"<table>{above}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def markdown_row(cells: Iterable[object]) -> str:
    """Writes a row of a table in Markdown."""
    texts = (str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells)
    return f"| {' | '.join(texts)} |"


def markdown_table(heads: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Writes a table in Markdown; a heading that ends in ":" aligns its column to the right."""
    names = (head.removesuffix(":") for head in heads)
    marks = ("---:" if head.endswith(":") else "---" for head in heads)
    return "\n".join(map(markdown_row, (names, marks, *rows)))
