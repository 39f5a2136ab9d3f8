# SPDX-License-Identifier: BSD-3-Clause
"""Prints tables that a terminal may be too narrow for, without cutting a name or a word in them.

What does not fit in columns is left out, where it may be, or the rows stand below one another.
"""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table

_A_FEW_WORDS = 24  # the narrowest that a column of text reads well in
_BEFORE, _A_COLUMN = 1, 3  # what box.SIMPLE_HEAD and the padding add to the cells


@dataclass(frozen=True)
class Cells:
    """Holds a table's texts by column, so that a column can be left out."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def without(self, head: str) -> Cells:
        """Leaves a column out."""
        kept = [place for place, one in enumerate(self.heads) if one != head]
        rows = tuple(tuple(row[place] for place in kept) for row in self.rows)
        return replace(self, heads=tuple(self.heads[place] for place in kept), rows=rows)

    def widest(self) -> list[int]:
        """The width of each column if none of its cells is wrapped."""
        columns = zip(self.heads, *self.rows, strict=True)
        return [max(cell_len(line) for cell in c for line in cell.split("\n")) for c in columns]


def print_texts(cells: Cells, title: str) -> None:
    """Prints a table whose first column is never wrapped and whose long texts may be."""
    console = Console()
    needed = _framed([min(width, _A_FEW_WORDS) for width in cells.widest()], cells.widest()[0])
    if needed > console.width:
        _print_below(cells, title, console)
        return
    print(_wrapped(title, "", console))
    table = Table(box=box.SIMPLE_HEAD)
    for place, head in enumerate(cells.heads):
        table.add_column(head, no_wrap=place == 0, overflow="fold")
    _print_rows(table, cells, console)


def print_numbers(
    cells: Cells, title: str, *, numbers: Collection[str], expendable: Sequence[str]
) -> None:
    """Prints a table in which nothing is wrapped; its `expendable` heads go first, in their order.

    A file or a pipe is 80 columns wide, or as wide as COLUMNS says.
    """
    console = Console()
    left_out = []
    for head in expendable:
        if _framed(cells.widest()) > console.width:
            cells = cells.without(head)
            left_out.append(" ".join(head.split("\n")))
    if _framed(cells.widest()) > console.width:
        _print_below(cells, title, console)
    else:
        print(_wrapped(title, "", console))
        table = Table(box=box.SIMPLE_HEAD)
        for head in cells.heads:
            table.add_column(head, justify="right" if head in numbers else "left", no_wrap=True)
        _print_rows(table, cells, console)
    if left_out:
        hint = f"A wider terminal or --json also shows: {', '.join(left_out)}."
        print(_wrapped(hint, "", console))


def _framed(widths: Sequence[int], first: int = 0) -> int:
    """The width of a table with columns so wide, the first one at least `first`."""
    return _BEFORE + sum(widths[1:]) + max(widths[0], first) + _A_COLUMN * len(widths)


def _print_rows(table: Table, cells: Cells, console: Console) -> None:
    for row in cells.rows:
        table.add_row(*(escape(cell) for cell in row))
    console.print(table)


def _print_below(cells: Cells, title: str, console: Console) -> None:
    """Prints each row as its first cell and, below it, the others with their heads.

    Short ones share a line.
    """
    heads = [" ".join(head.split("\n")) for head in cells.heads]
    is_long = [width > _A_FEW_WORDS for width in cells.widest()]
    print(_wrapped(title, "", console) + "\n")
    for row in cells.rows:
        print(f"  {row[0]}")
        said = list(zip(heads, row, is_long, strict=True))[1:]
        lines = [f"{head}: {cell}" for head, cell, long in said if cell and long]
        short = "; ".join(f"{head}: {cell}" for head, cell, long in said if cell and not long)
        for line in [*lines, *([short] if short else [])]:
            print(_wrapped(line, "      ", console))
    print()


def _wrapped(text: str, indent: str, console: Console) -> str:
    """Breaks a text into lines at spaces only, for its words may have to be typed."""
    return textwrap.fill(
        text,
        console.width,
        initial_indent=indent,
        subsequent_indent=indent + "  " * bool(indent),
        break_long_words=False,
        break_on_hyphens=False,
    )
