# SPDX-License-Identifier: BSD-3-Clause
"""What an engine hands over of a run, from which rows and traces are made.

The simulator's own classes (bindings/module.cpp) have these attributes, and the other engines keep
to them. The counts of connections and links that are only passed on as columns, such as `sent`, are
read by name and not listed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

Columns = dict[str, Any]  # arrays of one length, by the column's name


class RawConnection(Protocol):
    """A connection: the attributes of engine/network.hpp's FlowResult."""

    @property
    def source(self) -> int:
        """The number of the scenario's flow that it belongs to."""

    @property
    def start_s(self) -> float:
        """The time at which it was to start."""

    @property
    def completed_s(self) -> float:
        """The time at which all was acknowledged; NaN if that did not happen."""

    @property
    def mean_cwnd(self) -> float:
        """The mean of cwnd over time, in segments."""

    @property
    def mean_srtt_s(self) -> float:
        """The mean of the smoothed RTT over its samples."""

    @property
    def min_rtt_s(self) -> float:
        """The least RTT sample."""

    def trace(self) -> Columns:
        """The columns of the trace: time_s, cwnd, ssthresh and so on, and the phase's number."""

    def event_log(self) -> Columns:
        """The columns kind, time_s, segment, cwnd, ssthresh; kind counts in EVENT_KINDS."""


class RawLinkSide(Protocol):
    """A direction of a link: the attributes of engine/network.hpp's DirectionResult."""

    @property
    def utilisation(self) -> float:
        """The share of the time in which it was sending."""

    def queue(self) -> Columns:
        """arrival_s, start_s and bytes of the packets that waited."""


class RawResult(Protocol):
    """A run."""

    @property
    def flows(self) -> Sequence[RawConnection]:
        """Its connections."""

    @property
    def forward(self) -> Sequence[RawLinkSide]:
        """Its links from their first node to their second."""

    @property
    def backward(self) -> Sequence[RawLinkSide]:
        """Its links from their second node to their first."""

    def drops(self) -> Columns:
        """time_s, pipe, flow, ack and kind of what was dropped; kind counts in DROP_KINDS."""

    def captured(self) -> Columns:
        """The packets that `westwood.results.pcap` writes."""
