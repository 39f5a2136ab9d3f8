# SPDX-License-Identifier: BSD-3-Clause
"""Flows: who sends what to whom, and the congestion control of each. docs/scenarios.md."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    PlainValidator,
    Tag,
    field_validator,
    model_validator,
)

from westwood import units
from westwood.catalogue import PROTOCOLS, UDP, Filter, Recovery, Sampler
from westwood.errors import InputError, suggestion
from westwood.scenario.parts import (
    Amount,
    Bytes,
    Delay,
    Durations,
    FilterTime,
    FiniteAmount,
    HeaderSize,
    Moment,
    Name,
    PacketSize,
    Part,
    Probability,
    Rate,
    Span,
    Timer,
    WindowBytes,
    kind_of,
    table_of,
)

VEGAS_ALPHA, VEGAS_BETA = 2, 4  # of the core's preset


def _protocol(name: object) -> str:
    if name != UDP and (not isinstance(name, str) or name not in PROTOCOLS):
        raise InputError(f"unknown protocol, {suggestion(name, PROTOCOLS)}", value=name)
    return str(name)


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
    cte: Annotated[float, Field(ge=1, le=65)] | None = None  # plateau after a loss; None: none
    set_at_exit: bool | None = None  # BWE*RTTmin again when recovery completes
    halve_on_loss: bool | None = None  # Reno's half until then
    reset_rtt_min: bool | None = None  # RTTmin starts anew after a timeout
    hystart: bool | None = None  # CUBIC: HyStart++ (RFC 9406)
    fast_convergence: bool | None = None  # CUBIC: RFC 9438, 4.7
    vegas_alpha: Annotated[int, Field(ge=1, le=255)] | None = None  # segments queued, at least
    vegas_beta: Annotated[int, Field(ge=1, le=255)] | None = None  # and at most
    vegas_gamma: Annotated[int, Field(ge=1, le=255)] | None = None  # and in slow start

    @field_validator("m")
    @classmethod
    def _not_one(cls, m: int | None) -> int | None:
        if m == 1:
            raise InputError("expected 0 (no virtual samples) or 2 to 16", value=m)
        return m

    @model_validator(mode="after")
    def _alpha_up_to_beta(self) -> CongestionControl:
        least, most = self.vegas_alpha or VEGAS_ALPHA, self.vegas_beta or VEGAS_BETA
        if most < least:
            key = "vegas_beta" if self.vegas_beta else "vegas_alpha"
            raise InputError(f"expected alpha, {least}, to be at most beta, {most}", key=key)
        return self


def _cc_table(value: object) -> object:
    if not isinstance(value, (dict, Part)):
        raise InputError('expected a protocol such as "westwood+", or a table', value=value)
    return value


class Bulk(Part):
    """A TCP connection that sends as much as goes through, or `size`."""

    kind: Literal["bulk"] = "bulk"


class Datagrams(Part):
    """UDP packets at a constant rate, always or on and off in turn."""

    kind: Literal["udp"] = "udp"
    rate: Rate  # bit/s of IP packets, while on
    on: Span | None = None  # ps: mean durations; None: always on
    off: Span | None = None
    durations: Durations = "fixed"

    @model_validator(mode="after")
    def _both(self) -> Datagrams:
        if (self.on is None) != (self.off is None):
            missing = "on" if self.on is None else "off"
            raise InputError("is missing: a source has both on and off, or neither", key=missing)
        return self


def _app(value: object) -> object:
    return {"kind": value} if isinstance(value, str) else value


App = Annotated[
    Annotated[Bulk, Tag("bulk")] | Annotated[Datagrams, Tag("udp")],
    Discriminator(lambda value: kind_of(value, "bulk")),
    table_of(("bulk", "udp"), "app", '{ kind = "udp", rate = "1Mbps" }', "bulk"),
    BeforeValidator(_app),
]


class Arrivals(Part):
    """The flow is many transfers, which arrive by a Poisson process from `start` to `stop`."""

    every: Span  # ps: mean time between two
    size: Bytes  # payload of each
    sizes: Durations = "fixed"


class Flow(Part):
    """A TCP connection, many of them, or a source of datagrams, from node `from` to node `to`."""

    name: Name
    from_: Annotated[Name, Field(alias="from")]
    to: Name
    cc: Annotated[CongestionControl, BeforeValidator(_cc_table)]
    recovery: Recovery
    count: Annotated[int, Field(ge=1, le=10_000)] = 1  # so many alike
    app: App = Bulk()
    arrivals: Arrivals | None = None
    ecn: bool = False  # ECN-capable (RFC 3168)
    size: Bytes | None = None  # payload to deliver; None: as much as goes through
    start: Moment = 0
    start_spread: Delay = 0  # ps: it starts up to so much later, by the seed
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
    ssthresh_from_cwnd: bool  # instead of either, once an episode of losses: Linux

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
        if (self.app.kind == "udp") != (self.cc.name == UDP):
            is_udp = self.app.kind == "udp"
            wanted = '"udp", for that is its app' if is_udp else 'a protocol, for its app is "bulk"'
            raise InputError(f"expected {wanted}", key="cc", value=self.cc.name)
        if self.arrivals and self.app.kind == "udp":
            raise InputError('expected "bulk", for arrivals is of transfers', key="app.kind",
                             value=self.app.kind)  # fmt: skip
        if self.arrivals and self.size is not None:
            raise InputError("expected none, for arrivals has one", key="size",
                             value=units.format_size(self.size))  # fmt: skip
        if self.stop is not None and self.stop <= self.start:
            problem = f"expected a time after start, {units.format_time(self.start)}"
            raise InputError(problem, key="stop", value=units.format_time(self.stop))
        return self

    def each(self) -> list[Flow]:
        """The flows it stands for."""
        if self.count == 1:
            return [self]
        numbers = range(1, self.count + 1)
        return [self.model_copy(update={"name": f"{self.name}-{i}", "count": 1}) for i in numbers]

    @property
    def mss(self) -> int:
        """Payload of a full segment, bytes."""
        return self.packet - self.header
