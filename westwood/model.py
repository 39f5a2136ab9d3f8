# SPDX-License-Identifier: BSD-3-Clause
"""The parts of a scenario: links, queues, losses, flows, congestion controls, each one checked.

Held in base units (bit/s, picoseconds, bytes); written back with their units. Every limit below is
there to keep the simulator's integers from overflowing or to catch a slip of the unit.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    PlainSerializer,
    PlainValidator,
    Tag,
    field_validator,
    model_validator,
)

from westwood import units
from westwood.errors import InputError, suggestion
from westwood.protocols import PROTOCOLS, Filter, Recovery, Sampler

NAME_PATTERN = "letters, digits, _, - and +, not starting with a digit"
_NAME_CHARACTERS = frozenset(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+"
)  # no dot: it separates the name from the key in `--set`
LONGEST_RUN = 30 * 24 * 3600 * units.PS_PER_S


class Part(BaseModel):
    """Base of everything in a scenario: no unknown keys, no silent conversions, never changed."""

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, populate_by_name=True, serialize_by_alias=True
    )


def _name(text: object) -> str:
    ok = isinstance(text, str) and 0 < len(text) <= 40 and set(text) <= _NAME_CHARACTERS
    if not ok or str(text)[0].isdigit():
        raise InputError(f"expected a name: {NAME_PATTERN}", value=text)
    return str(text)


def _between(
    parse: Callable[[object], int], low: int, high: int, write: Callable[[int], str]
) -> PlainValidator:
    """Reads a quantity and checks that it lies from `low` to `high`, in base units."""

    def check(value: object) -> int:
        number = parse(value)
        if not low <= number <= high:
            lowest = f"at least {write(low)}" if low != 1 else f"more than {write(0)}"
            raise InputError(f"expected {lowest} and at most {write(high)}", value=value)
        return number

    return PlainValidator(check)


def _written(write: Callable[[Any], str]) -> PlainSerializer:
    return PlainSerializer(write, return_type=str)


_us = units.TIME_UNITS["us"]
_hour = units.TIME_UNITS["h"]
_AsTime = _written(units.format_time)
_AsSize = _written(units.format_size)

Name = Annotated[str, PlainValidator(_name)]
Rate = Annotated[
    int,
    _between(units.parse_rate, 1000, 10**12, units.format_rate),
    _written(units.format_rate),
]
Delay = Annotated[int, _between(units.parse_time, 0, _hour, units.format_time), _AsTime]
Moment = Annotated[int, _between(units.parse_time, 0, LONGEST_RUN, units.format_time), _AsTime]
Duration = Annotated[int, _between(units.parse_time, 1, LONGEST_RUN, units.format_time), _AsTime]
Timer = Annotated[int, _between(units.parse_time, _us, _hour, units.format_time), _AsTime]
FilterTime = Annotated[
    int, _between(units.parse_time, _us, 60 * units.PS_PER_S, units.format_time), _AsTime
]
PacketSize = Annotated[int, _between(units.parse_size, 21, 65535, units.format_size), _AsSize]
HeaderSize = Annotated[int, _between(units.parse_size, 20, 255, units.format_size), _AsSize]
Overhead = Annotated[int, _between(units.parse_size, 0, 1000, units.format_size), _AsSize]
Bytes = Annotated[int, _between(units.parse_size, 1, 2**50, units.format_size), _AsSize]
WindowBytes = Annotated[int, _between(units.parse_size, 1, 2**30, units.format_size), _AsSize]
Probability = Annotated[float, PlainValidator(units.parse_fraction)]


def _amount(value: object) -> units.Amount:
    amount = units.parse_amount(value)
    if amount.count is not None and not 1 <= amount.count <= 2**30:
        raise InputError("expected at least one packet or byte and at most 2^30", value=value)
    return amount


def _finite(amount: units.Amount) -> units.Amount:
    if amount.count is None:
        raise InputError('expected packets or bytes such as "10p"', value=str(amount))
    return amount


Amount = Annotated[units.Amount, PlainValidator(_amount), _written(str)]
FiniteAmount = Annotated[units.Amount, PlainValidator(lambda v: _finite(_amount(v))), _written(str)]


class DropTail(Part):
    """A queue that drops what arrives when it is full. The packet being sent doesn't count."""

    kind: Literal["droptail"] = "droptail"
    limit: Amount


class NoLoss(Part):
    """Nothing is lost on the wire."""

    kind: Literal["none"] = "none"
    on: Literal["forward", "backward", "both"] = "forward"


class UniformLoss(Part):
    """Each packet is lost with the same probability, independently of the others."""

    kind: Literal["uniform"] = "uniform"
    rate: Probability
    on: Literal["forward", "backward", "both"]


class ScriptedLoss(Part):
    """The named packets are lost, counted from 1 in each direction."""

    kind: Literal["script"] = "script"
    packets: Annotated[tuple[Annotated[int, Field(ge=1, lt=2**63)], ...], Field(strict=False)]
    on: Literal["forward", "backward", "both"]

    @field_validator("packets")
    @classmethod
    def _ascending(cls, packets: tuple[int, ...]) -> tuple[int, ...]:
        if any(a >= b for a, b in itertools.pairwise(packets)):
            raise InputError("expected ascending packet numbers", value=list(packets))
        return packets


_LOSSES = ("none", "uniform", "script")


