# SPDX-License-Identifier: BSD-3-Clause
"""Gives Python the tables that core/ and engine/ declare.

They are: protocols and recoveries by name; settings of flows and links with bounds and reasons; and
the columns that an engine measures. docs/how-to-add.md shows how to add to them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from westwood import _engine
from westwood.control import gallery, loading
from westwood.errors import suggestion

LONGEST_PS: int = _engine.LONGEST_PS  # the longest run
OPPORTUNITY_BYTES: int = _engine.OPPORTUNITY_BYTES  # bytes per delivery opportunity of a trace
UDP = "udp"  # the protocol's name for flows without congestion control
# The QUIC stacks' own controls, by the names that the core's have. A scenario writes `quinn:bbr`.
OF_STACKS: Mapping[str, tuple[str, ...]] = {
    "quinn": ("newreno", "cubic", "bbr"),
    "noq": ("newreno", "cubic", "bbr3"),
}


@dataclass(frozen=True)
class PlotStyle:
    """Describes how figures draw a protocol, in matplotlib's names."""

    color: str
    marker: str
    line: str | tuple[int, tuple[int, ...]]
    hollow: bool = False  # a marker without fill

    @classmethod
    def read(cls, text: str) -> PlotStyle:
        """Reads core/catalogue.h's format, such as "#E69F00 hollow-s --" or "#999999 v 1,1"."""
        color, marker, line = text.split()
        dashes = tuple(int(length) for length in line.split(",")) if "," in line else ()
        shape = marker.removeprefix("hollow-")
        return cls(color, shape, (0, dashes) if dashes else line, shape != marker)


@dataclass(frozen=True)
class Protocol:
    """Describes a congestion control: a row of core/catalogue.h."""

    name: str
    algorithm: str  # the implementation of its window rules
    recovery: str  # empty: set by the flow or the profile
    label: str  # in figures and tables
    style: PlotStyle
    ns3: str  # its class in ns-3, if any
    kernel: str  # its name in Linux, if any
    ours: bool  # whether linux/ implements the kernel control
    source: str

    @property
    def warning(self) -> str:
        """Returns the sentence that says why it is experimental, or an empty string."""
        sentence, *_ = self.source.split(". ")
        return f"{sentence}." if sentence.startswith("Experimental") else ""


@dataclass(frozen=True)
class Setting:
    """Describes a setting: a row of core/settings.h, engine/settings.hpp or a kind's file.

    Numbers are in the unit of the field.
    """

    section: str  # cc, flow, link, a kind of queue or a kind of loss
    name: str  # the key in a scenario
    field: str  # the attribute of the engine's object
    kind: str
    fallback: Any  # the default
    least: Any
    most: Any
    algorithms: tuple[str, ...]  # the algorithms that use it; empty outside section cc
    choices: tuple[str, ...]  # the accepted words of kind CHOICE
    what: str
    why: str  # the reason for the default; empty: there is no default

    @property
    def is_for_users(self) -> bool:
        """Returns False for settings that the host of the core sets by itself."""
        return self.section != "cc" or bool(self.algorithms)


@dataclass(frozen=True)
class MeasuredColumn:
    """Describes a measured column of a connection or a link: a row of engine/columns.hpp."""

    name: str
    type: str  # COUNT or NUMBER
    aggregate: str  # SUM, MEAN, LEAST, MOST; INNER: not in rows
    unit: str
    title: str  # axis label
    head: str  # heading in the table that a run prints; empty: not printed
    what: str


@dataclass(frozen=True)
class Shown:
    """Names what a trace shows of an algorithm: the end of its header in core/."""

    modes: tuple[str, ...]
    quantities: tuple[str, ...]


@dataclass(frozen=True)
class Recovery:
    """Describes a loss recovery: a row of core/recoveries.h."""

    name: str
    uses_sack: bool
    uses_rate_reduction: bool
    source: str


@dataclass(frozen=True)
class StateColumn:
    """Describes a column of a discipline's trace: a row of WW_*_COLUMNS of its file."""

    name: str
    unit: str
    what: str


@dataclass(frozen=True)
class QueueKind:
    """Describes a queue discipline: a row of engine/link/queue/kinds.hpp."""

    name: str  # the kind in a scenario, and the section of its settings
    title: str
    ns2: str  # its class in ns-2, if any
    ns3: str  # its class in ns-3, if any
    kernel: str  # its discipline in Linux, if any
    holds: bool  # whether it also decides when packets leave
    obeyed: tuple[str, ...]  # its settings that Linux has
    rising: tuple[tuple[str, str], ...]  # settings of which the second exceeds the first
    positive: tuple[str, ...]  # settings that are more than 0
    columns: tuple[StateColumn, ...]  # of its trace


