# SPDX-License-Identifier: BSD-3-Clause
"""Describes what an engine hands over of a run, from which rows and traces are made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from westwood.results.records import Records

Columns = dict[str, Any]  # arrays of one length, by the column's name


class RawLinkSide(Protocol):
    """Is a direction of a link, with every column of engine/columns.hpp as an attribute.

    What is only passed on as a column, such as `bytes`, is read by its declared name and not
    listed here.
    """

    @property
    def packets(self) -> int:
        """The packets that its queue accepted."""

    @property
    def queue_drops(self) -> int:
        """The packets that its queue dropped."""

    @property
    def early_drops(self) -> int:
        """Those of them that RED dropped."""

    @property
    def lost(self) -> int:
        """The packets lost on its wire."""

    @property
    def in_flight(self) -> int:
        """The packets that were on it when the run ended."""

    @property
    def longest_wait_s(self) -> float:
        """The longest time that a packet waited in its queue."""

    @property
    def utilisation(self) -> float:
        """The share of the time in which it was sending."""

    @property
    def waited_s(self) -> float:
        """The sum of the times that packets waited in its queue."""


@dataclass(frozen=True)
class RawResult:
    """Is a run: its connections, its links, and what was recorded."""

    # `source`, the number of the scenario's flow that a connection belongs to (they are in its
    # order), and the columns that engine/columns.hpp declares of a flow: lists, or memory views if
    # there are many.
    connections: Columns
    forward: Sequence[RawLinkSide]  # the links from their first node to their second
    backward: Sequence[RawLinkSide]
    records: Records
