# SPDX-License-Identifier: BSD-3-Clause
"""Prints tables and JSON on standard output, and progress on standard error."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from westwood.catalogue import label

if TYPE_CHECKING:
    import polars as pl

    from westwood.papers.claims import Verdict
    from westwood.reference import Listing
    from westwood.results.columns import Column

T = TypeVar("T")


def say(message: str) -> None:
    """Prints one line on standard error."""
    print(f"westwood: {message}", file=sys.stderr)


def track(runs: Iterable[T], total: int) -> Iterable[T]:
    """Passes the runs on and shows how many are done and how long the rest will take.

    On a terminal only: a log file or a pipe gets nothing.
    """
    if not sys.stderr.isatty():
        yield from runs
        return
    from rich import progress
    from rich.text import Text

    class Rate(progress.ProgressColumn):
        """Runs a second."""

        def render(self, task: progress.Task) -> Text:
            return Text(f"{task.speed:.0f}/s" if task.speed else "")

    columns = (
        progress.TextColumn("running"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        Rate(),
        progress.TextColumn("time left"),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield from bar.track(runs, total=total)


def track_real_time(
    runs: Iterable[T], total: int, *, a_run_s: float, workers: int = 1
) -> Iterable[T]:
    """Does what `track` does for runs in real time, whose length is known before."""
    if not sys.stderr.isatty():
        yield from runs
        return
    from rich import progress

    minutes, seconds = divmod(round(a_run_s * math.ceil(total / workers)), 60)
    columns = (
        progress.TextColumn(f"in real time, {a_run_s:g} s a run"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TextColumn(f"of about {minutes // 60}:{minutes % 60:02}:{seconds:02}"),
    )
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield from bar.track(runs, total=total)


def print_json(runs: pl.DataFrame, summary: pl.DataFrame, name: str = "runs") -> None:
    """Prints one JSON object, in which null stands for what has no value."""
    content = {name: _plain(runs), "summary": _plain(summary)}
    print(json.dumps(content, allow_nan=False))


def _plain(frame: pl.DataFrame) -> list[dict[str, Any]]:
    return [
        {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in row.items()}
        for row in frame.iter_rows(named=True)
    ]


def print_summary(summary: pl.DataFrame, keys: Sequence[str], title: str) -> None:
    """Prints the table of `run` and `compare`: a row a point and flow."""
    from westwood.results.columns import columns

    several = summary["flow"].n_unique() > 1
    competing = several or any(" flows" in flow for flow in summary["flow"])
    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left")
    for key in keys:
        table.add_column(key)
    if several:
        table.add_column("flow")
    table.add_column("protocol")
    shown = [column for column in columns() if column.head and (competing or not column.if_several)]
    for column in shown:
        table.add_column(column.head, justify="right")
    for row in summary.iter_rows(named=True):
        cells = [str(row[key]) for key in keys]
        cells += [row["flow"]] if several else []
        cells.append(label(row["cc"]))
        cells += [_cell(row, column) for column in shown]
        table.add_row(*cells)
    _print(table)


def print_verdicts(verdicts: Sequence[Verdict]) -> None:
    """Prints the table of claims."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("claim", no_wrap=True)
    table.add_column("verdict")
    table.add_column("what the paper says, and where it differs", ratio=1)
    for verdict in verdicts:
        says = verdict.claim.says
        text = f"{says} [bold]{verdict.explanation}[/bold]" if verdict.explanation else says
        color = "green" if verdict.verdict == "HOLDS" else "red"
        table.add_row(verdict.claim.id, f"[{color}]{verdict.verdict}[/{color}]", text)
    _print(table)


def print_frame(frame: pl.DataFrame, heads: Mapping[str, str], title: str) -> None:
    """Prints a table of texts, with a column for each of the heads."""
    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left")
    for head in heads.values():
        table.add_column(head)
    for row in frame.select(*heads).iter_rows():
        table.add_row(*row)
    _print(table)


def _print(table: Table) -> None:
    """Prints a table; into a file or a pipe at its full width instead of a guessed 80 columns."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=160)
    console.print(table)


def _cell(row: Mapping[str, Any], column: Column) -> str:
    """A mean as the table has it; a rate with its interval."""
    mean, half = row[column.name], row[f"{column.name}_half"]
    if mean is None or math.isnan(mean):
        return "-"
    text = f"{mean * column.scale:.{column.digits}f}"
    if not column.with_interval or math.isnan(half):
        return text
    return f"{text} ± {half * column.scale:.{column.digits}f}"


def print_listing(listing: Listing, title: str) -> None:
    """Prints a listing of what there is to choose from."""
    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left")
    for place, head in enumerate(listing.heads):
        table.add_column(head.replace("`", ""), no_wrap=place == 0)
    for cells in listing.rows:
        table.add_row(*(escape(cell.replace("`", "")) for cell in cells))
    _print(table)
