# SPDX-License-Identifier: BSD-3-Clause
"""The command `kernel watch`: a live table of connections, like `top` for processes."""

from __future__ import annotations

import math
import time
from collections import Counter
from typing import Any

import polars as pl
from rich import box
from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from westwood import stopping
from westwood.cli.tables import Cells
from westwood.kernel import watching
from westwood.kernel.sockets import Match

# The columns, and those that a narrow terminal leaves out, least important first.
_HEADS = (
    *("to", "from", "control", "state", "cwnd", "ssthresh", "RTT ms", "min ms"),
    *("Mb/s", "est. Mb/s"),
    *("retrans", "in flight"),
)
_EXPENDABLE = ("from", "in flight", "est. Mb/s", "min ms", "ssthresh", "state", "retrans", "cwnd")
_BETWEEN = 2  # characters that padding and box add to each column
_TEXTS = {"to", "from", "control", "state"}
_MILLI, _MEGA = 1e3, 1e-6


def run(
    match: Match, netns: str | None, sort: str, every_s: float, *, estimate: bool, once: bool
) -> None:
    """Shows the connections until Ctrl-C; once if the output is not a terminal."""
    watching.check_sort(sort)
    console = Console()
    snapshots = watching.snapshots(match, netns, every_s, estimate=estimate)
    if once or not console.is_terminal:
        seen, missed = next(snapshots)
        snapshots.close()
        console.print(_drawn(watching.ordered(seen, sort), missed, console, math.inf))
        return
    try:
        with Live(console=console, screen=True, auto_refresh=False) as live:
            for seen, missed in snapshots:
                table = _drawn(watching.ordered(seen, sort), missed, console, console.height)
                live.update(table, refresh=True)
    except KeyboardInterrupt:
        stopping.was_meant()
    finally:
        snapshots.close()


def _drawn(seen: pl.DataFrame, missed: int, console: Console, height: float) -> Group:
    """Returns as many rows and columns as fit."""
    rows = tuple(_cells(row) for row in seen.iter_rows(named=True))
    shown = rows if math.isinf(height) else rows[: max(1, int(height) - 4)]
    table = _table(_fitting(Cells(_HEADS, shown), console.width))
    return Group(Text(_title(seen, len(shown), missed)), table)


def _table(cells: Cells) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for head in cells.heads:
        is_text = head in _TEXTS
        table.add_column(
            head, justify="left" if is_text else "right", overflow="fold", no_wrap=not is_text
        )
    for row in cells.rows:
        table.add_row(*(escape(cell) for cell in row))
    return table


def _title(seen: pl.DataFrame, shown: int, missed: int) -> str:
    controls = Counter(seen["cc"].to_list()).most_common()
    counted = ", ".join(f"{name} {count}" for name, count in controls)
    parts = [time.strftime("%H:%M:%S"), f"{seen.height} connections"]
    parts += [counted] if counted else []
    parts += [f"{shown} shown"] if shown < seen.height else []
    parts += [f"{missed} namespaces need CAP_SYS_ADMIN"] if missed else []
    return "; ".join(parts)


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    source, _, target = row["flow"].partition(">")
    state = row["state"] if row["tcp_state"] == "established" else row["tcp_state"]
    return (
        *(target, source, row["cc"], state, f"{row['cwnd']}", _figure(row["ssthresh"], 0)),
        *(_figure(row[name] * _MILLI) for name in ("srtt_s", "rtt_min_s")),
        *(_figure(row[name] * _MEGA) for name in ("goodput_bps", "estimate_bps")),
        *(f"{row['retransmitted']}", f"{row['in_flight']}"),
    )


def _figure(value: float, digits: int | None = None) -> str:
    """Formats a number with three significant digits, and an unknown number as `-`."""
    if math.isnan(value):
        return "-"
    if digits is None:
        digits = 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:.{digits}f}"


def _fitting(cells: Cells, width: int) -> Cells:
    """Removes whole columns until the rest fits."""
    for head in _EXPENDABLE:
        if sum(cells.widest()) + _BETWEEN * len(cells.heads) <= width:
            break
        cells = cells.without(head)
    return cells
