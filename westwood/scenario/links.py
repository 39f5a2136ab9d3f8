# SPDX-License-Identifier: BSD-3-Clause
"""Models of links: rate or trace, delay, queue, losses. docs/scenarios.md has the format."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Discriminator, Field, PlainValidator, Tag, field_validator, model_validator

from westwood.catalogue import LONGEST_PS, OPPORTUNITY_BYTES, settings_of
from westwood.errors import InputError
from westwood.scenario.declared import QueueLimit, accepted, with_settings
from westwood.scenario.parts import (
    Delay,
    Durations,
    Name,
    Part,
    Probability,
    Rate,
    Span,
    kind_of,
    table_of,
)
from westwood.units import TIME_UNITS, format_rate

if TYPE_CHECKING:
    from westwood.scenario.parts import Settings

Direction = Literal["forward", "backward"]
Side = Literal["forward", "backward", "both"]

_LONGEST_TRACE_MS = LONGEST_PS // TIME_UNITS["ms"]


def _whole_numbers(value: object) -> tuple[int, ...]:
    """Accepts a list of whole numbers, maybe millions; an error names the first wrong one."""
    if not isinstance(value, (list, tuple)):
        raise InputError("expected a list of whole numbers", value=value)
    for number in value:
        if type(number) is not int:
            raise InputError("expected whole numbers", value=number)
    return tuple(value)


def _packet_numbers(value: object) -> tuple[int, ...]:
    packets = _whole_numbers(value)
    for before, number in itertools.pairwise((0, *packets)):
        if not before < number < 2**63:
            raise InputError("expected ascending packet numbers from 1", value=number)
    return packets


def _times(value: object) -> tuple[int, ...]:
    times = _whole_numbers(value)
    for before, time in itertools.pairwise((0, *times)):
        if time < before:
            raise InputError("expected ascending times in ms from 0", value=time)
    if times and not 1 <= times[-1] <= _LONGEST_TRACE_MS:
        problem = f"expected a last time of 1 to {_LONGEST_TRACE_MS} ms"
        raise InputError(problem, value=times[-1])
    return times


PacketNumbers = Annotated[tuple[int, ...], PlainValidator(_packet_numbers)]
Times = Annotated[tuple[int, ...], PlainValidator(_times)]


class DropTail(Part):
    """Drops what arrives when the queue is full. The packet being sent doesn't count."""

    kind: Literal["droptail"] = "droptail"
    limit: QueueLimit


class _RedQueue(Part):
    kind: Literal["red"] = "red"
    limit: QueueLimit


if TYPE_CHECKING:

    class _Red(_RedQueue, Settings):
        pass
else:
    _Red = with_settings(_RedQueue, "red")


class Red(_Red):
    """Random Early Detection (Floyd and Jacobson 1993): drops or marks before the queue is full.

    Its keys are the settings of RED that engine/settings.hpp declares.
    """

    @model_validator(mode="after")
    def _ordered(self) -> Red:
        if self.max <= self.min:
            raise InputError(f"expected more than min, {self.min:g}", key="max", value=self.max)
        for key in ("max_p", "weight"):
            if getattr(self, key) == 0:
                raise InputError("expected more than 0", key=key, value=0)
        return self


Queue = Annotated[
    Annotated[DropTail, Tag("droptail")] | Annotated[Red, Tag("red")],
    Discriminator(lambda value: kind_of(value, "droptail")),
    table_of(("droptail", "red"), "queue", '{ kind = "droptail", limit = "100p" }', "droptail"),
]


class NoLoss(Part):
    """Nothing is lost on the wire."""

    kind: Literal["none"] = "none"
    on: Side = "forward"


class UniformLoss(Part):
    """Each packet is lost with the same probability, independently of the others."""

    kind: Literal["uniform"] = "uniform"
    rate: Probability
    on: Side


class BitErrors(Part):
    """Each bit is wrong with the same probability; a packet with a wrong bit is lost."""

    kind: Literal["bits"] = "bits"
    rate: Probability  # per bit
    on: Side


class ScriptedLoss(Part):
    """Loses the named packets, counted from 1 in each direction; a file may list them."""

    kind: Literal["script"] = "script"
    packets: PacketNumbers
    on: Side


