# SPDX-License-Identifier: BSD-3-Clause
"""A scenario for Linux: which settings a kernel can take, and the text that linux/ww-path reads.

What Linux does in one way only, a scenario has to have that way: the profile `linux` has it all.
docs/linux-path.md says which setting becomes what.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from westwood.catalogue import UDP
from westwood.engines import network
from westwood.errors import InputError, UnavailableError
from westwood.units import TIME_UNITS, format_size, format_time

if TYPE_CHECKING:
    from westwood import _engine
    from westwood.scenario import Scenario
    from westwood.scenario.flows import Flow

# Protocol: the kernel's congestion control. Ours are those with ww_.
CONTROLS = {
    "reno": "reno", "newreno": "reno", "sack": "reno", "cubic": "cubic", "bbr": "bbr",
    "vegas": "vegas", "westwood+-linux": "westwood", "westwood": "ww_westwood",
    "westwood+": "ww_plus", "westwoodnr+": "ww_nrplus", "westwood+-linux24": "ww_plus_rh",
}  # fmt: skip
_OURS = "ww_"
_LINUX_HAS = ("byte_counting", "validate_cwnd", "hystart")  # of options of a flow's cc
_MOST_HOSTS = 256
_MOST_FLOWS = 4096
_LEAST_MSS = 88  # bytes: of the kernel's tcp_min_snd_mss and its options
_IP, _UDP = 20, 8
_PLAIN, _STAMPED = 40, 52  # headers without and with timestamps (RFC 7323)
_MS = TIME_UNITS["ms"]
_REMEDY = "; the profile linux has it"


def _refuse(key: str, value: object, expected: str) -> InputError:
    return InputError(f"--engine linux expects {expected}", key=key, value=value)


def check(scenario: Scenario) -> None:
    """InputError names what Linux can't do, UnavailableError what this kernel lacks."""
    flows = scenario.flows
    if len(flows) > _MOST_FLOWS:
        raise _refuse("flow", len(flows), f"at most {_MOST_FLOWS} flows")
    hosts = {node for flow in flows for node in (flow.from_, flow.to)}
    if len(hosts) > _MOST_HOSTS:
        raise _refuse("flow", len(hosts), f"at most {_MOST_HOSTS} nodes that flows begin or end at")
    for flow in scenario.flow:
        _check_flow(flow)
    _check_shared(flows)
    for control in sorted({CONTROLS[flow.cc.name] for flow in flows if flow.cc.name != UDP}):
        require(control)


def _check_flow(flow: Flow) -> None:
    name = flow.name
    if flow.cc.name == UDP:
        if flow.header < _IP + _UDP:
            raise _refuse(f"{name}.header", format_size(flow.header), "at least 28B, IP and UDP")
        return
    if flow.cc.name not in CONTROLS:
        raise _refuse(f"{name}.cc", flow.cc.name, "one of " + ", ".join(CONTROLS))
    if flow.recovery == "tahoe":
        raise _refuse(f"{name}.recovery", flow.recovery, "another recovery: Linux has no Tahoe")
    if flow.header not in (_PLAIN, _STAMPED):
        expected = '"52B" (with timestamps) or "40B" (without)'
        raise _refuse(f"{name}.header", format_size(flow.header), expected)
    if flow.mss < _LEAST_MSS:
        expected = f"a segment of at least {_LEAST_MSS} B in it"
        raise _refuse(f"{name}.packet", format_size(flow.packet), expected)
    if flow.initial_ssthresh.count is not None:
        raise _refuse(f"{name}.initial_ssthresh", str(flow.initial_ssthresh),
                      '"unlimited", the only one that Linux starts with')  # fmt: skip
    chosen = flow.cc.model_dump(exclude={"name", *_LINUX_HAS})
    for key, value in chosen.items():
        if value is not None:
            raise _refuse(f"{name}.cc.{key}", value, "the kernel's own, which can't be set")
    for key, value, right, expected in _fixed(flow):
        if not right:
            raise _refuse(f"{name}.{key}", value, expected + _REMEDY)


def _fixed(flow: Flow) -> Iterator[tuple[str, object, bool, str]]:
    """What Linux does in one way: key, value, whether it is Linux's, what that is."""
    for key in _LINUX_HAS:
        # None is the preset's false, of protocols which don't have it too
        value, matters = getattr(flow.cc, key), key != "hystart" or flow.cc.name == "cubic"
        yield f"cc.{key}", value or False, bool(value) or not matters, "true"
    for key in ("limited_transmit", "handshake_rtt", "ssthresh_from_cwnd"):
        yield key, getattr(flow, key), getattr(flow, key), "true"
    yield "delayed_ack", flow.delayed_ack, flow.delayed_ack in (1, 2), "1 or 2"
    ack, first = flow.delayed_ack_timeout, flow.initial_rto
    yield "delayed_ack_timeout", format_time(ack), ack == 40 * _MS, '"40ms"'
    yield "initial_rto", format_time(first), first == 1000 * _MS, '"1s"'
    least, most = flow.min_rto, flow.max_rto
    yield "min_rto", format_time(least), least % _MS == 0, "whole milliseconds"
    yield ("clock_granularity", format_time(flow.clock_granularity),
           flow.clock_granularity == least,
           f'min_rto, "{format_time(least)}": its floor is of the variance')  # fmt: skip
    yield ("max_rto", format_time(most), most % _MS == 0 and 1000 * _MS <= most <= 120_000 * _MS,
           "1s to 120s")  # fmt: skip
    yield "dupack_threshold", flow.dupack_threshold, flow.dupack_threshold <= 300, "at most 300"


