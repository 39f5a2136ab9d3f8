# SPDX-License-Identifier: BSD-3-Clause
"""Reads a scenario that plan/ and the engine accept without models, whose import takes longest.

It knows the usual settings: links with a rate, a queue and random losses, and TCP flows of the
catalogue's protocols. It leaves everything else to the models (model.py), and all error messages.
Both read a value by the same function (declared.py), and write it in the same way for the hash.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from types import SimpleNamespace
from typing import Any

from westwood import units
from westwood.control import catalogue
from westwood.errors import InputError
from westwood.scenario import topology
from westwood.scenario.completion import KEYS_OF_FLOW
from westwood.scenario.declared import Quantity, plain_reader, queue_limit, written_default
from westwood.scenario.topology import SIDES, Direction

_MOST_LINKS, _MOST_FLOWS, _MOST_SEEDS = 10_000, 100_000, 1_000_000  # of model.py
_KEYS = {"name", "duration", "seeds", "profile", "link", "flow", "sweep"}
_LIMIT, _BACKWARD_RATE = "limit", "backward_rate"
_ALIKE = 1 << 10  # links and flows that are remembered, as a search or a sweep has them again
_REORDERING = ("reorder_rate", "reorder_delay")  # a table of its own in a scenario


Items = tuple[tuple[str, type, Any], ...] | None  # of a table, with the types of equal values


class NotPlainError(Exception):
    """Says that a table has what only the models read."""


def _items(table: Any) -> Items:
    if table is None:
        return None
    if not isinstance(table, dict):
        raise NotPlainError
    return tuple([(key, type(written), written) for key, written in table.items()])


def _table(items: Items) -> dict[str, Any]:
    if items is None:
        raise NotPlainError
    return {key: written for key, _, written in items}


def _split(table: Any, *parts: str) -> tuple[Items, ...]:
    """Returns the items of a table without some parts, and those of the parts."""
    if not isinstance(table, dict):
        raise NotPlainError
    rest = dict(table)
    inner = [_items(rest.pop(key, None)) for key in parts]
    if "between" in rest:
        rest["between"] = tuple(rest["between"])
    return _items(rest), *inner


def _check(table: Mapping[str, Any], known: Callable[[str], bool]) -> None:
    """Raises NotPlainError unless all keys are known and have values."""
    for key, written in table.items():
        if written is None or not known(key):
            raise NotPlainError


@dataclass(frozen=True)
class Parts:
    """The links and flows of a scenario, and the text of all that affects a run."""

    link: Sequence[Any]  # Link or PlainLink
    flow: Sequence[Any]  # Flow or PlainFlow
    text: str | None = None  # None: the models write it

    @cached_property
    def flows(self) -> Sequence[Any]:
        """The single flows."""
        return tuple(single for flow in self.flow for single in flow.each())

    @cached_property
    def paths(self) -> Mapping[tuple[str, str], topology.Path]:
        """The limits of the flows' routes, by their two end nodes."""
        if self.text is None:
            return topology.paths(self.link, self.flow)
        return _paths(self.link, tuple(dict.fromkeys((flow.from_, flow.to) for flow in self.flow)))


@lru_cache(maxsize=_ALIKE)
def _paths(
    links: tuple[Any, ...], ends: tuple[tuple[str, str], ...]
) -> Mapping[tuple[str, str], topology.Path]:
    """Remembers the paths over links that are remembered themselves."""
    flows: list[Any] = [PlainFlow(from_=source, to=sink) for source, sink in ends]
    return topology.paths(links, flows)


_READERS: Mapping[tuple[str, str], Quantity] = {
    ("queue", _LIMIT): Quantity(queue_limit, str),
    ("arrivals", "every"): Quantity(units.parse_time, units.format_time),
    ("arrivals", "size"): Quantity(units.parse_size, units.format_size),
    ("scenario", "duration"): Quantity(units.parse_time, units.format_time),
}


@lru_cache(maxsize=1 << 14, typed=True)
def _value(section: str, key: str, written: Any) -> tuple[Any, str]:
    """Returns a setting's value, and the text of its key and value as the models write them."""
    if key == _BACKWARD_RATE:
        reader = plain_reader("link", "rate")
    else:
        reader = _READERS.get((section, key)) or plain_reader(section, key)
    value = reader.read(written)
    return value, _text(key, reader.write(value))


