# SPDX-License-Identifier: BSD-3-Clause
"""Writes a scenario as a C++ program for ns-3, from the template ns3.cc.j2.

The program does what ns3/runner does with the scenario's plan, in the same order and with the same
random numbers, so its results equal those of `--engine ns3`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2

from westwood import __version__, _engine
from westwood.control.catalogue import PROTOCOLS, RECOVERIES, Setting, settings_of_protocol
from westwood.engines import network
from westwood.engines.export import ns3_refused
from westwood.errors import InputError
from westwood.results.traces import SIDES
from westwood.scenario import Scenario
from westwood.units import PS_PER_S, format_rate, format_time

_FAMILY = "ns3::WwTcpWestwood"  # the module's class, with the core's settings as attributes
_OWN_SOCKETS = "ns3::TcpSocketFactory"
_CUBIC = "ns3::TcpCubic"
# ns3/runner: streams of random numbers.
# The kinds that the template writes.
_QUEUES = ("droptail", "red")
_LOSSES = ("none", "uniform", "script")
_LOSS_STREAMS, _RED_STREAMS, _START_STREAMS = 100, 1_000_000, 2_000_000
_ENDLESS = 2**31  # packets, for a queue without a limit
_LARGEST = 2**32 - 1
_WIDTH, _INDENT = 100, 4  # columns, in ns-3's style


@dataclass(frozen=True)
class _Class:
    """A class of our ns-3 module, and mainline's replacement for it."""

    constant: str
    name: str
    mainline: str


_OF_MODULE = {
    module_class.name: module_class
    for module_class in (
        _Class("WESTWOOD", _FAMILY, "ns3::TcpWestwoodPlus"),  # TcpWestwood in 3.37
        _Class("CLASSIC_RECOVERY", "ns3::WwClassicRecovery", "ns3::TcpClassicRecovery"),
        _Class("TAHOE_SOCKETS", "ns3::WwTcpTahoeFactory", _OWN_SOCKETS),
        _Class("RENO_SOCKETS", "ns3::WwTcpRenoFactory", _OWN_SOCKETS),
        _Class("NEWRENO_SOCKETS", "ns3::WwTcpNewRenoFactory", _OWN_SOCKETS),
    )
}


@dataclass(frozen=True)
class _Default:
    """An attribute with which sockets are created."""

    attribute: str  # without the leading ns3::
    value: str  # its class, such as UintegerValue({})
    number: str  # in C++
    constant: str = ""  # the name of its value if all flows share it
    type: str = ""
    unit: str = ""
    follows: bool = False  # the protocol has this value by default

    def set_to(self, number: str) -> str:
        """Returns the statement that sets it."""
        return _call(f'Config::SetDefault("ns3::{self.attribute}"', self.value.format(number))

    @property
    def set_on_node(self) -> str:
        """Returns the statement that sets it for the sockets of one node."""
        name = self.attribute.partition("::")[2]
        return _call(f'tcp->SetAttribute("{name}"', self.value.format(self.number))


def _call(start: str, last: str) -> str:
    """Returns a call, with its last argument on a second line if one is too short."""
    line = f"{start}, {last});"
    if len(line) + _INDENT <= _WIDTH:
        return line
    return f"{start},\n{' ' * (_INDENT + start.index('(') + 1)}{last});"


Defaults = dict[str, _Default]  # by attribute