def _check_shared(flows: Iterable[Flow]) -> None:
    """Settings that a kernel has once a host."""
    seen: dict[tuple[str, str], object] = {}
    for flow in flows:
        if flow.cc.name == UDP:
            continue
        for key, value, shown in (
            ("header", flow.header, format_size(flow.header)),
            ("recovery", _sack(flow), flow.recovery),
            ("dupack_threshold", flow.dupack_threshold, flow.dupack_threshold),
        ):
            if seen.setdefault((flow.from_, key), value) != value:
                what = "with or without SACK" if key == "recovery" else "the same"
                expected = f"{what} for all flows from {flow.from_}, for its host has it once"
                raise _refuse(f"{flow.name}.{key}", shown, expected)


def _sack(flow: Flow) -> bool:
    """Selective acknowledgments: always, but for NewReno's recovery."""
    return flow.recovery != "newreno"


def is_ours(control: str) -> bool:
    """Whether it is one that `westwood kernel load` registers."""
    return control.startswith(_OURS)


def require(control: str) -> None:
    """UnavailableError, with the remedy, if the kernel has no such congestion control."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        try:
            probe.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
        except OSError as error:
            if error.errno == errno.EPERM:  # it is there, and in a namespace of ours it may be used
                return
            remedy = "westwood kernel load" if is_ours(control) else f"modprobe tcp_{control}"
            problem = f"--engine linux: this kernel has no congestion control {control}"
            raise UnavailableError(f"{problem}: {remedy}") from None


def text(scenario: Scenario) -> str:
    """The scenario as linux/path_plan.hpp reads it, without its seed and its end."""
    built = network.build(scenario)
    lines = [f"duration_ps {built.duration_ps}", f"nodes {built.nodes}"]
    for link in built.links:
        lines.append(f"link {link.a} {link.b} {link.overhead_bytes}")
        for side, way in (("forward", link.forward), ("backward", link.backward)):
            lines += [side, *_direction(way)]
    for flow, its in zip(scenario.flows, built.flows, strict=True):
        control = "none" if flow.cc.name == UDP else CONTROLS[flow.cc.name]
        lines.append(f"flow {its.from_node} {its.to_node} {control}")
        lines += [*_flow(its), f"sack {int(_sack(flow))}"]
    return "".join(f"{line}\n" for line in lines)


def run_lines(seed: int, folder: Path | None) -> str:
    """The rest: the seed, where traces go, the end."""
    trace = f"trace {folder}\n" if folder else ""
    return f"seed {seed}\n{trace}end\n"


def _words(name: str, *values: Any) -> str:
    shown = (str(int(value)) if isinstance(value, bool) else str(value) for value in values)
    return " ".join([name, *shown])


def _direction(way: _engine.Direction) -> Iterator[str]:
    yield _words("rate_bps", way.rate_bps)
    yield _words("delay_ps", way.delay_ps)
    yield _words("queue", way.queue_packets, way.queue_bytes)
    if way.jitter_ps:
        yield _words("jitter_ps", way.jitter_ps)
    if way.reorder_rate:
        yield _words("reorder", way.reorder_rate, way.reorder_delay_ps)
    if way.opportunities_ms:
        yield _words("opportunities", *way.opportunities_ms)
    loss, red = way.loss, way.red
    losses: dict[str, Callable[[], tuple[Any, ...]]] = {
        "none": tuple,
        "uniform": lambda: (loss.rate,),
        "bits": lambda: (loss.rate,),
        "script": lambda: tuple(loss.packets),
        "states": lambda: (*loss.state_mean_ps, *loss.state_rate, loss.state_fixed),
    }
    yield _words("loss", loss.kind, *losses[loss.kind]())
    if red.on:
        yield _words("red", red.min_packets, red.max_packets, red.max_p, red.weight,
                     red.mean_packet_bytes, red.gentle, red.ecn)  # fmt: skip


def _flow(flow: _engine.Flow) -> Iterator[str]:
    for name in ("start_ps", "start_spread_ps", "stop_ps", "size_bytes", "mss", "header_bytes"):
        yield _words(name, getattr(flow, name))
    if flow.datagrams.on:
        source = flow.datagrams
        yield _words("datagrams", source.rate_bps, source.on_mean_ps, source.off_mean_ps,
                     source.spread)  # fmt: skip
        return
    if flow.arrivals_mean_ps:
        yield _words("arrivals", flow.arrivals_mean_ps, flow.size_spread)
    for name in ("initial_cwnd", "receive_window", "min_rto_ps", "max_rto_ps", "delayed_ack",
                 "dupack_threshold", "ecn"):  # fmt: skip
        yield _words(name, getattr(flow, name))