@lru_cache(maxsize=1 << 14, typed=True)
def _text(key: str, written: Any) -> str:
    return f"{json.dumps(key)}: {json.dumps(written)}"


def _object(texts: dict[str, str]) -> str:
    return f"{{{', '.join([texts[key] for key in sorted(texts)])}}}"


@cache
def _defaults(section: str) -> tuple[Mapping[str, Any], Mapping[str, str]]:
    """Returns the values and texts of a section's settings that have a default."""
    values, texts = {}, {}
    for key, setting in catalogue.settings_of(section).items():
        if setting.why and (written := written_default(setting)) is not None:
            values[key], texts[key] = _value(section, key, written)
    return values, texts


def _read(
    section: str, table: Mapping[str, Any], known: Mapping[str, object], texts: dict[str, str]
) -> dict[str, Any]:
    """Returns the values of the settings `known` that a table has; adds their texts."""
    values = {}
    for key, written in table.items():
        if key in known:
            values[key], texts[key] = _value(section, key, written)
    return values


class PlainLink(SimpleNamespace):
    """A link with the attributes of Link that runs and titles use."""

    trace = reroute = delays = None
    __eq__ = object.__eq__
    __hash__ = object.__hash__  # type: ignore[assignment]

    def opportunities(self, side: Direction) -> tuple[int, ...]:
        """Returns the delivery opportunities of a direction: none, as it has a rate."""
        return ()

    def least_delay(self, side: Direction) -> int:
        """Returns the shortest delay of a direction in ps."""
        return int(self.delay)

    def mean_rate_bps(self, side: Direction) -> float:
        """Returns the rate of a direction."""
        backward = self.backward_rate if side == SIDES[1] else None
        return float(self.rate if backward is None else backward)


class PlainFlow(SimpleNamespace):
    """A flow with the attributes of Flow that runs and rows use."""

    app = SimpleNamespace(kind="bulk")

    def each(self) -> Iterator[PlainFlow | _Member]:
        """Yields the single flows of the group."""
        if self.count == 1:
            yield self
        else:
            for number in range(1, self.count + 1):
                yield _Member(self, f"{self.name}-{number}")

    @property
    def mss(self) -> int:
        """Returns the payload of a full segment, bytes."""
        return int(self.packet - self.header)


class _Member:
    """A flow of a group, which has everything but its name in common with the others."""

    __slots__ = ("_group", "name")
    count = 1

    def __init__(self, group: PlainFlow, name: str) -> None:
        self._group, self.name = group, name

    def __getattr__(self, key: str) -> Any:
        return getattr(self._group, key)


def _kind(
    table: dict[str, Any], usual: str, kinds: Mapping[str, object], without: str
) -> tuple[str, dict[str, Any], dict[str, str]]:
    """Returns the kind of a queue or loss, and the values and texts of its settings."""
    kind = table.get("kind", usual)
    if kind != without and kind not in kinds:
        raise NotPlainError
    known = catalogue.settings_of(kind) if kind in kinds else {}
    _check(table, lambda key: key in known or key in ("kind", "on", _LIMIT))
    values, texts = map(dict, _defaults(kind) if known else ({}, {}))
    values |= _read(kind, table, known, texts)
    if any(key not in values for key in known):
        raise NotPlainError
    texts["kind"] = _text("kind", kind)
    return kind, values, texts


def _queue(table: Any, texts: dict[str, str]) -> SimpleNamespace:
    kind, values, inner = _kind(table, catalogue.DROPTAIL, catalogue.QUEUES, catalogue.DROPTAIL)
    limit, inner[_LIMIT] = _value("queue", _LIMIT, table[_LIMIT])
    texts["queue"] = f'"queue": {_object(inner)}'
    return SimpleNamespace(kind=kind, limit=limit, **values)


def _loss(table: Any, texts: dict[str, str]) -> SimpleNamespace:
    if "packets" in table:  # they are a kind of their own
        raise NotPlainError
    kind, values, inner = _kind(table, "uniform", catalogue.LOSSES, catalogue.NO_LOSS)
    side = table.get("on", SIDES[0])
    inner["on"] = _text("on", side)
    texts["loss"] = f'"loss": {_object(inner)}'
    return SimpleNamespace(kind=kind, on=side, **values)


@cache
def _settings_of_links() -> Mapping[str, object]:
    declared = {key: True for key in catalogue.settings_of("link") if key not in _REORDERING}
    return {**declared, _BACKWARD_RATE: True}


