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
from typing import TYPE_CHECKING, Any

import polars as pl

from westwood.catalogue import (
    DIRECTION_COLUMNS,
    DROP_COLUMNS,
    FLOW_COLUMNS,
    LONGEST_PS,
    QUEUE_COLUMNS,
    SETTINGS,
    UDP,
    WINDOW_COLUMNS,
    MeasuredColumn,
)
from westwood.engines import network
from westwood.engines.counters import LinkCounters, no_events
from westwood.errors import RunError
from westwood.results.raw import Columns, RawResult
from westwood.results.records import InMemory
from westwood.results.traces import SIDES

if TYPE_CHECKING:
    from westwood import _engine
    from westwood.scenario import Scenario

Numbers = dict[str, float]
TraceFiles = Mapping[str, Path]  # by table
_TABLES = ("windows", "queues", "drops")
_TYPES: Mapping[str, type] = {"COUNT": int, "NUMBER": float}
_TABLE_TYPES = {"float64": pl.Float64(), "uint8": pl.UInt8(), "uint32": pl.UInt32()}


def plan(scenario: Scenario) -> str:
    """Returns the scenario as a plan without its seed and end, which `conclusion` writes."""
    built = network.build(scenario)
    lines = list(_links(built, built.duration))
    for flow, its in zip(scenario.flows, built.flows, strict=True):
        lines.append(_statement("flow", its.from_node, its.to_node, flow.cc.name))
        lines += _settings("flow", its)
        lines += _datagrams(its.datagrams) if flow.cc.name == UDP else _congestion_control(its)
    return "".join(f"{line}\n" for line in lines)


def passage(scenario: Scenario) -> str:
    """Returns a plan of the links and the first flow's end nodes, for other programs' packets."""
    built = network.build(scenario)
    first = built.flows[0]
    lines = [*_links(built, LONGEST_PS), _statement("flow", first.from_node, first.to_node, "reno")]
    return "".join(f"{line}\n" for line in lines)


def conclusion(seed: int, files: TraceFiles | None) -> str:
    """Returns the rest of a plan: the seed, the trace's files and the end."""
    trace = f"{_statement('trace', *(files[name] for name in _TABLES))}\n" if files else ""
    return f"seed {seed}\n{trace}end\n"


def _statement(name: str, *values: Any) -> str:
    shown = (str(int(value)) if isinstance(value, bool) else str(value) for value in values)
    return " ".join([name, *shown])


def _links(built: _engine.Network, duration: int) -> Iterator[str]:
    yield _statement("nodes", built.nodes)
    yield _statement("duration", duration)
    for link in built.links:
        yield _statement("link", link.a, link.b)
        yield from _settings("link", link)
        for side in SIDES:
            yield side
            yield from _direction(getattr(link, side))


def _settings(section: str, built: object, prefix: str = "") -> Iterator[str]:
    """Yields the statements of a section's settings that the engine's object has."""
    for setting in SETTINGS:
        if setting.section == section and setting.is_for_users and hasattr(built, setting.field):
            yield _statement(prefix + setting.field, getattr(built, setting.field))


def _direction(direction: _engine.Direction) -> Iterator[str]:
    yield from _settings("link", direction)
    yield _statement("queue", direction.queue_packets, direction.queue_bytes)
    yield _statement("loss", direction.loss.kind, *_loss(direction.loss))
    if direction.red.on:
        yield from _settings("red", direction.red, "red.")
    if direction.opportunities_ms:
        yield _statement("opportunities", *direction.opportunities_ms)


def _loss(loss: _engine.Loss) -> Sequence[Any]:
    match loss.kind:
        case "uniform" | "bits":
            return (loss.rate,)
        case "script":
            return loss.packets
        case "states":
            return (*loss.state_mean, *loss.state_rate, loss.state_fixed)
    return ()


def _datagrams(source: _engine.Datagrams) -> Iterator[str]:
    words = (source.rate_bps, source.on_mean, source.off_mean, source.spread, source.spacing)
    yield _statement("datagrams", *words)


def _congestion_control(flow: _engine.Flow) -> Iterator[str]:
    yield _statement("recovery", flow.recovery)
    yield from _settings("cc", flow.cc, "cc.")
    if flow.arrivals_mean:
        yield _statement("arrivals", flow.arrivals_mean, flow.size_spread)


@dataclass(frozen=True)
class Report:
    """Holds a host's report of a run and the tables of its trace, empty without one."""

    flows: list[Numbers]  # per connection; `source` is the index of its flow
    sides: Mapping[str, list[Numbers]]  # per link, under "forward" and "backward"
    others: Mapping[str, list[list[str]]]  # other lines by their first word
    cpu_s: float
    windows: dict[int, pl.DataFrame]  # by connection
    queues: dict[int, pl.DataFrame]  # by direction: 2 link is forward, 2 link + 1 backward
    drops: pl.DataFrame

    def result(self) -> RawResult:
        """Returns the run as an engine's raw result."""
        forward, backward = ([LinkCounters(one) for one in self.sides[side]] for side in SIDES)
        connections = {
            name: [numbers[name] for numbers in self.flows] for name in ("source", *FLOW_COLUMNS)
        }
        tables = {
            "windows": _stacked(self.windows, "connection", WINDOW_COLUMNS),
            "events": no_events(),
            "queues": _stacked(self.queues, "channel", QUEUE_COLUMNS),
            "drops": self.drops,
        }
        kept = InMemory(lambda table: _columns(tables[table]))
        return RawResult(connections, forward, backward, kept)


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
    others: dict[str, list[list[str]]] = {}
    for name, *words in lines:
        if name == "flow":
            flows.append({"source": int(words[0]), **_numbers(words[1:], FLOW_COLUMNS)})
        elif name == "link":
            sides[words[0]].append(_numbers(words[1:], DIRECTION_COLUMNS))
        else:
            others.setdefault(name, []).append(words)
    cpu_s = float(others.pop("end")[0][0])
    windows = _tables(files, "windows", "connection", WINDOW_COLUMNS)
    queues = _tables(files, "queues", "channel", QUEUE_COLUMNS)
    drops = _table(files, "drops", DROP_COLUMNS)
    return Report(flows, sides, others, cpu_s, windows, queues, drops)


def is_whole(lines: Sequence[Sequence[str]]) -> bool:
    """Returns whether the report is complete."""
    return bool(lines) and lines[-1][:1] == ["end"]


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