@dataclass(frozen=True)
class Application:
    """Describes an application of a flow: a row of plan/applications.hpp."""

    kind: str  # in a scenario
    what: str  # it sends
    settings: tuple[Setting, ...]


@dataclass(frozen=True)
class LossKind:
    """Describes a loss model: a row of engine/link/loss/kinds.hpp."""

    name: str  # the kind in a scenario, and the section of its settings
    title: str
    counts: bool  # whether it only counts packets, so that its losses can be listed


class _Protocols(dict[str, Protocol]):
    """Holds the catalogue's protocols, and finds the known controls in files: names that end in .c.

    It lists the catalogue only, and loads nothing: `is_protocol` does.
    """

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or loading.is_known(name)

    def __missing__(self, name: str) -> Protocol:
        if loading.is_known(name):
            return _of_file(name)
        raise KeyError(name)

    def get(self, name: str, default: Any = None) -> Any:
        """Returns the protocol of this name, or the default."""
        try:
            return self[name]
        except KeyError:
            return default


def is_protocol(name: object) -> bool:
    """Returns whether a name that a user gives is a protocol's; loads the control in a file.

    Raises InputError for a file that is no control.
    """
    if loading.is_file(name):
        loading.load(str(name))
    return name in PROTOCOLS


def controls_of_stack(stack: str) -> list[str]:
    """Returns a QUIC stack's own controls as scenarios write them."""
    return [f"{stack}:{name}" for name in OF_STACKS[stack]]


def unknown_protocol(name: object) -> str:
    """Returns what is wrong with a name that is no protocol's, and a hint."""
    stack, colon, control = str(name).partition(":")
    if stack == "tcp":
        return unknown_protocol(control)
    if stack in OF_STACKS:
        return f"unknown protocol, expected one of: {', '.join(controls_of_stack(stack))}"
    if colon:
        every = [
            known_control for stack_ in OF_STACKS for known_control in controls_of_stack(stack_)
        ]
        return f"unknown protocol, {suggestion(name, every)}"
    if os.path.isfile(f"{name}.c"):
        return f'unknown protocol, did you mean "{name}.c"?'
    meant = [file for file in gallery.names() if file == f"{name}.c"]
    return f"unknown protocol, {suggestion(name, [*PROTOCOLS, *meant])}"


# The colours and markers of controls from files, in the order of their names.
LOOKS = ("#225577 D -", "#EB4789 v --", "#772222 P -.", "#FF33FF X :")


def _look_of(name: str) -> PlotStyle:
    return PlotStyle.read(LOOKS[loading.position(name) % len(LOOKS)])


def _of_file(name: str) -> Protocol:
    return Protocol(
        name=name,
        algorithm="loaded",
        recovery="sack",
        label=label(name),
        style=_look_of(name),
        ns3="" if name.endswith(loading.PYTHON) else "WwTcpWestwood",
        kernel="",
        ours=False,
        source=f"The file {name}",
    )


def _parameters(name: str) -> dict[str, Setting]:
    """Returns the parameters of a control in a file as settings, by key."""
    control = loading.named(name)
    return {
        parameter.name: Setting(
            section="cc",
            name=parameter.name,
            field=parameter.name,
            kind="COUNT",
            fallback=parameter.fallback,
            least=parameter.least,
            most=parameter.most,
            algorithms=("loaded",),
            choices=(),
            what=parameter.what,
            why=f"The default of {name}.",
        )
        for parameter in control.parameters
    }


def _queue_kind(
    rising: list[tuple[str, str]],
    positive: list[str],
    columns: list[list[str]],
    obeyed: list[str],
    **row: Any,
) -> QueueKind:
    states = tuple(StateColumn(*column) for column in columns)
    pairs, names = tuple(rising), tuple(obeyed)
    return QueueKind(rising=pairs, positive=tuple(positive), columns=states, obeyed=names, **row)


def _setting(row: dict[str, Any]) -> Setting:
    tuples = {key: tuple(row[key]) for key in ("algorithms", "choices")}
    return Setting(**{**row, **tuples})


def _protocol(look: str, **row: Any) -> Protocol:
    return Protocol(style=PlotStyle.read(look), **row)


