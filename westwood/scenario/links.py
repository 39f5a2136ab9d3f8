# SPDX-License-Identifier: BSD-3-Clause
"""Links: rate or recorded rates, delay, queue, what the wire does to packets. docs/scenarios.md."""

from __future__ import annotations

import itertools
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, field_validator, model_validator

from westwood.errors import InputError
from westwood.scenario.parts import (
    Amount,
    Delay,
    Durations,
    Name,
    Overhead,
    PacketSize,
    Part,
    Probability,
    Rate,
    Span,
    kind_of,
    table_of,
)

Direction = Literal["forward", "backward"]
Side = Literal["forward", "backward", "both"]
PacketNumbers = Annotated[tuple[Annotated[int, Field(ge=1, lt=2**63)], ...], Field(strict=False)]
_LONGEST_TRACE_MS = 30 * 24 * 3600 * 1000


class DropTail(Part):
    """A queue that drops what arrives when it is full. The packet being sent doesn't count."""

    kind: Literal["droptail"] = "droptail"
    limit: Amount


class Red(Part):
    """Random Early Detection (Floyd and Jacobson 1993): drops or marks before the queue is full."""

    kind: Literal["red"] = "red"
    limit: Amount
    min: Annotated[float, Field(ge=0, le=1e9)]  # packets: thresholds of the average queue
    max: Annotated[float, Field(gt=0, le=1e9)]
    max_p: Probability = 0.1  # probability of a drop at max
    weight: Probability = 0.002  # of the newest sample in the average
    gentle: bool = False  # from max_p to 1 between max and twice max
    ecn: bool = False  # mark packets of ECN-capable flows instead (RFC 3168)
    mean_packet: PacketSize = 500  # bytes: how an idle queue's average decays

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
    rate: Probability  # a bit
    on: Side


class ScriptedLoss(Part):
    """The named packets are lost, counted from 1 in each direction. Or a file that lists them."""

    kind: Literal["script"] = "script"
    packets: PacketNumbers
    on: Side

    @field_validator("packets")
    @classmethod
    def _ascending(cls, packets: tuple[int, ...]) -> tuple[int, ...]:
        if any(a >= b for a, b in itertools.pairwise(packets)):
            raise InputError("expected ascending packet numbers", value=list(packets))
        return packets


class MarkovLoss(Part):
    """Two states in turn, first the good one, each with its loss rate; both directions together."""

    kind: Literal["markov"] = "markov"
    good: Span  # ps: mean durations
    bad: Span
    good_rate: Probability = 0.0  # of loss, a packet
    bad_rate: Probability
    durations: Durations = "exponential"
    on: Side


class Blackout(Part):
    """Nothing passes for a while, again and again. Both directions together."""

    kind: Literal["blackout"] = "blackout"
    good: Span  # ps: mean time between two blackouts
    bad: Delay  # ps: mean length of one; 0: none
    durations: Durations = "fixed"
    on: Side


LOSSES = ("none", "uniform", "bits", "script", "markov", "blackout")


def _loss_kind(value: Any) -> Any:
    """Which kind a loss table means: its `kind`, else what its keys say."""
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
    """A share of the packets is held back on the wire, and others pass them."""

    rate: Probability
    delay: Span  # ps
    on: Side = "forward"


class Opportunities(Part):
    """Recorded rates in Mahimahi's format: the times, in ms, at which 1504 bytes can leave.

    In a scenario file each is the name of a file with a time a line.
    """

    forward: Annotated[tuple[int, ...], Field(strict=False)] = ()
    backward: Annotated[tuple[int, ...], Field(strict=False)] = ()

    @field_validator("forward", "backward")
    @classmethod
    def _times(cls, times: tuple[int, ...]) -> tuple[int, ...]:
        if any(a > b for a, b in itertools.pairwise(times)) or (times and times[0] < 0):
            raise InputError("expected ascending times in ms", value=list(times))
        if times and not 1 <= times[-1] <= _LONGEST_TRACE_MS:
            raise InputError("expected a last time of 1 ms to 30 days", value=times[-1])
        return times


class Link(Part):
    """A duplex link between two nodes. `forward` is from the first of `between` to the second."""

    name: Name
    between: Annotated[tuple[Name, Name], Field(strict=False)]
    rate: Rate | None = None  # bit/s, each direction that has no trace
    trace: Opportunities | None = None  # instead of the rate
    delay: Delay  # ps of propagation
    overhead: Overhead  # bytes of framing added to each IP packet
    queue: Queue  # of each direction
    loss: Loss = NoLoss()
    jitter: Delay = 0  # ps: up to so much more delay, a packet, in order
    reorder: Reordering | None = None

    @field_validator("between")
    @classmethod
    def _two_nodes(cls, between: tuple[str, str]) -> tuple[str, str]:
        if between[0] == between[1]:
            raise InputError("expected two different nodes", value=list(between))
        return between

    @model_validator(mode="after")
    def _has_rate(self) -> Link:
        if self.rate is None and not (self.recorded("forward") and self.recorded("backward")):
            problem = "is missing, and trace does not give the rates of both directions"
            raise InputError(problem if self.trace else "is missing", key="rate")
        return self

    def recorded(self, side: Direction) -> tuple[int, ...]:
        """The opportunities of one direction, ms; empty where the rate holds."""
        return getattr(self.trace, side) if self.trace else ()

    def mean_rate_bps(self, side: Direction) -> float:
        """Of one direction: its rate, or what its trace offers on average."""
        times = self.recorded(side)
        if times:
            return 8 * MAHIMAHI_BYTES * len(times) / (times[-1] / 1000)
        return float(self.rate or 0)


MAHIMAHI_BYTES = 1504  # that leave at each time of a trace
