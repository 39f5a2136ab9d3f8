# SPDX-License-Identifier: BSD-3-Clause
"""Prints tables and JSON on standard output, and progress on standard error."""

from __future__ import annotations

import contextlib
import json
import math
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from westwood.cli import streams, tables
from westwood.control.catalogue import label

if TYPE_CHECKING:
    import polars as pl

    from westwood.papers.claims import ClaimVerdict
    from westwood.reference import Listing
    from westwood.results.columns import Column, Row

T = TypeVar("T")

# Columns of the table of `run` that a narrow terminal leaves out, least important first.
LEFT_OUT_FIRST = (
    *("fast_recoveries", "mean_cwnd", "throughput_bps", "mean_srtt_s", "timeouts", "jain"),
    *("retransmission_ratio", "friendliness", "application_limited", "receiver_limited"),
)


_LONG_S = 5.0  # an estimate is shown beside a bar from here on
VERY_LONG_S = 60.0  # and said before the first run
_SAYS_EACH_S = 60.0  # where no terminal shows a bar


def announce(about_s: float, about_memory: str) -> str:
    """Returns an estimate of time and memory for the progress bar; "" if the time is short."""
    if about_s < _LONG_S:
        return ""
    return f" ({', '.join(filter(None, (f'about {span(about_s)}', about_memory)))})"


def span(seconds: float) -> str:
    """Formats a time as hours, minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def foretell(about_s: float, runs: int) -> None:
    """Says how long the runs take, if that is long."""
    if about_s >= VERY_LONG_S:
        what = "the run takes" if runs == 1 else f"{runs} runs take"
        streams.say(f"{what} about {span(about_s)}; fewer seconds or seeds take less")


def at_terminal() -> bool:
    """Returns whether a person can answer a question."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask(about: str) -> None:
    """Says how long a command takes, and ends it if a person at the terminal does not want that."""
    if not at_terminal():
        return
    import typer

    if not typer.confirm(f"{about}. Continue?", default=True, err=True):
        raise typer.Exit


