# SPDX-License-Identifier: BSD-3-Clause
"""Speaks with a host that is a program of its own: a plan goes in, a report comes out.

wire/plan.hpp and wire/report.hpp say what stands in them. The names are those of the declarations,
so that a new setting or a new column is not named here.
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
from westwood.engines.counted import CountedLinkSide, no_events
from westwood.errors import RunError
from westwood.results.raw import Columns, RawResult
from westwood.results.records import Kept
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
    """Writes the scenario as a plan, but for its seed and its end: `conclusion`."""
    built = network.build(scenario)
    lines = list(_links(built, built.duration))
    for flow, its in zip(scenario.flows, built.flows, strict=True):
        lines.append(_statement("flow", its.from_node, its.to_node, flow.cc.name))
        lines += _settings("flow", its)
        lines += _datagrams(its.datagrams) if flow.cc.name == UDP else _congestion_control(its)
    return "".join(f"{line}\n" for line in lines)


def passage(scenario: Scenario) -> str:
    """Writes its links as a plan, and the ends of its first flow, for other programs' packets."""
    built = network.build(scenario)
    first = built.flows[0]
    lines = [*_links(built, LONGEST_PS), _statement("flow", first.from_node, first.to_node, "reno")]
    return "".join(f"{line}\n" for line in lines)


def conclusion(seed: int, files: TraceFiles | None) -> str:
    """Writes the rest of a plan: the seed, where the trace goes, the end."""
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
    """The statements of a section of the declarations, as far as the engine's object has them."""
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
    """Holds what a host printed of a run, and the tables of its trace, empty without one."""

    flows: list[Numbers]  # of each connection; `source` is the number of its flow
    sides: Mapping[str, list[Numbers]]  # of each link: forward, backward
    others: Mapping[str, list[list[str]]]  # the host's own lines by their first word
    cpu_s: float
    windows: dict[int, pl.DataFrame]  # by connection
    queues: dict[int, pl.DataFrame]  # by direction of a link: 2 link, and 1 more for backward
    drops: pl.DataFrame

    def result(self) -> RawResult:
        """The run as every engine hands it over."""
        forward, backward = ([CountedLinkSide(one) for one in self.sides[side]] for side in SIDES)
        connections = {
            name: [numbers[name] for numbers in self.flows] for name in ("source", *FLOW_COLUMNS)
        }
        tables = {
            "windows": _stacked(self.windows, "connection", WINDOW_COLUMNS),
            "events": no_events(),
            "queues": _stacked(self.queues, "pipe", QUEUE_COLUMNS),
            "drops": self.drops,
        }
        kept = Kept(lambda table: _columns(tables[table]))
        return RawResult(connections, forward, backward, kept)


def _stacked(
    tables: Mapping[int, pl.DataFrame], key: str, columns: Mapping[str, str]
) -> pl.DataFrame:
    """Puts tables below each other, with the number of each."""
    frames = [_empty({key: "uint32", **columns})]
    frames += [
        table.select(pl.lit(at, dtype=pl.UInt32).alias(key), *columns)
        for at, table in sorted(tables.items())
    ]
    return pl.concat(frames)


def read(lines: Iterable[list[str]], files: TraceFiles | None) -> Report:
    """The report that these lines of words are, of which the last is its end."""
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
    queues = _tables(files, "queues", "pipe", QUEUE_COLUMNS)
    drops = _table(files, "drops", DROP_COLUMNS)
    return Report(flows, sides, others, cpu_s, windows, queues, drops)


def is_whole(lines: Sequence[Sequence[str]]) -> bool:
    """False if the report breaks off before its end."""
    return bool(lines) and lines[-1][:1] == ["end"]


def _numbers(words: Sequence[str], columns: Mapping[str, MeasuredColumn]) -> Numbers:
    said = dict(zip(words[::2], words[1::2], strict=True))
    if said.keys() != columns.keys():
        differing = ", ".join(sorted(said.keys() ^ columns.keys()))
        raise RunError(f"the program was built from other declarations ({differing}): build it")
    return {name: _TYPES[columns[name].type](value) for name, value in said.items()}


def _tables(
    files: TraceFiles | None, name: str, key: str, columns: Mapping[str, str]
) -> dict[int, pl.DataFrame]:
    """A table of the trace, cut by the number in its first column."""
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
    """Files for the trace while the block runs; None without one.

    They have no names but those of our descriptors, so that nothing of them outlives this process.
    """
    if not is_traced:
        yield None
        return
    with ExitStack() as stack:
        made = {name: stack.enter_context(tempfile.TemporaryFile()) for name in _TABLES}
        ours = Path(f"/proc/{os.getpid()}/fd")
        yield {name: ours / str(file.fileno()) for name, file in made.items()}
