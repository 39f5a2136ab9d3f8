# SPDX-License-Identifier: BSD-3-Clause
"""Models of links: rate or trace, delay, queue, losses. docs/scenarios.md has the format."""

from __future__ import annotations

import itertools
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    Discriminator,
    Field,
    PlainValidator,
    Tag,
    create_model,
    field_validator,
    model_validator,
)

from westwood import _engine
from westwood.control.catalogue import (
    DROPTAIL,
    IMPAIRMENTS,
    LONGEST_PS,
    LOSSES,
    NO_LOSS,
    QUEUES,
    SCRIPT,
    settings_of,
)
from westwood.errors import InputError
from westwood.scenario import parts
from westwood.scenario.declared import QueueLimit, accepted, with_settings
from westwood.scenario.delays import RecordedDelays, Reroute
from westwood.scenario.topology import SIDES, Direction
from westwood.units import TIME_UNITS, format_rate, format_time

if TYPE_CHECKING:
    from westwood.scenario.parts import Settings

Side = Literal["forward", "backward", "both"]

_LONGEST_TRACE_MS = LONGEST_PS // TIME_UNITS["ms"]
_FASTEST_BPS = 1e12  # kFastest of engine/settings.hpp


def _packet_numbers(value: object) -> tuple[int, ...]:
    packets = parts.whole_numbers(value)
    for before, number in itertools.pairwise((0, *packets)):
        if not before < number < 2**63:
            raise InputError("expected ascending packet numbers from 1", value=number)
    return packets


def _times(value: object) -> tuple[int, ...]:
    times = parts.whole_numbers(value)
    for before, time in itertools.pairwise((0, *times)):
        if time < before:
            raise InputError("expected ascending times in ms from 0", value=time)
    if times and not 1 <= times[-1] <= _LONGEST_TRACE_MS:
        problem = f"expected a last time of 1 to {_LONGEST_TRACE_MS} ms"
        raise InputError(problem, value=times[-1])
    if times and (mean_bps := _engine.mean_rate_bps(len(times), times[-1])) > _FASTEST_BPS:
        problem = f"{len(times)} packets in {times[-1]} ms, expected at most 1 Tb/s on average"
        raise InputError(problem, value=f"{mean_bps / 1e12:.4g} Tb/s")
    return times


PacketNumbers = Annotated[tuple[int, ...], PlainValidator(_packet_numbers)]
Times = Annotated[tuple[int, ...], PlainValidator(_times)]


def _importable(class_: Any) -> Any:
    """Returns a class made here, which pickle now finds in this module."""
    class_.__module__ = __name__
    globals()[class_.__name__] = class_
    return class_


class DropTail(parts.Part):
    """Drops what arrives when the queue is full. The packet being sent doesn't count."""

    kind: Literal["droptail"] = "droptail"
    limit: QueueLimit


class Managed(parts.Part):
    """Drops or marks by a discipline, whose settings its file in engine/link/queue declares."""

    kind: str
    limit: QueueLimit

    @model_validator(mode="after")
    def _ordered(self) -> Managed:
        rules = QUEUES[self.kind]
        for lesser, greater in rules.rising:
            least, value = getattr(self, lesser), getattr(self, greater)
            if value <= least:
                raise InputError(
                    f"expected more than {lesser}, {least:g}", key=greater, value=value
                )
        for key in rules.positive:
            if getattr(self, key) == 0:
                raise InputError("expected more than 0", key=key, value=0)
        return self


def _managed(kind: str) -> type[Managed]:
    """Returns the model of a kind of queue."""
    of_kind: Any = Literal[kind]
    base = create_model(f"{kind.title()}Queue", __base__=Managed, kind=(of_kind, kind))
    model: type[Managed] = _importable(with_settings(base, kind))
    return model


if TYPE_CHECKING:

    class _AnyQueue(Managed, Settings):
        pass

    Queue = DropTail | _AnyQueue
else:
    _KINDS = {DROPTAIL: DropTail} | {kind: _managed(kind) for kind in QUEUES}
    Queue = Annotated[
        reduce(or_, (Annotated[model, Tag(kind)] for kind, model in _KINDS.items())),
        Discriminator(lambda value: parts.kind_of(value, DROPTAIL)),
        parts.table_of(tuple(_KINDS), "queue", '{ kind = "droptail", limit = "100p" }', DROPTAIL),
    ]


class NoLoss(parts.Part):
    """Nothing is lost on the wire."""

    kind: Literal["none"] = "none"
    on: Side = "forward"


class ScriptedLoss(parts.Part):
    """Loses the named packets, counted from 1 in each direction; a file may list them."""

    kind: Literal["script"] = "script"
    packets: PacketNumbers
    on: Side


def _losing(kind: str) -> type[parts.Part]:
    """Returns the model of a kind of loss, with the settings that its file declares."""
    of_kind: Any = Literal[kind]
    base = with_settings(create_model(kind, __base__=parts.Part, kind=(of_kind, kind)), kind)
    on: Any = Side
    name = f"{kind.title()}Loss"
    model: type[parts.Part] = _importable(create_model(name, __base__=base, on=(on, ...)))
    return model


def _loss_kind(value: Any) -> Any:
    """Returns the kind of a loss table: its `kind`, else what its keys imply."""
    if isinstance(value, dict) and "kind" not in value:
        return "script" if "packets" in value else "uniform"
    return parts.kind_of(value)


if TYPE_CHECKING:

    class _AnyLoss(Settings):
        kind: str
        on: Side

    Loss = NoLoss | ScriptedLoss | _AnyLoss