def program(scenario: Scenario) -> str:
    """Returns the program; raises InputError for what ns-3 can't do."""
    ns3_refused.check(scenario, _QUEUES, _LOSSES)
    built = network.build(scenario)
    links = list(_links(scenario, built))
    flows = [_flow(scenario, built, index) for index in range(len(built.flows))]
    shared, settings_of_flows = _divided([flow["defaults"] for flow in flows])
    groups: dict[tuple[str, ...], str] = {}
    for flow, settings in zip(flows, settings_of_flows, strict=True):
        flow["settings"] = _named_group(groups, flow["name"], settings)
        if "TcpSocket::SegmentSize" in shared:
            flow["segment"] = shared["TcpSocket::SegmentSize"].constant
    if set(groups) == {()}:
        groups = {}
    losses = [loss for link in links for loss in link["losses"]]
    text = (
        _environment()
        .get_template("ns3.cc.j2")
        .render(
            name=scenario.name,
            version=__version__,
            duration=_seconds(scenario.duration),
            nodes=scenario.nodes,
            links=links,
            flows=flows,
            shared=list(shared.values()),
            groups=[(name, statements) for statements, name in groups.items()],
            classes=_classes(flows),
            own_sockets=_OWN_SOCKETS,
            has_red=any(link["red"] for link in links),
            has_rates=any(loss["rate"] for loss in losses),
            has_lists=any(loss["packets"] for loss in losses),
            has_spread=any(flow["spread"] for flow in flows),
            has_sizes=any(flow["bytes"] for flow in flows),
            has_factories=any(flow["sockets"] != _OWN_SOCKETS for flow in flows),
        )
    )
    return re.sub(r"\n{3,}", "\n\n", text)


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["cpp"] = json.dumps  # ASCII names are the same strings in JSON and C++
    environment.filters["wrapped"] = _wrapped
    return environment


def _wrapped(items: Sequence[object], indent: int) -> str:
    """Joins items by commas and breaks long lines."""
    lines, line = [], ""
    for item in map(str, items):
        if line and indent + len(line) + len(item) + 2 > _WIDTH:
            lines.append(line)
            line = ""
        line += f"{', ' if line else ''}{item}"
    return (",\n" + " " * indent).join([*lines, line])


def _seconds(ps: int) -> str:
    """Returns a time in seconds as a C++ literal that equals ns3/runner's number."""
    return repr(ps / PS_PER_S).removesuffix(".0")


def _count(number: int) -> str:
    """Returns a whole number as a C++ literal."""
    return f"{number}u" if number >= 2**31 else str(number)


def _unlike(name: str, taken: set[str]) -> str:
    """Returns the name, with a number appended if it is already taken."""
    unique, number = name, 2
    while unique in taken:
        unique, number = f"{name}_{number}", number + 1
    taken.add(unique)
    return unique


def _camel_case(name: str) -> str:
    words = [word for word in re.split(r"\W|_", name) if word] or ["one"]
    return words[0].lower() + "".join(word[:1].upper() + word[1:] for word in words[1:])


def _links(scenario: Scenario, built: _engine.Network) -> Iterator[dict[str, Any]]:
    prefixes: set[str] = set()
    variables: set[str] = set()
    for index, (link, built_link) in enumerate(zip(scenario.link, built.links, strict=True)):
        direction = built_link.forward
        endless = direction.queue_packets < 0
        prefix = _unlike(re.sub(r"\W", "_", link.name.upper()), prefixes)
        yield {
            "name": link.name,
            "between": link.between,
            "ends": (built_link.a, built_link.b),
            "prefix": prefix,
            "variable": _unlike(_camel_case(link.name) + "Link", variables),
            "rate": direction.rate_bps,
            "rate_text": format_rate(direction.rate_bps),
            "delay": _seconds(direction.delay),
            "delay_text": format_time(direction.delay),
            "queue": _count(_ENDLESS if endless else min(direction.queue_packets, _ENDLESS)),
            "endless": endless,
            "red": _red(direction.red) if direction.queue_kind == "red" else None,
            "losses": list(_losses(link.name, index, built_link)),
            "red_streams": [_RED_STREAMS + 2 * index + side for side in (0, 1)],
        }


def _red(red: _engine.Red) -> dict[str, Any]:
    return {
        "min": repr(float(red.min_packets)),
        "max": repr(float(red.max_packets)),
        "max_p": repr(float(red.max_p)),
        "weight": repr(float(red.weight)),
        "mean_packet": red.mean_packet_bytes,
        "gentle": bool(red.gentle),
        "ecn": bool(red.ecn),
    }


def _losses(name: str, index: int, link: _engine.Link) -> Iterator[dict[str, Any]]:
    """Yields the losses of both directions, with the end that loses arriving packets."""
    for side, direction in enumerate(getattr(link, side) for side in SIDES):
        loss = {"side": side, "receiver": 1 - side, "stream": _LOSS_STREAMS + 2 * index + side}
        loss_model = direction.loss
        if isinstance(loss_model, _engine.LossList) and loss_model.packets:
            if loss_model.packets[-1] > _LARGEST:
                expected = "expected packet numbers below 2^32, as in ns-3"
                raise InputError(expected, key=f"{name}.loss.packets", value=loss_model.packets[-1])
            # ns-3 counts from 0.
            yield {**loss, "packets": [number - 1 for number in loss_model.packets], "rate": ""}
        elif isinstance(loss_model, _engine.Uniform) and loss_model.rate > 0:
            yield {**loss, "packets": [], "rate": repr(float(loss_model.rate))}