@lru_cache(maxsize=_ALIKE)
def _link_of(rest: Items, queue: Items, loss: Items) -> tuple[PlainLink, str]:
    table, known = _table(rest), _settings_of_links()
    _check(table, lambda key: key in known or key in ("name", "between"))
    values, texts = map(dict, _defaults("link"))
    for key in _REORDERING:
        texts.pop(key, None)
    values |= {_BACKWARD_RATE: None} | _read("link", table, known, texts)
    if "rate" not in values or "delay" not in values:
        raise NotPlainError
    texts |= {"name": _text("name", table["name"]), "between": _text("between", table["between"])}
    values |= {"name": table["name"], "between": table["between"]}
    values["queue"] = _queue(_table(queue), texts)
    values["loss"] = _loss(_table(loss) if loss else {"kind": catalogue.NO_LOSS}, texts)
    return PlainLink(**values), _object(texts)


def _control(table: Any, texts: dict[str, str]) -> SimpleNamespace:
    name = table["name"]
    if not isinstance(name, str) or not dict.__contains__(catalogue.PROTOCOLS, name):
        raise NotPlainError
    known = catalogue.settings_of_protocol(name)
    _check(table, lambda key: key == "name" or key in known)
    inner: dict[str, str] = {}
    values = _read("cc", table, known, inner)
    inner["name"] = _text("name", name)
    texts["cc"] = f'"cc": {_object(inner)}'
    return SimpleNamespace(name=name, written=name, stack=None, source=None, **values)


def _arrivals(table: Any, texts: dict[str, str]) -> SimpleNamespace:
    _check(table, lambda key: key in ("every", "size", "sizes"))
    every, of_every = _value("arrivals", "every", table["every"])
    size, of_size = _value("arrivals", "size", table["size"])
    sizes = table.get("sizes", "fixed")
    inner = {"every": of_every, "size": of_size, "sizes": _text("sizes", sizes)}
    texts["arrivals"] = f'"arrivals": {_object(inner)}'
    return SimpleNamespace(every=every, size=size, sizes=sizes)


@lru_cache(maxsize=_ALIKE)
def _flow_of(rest: Items, app: Items, cc: Items, arrivals: Items) -> tuple[PlainFlow, str]:
    if app and _table(app) != {"kind": "bulk"}:
        raise NotPlainError
    table, known = _table(rest), catalogue.settings_of("flow")
    _check(table, lambda key: key in known or key in KEYS_OF_FLOW)
    values, texts = map(dict, _defaults("flow"))
    values |= {"size": None, "stop": None} | _read("flow", table, known, texts)
    values["count"] = table.get("count", 1)
    texts |= {"count": _text("count", values["count"]), "app": '"app": {"kind": "bulk"}'}
    for key in ("name", "from", "to", "recovery"):
        texts[key] = _text(key, table[key])
    values["from_"] = table["from"]
    values |= {key: table[key] for key in ("name", "to", "recovery")}
    values["cc"] = _control(_table(cc), texts)
    values["arrivals"] = _arrivals(_table(arrivals), texts) if arrivals else None
    return PlainFlow(**values), _object(texts)


def parts_of(settings: Mapping[str, Any]) -> Parts | None:
    """Returns the parts of completed settings; None if they are not plain.

    plan/ and the engine's checks must have accepted them.
    """
    links, flows, seeds = settings["link"], settings["flow"], settings.get("seeds", 1)
    if settings.get("sweep") or not settings.keys() <= _KEYS:
        return None
    if type(seeds) is not int or not 1 <= seeds <= _MOST_SEEDS:
        return None
    if len(links) > _MOST_LINKS or len(flows) > _MOST_FLOWS:
        return None
    try:
        links_read = [_link_of(*_split(table, "queue", "loss")) for table in links]
        flows_read = [_flow_of(*_split(table, "app", "cc", "arrivals")) for table in flows]
        _, duration = _value("scenario", "duration", settings["duration"])
    except (NotPlainError, InputError, TypeError, KeyError):
        return None
    texts = [", ".join([text for _, text in parts]) for parts in (flows_read, links_read)]
    text = f'{{{duration}, "flow": [{texts[0]}], "link": [{texts[1]}]}}'
    return Parts(tuple(link for link, _ in links_read), tuple(flow for flow, _ in flows_read), text)
