# SPDX-License-Identifier: BSD-3-Clause
"""What the command line shows: tables and JSON on standard output, progress on standard error."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from rich import box
from rich.console import Console
from rich.table import Table

from westwood.catalogue import label

if TYPE_CHECKING:
    import polars as pl

    from westwood.papers.claims import Verdict

T = TypeVar("T")


def say(message: str) -> None:
    """One line on standard error."""
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
        progress.TextColumn("running"), progress.BarColumn(), progress.MofNCompleteColumn(),
        Rate(), progress.TextColumn("time left"), progress.TimeRemainingColumn(),
    )  # fmt: skip
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield from bar.track(runs, total=total)


def track_real_time(
    runs: Iterable[T], total: int, *, a_run_s: float, workers: int = 1
) -> Iterable[T]:
    """The same for runs that take as long as they say: the time passes, whatever they do."""
    if not sys.stderr.isatty():
        yield from runs
        return
    from rich import progress

    minutes, seconds = divmod(round(a_run_s * math.ceil(total / workers)), 60)
    columns = (
        progress.TextColumn(f"in real time, {a_run_s:g} s a run"), progress.BarColumn(),
        progress.MofNCompleteColumn(), progress.TimeElapsedColumn(),
        progress.TextColumn(f"of about {minutes // 60}:{minutes % 60:02}:{seconds:02}"),
    )  # fmt: skip
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield from bar.track(runs, total=total)


def print_json(runs: pl.DataFrame, summary: pl.DataFrame, name: str = "runs") -> None:
    """One JSON object; what has no value is null."""
    content = {name: _plain(runs), "summary": _plain(summary)}
    print(json.dumps(content, allow_nan=False))


def _plain(frame: pl.DataFrame) -> list[dict[str, Any]]:
    return [
        {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in row.items()}
        for row in frame.iter_rows(named=True)
    ]


def print_summary(summary: pl.DataFrame, keys: Sequence[str], title: str) -> None:
    """The table of `run` and `compare`: a row a point and flow."""
    several = summary["flow"].n_unique() > 1
    competing = several or any(" flows" in flow for flow in summary["flow"])
    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left")
    for key in keys:
        table.add_column(key)
    if several:
        table.add_column("flow")
    table.add_column("protocol")
    names = ["goodput\nMb/s", "throughput\nMb/s", "resent\n%", "timeouts", "fast\nrecoveries",
             "cwnd\nsegments", "srtt\nms"]  # fmt: skip
    for name in [*names, "share\nof fair", "fairness"] if competing else names:
        table.add_column(name, justify="right")
    for row in summary.iter_rows(named=True):
        cells = [str(row[key]) for key in keys]
        cells += [row["flow"]] if several else []
        cells += [
            label(row["cc"]),
            _interval(row, "goodput_bps", 1e-6, 3),
            _interval(row, "throughput_bps", 1e-6, 3),
            _number(row["retransmission_ratio"], 100, 2),
            _number(row["timeouts"], 1, 1),
            _number(row["fast_recoveries"], 1, 1),
            _number(row["mean_cwnd"], 1, 1),
            _number(row["mean_srtt_s"], 1000, 1),
        ]
        if competing:
            cells += [_interval(row, "friendliness", 1, 2), _number(row["jain"], 1, 3)]
        table.add_row(*cells)
    _print(table)


def print_verdicts(verdicts: Sequence[Verdict]) -> None:
    """The table of claims."""
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
    """A table of texts, a column for each of the heads."""
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


def _number(value: float | None, factor: float, digits: int) -> str:
    return "-" if value is None or math.isnan(value) else f"{value * factor:.{digits}f}"


def _interval(row: Mapping[str, Any], column: str, factor: float, digits: int) -> str:
    mean, half = row[column], row[f"{column}_half"]
    if mean is None or math.isnan(half):
        return _number(mean, factor, digits)
    return f"{mean * factor:.{digits}f} ± {half * factor:.{digits}f}"
