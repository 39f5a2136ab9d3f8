# SPDX-License-Identifier: BSD-3-Clause
"""Holds results of external programs under the simulator's names."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl


class LinkCounters:
    """Holds the counters of a link's direction as attributes."""

    packets: int
    queue_drops: int
    early_drops: int
    lost: int
    in_flight: int
    longest_wait_s: float
    utilisation: float
    waited_s: float

    def __init__(self, numbers: Mapping[str, float]) -> None:
        vars(self).update(numbers)


def no_events() -> pl.DataFrame:
    """Returns an empty table of events, which neither ns-3 nor the kernel reports."""
    numbers = ("time_s", "segment", "cwnd", "ssthresh")
    return pl.DataFrame(
        schema={
            "connection": pl.UInt32,
            "kind": pl.UInt8,
            **dict.fromkeys(numbers, pl.Float64),
        }
    )