PROTOCOLS = _Protocols({row["name"]: _protocol(**row) for row in _engine.PROTOCOLS})
# What the hosts report to a control: name, what it is, the simulator, ns-3, Linux.
HOST_REPORTS: tuple[tuple[str, ...], ...] = tuple(map(tuple, _engine.HOST_REPORTS))
# By algorithm.
SHOWN = {name: Shown(tuple(modes), tuple(more)) for name, (modes, more) in _engine.SHOWN.items()}
RECOVERIES = {row["name"]: Recovery(**row) for row in _engine.RECOVERIES}
# The queue disciplines other than drop-tail.
QUEUES = {row["name"]: _queue_kind(**row) for row in _engine.QUEUES}
DROPTAIL = "droptail"
# The loss models other than a list of packets.
LOSSES = {row["name"]: LossKind(**row) for row in _engine.LOSSES}
# The impairments of a link and their titles.
IMPAIRMENTS: dict[str, str] = dict(_engine.IMPAIRMENTS)
NO_LOSS, SCRIPT = "none", "script"
OF_DATAGRAMS = frozenset(_engine.KEYS_OF_DATAGRAMS)  # the keys that a flow of datagrams accepts
SETTINGS = tuple(map(_setting, _engine.SETTINGS))
APPLICATIONS = {
    row["kind"]: Application(**{**row, "settings": tuple(map(_setting, row["settings"]))})
    for row in _engine.APPLICATIONS
}
FLOW_COLUMNS = {row["name"]: MeasuredColumn(**row) for row in _engine.FLOW_COLUMNS}
MESSAGE_COLUMNS = {row["name"]: MeasuredColumn(**row) for row in _engine.MESSAGE_COLUMNS}
DIRECTION_COLUMNS = {row["name"]: MeasuredColumn(**row) for row in _engine.DIRECTION_COLUMNS}
# The columns of a trace's tables with their numpy types.
WINDOW_COLUMNS: dict[str, str] = _engine.WINDOW_COLUMNS
QUEUE_COLUMNS: dict[str, str] = _engine.QUEUE_COLUMNS
STATE_COLUMNS: dict[str, str] = _engine.STATE_COLUMNS
DROP_COLUMNS: dict[str, str] = _engine.DROP_COLUMNS

_UDP_STYLE = PlotStyle("#999999", ".", ":")
OTHER_STYLE = PlotStyle("#555555", "X", ":")


def shown_by(protocol: str) -> Shown:
    """Returns what traces show of a protocol."""
    if loading.is_file(protocol):
        return Shown((), tuple(quantity.name for quantity in loading.named(protocol).quantities))
    return SHOWN[PROTOCOLS[protocol].algorithm]


@cache
def settings_of(section: str) -> Mapping[str, Setting]:
    """Returns a section's settings for users, by key."""
    return {
        setting.name: setting
        for setting in SETTINGS
        if setting.section == section and setting.is_for_users
    }


def settings_of_protocol(protocol: str) -> Mapping[str, Setting]:
    """Returns the `cc` settings that a protocol uses, by key."""
    if loading.is_file(protocol):
        return {**_parameters(protocol), **_obeyed_by("loaded")}
    return _obeyed_by(PROTOCOLS[protocol].algorithm)


@cache
def _obeyed_by(algorithm: str) -> Mapping[str, Setting]:
    return {
        key: setting
        for key, setting in settings_of("cc").items()
        if algorithm in setting.algorithms
    }


@cache
def settings_in_order(section: str) -> tuple[tuple[str, str], ...]:
    """Returns the declared pairs of keys whose first value must not exceed the second."""
    by_field = {setting.field: setting.name for setting in SETTINGS if setting.section == section}
    declared = _engine.settings_in_order(section)
    return tuple((by_field.get(a, a), by_field.get(b, b)) for a, b in declared)


def label(cc: str) -> str:
    """Returns a protocol's name for figures and tables.

    A file with the label of a built-in protocol has its name, too.
    """
    if loading.is_file(cc):
        file_label = loading.label(cc)
        return (
            f"{file_label} ({cc})"
            if any(file_label == protocol.label for protocol in PROTOCOLS.values())
            else file_label
        )
    return "UDP" if cc == UDP else PROTOCOLS[cc].label if cc in PROTOCOLS else cc


def style_of(cc: str) -> PlotStyle:
    """Returns the style in which figures draw a protocol."""
    if cc == UDP:
        return _UDP_STYLE
    if loading.is_file(cc):
        return _look_of(cc)
    return PROTOCOLS[cc].style if cc in PROTOCOLS else OTHER_STYLE
