# SPDX-License-Identifier: BSD-3-Clause
"""Describes an engine's raw results of a run, from which rows and traces are made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Protocol, cast

from westwood.control.catalogue import DIRECTION_COLUMNS

if TYPE_CHECKING:
    from westwood.results.records import Records

Columns = dict[str, Any]  # arrays of one length, by the column's name


class RawLinkSide(Protocol):
    """Results of a link's direction, with every column of engine/columns.hpp as an attribute.

    Columns that are only passed on, such as `bytes`, are read by name and not listed here.
    """

    @property
    def packets(self) -> int:
        """The packets that its queue accepted."""

    @property
    def queue_drops(self) -> int:
        """The packets that its queue dropped."""

    @property
    def early_drops(self) -> int:
        """The packets that RED dropped, which `queue_drops` includes."""

    @property
    def lost(self) -> int:
        """The packets lost on its wire."""

    @property
    def in_flight(self) -> int:
        """The packets on the wire when the run ended."""

    @property
    def longest_wait_s(self) -> float:
        """The longest time that a packet waited in its queue."""

    @property
    def utilisation(self) -> float:
        """The share of the time in which it was sending."""

    @property
    def waited_s(self) -> float:
        """The sum of the times that packets waited in its queue."""


def link_side(numbers: Mapping[str, float]) -> RawLinkSide:
    """Returns the counters of a link's direction as attributes."""
    return cast(RawLinkSide, SimpleNamespace(**numbers))


@dataclass(frozen=True)
class RawResult:
    """Raw results of a run: its connections, its links and its records."""

    # `source`, the index of a connection's flow, in ascending order, and the flow columns of
    # engine/columns.hpp. They are lists, or memory views if there are many connections.
    connections: Columns
    forward: Sequence[RawLinkSide]  # from the links' first nodes to their second
    backward: Sequence[RawLinkSide]
    records: Records
    # The message columns of engine/columns.hpp, by connection; ns-2, ns-3 and Linux have none.
    messages: Columns = field(default_factory=dict)

    def __reduce__(self) -> tuple[type[RawResult], tuple[Any, ...]]:
        """Pickles numbers instead of the engine's objects and memory."""

        def side(counters: RawLinkSide) -> RawLinkSide:
            return link_side({name: getattr(counters, name) for name in DIRECTION_COLUMNS})

        connections = {name: list(column) for name, column in self.connections.items()}
        messages = {name: list(column) for name, column in self.messages.items()}
        sides = [list(map(side, link_sides)) for link_sides in (self.forward, self.backward)]
        return RawResult, (connections, *sides, self.records, messages)
