# SPDX-License-Identifier: BSD-3-Clause
"""Reads what is declared once, in core/ and engine/, for everything in Python.

Protocols and recoveries by name, the settings of flows and links with their bounds and reasons, the
columns that an engine measures. To add one: docs/how-to-add.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from westwood import _engine

LONGEST_PS: int = _engine.LONGEST_PS  # of a run
OPPORTUNITY_BYTES: int = _engine.OPPORTUNITY_BYTES  # that leave at each time of a recorded rate
UDP = "udp"  # what stands for a protocol where there is no congestion control


@dataclass(frozen=True)
class PlotStyle:
    """Says how a figure draws a protocol: colour, marker and line as matplotlib names them."""

    color: str
    marker: str
    line: str | tuple[int, tuple[int, ...]]
    hollow: bool = False  # a marker that shows what lies under it

    @classmethod
    def read(cls, text: str) -> PlotStyle:
        """Reads a style in the format of core/catalogue.h: "#E69F00 hollow-s --", "#999999 v 1,1"."""
        color, marker, line = text.split()
        dashes = tuple(int(length) for length in line.split(",")) if "," in line else ()
        shape = marker.removeprefix("hollow-")
        return cls(color, shape, (0, dashes) if dashes else line, shape != marker)


@dataclass(frozen=True)
class Protocol:
    """Is a row of core/catalogue.h: what the name of a congestion control stands for."""

    name: str
    algorithm: str  # whose window rules it has
    recovery: str  # empty: the flow's or the profile's
    label: str  # in figures and tables
    style: PlotStyle
    ns3: str  # its class in ns-3; empty: none
    kernel: str  # its name in Linux; empty: none
    ours: bool  # whether that is a program of linux/
    source: str

    @property
    def warning(self) -> str:
        """Returns why it is experimental, a sentence; empty if it is not."""
        sentence, *_ = self.source.split(". ")
        return f"{sentence}." if sentence.startswith("Experimental") else ""


@dataclass(frozen=True)
class Setting:
    """Is a row of core/settings.h or engine/settings.hpp; numbers are in the unit of the field."""

    section: str  # cc, flow, link or red
    name: str  # the key in a scenario
    field: str  # the attribute of the engine's object
    kind: str
    fallback: Any  # the default
    least: Any
    most: Any
    algorithms: tuple[str, ...]  # of cc: who obeys it
    choices: tuple[str, ...]  # of the kind CHOICE: the words
    what: str
    why: str  # the reason for the default; empty: a scenario has to say it

    @property
    def is_for_users(self) -> bool:
        """Is false for what the host of the core decides by itself."""
        return self.section != "cc" or bool(self.algorithms)


@dataclass(frozen=True)
class MeasuredColumn:
    """Is a row of engine/columns.hpp: what an engine measures of a connection or a link."""

    name: str
    type: str  # COUNT or NUMBER
    aggregate: str  # SUM, MEAN, LEAST, MOST; INNER: no column of a row
    unit: str
    title: str  # on the axis of a figure
    head: str  # in the table that a run prints; empty: not in there
    what: str


@dataclass(frozen=True)
class Recovery:
    """Is a row of core/recoveries.h: a way of repairing losses."""

    name: str
    uses_sack: bool
    conserves: bool
    source: str


def _protocol(look: str, **row: Any) -> Protocol:
    return Protocol(style=PlotStyle.read(look), **row)


PROTOCOLS = {row["name"]: _protocol(**row) for row in _engine.PROTOCOLS}
RECOVERIES = {row["name"]: Recovery(**row) for row in _engine.RECOVERIES}
SETTINGS = tuple(
    Setting(**{**row, "algorithms": tuple(row["algorithms"]), "choices": tuple(row["choices"])})
    for row in _engine.SETTINGS
)
FLOW_COLUMNS = {row["name"]: MeasuredColumn(**row) for row in _engine.FLOW_COLUMNS}
DIRECTION_COLUMNS = {row["name"]: MeasuredColumn(**row) for row in _engine.DIRECTION_COLUMNS}
# The columns of a trace's tables, with the types of numpy that they have.
WINDOW_COLUMNS: dict[str, str] = _engine.WINDOW_COLUMNS
QUEUE_COLUMNS: dict[str, str] = _engine.QUEUE_COLUMNS
DROP_COLUMNS: dict[str, str] = _engine.DROP_COLUMNS

_UDP_STYLE = PlotStyle("#999999", ".", ":")
OTHER_STYLE = PlotStyle("#555555", "X", ":")


@cache
def settings_of(section: str) -> Mapping[str, Setting]:
    """Returns the settings of a section that a user can write, by key."""
    return {one.name: one for one in SETTINGS if one.section == section and one.is_for_users}


@cache
def settings_of_protocol(protocol: str) -> Mapping[str, Setting]:
    """Returns the settings of `cc` that a protocol obeys, by key."""
    algorithm = PROTOCOLS[protocol].algorithm
    return {key: one for key, one in settings_of("cc").items() if algorithm in one.algorithms}


@cache
def settings_in_order(section: str) -> tuple[tuple[str, str], ...]:
    """Returns pairs of keys of which the first must not exceed the second, as declared."""
    by_field = {one.field: one.name for one in SETTINGS if one.section == section}
    declared = _engine.settings_in_order(section)
    return tuple((by_field.get(a, a), by_field.get(b, b)) for a, b in declared)


def label(cc: str) -> str:
    """Returns the name of a protocol in figures and tables."""
    return "UDP" if cc == UDP else PROTOCOLS[cc].label if cc in PROTOCOLS else cc


def style_of(cc: str) -> PlotStyle:
    """Returns how a protocol is drawn."""
    if cc == UDP:
        return _UDP_STYLE
    return PROTOCOLS[cc].style if cc in PROTOCOLS else OTHER_STYLE