def _flow(scenario: Scenario, built: _engine.Network, index: int) -> dict[str, Any]:
    flow, built_flow = scenario.flows[index], built.flows[index]
    stops = flow.stop is not None and flow.stop < scenario.duration
    return {
        "name": flow.name,
        "nodes": (built_flow.from_node, built_flow.to_node),
        "ends": (flow.from_, flow.to),
        "cc": flow.cc.name,
        "start": _seconds(flow.start),
        "spread": _seconds(flow.start_spread) if flow.start_spread else "",
        "stream": _START_STREAMS + index,
        "stop": _seconds(flow.stop) if stops else "",
        "bytes": 0 if flow.size is None else built_flow.size_bytes,
        "segment": flow.mss,
        "sockets": _sockets(flow.recovery),
        "sockets_cpp": _class(_sockets(flow.recovery)),
        "defaults": _defaults(flow, built_flow),
    }


def _sockets(recovery: str) -> str:
    """Returns the factory of sockets with this recovery."""
    if RECOVERIES[recovery].uses_sack:
        return _OWN_SOCKETS
    variant = {"tahoe": "Tahoe", "reno": "Reno", "newreno": "NewReno"}[recovery]
    return f"ns3::WwTcp{variant}Factory"


def _defaults(flow: Any, built_flow: _engine.Flow) -> Defaults:
    """Returns the attributes with which the flow's sockets are created."""
    sockets = [*_of_sockets(built_flow), *_of_congestion_control(flow, built_flow)]
    return {default.attribute: default for default in sockets}


def _of_sockets(flow: _engine.Flow) -> Iterator[_Default]:
    mss = flow.mss
    has_ssthresh = flow.initial_ssthresh >= 0
    ssthresh = min(flow.initial_ssthresh * mss, _LARGEST) if has_ssthresh else _LARGEST

    def count(attribute: str, number: int, constant: str, unit: str = "") -> _Default:
        return _Default(attribute, "UintegerValue({})", _count(number), constant, "uint32_t", unit)

    def time(attribute: str, ps: int, constant: str) -> _Default:
        return _Default(attribute, "TimeValue(Seconds({}))", _seconds(ps), constant, "double")

    def switch(attribute: str, on: int, constant: str) -> _Default:
        number = "true" if on else "false"
        return _Default(attribute, "BooleanValue({})", number, constant, "bool")

    yield count("TcpSocket::SegmentSize", mss, "SEGMENT_BYTES", "of payload")
    yield count("TcpSocket::InitialCwnd", flow.initial_cwnd, "INITIAL_CWND_SEGMENTS")
    yield count("TcpSocket::InitialSlowStartThreshold", ssthresh, "INITIAL_SSTHRESH_BYTES")
    yield count("TcpSocket::SndBufSize", flow.receive_window_bytes, "SEND_BUFFER_BYTES")
    yield count("TcpSocket::RcvBufSize", flow.receive_window_bytes, "RECEIVE_BUFFER_BYTES")
    yield time("TcpSocket::ConnTimeout", flow.initial_rto, "INITIAL_RTO_S")
    yield count("TcpSocket::DelAckCount", flow.delayed_ack, "SEGMENTS_AN_ACK")
    yield time("TcpSocket::DelAckTimeout", flow.delayed_ack_timeout, "DELAYED_ACK_S")
    yield count("TcpSocket::DataRetries", 1_000_000, "RETRANSMISSIONS", "before it gives up")
    yield time("TcpSocketBase::MinRto", flow.min_rto, "MIN_RTO_S")
    yield count(
        "TcpSocketBase::ReTxThreshold", flow.dupack_threshold, "DUPLICATE_ACKS", "for a loss"
    )
    yield switch("TcpSocketBase::LimitedTransmit", flow.limited_transmit, "LIMITED_TRANSMIT")
    yield switch("TcpSocketBase::Timestamp", flow.timestamps, "TIMESTAMPS")
    ecn = "On" if flow.ecn else "Off"
    yield _Default("TcpSocketBase::UseEcn", "StringValue({})", f'"{ecn}"', "ECN", "std::string")


