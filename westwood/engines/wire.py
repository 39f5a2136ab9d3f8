# SPDX-License-Identifier: BSD-3-Clause
"""Exchanges plans and reports with hosts that are separate programs.

wire/plan.hpp and wire/report.hpp describe the formats. Their names come from the declarations, so a
new setting or column needs no change here.
"""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from westwood.catalogue import (
    DIRECTION_COLUMNS,
    DROP_COLUMNS,
    FLOW_COLUMNS,
    MESSAGE_COLUMNS,
    QUEUE_COLUMNS,
    STATE_COLUMNS,
    WINDOW_COLUMNS,
    MeasuredColumn,
)
from westwood.engines import network
from westwood.engines.counters import LinkCounters, no_events
from westwood.errors import RunError, UnavailableError, one_line
from westwood.results.raw import Columns, RawResult
from westwood.results.records import InMemory
from westwood.results.traces import SIDES

if TYPE_CHECKING:
    from westwood.programs import Program
    from westwood.scenario import Scenario

Numbers = dict[str, float]
TraceFiles = Mapping[str, Path]  # by table
_OF_OTHER_VERSIONS = ("unknown statement", "too few words", "too many words")  # wire/'s errors
_TABLES = ("windows", "queues", "drops")
_TYPES: Mapping[str, type] = {"COUNT": int, "NUMBER": float}
_TABLE_TYPES = {"float64": pl.Float64(), "uint8": pl.UInt8(), "uint32": pl.UInt32()}


def plan(scenario: Scenario) -> str:
    """Returns the scenario as a plan without its seed and end, which `conclusion` writes."""
    return network.plan(scenario).text()


def passage(scenario: Scenario) -> str:
    """Returns a plan of the links and the first flow's end nodes, for other programs' packets."""
    return network.plan(scenario).passage()


def conclusion(seed: int, files: TraceFiles | None) -> str:
    """Returns the rest of a plan: the seed, the trace's files and the end."""
    trace = f"trace {' '.join(str(files[name]) for name in _TABLES)}\n" if files else ""
    return f"seed {seed}\n{trace}end\n"


@dataclass(frozen=True)
class Report:
    """Holds a host's report of a run and the tables of its trace, empty without one."""

    flows: list[Numbers]  # per connection; `source` is the index of its flow
    sides: Mapping[str, list[Numbers]]  # per link, under "forward" and "backward"
    messages: list[Numbers]  # of the applications
    others: Mapping[str, list[list[str]]]  # other lines by their first word
    cpu_s: float
    windows: dict[int, pl.DataFrame]  # by connection
    queues: dict[int, pl.DataFrame]  # by direction: 2 link is forward, 2 link + 1 backward
    drops: pl.DataFrame

    def result(self) -> RawResult:
        """Returns the run as an engine's raw result."""
        forward, backward = ([LinkCounters(one) for one in self.sides[side]] for side in SIDES)
        connections = _lists(self.flows, ("source", *FLOW_COLUMNS))
        tables = {
            "windows": _stacked(self.windows, "connection", WINDOW_COLUMNS),
            "events": no_events(),
            "queues": _stacked(self.queues, "channel", QUEUE_COLUMNS),
            "states": _empty({"channel": "uint32", **STATE_COLUMNS}),
            "drops": self.drops,
        }
        kept = InMemory(lambda table: _columns(tables[table]))
        messages = _lists(self.messages, MESSAGE_COLUMNS)
        return RawResult(connections, forward, backward, kept, messages)


def _lists(rows: Sequence[Numbers], names: Iterable[str]) -> Columns:
    return {name: [row[name] for row in rows] for name in names}


def _stacked(
    tables: Mapping[int, pl.DataFrame], key: str, columns: Mapping[str, str]
) -> pl.DataFrame:
    """Concatenates tables, with the number of each in a column."""
    frames = [_empty({key: "uint32", **columns})]
    frames += [
        table.select(pl.lit(at, dtype=pl.UInt32).alias(key), *columns)
        for at, table in sorted(tables.items())
    ]
    return pl.concat(frames)


