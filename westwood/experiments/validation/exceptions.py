# SPDX-License-Identifier: BSD-3-Clause
"""Lists the points beyond the limits whose reason was found in both engines' traces.

`westwood validate` reports points beyond the limits that are not listed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from westwood.scenario.stacks import STACKS


@dataclass(frozen=True)
class Exception_:
    """The reason for points that have one of these values in each column."""

    engine: str
    grid: str
    where: Mapping[str, tuple[Any, ...]]
    reason: str

    def covers(self, engine: str, grid: str, point: Mapping[str, Any]) -> bool:
        """Returns whether the exception covers a point."""
        is_here = self.engine == ("linux" if engine == "linux-um" else engine) and self.grid == grid
        return is_here and all(point[column] in values for column, values in self.where.items())


_NS2_GRIDS = ("2001", "2005", "2001-own", "2005-own")

EXCEPTIONS: tuple[Exception_, ...] = (
    *(
        Exception_(stack, grid, where, reason)
        for stack in STACKS
        for grid, where, reason in (
            (
                "cubic",
                {"rate": ("5Mbps",), "delay": ("10ms",), "queue": ("0.5BDP",)},
                "the queue has 5 packets, and the stack paces what it sends (RFC 9002, 7.7) and "
                "its timer has no minimum of 1 s (6.2): docs/quic.md",
            ),
            (
                "short",
                {"size": ("100kB",)},
                "the stack begins with 12 kB (RFC 9002, 7.2), paces (7.7), and may delay its last "
                "ACK by 25 ms (RFC 9000, 13.2.1): docs/quic.md",
            ),
        )
    ),
    Exception_(
        "linux",
        "quic-short",
        {"rate": ("5Mbps",), "delay": ("50ms",), "queue": ("0.5BDP",)},
        "the queue of 20 packets just holds what slow start sends; with 19 the simulator loses a "
        "packet, too, and takes as long: docs/quic.md",
    ),
    Exception_(
        "ns3",
        "lossless",
        {"cc": ("vegas",)},
        "TcpVegas cuts its target window to whole segments, so that any delay counts as a segment "
        "queued and the second of two segments under one ACK as two (docs/comparison.md)",
    ),
    Exception_(
        "ns3",
        "short",
        {"cc": ("cubic", "westwood+"), "size": ("100kB",), "loss": (0.01,)},
        "losses by number: CUBIC grows by one segment more here, on the ACK that brings the first "
        "SACK, Westwood+ sends again later, and the second loss meets another segment",
    ),
    *(
        Exception_(
            "ns2",
            grid,
            {"cc": ("vegas",)},
            "ns-2's Vegas has a fine timer of its own for what is lost, and takes a quarter of the "
            "window on a loss; ours is Linux's, which loses as Reno does (docs/comparison.md)",
        )
        for grid in _NS2_GRIDS
    ),
    *(
        Exception_(
            "ns2",
            grid,
            {"cc": ("westwood+-linux",)},
            "tcp_westwood.c of Linux 2.6.22, which TCP-Linux has, takes the smallest smoothed RTT "
            "for RTTmin, delayed ACKs and queues included; today's takes each (docs/comparison.md)",
        )
        for grid in _NS2_GRIDS
    ),
)


def reason(engine: str, grid: str, point: Mapping[str, Any]) -> str:
    """Returns the reason why a point differs; empty if unknown."""
    return next(
        (exception.reason for exception in EXCEPTIONS if exception.covers(engine, grid, point)), ""
    )
