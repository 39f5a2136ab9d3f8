# SPDX-License-Identifier: BSD-3-Clause
"""Models of flows: their nodes, traffic and congestion control. See docs/scenarios.md."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    PlainValidator,
    SerializerFunctionWrapHandler,
    Tag,
    model_serializer,
    model_validator,
)

from westwood import _engine, units
from westwood.control import catalogue
from westwood.errors import InputError
from westwood.scenario import controls, parts, stacks
from westwood.scenario.declared import with_settings, written_default, written_field

if TYPE_CHECKING:
    from westwood.scenario.parts import Settings


def _protocol(name: object) -> str:
    if name != catalogue.UDP and (not isinstance(name, str) or name not in catalogue.PROTOCOLS):
        raise InputError(catalogue.unknown_protocol(name), value=name)
    return str(name)


class _Named(parts.Part):
    name: Annotated[str, PlainValidator(_protocol)]
    source: str | None = None  # identifies the contents of a control's file
    # Whose connections use the control; with a fork's control of a new name: quinn-mine:fast.
    stack: Annotated[str, PlainValidator(stacks.checked)] | None = None
    # The parameters that a control in a file declares. They are written among the other keys.
    parameters: dict[str, int] = Field(default={})


if TYPE_CHECKING:

    class _CongestionControl(_Named, Settings):
        pass
else:
    _CongestionControl = with_settings(_Named, "cc", optional=True)


class CongestionControl(_CongestionControl):
    """A protocol by name with its settings; None means the protocol's own value."""

    @model_validator(mode="before")
    @classmethod
    def _own_parameters(cls, given: Any) -> Any:
        return controls.with_parameters(given, cls) if isinstance(given, dict) else given

    @model_serializer(mode="wrap")
    def _among_the_others(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = write(self)
        parameters = written.pop("parameters", {})
        for key in ("source", "stack"):
            if getattr(self, key) is None:
                written.pop(key, None)
        return {**written, **parameters}

    @property
    def written(self) -> str:
        """Returns the name as a scenario writes it: `cubic`, or `quinn:cubic`."""
        return stacks.join(self.stack, self.name)

    @property
    def control(self) -> str:
        """Returns its name without that of the stack."""
        return self.written.partition(":")[2] if self.stack else self.name

    @model_validator(mode="after")
    def _obeyed(self) -> CongestionControl:
        settings = {} if self.name == catalogue.UDP else catalogue.settings_of_protocol(self.name)
        for key in catalogue.settings_of("cc"):
            if getattr(self, key) is not None and key not in settings:
                problem = f"{catalogue.label(self.name)} has no settings"
                if settings:
                    known = ", ".join(settings)
                    label = catalogue.label(self.name)
                    problem = f"{label} has no such setting, expected one of: {known}"
                written = self.model_dump(include={key})[key]
                raise InputError(problem, key=key, value=written)
        return self

    @model_validator(mode="after")
    def _has_effect(self) -> CongestionControl:
        for key, other, word in _engine.SETTINGS_THAT_NEED:
            written = self.model_dump(include={key})[key]
            usual = written_default(catalogue.settings_of("cc")[key])
            if written not in (None, usual) and getattr(self, other) != word:
                problem = f'has no effect without {other} = "{word}"'
                raise InputError(problem, key=key, value=written)
        return self

    @model_validator(mode="after")
    def _in_order(self) -> CongestionControl:
        if self.name == catalogue.UDP:
            return self
        settings, built = catalogue.settings_of_protocol(self.name), configured(self)
        for lesser, greater in catalogue.settings_in_order("cc"):
            if lesser not in settings or greater not in settings:
                continue
            low, high = (getattr(built, settings[key].field) for key in (lesser, greater))
            if low > high:
                self._contradict(lesser, greater, low, high)
        return self

    def _contradict(self, lesser: str, greater: str, low: int, high: int) -> None:
        """Raises InputError for the setting that the user gave, with the limit the other sets."""
        settings = catalogue.settings_of("cc")
        words = {
            lesser: written_field(settings[lesser], low),
            greater: written_field(settings[greater], high),
        }
        is_greater = getattr(self, greater) is not None
        key, other, sense = (
            (greater, lesser, "at least") if is_greater else (lesser, greater, "at most")
        )
        raise InputError(f"expected {sense} {other}, {words[other]}", key=key, value=words[key])


def configured(cc: CongestionControl) -> _engine.CongestionControl:
    """Returns the core's configuration of the protocol with the scenario's settings applied."""
    return _engine.configure(cc.name, cc.model_dump(exclude={"name", "stack"}, exclude_none=True))


def _cc_table(value: object) -> object:
    if not isinstance(value, (dict, parts.Part)):
        raise InputError('expected a protocol such as "westwood+", or a table', value=value)
    return value


def _as_tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


class Bulk(parts.Part):
    """A TCP connection that sends `size`, or as much as it can."""

    kind: Literal["bulk"] = "bulk"


class _InPeriods(parts.Part):
    rate: parts.Rate  # bit/s while on
    on: parts.Span | None = None  # ps: mean duration; None: always on
    off: parts.Span | None = None
    durations: parts.Durations = "fixed"

    @model_validator(mode="after")
    def _both(self) -> Self:
        if (self.on is None) != (self.off is None):
            missing = "on" if self.on is None else "off"
            raise InputError("is missing: a source has both on and off, or neither", key=missing)
        if self.on is None and "durations" in self.model_fields_set:
            problem = "has no effect on a source that is always on, expected on and off too"
            raise InputError(problem, key="durations", value=self.durations)
        return self


class Datagrams(_InPeriods):
    """UDP packets at constant or Poisson intervals, always or in on and off periods.

    Its rate counts IP packets.
    """

    kind: Literal["udp"] = "udp"
    spacing: parts.Durations = "fixed"  # between packets; exponential: a Poisson process


class RateLimited(_InPeriods):
    """A TCP connection whose application writes payload at a constant rate, while on."""

    kind: Literal["rate"]
    bulk: parts.Delay = 0  # ps: before that it writes as much as TCP takes


class OnOff(parts.Part):
    """A TCP connection that sends as much as it can while on, and nothing while off."""

    kind: Literal["on-off"]
    on: parts.Span  # ps: mean duration
    off: parts.Span
    durations: parts.Durations = "fixed"


class Request(parts.Part):
    """A TCP connection of responses; each but the first is asked for after a think time."""

    kind: Literal["request"]
    size: parts.Bytes  # payload of a response
    sizes: parts.Durations = "fixed"
    think: parts.Delay = 0  # ps: mean time from a response to the next request
    durations: parts.Durations = "fixed"  # of the think times


class Video(parts.Part):
    """A TCP connection of video chunks, whose rates a player chooses from a ladder."""

    kind: Literal["video"]
    ladder: Annotated[tuple[parts.Rate, ...], BeforeValidator(_as_tuple)]  # bit/s, ascending
    chunk: parts.Chunk = 4 * units.PS_PER_S  # ps: how long a chunk plays
    buffer: parts.Span | None = None  # ps: how much the player keeps at most; None: five chunks

    @model_validator(mode="after")
    def _rising(self) -> Video:
        rising = all(low < high for low, high in itertools.pairwise(self.ladder))
        if not self.ladder or not rising:
            written = self.model_dump(include={"ladder"})["ladder"]
            problem = 'expected ascending rates such as ["1Mbps", "3Mbps"]'
            raise InputError(problem, key="ladder", value=list(written))
        if self.buffer is not None and self.buffer < self.chunk:
            problem = f"expected room for a chunk, {units.format_time(self.chunk)}"
            value = units.format_time(self.buffer)
            raise InputError(problem, key="buffer", value=value)
        return self


class Media(parts.Part):
    """A TCP connection of live media: frames of one or two layers, due at a constant rate."""

    kind: Literal["media"]
    interval: parts.Chunk  # ps: from one frame to the next
    frame: parts.FrameBytes  # payload of a frame
    key: parts.LayerBytes = 0  # payload of a key frame; 0: like the others
    group: Annotated[int, Field(ge=1, le=1_000_000)] = 30  # frames; the first is a key frame
    upper: parts.LayerBytes = 0  # the second layer; 0: none
    upper_key: parts.LayerBytes = 0
    patience: parts.Moment | None = (
        None  # ps: a later frame stops the second layer until the next group
    )
    warm_up: parts.Moment = 0  # ps: frames due earlier are not counted


APPS = ("bulk", "udp", "rate", "on-off", "request", "video", "media")


def _app(value: object) -> object:
    return {"kind": value} if isinstance(value, str) else value


App = Annotated[
    Annotated[Bulk, Tag("bulk")]
    | Annotated[Datagrams, Tag("udp")]
    | Annotated[RateLimited, Tag("rate")]
    | Annotated[OnOff, Tag("on-off")]
    | Annotated[Request, Tag("request")]
    | Annotated[Video, Tag("video")]
    | Annotated[Media, Tag("media")],
    Discriminator(lambda value: parts.kind_of(value, "bulk")),
    parts.table_of(APPS, "app", '{ kind = "udp", rate = "1Mbps" }', "bulk"),
    BeforeValidator(_app),
]


class Arrivals(parts.Part):
    """Makes the flow many transfers that arrive as a Poisson process from `start` to `stop`."""

    every: parts.Span  # ps: mean time between arrivals
    size: parts.Bytes  # payload of each transfer
    sizes: parts.Durations = "fixed"


class _Routed(parts.Part):
    name: parts.Name
    from_: Annotated[parts.Name, Field(alias="from")]
    to: parts.Name
    cc: Annotated[CongestionControl, BeforeValidator(_cc_table)]
    recovery: parts.RecoveryName
    count: Annotated[int, Field(ge=1, le=10_000)] = 1  # number of identical flows
    app: App = Bulk.model_construct()
    arrivals: Arrivals | None = None


if TYPE_CHECKING:

    class _Flow(_Routed, Settings):
        pass
else:
    _Flow = with_settings(_Routed, "flow")


class Flow(_Flow):
    """A TCP connection, a group of them, or a UDP source, from node `from` to node `to`.

    Its other keys are the settings of a flow that engine/settings.hpp declares.
    """

    @model_validator(mode="after")
    def _consistent(self) -> Flow:
        if self.packet <= self.header:
            problem = f"expected more than the header of {units.format_size(self.header)}"
            raise InputError(problem, key="packet", value=units.format_size(self.packet))
        if self.receive_window < self.mss:
            problem = f"expected room for a segment of {units.format_size(self.mss)}"
            value = units.format_size(self.receive_window)
            raise InputError(problem, key="receive_window", value=value)
        for lesser, greater in catalogue.settings_in_order("flow"):
            if getattr(self, greater) < getattr(self, lesser):
                written = self.model_dump(include={lesser, greater})
                problem = f"expected at least {lesser}, {written[lesser]}"
                raise InputError(problem, key=greater, value=written[greater])
        self._check_sack()
        if self.from_ == self.to:
            raise InputError(
                "expected another node than the flow comes from", key="to", value=self.to
            )
        if (self.app.kind == "udp") != (self.cc.name == catalogue.UDP):
            is_udp = self.app.kind == "udp"
            wanted = '"udp", as its app is' if is_udp else 'a protocol, since its app is not "udp"'
            raise InputError(f"expected {wanted}", key="cc", value=self.cc.name)
        if self.arrivals and self.app.kind != "bulk":
            raise InputError(
                'expected "bulk", since arrivals is for transfers',
                key="app.kind",
                value=self.app.kind,
            )
        if self.arrivals and self.size is not None:
            raise InputError(
                "expected none, since arrivals has a size",
                key="size",
                value=units.format_size(self.size),
            )
        if self.stop is not None and self.stop <= self.start:
            problem = f"expected a time after start, {units.format_time(self.start)}"
            raise InputError(problem, key="stop", value=units.format_time(self.stop))
        return self

    def _check_sack(self) -> None:
        if not catalogue.RECOVERIES[self.recovery].uses_sack:
            for key in _engine.SETTINGS_OF_SACK:
                if getattr(self, key):
                    problem = f'expected false, since the recovery "{self.recovery}" has no SACK'
                    raise InputError(problem, key=key, value=True)
        if self.timestamps and self.header < _engine.STAMPED_HEADER:
            least = units.format_size(_engine.STAMPED_HEADER)
            value = units.format_size(self.header)
            problem = f"expected at least {least}, or timestamps = false"
            raise InputError(problem, key="header", value=value)

    def each(self) -> list[Flow]:
        """Returns the single flows of the group."""
        if self.count == 1:
            return [self]
        numbers = range(1, self.count + 1)
        return [self.model_copy(update={"name": f"{self.name}-{i}", "count": 1}) for i in numbers]

    @property
    def mss(self) -> int:
        """Returns the payload of a full segment, bytes."""
        return int(self.packet - self.header)
