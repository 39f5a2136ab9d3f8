# SPDX-License-Identifier: BSD-3-Clause
"""Exchanges plans and reports with hosts that are separate programs.

wire/plan.hpp and wire/report.hpp describe the formats. Their names come from the declarations, so a
new setting or column needs no change here.
"""

from __future__ import annotations

import math
import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import polars as pl

from westwood import _engine
from westwood.control import catalogue, compiling, loading
from westwood.engines import network
from westwood.engines.result import Result
from westwood.errors import RunError, UnavailableError, one_line
from westwood.programs import Ended, Program
from westwood.results.raw import Columns, RawResult, link_side
from westwood.results.records import InMemory
from westwood.results.rows import LARGEST, rows_of_run
from westwood.results.traces import SIDES, STATES
from westwood.scenario import Scenario

Numbers = dict[str, float]
TraceFiles = Mapping[str, Path]  # by table
_OF_OTHER_VERSIONS = ("unknown statement", "too few words", "too many words")  # wire/'s errors
_TABLES = ("windows", "queues", "drops")
_LONGEST_HEAD = 10_000  # bytes
_ROUNDING = 1e-6  # how far below 0 a host's rounding may leave a number
# No host reports any.
_EVENTS = {"connection": "uint32", "kind": "uint8"}
_EVENTS |= dict.fromkeys(("time_s", "segment", "cwnd", "ssthresh"), "float64")
_TABLE_TYPES = {"float64": pl.Float64(), "uint8": pl.UInt8(), "uint32": pl.UInt32()}


def plan(scenario: Scenario) -> str:
    """Returns the scenario as a plan without its seed and end, which `conclusion` writes."""
    return network.plan(scenario).text()


def objects(scenario: Scenario) -> str:
    """Returns the plan's statements of the compiled controls of users."""
    ccs = [flow.cc for flow in scenario.flow if loading.is_file(flow.cc.name)]
    controls = [loading.of_source(str(cc.source), cc.name) for cc in ccs]
    named = {
        f"object {control.source} {compiling.compiled(control.code, control.name)}\n"
        for control in controls
    }
    return "".join(sorted(named))


def passage(scenario: Scenario) -> str:
    """Returns a plan of the links and the first flow's end nodes, for other programs' packets."""
    return network.plan(scenario).passage()


def run(
    scenario: Scenario,
    seed: int,
    text: str,
    execute: Callable[[str, str], Iterable[list[str]]],
    program: Program,
    *,
    engine: str,
    trace: bool,
) -> Result:
    """Runs a plan, without its seed and end, in another host.

    execute: runs a whole plan; it also gets what the run is called, for errors.
    """
    what, wall = f"{scenario.name}, seed {seed}", time.perf_counter()
    with trace_files(trace) as files:
        lines = execute(text + conclusion(seed, files), what)
        report = read(lines, scenario, files, what, program)
    return report.result_of(scenario, seed, engine, wall)


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

    def result_of(self, scenario: Scenario, seed: int, engine: str, begun: float) -> Result:
        """Returns the result of the run, which began at this time of the performance counter."""
        raw = self.result()
        cost = {"cpu_s": self.cpu_s, "wall_s": time.perf_counter() - begun}
        return Result(scenario, seed, rows_of_run(scenario, seed, raw, cost, engine), raw)

    def result(self) -> RawResult:
        """Returns the run as an engine's raw result."""
        forward, backward = (list(map(link_side, self.sides[side])) for side in SIDES)
        connections = _lists(self.flows, ("source", *catalogue.FLOW_COLUMNS))
        tables = {
            "windows": _stacked(self.windows, "connection", catalogue.WINDOW_COLUMNS),
            "events": _empty(_EVENTS),
            "queues": _stacked(self.queues, "channel", catalogue.QUEUE_COLUMNS),
            "states": _empty({"channel": "uint32", **catalogue.STATE_COLUMNS}),
            "drops": self.drops,
        }
        kept = InMemory(lambda table: _columns(tables[table]))
        messages = _lists(self.messages, catalogue.MESSAGE_COLUMNS)
        return RawResult(connections, forward, backward, kept, messages)


