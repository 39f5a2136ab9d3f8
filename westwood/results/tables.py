# SPDX-License-Identifier: BSD-3-Clause
"""Chooses the columns that a table of rows or means shows, and writes it for notebooks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from westwood import markup
from westwood.control.catalogue import label
from westwood.results.columns import Column, Row, columns

_MOST_IN_HTML = 200  # rows


def of_table(rows: Sequence[Row], *, competing: bool) -> list[Column]:
    """Returns the columns that a table of these rows shows; `competing`: with other flows."""
    return [
        column
        for column in columns()
        if column.head
        and (competing or not column.if_several)
        and not (column.if_known and not any(_is_known(row[column.name]) for row in rows))
    ]


_MOST_DIGITS = 6


def on_its_side(value: float, digits: int, reached: Callable[[float], bool | None]) -> str:
    """Writes a number with enough digits that rounding doesn't move it across the target."""
    texts = [f"{value:.{count}f}" for count in range(digits, max(digits, _MOST_DIGITS) + 1)]
    side = reached(value)
    return next((text for text in texts if reached(float(text)) == side), repr(value))


def difference(column: Column, pair: Row) -> str:
    """Writes a paired difference with its sign and interval, in the table's unit."""
    if not _is_known(pair["mean"]):
        return "-"
    shown = column.cell(pair["mean"], math.nan if pair["half"] is None else pair["half"])
    return shown if shown.startswith("-") else f"+{shown}"


def change(ratio: float | None, half: float | None) -> str:
    """Writes a ratio as a relative difference in percent: +22.3 ± 1.1."""
    if ratio is None:
        return "-"
    shown = f"{100 * (ratio - 1):+.1f}"
    return shown if half is None else f"{shown} ± {100 * half:.1f}"


def _is_known(value: float | None) -> bool:
    return value is not None and not math.isnan(value)


def html_table(rows: Sequence[Row], caption: str, keys: Sequence[str] = ()) -> str:
    """Returns rows, or means with their intervals, as an HTML table."""
    several = len({row["flow"] for row in rows}) > 1
    shown = of_table(rows, competing=several)
    names = [*keys, *(["flow"] if several else []), "cc"]
    heads = ["protocol" if name == "cc" else name for name in names]
    cells = [
        [label(row["cc"]) if name == "cc" else str(row[name]) for name in names]
        + [
            column.cell(row[column.name], row.get(f"{column.name}_ci95", math.nan))
            for column in shown
        ]
        for row in rows[:_MOST_IN_HTML]
    ]
    left = len(rows) - len(cells)
    more = f" (the first {len(cells)} of {len(rows)} rows)" if left else ""
    return markup.table([*heads, *(column.head for column in shown)], cells, caption + more)