else:
    _LOSSES = {NO_LOSS: NoLoss, **{kind: _losing(kind) for kind in LOSSES}, SCRIPT: ScriptedLoss}
    Loss = Annotated[
        reduce(or_, (Annotated[model, Tag(kind)] for kind, model in _LOSSES.items())),
        Discriminator(_loss_kind),
        parts.table_of(tuple(_LOSSES), "loss", '{ kind = "uniform", rate = 0.005 }', "uniform"),
    ]


class Reordering(parts.Part):
    """Delays a share of the packets on the wire, so that later packets overtake them."""

    rate: parts.Probability
    delay: parts.Span  # ps
    on: Side = "forward"


def _impairment(kind: str) -> Any:
    """Returns the model of an impairment, with the settings that its file declares."""
    on: Any = Side
    base = with_settings(create_model(kind, __base__=parts.Part), kind)
    return _importable(
        create_model(f"Link{kind.title().replace('_', '')}", __base__=base, on=(on, "forward"))
    )


class Opportunities(parts.Part):
    """Lists the times in ms at which 1504 bytes can leave, as in Mahimahi's traces.

    A scenario file names a file with one time per line for each direction.
    """

    forward: Times = ()
    backward: Times = ()


class _Wire(parts.Part):
    name: parts.Name
    between: Annotated[tuple[parts.Name, parts.Name], Field(strict=False)]
    rate: parts.Rate | None = None  # bit/s, in each direction without a trace
    backward_rate: parts.Rate | None = None  # instead of the rate
    trace: Opportunities | None = None  # instead of the rate
    queue: Queue  # in each direction
    loss: Loss = NoLoss()
    reorder: Reordering | None = None
    reroute: Reroute | None = None
    delays: RecordedDelays | None = None  # instead of the delay


if TYPE_CHECKING:

    class _Link(_Wire, Settings):
        pass
else:
    _elsewhere = ("rate", "reorder_rate", "reorder_delay")  # declared above, in a scenario's form
    _impairments = {kind: (_impairment(kind) | None, None) for kind in IMPAIRMENTS}
    _Impaired = create_model("Wire", __base__=_Wire, **_impairments)
    _Link = with_settings(_Impaired, "link", leave_out=_elsewhere)


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

    @model_validator(mode="before")
    @classmethod
    def _with_recorded_delay(cls, data: Any) -> Any:
        """Adds the least recorded delay to a link that has recordings instead of a delay."""
        recorded = data.get("delays") if isinstance(data, dict) and "delay" not in data else None
        if not isinstance(recorded, dict):
            return data
        try:
            least_ms = min(min(parts.whole_numbers(recorded.get(side))) for side in SIDES)
        except (InputError, ValueError):  # one direction, or wrong numbers
            return data
        return {**data, "delay": f"{max(0, least_ms)}ms"}

    @model_validator(mode="after")
    def _has_one_delay(self) -> Link:
        recorded = [self.delays.least_ps(side) for side in SIDES] if self.delays else []
        known = [least for least in recorded if least is not None]
        if len(known) == len(SIDES) and self.delay != min(known):
            problem = "has no effect with recorded delays of both directions, expected none"
            raise InputError(problem, key="delay", value=format_time(self.delay))
        for side, least in zip(SIDES, recorded, strict=False):
            if least is not None and self.reroute and self.reroute.on in (side, "both"):
                problem = f"expected none, since delays has the {side} direction"
                raise InputError(problem, key="reroute.on", value=self.reroute.on)
        return self

    @model_validator(mode="after")
    def _has_rate(self) -> Link:
        has_opportunities = self.opportunities("forward") and (
            self.opportunities("backward") or self.backward_rate is not None
        )
        if self.rate is None and not has_opportunities:
            problem = "is missing, and trace does not give the rates of both directions"
            expected = f"is missing, expected {accepted(settings_of('link')['rate'])}"
            raise InputError(problem if self.trace else expected, key="rate")
        if self.rate is not None and has_opportunities:
            problem = "has no effect with a trace of both directions, expected none"
            if self.backward_rate is not None:
                problem = "has no effect with a trace and backward_rate, expected none"
            raise InputError(problem, key="rate", value=format_rate(self.rate))
        return self

    @model_validator(mode="after")
    def _has_one_backward_rate(self) -> Link:
        if self.backward_rate is not None and self.opportunities("backward"):
            problem = "has no effect with a trace of this direction, expected none"
            raise InputError(problem, key="backward_rate", value=format_rate(self.backward_rate))
        return self

    @model_validator(mode="after")
    def _has_rate_for_its_queue(self) -> Link:
        kind = self.queue.kind
        if self.trace and kind in QUEUES and QUEUES[kind].holds:
            known = [DROPTAIL, *(queue.name for queue in QUEUES.values() if not queue.holds)]
            problem = f"expected {' or '.join(known)}, since the link has a trace"
            raise InputError(problem, key="queue.kind", value=kind)
        if self.trace and self.ack_filter:
            problem = "expected none, since the link has a trace"
            raise InputError(problem, key="ack_filter", value=self.ack_filter.model_dump())
        return self

    def opportunities(self, side: Direction) -> tuple[int, ...]:
        """Returns the delivery opportunities of a direction in ms; empty if it has a rate."""
        return getattr(self.trace, side) if self.trace else ()

    def least_delay(self, side: Direction) -> int:
        """Returns the shortest delay of a direction in ps."""
        recorded = self.delays.least_ps(side) if self.delays else None
        rerouted = self.reroute.delay if self.reroute and self.reroute.on in (side, "both") else ()
        return min([int(self.delay) if recorded is None else recorded, *rerouted])

    def mean_rate_bps(self, side: Direction) -> float:
        """Returns the rate of a direction, or the average rate of its trace."""
        times = self.opportunities(side)
        if times:
            return _engine.mean_rate_bps(len(times), times[-1])
        if side == "backward" and self.backward_rate is not None:
            return float(self.backward_rate)
        return float(self.rate or 0)