def _lists(rows: Sequence[Numbers], names: Iterable[str]) -> Columns:
    return {name: [row[name] for row in rows] for name in names}


def _stacked(
    tables: Mapping[int, pl.DataFrame], key: str, columns: Mapping[str, str]
) -> pl.DataFrame:
    """Concatenates tables, with the number of each in a column."""
    frames = [_empty({key: "uint32", **columns})]
    frames += [
        table.select(pl.lit(index, dtype=pl.UInt32).alias(key), *columns)
        for index, table in sorted(tables.items())
    ]
    return pl.concat(frames)


def read(
    lines: Iterable[list[str]],
    scenario: Scenario,
    files: TraceFiles | None,
    what: str,
    program: Program,
) -> Report:
    """Parses the lines of a whole report, given as words.

    Raises RunError for what no run of the scenario can report, also in its trace, and
    UnavailableError with the remedy if the program has other columns.
    """
    try:
        return _read(lines, scenario, files)
    except _OtherColumns as error:
        built = f"{program.find()} was built from other declarations ({error})"
        raise UnavailableError(f"{built}; rebuild it: {program.remedy}") from None
    except (ValueError, LookupError, OSError, pl.exceptions.PolarsError) as error:
        problem = (str(error).splitlines() or [type(error).__name__])[0]
        raise RunError(f"{what}: {program.find()} reports no run: {problem}") from None


class _OtherColumns(Exception):
    """Names the columns that only a program or only this package has."""


def _read(lines: Iterable[list[str]], scenario: Scenario, files: TraceFiles | None) -> Report:
    flows: list[Numbers] = []
    sides: dict[str, list[Numbers]] = {side: [] for side in SIDES}
    messages: list[Numbers] = []
    others: dict[str, list[list[str]]] = {}
    for name, *words in filter(None, lines):
        first, rest = " ".join(words[:1]), words[1:]
        if name == "flow":
            source = _count("flow", first, len(scenario.flows))
            flows.append({"source": source, **_numbers(rest, catalogue.FLOW_COLUMNS)})
        elif name == "link":
            if first not in SIDES:
                raise ValueError(f"link {first}, expected {' or '.join(SIDES)}")
            sides[first].append(_numbers(rest, catalogue.DIRECTION_COLUMNS))
        elif name == "message":
            messages.append(_numbers(words, catalogue.MESSAGE_COLUMNS))
        else:
            others.setdefault(name, []).append(words)
    ends = others.pop("end", [])
    if len(ends) != 1:
        raise ValueError(f"{len(ends)} ends, expected one")
    cpu_s = _number("end", " ".join(ends[0]))
    _check_numbers_of(scenario, flows, sides, messages)
    connections, channels = len(flows), 2 * len(scenario.link)
    windows = _tables(files, "windows", "connection", catalogue.WINDOW_COLUMNS, connections)
    queues = _tables(files, "queues", "channel", catalogue.QUEUE_COLUMNS, channels)
    drops = _table(files, "drops", catalogue.DROP_COLUMNS)
    for column, least in (
        ("channel", channels),
        ("flow", connections),
        ("kind", len(_engine.DROP_KINDS)),
        ("packet", len(_engine.PACKET_KINDS)),
    ):
        _check_codes("drops", drops, column, least)
    for table in windows.values():
        _check_codes("windows", table, "phase", len(STATES))
    return Report(flows, sides, messages, others, cpu_s, windows, queues, drops)


def _check_numbers_of(
    scenario: Scenario,
    flows: Sequence[Numbers],
    sides: Mapping[str, Sequence[Numbers]],
    messages: Sequence[Numbers],
) -> None:
    """Raises ValueError unless all flows and links are there, and connections in order."""
    sources = [int(row["source"]) for row in flows]
    if sources != sorted(sources):
        raise ValueError("its flows are not in order")
    count = Counter(sources)
    for number, flow in enumerate(scenario.flows):
        if flow.arrivals is None and count[number] != 1:
            raise ValueError(f"flow {number} is there {count[number]} times, expected once")
    for side, all_ in sides.items():
        if len(all_) != len(scenario.link):
            problem = f"{len(all_)} links {side}, expected {len(scenario.link)}"
            raise ValueError(problem)
    for message in messages:
        if message["connection"] >= len(flows):
            raise ValueError(f"a message of connection {message['connection']}, of {len(flows)}")


