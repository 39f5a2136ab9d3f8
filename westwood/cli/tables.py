# SPDX-License-Identifier: BSD-3-Clause
"""Prints tables on terminals of any width, without cutting names or words.

A table that is too wide loses its less important columns, or becomes a list.
"""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from rich.cells import cell_len

from westwood.errors import visible

_A_FEW_WORDS = 24  # the smallest readable width of a text column
_BEFORE, _A_COLUMN = 1, 3  # added by box.SIMPLE_HEAD and the padding


@dataclass(frozen=True)
class Cells:
    """Holds the texts of a table; columns can be removed."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        rows = tuple(tuple(map(visible, row)) for row in self.rows)
        object.__setattr__(self, "rows", rows)

    def without(self, head: str) -> Cells:
        """Returns the table without a column."""
        kept = [place for place, title in enumerate(self.heads) if title != head]
        rows = tuple(tuple(row[place] for place in kept) for row in self.rows)
        return replace(self, heads=tuple(self.heads[place] for place in kept), rows=rows)

    def widest(self) -> list[int]:
        """Returns the width of each column without wrapping."""
        columns = zip(self.heads, *self.rows, strict=True)
        return [max(cell_len(line) for cell in c for line in cell.split("\n")) for c in columns]


def head_of(key: str) -> str:
    """Returns the head of a swept setting's column: a delay says that it is one way."""
    return f"{key}\none way" if key == "delay" or key.endswith(".delay") else key


def print_texts(cells: Cells, title: str) -> None:
    """Prints a table that wraps long texts, but never the first column."""
    needed = _framed([min(width, _A_FEW_WORDS) for width in cells.widest()], cells.widest()[0])
    if needed > terminal_width():
        _print_below(cells, title)
        return
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    print(wrapped(title, ""))
    table = Table(box=box.SIMPLE_HEAD)
    for place, head in enumerate(cells.heads):
        table.add_column(head, no_wrap=place == 0, overflow="fold")
    for row in cells.rows:
        table.add_row(*(escape(cell) for cell in row))
    Console().print(table)


def print_numbers(
    cells: Cells, title: str, *, numbers: Collection[str], expendable: Sequence[Sequence[str]]
) -> None:
    """Prints a table without wrapping; one too wide loses groups of `expendable` heads in order.

    A file or a pipe is 80 columns wide, or as wide as COLUMNS says. It does not use rich, whose
    import would delay every run.
    """
    left_out = []
    for group in expendable:
        for head in group if _framed(cells.widest()) > terminal_width() else ():
            cells = cells.without(head)
            left_out.append(" ".join(head.split("\n")))
    if _framed(cells.widest()) > terminal_width():
        _print_below(cells, title)
    else:
        print(wrapped(title, ""))
        print("\n".join(_lines(cells, numbers)))
    if left_out:
        hint = f"A wider terminal or --json also shows: {', '.join(left_out)}."
        print(wrapped(hint, "") + "\n")


def terminal_width() -> int:
    """Returns the width of standard output: COLUMNS, the terminal's, or 80."""
    return shutil.get_terminal_size((80, 25)).columns


def _lines(cells: Cells, numbers: Collection[str]) -> list[str]:
    """Returns the lines of a table in the style of rich.box.SIMPLE_HEAD."""
    widths = cells.widest()

    def line(texts: Sequence[str]) -> str:
        padded = []
        for head, text, width in zip(cells.heads, texts, widths, strict=True):
            space = " " * (width - cell_len(text))
            padded.append(space + text if head in numbers else text + space)
        return f"  {'   '.join(padded)}  "

    heads = zip_longest(*(head.split("\n")[::-1] for head in cells.heads), fillvalue="")
    above = [line(texts) for texts in heads][::-1]
    whole = _framed(widths)
    if sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        above = [f"\x1b[1m{cell}\x1b[0m" for cell in above]
    rule = f" {'─' * (whole - 2)} "
    return [" " * whole, *above, rule, *map(line, cells.rows), " " * whole]


def _framed(widths: Sequence[int], first: int = 0) -> int:
    """Returns the width of a table, whose first column is at least `first` wide."""
    return _BEFORE + sum(widths[1:]) + max(widths[0], first) + _A_COLUMN * len(widths)


def _print_below(cells: Cells, title: str) -> None:
    """Prints the first cell of each row, and below it the others with their heads.

    Short cells share a line.
    """
    heads = [" ".join(head.split("\n")) for head in cells.heads]
    is_long = [width > _A_FEW_WORDS for width in cells.widest()]
    print(wrapped(title, "") + "\n")
    for row in cells.rows:
        print(f"  {row[0]}")
        below = list(zip(heads, row, is_long, strict=True))[1:]
        lines = [f"{head}: {cell}" for head, cell, long in below if cell and long]
        short = "; ".join(f"{head}: {cell}" for head, cell, long in below if cell and not long)
        for line in [*lines, *([short] if short else [])]:
            print(wrapped(line, "      "))
    print()


def wrapped(text: str, indent: str) -> str:
    """Wraps a text at spaces only, because users may have to type its words."""
    return textwrap.fill(
        visible(text),
        terminal_width(),
        initial_indent=indent,
        subsequent_indent=indent + "  " * bool(indent),
        break_long_words=False,
        break_on_hyphens=False,
    )