def _loss_table(value: object) -> object:
    if not isinstance(value, (dict, Part)):
        raise InputError('expected a table such as { kind = "uniform", rate = 0.005 }', value=value)
    if _loss_kind(value) not in _LOSSES:
        kind = _loss_kind(value)
        raise InputError(f"unknown loss, {suggestion(kind, _LOSSES)}", key="kind", value=kind)
    return value


def _loss_kind(value: Any) -> Any:
    """Which kind a loss table means: its `kind`, else what its keys say."""
    if isinstance(value, Part):
        return getattr(value, "kind", None)
    return value.get("kind", "script" if "packets" in value else "uniform")


Loss = Annotated[
    Annotated[NoLoss, Tag("none")]
    | Annotated[UniformLoss, Tag("uniform")]
    | Annotated[ScriptedLoss, Tag("script")],
    Discriminator(_loss_kind),
    BeforeValidator(_loss_table),
]


class Link(Part):
    """A duplex link between two nodes. `forward` is from the first of `between` to the second."""

    name: Name
    between: Annotated[tuple[Name, Name], Field(strict=False)]
    rate: Rate  # bit/s, each direction
    delay: Delay  # ps of propagation
    overhead: Overhead  # bytes of framing added to each IP packet
    queue: DropTail  # of each direction
    loss: Loss = NoLoss()

    @field_validator("between")
    @classmethod
    def _two_nodes(cls, between: tuple[str, str]) -> tuple[str, str]:
        if between[0] == between[1]:
            raise InputError("expected two different nodes", value=list(between))
        return between


def _protocol(name: object) -> str:
    if not isinstance(name, str) or name not in PROTOCOLS:
        raise InputError(f"unknown protocol, {suggestion(name, PROTOCOLS)}", value=name)
    return name


class CongestionControl(Part):
    """A protocol by name; what is None is as the protocol's preset has it."""

    name: Annotated[str, PlainValidator(_protocol)]
    byte_counting: bool  # RFC 3465 instead of growth once an ACK
    validate_cwnd: bool  # grow only a window that is full
    sampler: Sampler | None = None
    filter: Filter | None = None
    tau: FilterTime | None = None  # time constant of the time-varying Tustin filter
    m: Annotated[int, Field(ge=0, le=16)] | None = None  # virtual null samples: one every tau / m
    alpha: Probability | None = None  # pole of the constant Tustin filter
    min_interval: Timer | None = None  # shortest sample of "per-rtt"
    min_cwnd: Annotated[int, Field(ge=1, le=255)] | None = None  # segments
    set_cwnd_on_loss: bool | None = None  # a loss may raise cwnd, too
    seed_filter: bool | None = None  # the first sample is the first estimate
    literal_count: bool | None = None  # the DUPACK pseudo-code to the letter

    @field_validator("m")
    @classmethod
    def _not_one(cls, m: int | None) -> int | None:
        if m == 1:
            raise InputError("expected 0 (no virtual samples) or 2 to 16", value=m)
        return m


def _cc_table(value: object) -> object:
    if not isinstance(value, (dict, Part)):
        raise InputError('expected a protocol such as "westwood+", or a table', value=value)
    return value


class Flow(Part):
    """A TCP connection. Data goes from `from` to `to`."""

    name: Name
    from_: Annotated[Name, Field(alias="from")]
    to: Name
    cc: Annotated[CongestionControl, BeforeValidator(_cc_table)]
    recovery: Recovery
    app: Literal["bulk"] = "bulk"
    size: Bytes | None = None  # payload to deliver; None: as much as goes through
    start: Moment = 0
    stop: Moment | None = None  # no new data from then on
    packet: PacketSize  # IP packet of a full segment
    header: HeaderSize  # of which IP and TCP headers
    initial_cwnd: FiniteAmount
    initial_ssthresh: Amount
    receive_window: WindowBytes
    min_rto: Timer
    max_rto: Timer
    initial_rto: Timer
    clock_granularity: Timer
    delayed_ack: Annotated[int, Field(ge=1, le=1000)]  # full segments an ACK
    delayed_ack_timeout: Timer
    dupack_threshold: Annotated[int, Field(ge=1, le=1000)]
    limited_transmit: bool
    handshake_rtt: bool
    flight_excludes_sacked: bool

    @model_validator(mode="after")
    def _consistent(self) -> Flow:
        if self.packet <= self.header:
            problem = f"expected more than the header of {units.format_size(self.header)}"
            raise InputError(problem, key="packet", value=units.format_size(self.packet))
        if self.receive_window < self.mss:
            problem = f"expected room for a segment of {units.format_size(self.mss)}"
            value = units.format_size(self.receive_window)
            raise InputError(problem, key="receive_window", value=value)
        if self.max_rto < self.min_rto:
            problem = f"expected at least min_rto, {units.format_time(self.min_rto)}"
            raise InputError(problem, key="max_rto", value=units.format_time(self.max_rto))
        if self.from_ == self.to:
            raise InputError("expected another node than the flow comes from", key="to",
                             value=self.to)  # fmt: skip
        if self.stop is not None and self.stop <= self.start:
            problem = f"expected a time after start, {units.format_time(self.start)}"
            raise InputError(problem, key="stop", value=units.format_time(self.stop))
        return self

    @property
    def mss(self) -> int:
        """Payload of a full segment, bytes."""
        return self.packet - self.header