def heard(done: Ended) -> tuple[list[list[str]], str]:
    """Returns the words of a program's lines, and why they are no whole report; empty: they are."""
    lines = [line.split() for line in done.out.splitlines()]
    if done.code:
        return lines, done.problem
    is_whole = bool(lines) and lines[-1][:1] == ["end"]
    return lines, "" if is_whole else "a report without an end"


def refuse_stale(program: Program, problem: str) -> None:
    """Raises UnavailableError if a program rejects the format of a plan: it is an old build."""
    if problem.endswith(_OF_OTHER_VERSIONS):
        stale = f"{program.find()} is of another version than this package ({one_line(problem)})"
        raise UnavailableError(f"{stale}; rebuild it: {program.remedy}")


def _numbers(words: Sequence[str], columns: Mapping[str, catalogue.MeasuredColumn]) -> Numbers:
    texts = dict(zip(words[::2], words[1::2], strict=False))
    if texts.keys() != columns.keys() or len(words) != 2 * len(texts):
        differing = ", ".join(sorted(texts.keys() ^ columns.keys())) or "a column twice"
        raise _OtherColumns(differing)
    return {
        name: _count(name, value) if columns[name].type == "COUNT" else _number(name, value)
        for name, value in texts.items()
    }


def _count(name: str, text: str, most: int = LARGEST) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 20 and int(text) < most):
        raise ValueError(f"{name} {text}, expected a whole number below {most}")
    return int(text)


def _number(name: str, text: str) -> float:
    with suppress(ValueError):
        value = float(text)
        if math.isnan(value) or -_ROUNDING < value < LARGEST:
            return value
    raise ValueError(f"{name} {text}, expected a number from 0, or nan")


def _tables(
    files: TraceFiles | None, name: str, key: str, columns: Mapping[str, str], most: int
) -> dict[int, pl.DataFrame]:
    """Returns a table of the trace, split by the number in its first column, below `most`."""
    table = _table(files, name, {key: "uint32", **columns})
    _check_codes(name, table, key, most)
    parts = table.partition_by(key, as_dict=True, include_key=False, maintain_order=True)
    return {int(number): part for (number,), part in parts.items()}


def _check_codes(name: str, table: pl.DataFrame, column: str, most: int) -> None:
    """Raises ValueError unless all of a column's numbers are below `most`."""
    largest = table[column].max()
    if isinstance(largest, int) and largest >= most:
        raise ValueError(f"{name}: {column} {largest}, expected less than {most}")


def _table(files: TraceFiles | None, name: str, columns: Mapping[str, str]) -> pl.DataFrame:
    if files is None:
        return _empty(columns)
    schema = {column: _TABLE_TYPES[kind] for column, kind in columns.items()}
    with files[name].open("rb") as file:
        head = file.readline(_LONGEST_HEAD).strip().decode("ascii", "replace")
    if head != ",".join(columns):
        raise ValueError(f"{name}: expected the columns {', '.join(columns)}")
    table = pl.read_csv(files[name], schema=schema, null_values="nan")
    for column, kind in schema.items():
        if kind != pl.Float64 and table[column].null_count():
            raise ValueError(f"{name}: {column} is missing in some row")
    if table.select(pl.col(pl.Float64).is_infinite().any()).select(pl.any_horizontal("*")).item():
        raise ValueError(f"{name}: expected finite numbers")
    first = next(iter(column for column in columns if columns[column] == "float64"))
    if table[first].null_count() or (table.height and cast(float, table[first].min()) < 0):
        raise ValueError(f"{name}: {first}, expected times from 0")
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
        files = {name: stack.enter_context(tempfile.TemporaryFile()) for name in _TABLES}
        ours = Path(f"/proc/{os.getpid()}/fd")
        yield {name: ours / str(file.fileno()) for name, file in files.items()}
