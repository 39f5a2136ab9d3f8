# SPDX-License-Identifier: BSD-3-Clause
"""Models of a link's delay that changes: recorded, or at listed times."""

from __future__ import annotations

import itertools
from typing import Annotated, Literal

from pydantic import Field, PlainValidator, model_validator

from westwood.errors import InputError
from westwood.scenario.parts import Delay, Moment, Part, Span, whole_numbers
from westwood.scenario.topology import Direction
from westwood.units import TIME_UNITS, format_time

_MOST_MS = TIME_UNITS["h"] // TIME_UNITS["ms"]


def _delays(value: object) -> tuple[int, ...]:
    delays = whole_numbers(value)
    for place, delay in enumerate(delays, 1):
        if not 0 <= delay <= _MOST_MS:
            problem = f"expected delays of 0 to {_MOST_MS} ms, number {place} is none"
            raise InputError(problem, value=delay)
    return delays


Delays = Annotated[tuple[int, ...], PlainValidator(_delays)]


class RecordedDelays(Part):
    """Lists the one-way delay in ms of each interval, as LeoReplayer's delay traces do.

    A scenario file names a file with one delay per line for each direction.
    """

    forward: Delays = ()
    backward: Delays = ()
    interval: Span = 10 * TIME_UNITS["ms"]  # ps

    def least_ps(self, side: Direction) -> int | None:
        """Returns the least delay of a direction; None if it has no recording."""
        recorded = getattr(self, side)
        return min(recorded) * TIME_UNITS["ms"] if recorded else None


class Reroute(Part):
    """Replaces the link's delay: from each time in `at` on, the entry of `delay` holds."""

    at: Annotated[tuple[Moment, ...], Field(strict=False, min_length=1)]  # ps
    delay: Annotated[tuple[Delay, ...], Field(strict=False, min_length=1)]  # ps
    on: Literal["forward", "backward", "both"] = "both"

    @model_validator(mode="after")
    def _paired(self) -> Reroute:
        if len(self.at) != len(self.delay):
            problem = f"expected {len(self.at)} delays, one for each time in at"
            raise InputError(problem, key="delay", value=[*map(format_time, self.delay)])
        for before, time in itertools.pairwise(self.at):
            if time <= before:
                raise InputError("expected ascending times", key="at", value=format_time(time))
        return self