class MarkovLoss(Part):
    """Alternates between a good and a bad state with their own loss rates, good first.

    Both directions share the state.
    """

    kind: Literal["markov"] = "markov"
    good: Span  # ps: mean duration
    bad: Span
    good_rate: Probability = 0.0  # probability that a packet is lost
    bad_rate: Probability
    durations: Durations = "exponential"
    on: Side


class Blackout(Part):
    """Loses all packets in recurring periods, in both directions at the same time."""

    kind: Literal["blackout"] = "blackout"
    good: Span  # ps: mean time between blackouts
    bad: Delay  # ps: mean length of a blackout; 0: none
    durations: Durations = "fixed"
    on: Side


LOSSES = ("none", "uniform", "bits", "script", "markov", "blackout")


def _loss_kind(value: Any) -> Any:
    """Returns the kind of a loss table: its `kind`, else what its keys imply."""
    if isinstance(value, dict) and "kind" not in value:
        return "script" if "packets" in value else "uniform"
    return kind_of(value)


Loss = Annotated[
    Annotated[NoLoss, Tag("none")]
    | Annotated[UniformLoss, Tag("uniform")]
    | Annotated[BitErrors, Tag("bits")]
    | Annotated[ScriptedLoss, Tag("script")]
    | Annotated[MarkovLoss, Tag("markov")]
    | Annotated[Blackout, Tag("blackout")],
    Discriminator(_loss_kind),
    table_of(LOSSES, "loss", '{ kind = "uniform", rate = 0.005 }', "uniform"),
]


class Reordering(Part):
    """Delays a share of the packets on the wire, so that later packets overtake them."""

    rate: Probability
    delay: Span  # ps
    on: Side = "forward"


class Opportunities(Part):
    """Lists the times in ms at which 1504 bytes can leave, as in Mahimahi's traces.

    A scenario file names a file with one time per line for each direction.
    """

    forward: Times = ()
    backward: Times = ()


class _Wire(Part):
    name: Name
    between: Annotated[tuple[Name, Name], Field(strict=False)]
    rate: Rate | None = None  # bit/s, in each direction without a trace
    trace: Opportunities | None = None  # instead of the rate
    queue: Queue  # in each direction
    loss: Loss = NoLoss()
    reorder: Reordering | None = None


if TYPE_CHECKING:

    class _Link(_Wire, Settings):
        pass
else:
    _elsewhere = ("rate", "reorder_rate", "reorder_delay")  # declared above, in a scenario's form
    _Link = with_settings(_Wire, "link", leave_out=_elsewhere)


class Link(_Link):
    """A duplex link between two nodes. `forward` is from the first of `between` to the second.

    Its other keys are the settings of a link that engine/settings.hpp declares.
    """

    @field_validator("between")
    @classmethod
    def _two_nodes(cls, between: tuple[str, str]) -> tuple[str, str]:
        if between[0] == between[1]:
            raise InputError("expected two different nodes", value=list(between))
        return between

    @model_validator(mode="after")
    def _has_rate(self) -> Link:
        if self.rate is None and not (
            self.opportunities("forward") and self.opportunities("backward")
        ):
            problem = "is missing, and trace does not give the rates of both directions"
            expected = f"is missing, expected {accepted(settings_of('link')['rate'])}"
            raise InputError(problem if self.trace else expected, key="rate")
        if (
            self.rate is not None
            and self.opportunities("forward")
            and self.opportunities("backward")
        ):
            problem = "has no effect with a trace of both directions, expected none"
            raise InputError(problem, key="rate", value=format_rate(self.rate))
        return self

    def opportunities(self, side: Direction) -> tuple[int, ...]:
        """Returns the delivery opportunities of a direction in ms; empty if it has a rate."""
        return getattr(self.trace, side) if self.trace else ()

    def mean_rate_bps(self, side: Direction) -> float:
        """Returns the rate of a direction, or the average rate of its trace."""
        times = self.opportunities(side)
        if times:
            return 8 * OPPORTUNITY_BYTES * len(times) / (times[-1] / 1000)
        return float(self.rate or 0)
