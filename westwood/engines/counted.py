# SPDX-License-Identifier: BSD-3-Clause
"""Holds a run that a program outside this process counted, under the simulator's names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from westwood.results.raw import Columns


class _Counted:
    """Has every number as an attribute of its name."""

    def __init__(self, numbers: Mapping[str, float]) -> None:
        vars(self).update(numbers)


class CountedConnection(_Counted):
    """Holds what the program counted of a connection, and its trace."""

    source: int
    start_s: float
    completed_s: float

    def __init__(self, numbers: Mapping[str, float], trace: Columns) -> None:
        super().__init__(numbers)
        self._trace = trace

    def trace(self) -> Columns:
        """Returns the columns of the trace, without rows where it was not asked for."""
        return self._trace

    def event_log(self) -> Columns:
        """Returns columns without rows: neither ns-3 nor the kernel tells events."""
        numbers = ("time_s", "segment", "cwnd", "ssthresh")
        return {
            "kind": np.array([], dtype=np.uint8),
            **{name: np.array([], dtype=np.float64) for name in numbers},
        }


class CountedLinkSide(_Counted):
    """Holds what was counted on a direction of a link, and the packets that waited there."""

    utilisation: float
    waited_s: float

    def __init__(self, numbers: Mapping[str, float], waited: Columns) -> None:
        super().__init__(numbers)
        self._waited = waited

    def queue(self) -> Columns:
        """Returns arrival_s, start_s and bytes of the packets that waited, by arrival."""
        return self._waited


@dataclass(frozen=True)
class CountedResult:
    """Holds a run, with what was dropped on its links."""

    flows: list[CountedConnection]
    forward: list[CountedLinkSide]
    backward: list[CountedLinkSide]
    dropped: Columns

    def drops(self) -> Columns:
        """Returns time_s, pipe, flow, ack and kind of what was dropped."""
        return self.dropped

    def captured(self) -> Columns:
        """Is never asked for: `simulate` refuses a capture on these engines."""
        raise NotImplementedError
