# SPDX-License-Identifier: BSD-3-Clause
"""Describes what an engine hands over of a run, from which rows and traces are made.

The simulator's own classes (bindings/results.cpp) have these attributes, and the other engines keep
to them. What is only passed on as a column, such as `sent`, is read by its declared name and not
listed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

Columns = dict[str, Any]  # arrays of one length, by the column's name


class RawConnection(Protocol):
    """Is a connection, with the attributes of engine/network.hpp's FlowResult."""

    @property
    def source(self) -> int:
        """The number of the scenario's flow that it belongs to."""

    @property
    def start_s(self) -> float:
        """The time at which it was to start."""

    @property
    def completed_s(self) -> float:
        """The time at which all was acknowledged; NaN if that did not happen."""

    def trace(self) -> Columns:
        """Returns the columns of the trace: time_s, cwnd, ssthresh and so on, the phase."""

    def event_log(self) -> Columns:
        """Returns kind, time_s, segment, cwnd, ssthresh; kind counts in EVENT_KINDS."""


class RawLinkSide(Protocol):
    """Is a direction of a link, with the attributes of engine/network.hpp's DirectionResult."""

    @property
    def utilisation(self) -> float:
        """The share of the time in which it was sending."""

    @property
    def waited_s(self) -> float:
        """The sum of the times that packets waited in its queue."""

    def queue(self) -> Columns:
        """Returns arrival_s, start_s and bytes of the packets that waited."""


class RawResult(Protocol):
    """Is a run: its connections, its links, and what they dropped."""

    @property
    def flows(self) -> Sequence[RawConnection]:
        """Returns its connections."""

    @property
    def forward(self) -> Sequence[RawLinkSide]:
        """Returns its links from their first node to their second."""

    @property
    def backward(self) -> Sequence[RawLinkSide]:
        """Returns its links from their second node to their first."""

    def drops(self) -> Columns:
        """Returns time_s, pipe, flow, ack, kind of what was dropped; kind counts in DROP_KINDS."""

    def captured(self) -> Columns:
        """Returns the packets that `westwood.results.pcap` writes."""
