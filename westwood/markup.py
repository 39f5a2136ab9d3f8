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


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Writes a table in Markdown, a line for each row."""
    lines = [heads, ["---"] * len(heads), *rows]
    escaped = ([cell.replace("|", "\\|").replace("\n", " ") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in escaped)