def _of_congestion_control(flow: Any, built_flow: _engine.Flow) -> Iterator[_Default]:
    of_class = f"ns3::{PROTOCOLS[flow.cc.name].ns3}"
    yield _Default("TcpL4Protocol::SocketType", "StringValue({})", _class(of_class))
    if RECOVERIES[flow.recovery].uses_sack:
        is_prr = flow.recovery == "prr"
        recovery = "ns3::TcpPrrRecovery" if is_prr else "ns3::WwClassicRecovery"
        yield _Default("TcpL4Protocol::RecoveryType", "StringValue({})", _class(recovery))
    if of_class == _CUBIC:
        hystart = "false" if built_flow.cc.slow_start == "standard" else "true"
        yield _Default("TcpCubic::HyStart", "BooleanValue({})", hystart)
    if of_class == _FAMILY:
        name = json.dumps(flow.cc.name)
        yield _Default("WwTcpWestwood::Protocol", "StringValue({})", name)
        cc_settings = _engine.configure(flow.cc.name)
        cc_settings.byte_counting = False  # the module's classes count ACKs, as ns-3 does
        for setting in settings_of_protocol(flow.cc.name).values():
            if setting.name != "validate_cwnd":  # ns-3 also grows windows that are not full
                value = getattr(built_flow.cc, setting.field)
                yield _of_family(setting, value, value == getattr(cc_settings, setting.field))


def _class(name: str) -> str:
    """Returns a class's name in the program, a constant for classes of our module."""
    return _OF_MODULE[name].constant if name in _OF_MODULE else json.dumps(name)


def _of_family(setting: Setting, value: Any, follows: bool) -> _Default:
    """Returns the attribute that ns3/model/ww-settings.cc declares for a setting."""
    name = "".join(word.capitalize() for word in setting.name.split("_"))
    match setting.kind:
        case "SWITCH":
            written = "BooleanValue({})", "true" if value else "false"
        case "SPAN":
            written = "TimeValue(MicroSeconds({}))", str(value)
        case "SHARE" | "FACTOR_OR_NONE":
            written = "DoubleValue({})", repr(value / 1000)
        case "CHOICE":
            written = "StringValue({})", json.dumps(value)
        case _:
            written = "UintegerValue({})", str(value)
    return _Default(f"WwTcpWestwood::{name}", *written, follows=follows)


def _divided(flows: Sequence[Defaults]) -> tuple[Defaults, list[list[_Default]]]:
    """Splits the attributes into those that all flows share and those of each flow.

    Defaults of our protocols are left out unless a flow differs from them.
    """
    numbers: dict[str, set[str]] = {}
    needed: set[str] = set()
    for flow in flows:
        for attribute, default in flow.items():
            numbers.setdefault(attribute, set()).add(default.number)
            needed |= set() if default.follows else {attribute}
    shared = {
        key: default
        for flow in flows
        for key, default in flow.items()
        if len(numbers[key]) == 1 and key in needed
    }
    differing = needed - shared.keys()
    return shared, [[entry for key, entry in flow.items() if key in differing] for flow in flows]


def _named_group(
    groups: dict[tuple[str, ...], str], flow: str, settings: Sequence[_Default]
) -> str:
    """Returns the function that sets a flow's own attributes; equal flows share one."""
    statements = tuple(
        setting.set_on_node
        if setting.attribute.startswith("TcpL4Protocol::")
        else setting.set_to(setting.number)
        for setting in settings
    )
    if statements not in groups:
        camel = _camel_case(flow)
        name = f"SetTcpOf{camel[:1].upper()}{camel[1:]}"
        groups[statements] = _unlike(name, set(groups.values()))
    return groups[statements]


def _classes(flows: Sequence[Mapping[str, Any]]) -> list[_Class]:
    """Returns our module's classes that the program uses."""
    named = {flow["sockets"] for flow in flows}
    constants = {default.number for flow in flows for default in flow["defaults"].values()}
    return [
        module_class
        for module_class in _OF_MODULE.values()
        if module_class.name in named or module_class.constant in constants
    ]