def read(lines: Iterable[list[str]], files: TraceFiles | None) -> Report:
    """Parses the lines of a whole report, given as words."""
    flows: list[Numbers] = []
    sides: dict[str, list[Numbers]] = {side: [] for side in SIDES}
    messages: list[Numbers] = []
    others: dict[str, list[list[str]]] = {}
    for name, *words in lines:
        if name == "flow":
            flows.append({"source": int(words[0]), **_numbers(words[1:], FLOW_COLUMNS)})
        elif name == "link":
            sides[words[0]].append(_numbers(words[1:], DIRECTION_COLUMNS))
        elif name == "message":
            messages.append(_numbers(words, MESSAGE_COLUMNS))
        else:
            others.setdefault(name, []).append(words)
    cpu_s = float(others.pop("end")[0][0])
    windows = _tables(files, "windows", "connection", WINDOW_COLUMNS)
    queues = _tables(files, "queues", "channel", QUEUE_COLUMNS)
    drops = _table(files, "drops", DROP_COLUMNS)
    return Report(flows, sides, messages, others, cpu_s, windows, queues, drops)


def is_whole(lines: Sequence[Sequence[str]]) -> bool:
    """Returns whether the report is complete."""
    return bool(lines) and lines[-1][:1] == ["end"]


def refuse_stale(program: Program, problem: str) -> None:
    """Raises UnavailableError if a program rejects the format of a plan: it is an old build."""
    if problem.endswith(_OF_OTHER_VERSIONS):
        stale = f"{program.find()} is of another version than this package ({one_line(problem)})"
        raise UnavailableError(f"{stale}; rebuild it: {program.remedy}")


def _numbers(words: Sequence[str], columns: Mapping[str, MeasuredColumn]) -> Numbers:
    said = dict(zip(words[::2], words[1::2], strict=True))
    if said.keys() != columns.keys():
        differing = ", ".join(sorted(said.keys() ^ columns.keys()))
        raise RunError(f"the program was built from other declarations ({differing}): rebuild it")
    return {name: _TYPES[columns[name].type](value) for name, value in said.items()}


def _tables(
    files: TraceFiles | None, name: str, key: str, columns: Mapping[str, str]
) -> dict[int, pl.DataFrame]:
    """Returns a table of the trace, split by the number in its first column."""
    table = _table(files, name, {key: "uint32", **columns})
    parts = table.partition_by(key, as_dict=True, include_key=False, maintain_order=True)
    return {int(number): part for (number,), part in parts.items()}


def _table(files: TraceFiles | None, name: str, columns: Mapping[str, str]) -> pl.DataFrame:
    if files is None:
        return _empty(columns)
    schema = {column: _TABLE_TYPES[kind] for column, kind in columns.items()}
    table = pl.read_csv(files[name], schema=schema, null_values="nan")
    return table.with_columns(pl.col(pl.Float64).fill_null(math.nan))


def _empty(columns: Mapping[str, str]) -> pl.DataFrame:
    return pl.DataFrame(schema={name: _TABLE_TYPES[kind] for name, kind in columns.items()})


def _columns(table: pl.DataFrame) -> Columns:
    return {column.name: column.to_numpy() for column in table}


@contextmanager
def trace_files(is_traced: bool) -> Iterator[TraceFiles | None]:
    """Provides files for the trace during the block; None if it is not traced.

    They are unlinked and named by their descriptors, so that nothing outlives this process.
    """
    if not is_traced:
        yield None
        return
    with ExitStack() as stack:
        made = {name: stack.enter_context(tempfile.TemporaryFile()) for name in _TABLES}
        ours = Path(f"/proc/{os.getpid()}/fd")
        yield {name: ours / str(file.fileno()) for name, file in made.items()}