def track(runs: Iterable[T], total: int, *, about_memory: str = "") -> Iterable[T]:
    """Yields the runs, and shows how many are done and how long the rest takes.

    If they take long it says so first; `run_jobs` estimates its runs. On a terminal there is a bar,
    elsewhere a line a minute.
    """
    about_s = getattr(runs, "about_s", 0.0) if total else 0.0
    foretell(about_s, total)
    if not sys.stderr.isatty():
        yield from _told(runs, total)
        return
    from rich import progress
    from rich.console import Console
    from rich.text import Text

    class Rate(progress.ProgressColumn):
        """Shows the runs per second."""

        def render(self, task: progress.Task) -> Text:
            return Text(f"{task.speed:.0f}/s" if task.speed and task.speed >= 1 else "")

    columns = (
        progress.TextColumn(f"running{announce(about_s, about_memory)}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        Rate(),
        progress.TextColumn("time left"),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield from bar.track(runs, total=total)


def _told(runs: Iterable[T], total: int) -> Iterator[T]:
    """Yields the runs, and says once a minute how many are done."""
    done, began = 0, time.monotonic()
    with telling(lambda: _so_far(done, total, time.monotonic() - began)):
        for run in runs:
            done += 1
            yield run


def _so_far(done: int, total: int, took_s: float) -> str:
    left = f", about {span(took_s * (total - done) / done)} left" if done else ""
    return f"{done} of {total} runs after {span(took_s)}{left}"


@contextlib.contextmanager
def telling(text: Callable[[], str]) -> Iterator[None]:
    """Says a text once a minute during the block, also while a single run goes on.

    Where the system refuses another thread it says nothing.
    """
    over = threading.Event()

    def tell() -> None:
        while not over.wait(_SAYS_EACH_S):
            streams.say(text())

    teller = threading.Thread(target=tell, daemon=True)
    with contextlib.suppress(RuntimeError):
        teller.start()
    try:
        yield
    finally:
        over.set()
        if teller.is_alive():
            teller.join()


@contextlib.contextmanager
def working(on: str) -> Iterator[None]:
    """Says what is done during the block: to a terminal at once, elsewhere once a minute."""
    if sys.stderr.isatty():
        streams.say(on)
    with telling(lambda: on):
        yield


def print_json(
    runs: Iterable[Row],
    summary: Iterable[Row],
    name: str = "runs",
    pairs: Sequence[Row] | None = None,
) -> None:
    """Prints one JSON object; null stands for an unknown number."""
    from westwood.results.journal import json_ready

    content = {name: [*map(json_ready, runs)], "summary": [*map(json_ready, summary)]}
    if pairs is not None:
        content["pairs"] = [*map(json_ready, pairs)]
    print(json.dumps(content, allow_nan=False))


def print_summary(
    summary: Sequence[Row], keys: Sequence[str], title: str, losses: Sequence[str] = ()
) -> None:
    """Prints the table of `run` and `compare`, with a row per point and flow.

    `losses` are the columns of packets lost by link.
    """
    from westwood.results.columns import LOST_ON, columns

    flows = {row["flow"] for row in summary}
    several = len(flows) > 1
    competing = several or any(" flows" in flow for flow in flows)
    shown = [
        column
        for column in columns()
        if column.head
        and (competing or not column.if_several)
        and not (column.if_known and all(row[column.name] is None for row in summary))
    ]
    numbers = {column.name: column.head for column in shown}
    numbers |= {name: f"lost on\n{name.removeprefix(LOST_ON)}" for name in losses}
    heads = (
        *map(tables.head_of, keys),
        *(["flow"] if several else []),
        "protocol",
        *numbers.values(),
    )
    rows = []
    for row in summary:
        names = [str(row[key]) for key in keys]
        names += [row["flow"]] if several else []
        lost = (f"{row[name]:.1f}" for name in losses)
        rows.append((*names, label(row["cc"]), *(_cell(row, column) for column in shown), *lost))
    tables.print_numbers(
        tables.Cells(heads, tuple(rows)),
        title,
        numbers=numbers.values(),
        expendable=[
            (numbers[name],) for name in sorted(numbers, key=_importance) if _importance(name)
        ],
    )


def _importance(name: str) -> int:
    """Ranks a column of the table of `run`; 0 means that it is never left out."""
    if name == "goodput_bps":
        return 0
    if name.startswith("lost_on_"):
        return 2 + len(LEFT_OUT_FIRST)
    return 1 + LEFT_OUT_FIRST.index(name) if name in LEFT_OUT_FIRST else 1


def print_verdicts(verdicts: Sequence[ClaimVerdict]) -> None:
    """Prints the table of claims."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("claim", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    table.add_column("what the paper says, and what differs here", ratio=1, overflow="fold")
    for verdict in verdicts:
        text = verdict.claim.says
        if verdict.explanation:
            text += f"\nHere: [bold]{verdict.explanation}[/bold]"
        if verdict.elsewhere:
            text += f"\n[dim]Under other settings: {verdict.elsewhere}[/dim]"
        colour = verdict.verdict.colour
        table.add_row(verdict.claim.id, f"[{colour}]{verdict.verdict.claim}[/{colour}]", text)
    console = Console()
    console.print(table)
    if any(verdict.elsewhere for verdict in verdicts):
        console.print("Where it holds under few settings, HOLDS rests on those that we chose.")


def print_frame(frame: pl.DataFrame, heads: Mapping[str, str], title: str) -> None:
    """Prints a table of texts with one column per head."""
    cells = tuple(frame.select(*heads).iter_rows())
    tables.print_texts(tables.Cells(tuple(heads.values()), cells), title)


def _cell(row: Mapping[str, Any], column: Column) -> str:
    """Formats a mean, and the interval of a rate."""
    mean, half = row[column.name], row[f"{column.name}_ci95"]
    if mean is None or math.isnan(mean):
        return "-"
    text = f"{mean * column.scale:.{column.digits}f}"
    if not column.with_interval or math.isnan(half):
        return text
    return f"{text} ± {half * column.scale:.{column.digits}f}"


def print_listing(listing: Listing, title: str) -> None:
    """Prints a listing of choices."""
    heads = tuple(head.replace("`", "") for head in listing.heads)
    rows = tuple(tuple(cell.replace("`", "") for cell in cells) for cells in listing.rows)
    tables.print_texts(tables.Cells(heads, rows), title)
