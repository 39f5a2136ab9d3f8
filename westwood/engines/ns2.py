# SPDX-License-Identifier: BSD-3-Clause
"""Runs scenarios in ns-2 2.35, from Debian's package `ns2`.

A scenario becomes a script of the commands that ns2.tcl defines. ns-2 counts packets and has one
clock, tcpTick_; docs/comparison.md has the results. WESTWOOD_NS2 can name
another ns, such as one with UCLA's module of TCP Westwood.
"""

from __future__ import annotations

import math
import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from westwood import _engine
from westwood.control.catalogue import DIRECTION_COLUMNS, FLOW_COLUMNS
from westwood.engines import network, ns2_limits
from westwood.engines.contract import Job, RunSeed, without_events
from westwood.engines.ns2_limits import Agent, agent_of
from westwood.engines.result import Result
from westwood.errors import InputError, RunError, UnavailableError, one_line
from westwood.programs import run, system_program
from westwood.results.raw import RawLinkSide, RawResult, link_side
from westwood.results.records import InMemory
from westwood.results.rows import rows_of_run
from westwood.scenario import Scenario
from westwood.units import PS_PER_S

ENGINE = "ns2"
VARIABLE = "WESTWOOD_NS2"
REMEDY = "apt-get install ns2"
_WORDS = Path(__file__).with_name("ns2.tcl")
_UNLIMITED = 1_000_000  # packets, for queues and windows without a limit
_STAMPS = 12  # bytes: the option of RFC 7323
_FOREVER = -1  # sendmsg() of a TcpAgent
_SEEDS = 2**31 - 2  # the largest seed of ns-2's generator


def program() -> Path:
    """Returns ns-2's location; raises UnavailableError with the remedy if it is missing."""
    named = os.environ.get(VARIABLE)
    path = named or system_program("ns")
    if path and os.access(path, os.X_OK) and Path(path).is_file():
        return Path(path)
    problem = f"{VARIABLE} names no program" if named else "it is not installed"
    raise UnavailableError(f"engine ns2 needs ns-2, and {problem}: {REMEDY}")


def _simulated(scenario: Scenario, seed: int, trace: bool) -> Result:
    if trace:
        raise InputError(
            "ns-2 gives no trace, expected another engine", key="--engine", value=ENGINE
        )
    return _run(_program_for(scenario), script(scenario), scenario, seed)


simulate = without_events(ENGINE, _simulated)


def prepare(job: Job) -> RunSeed:
    """Checks a job; returns the function that runs a seed in ns-2."""
    if job.more_columns:
        raise InputError("ns-2 gives no trace for this figure", key="--engine", value=ENGINE)
    path, text = _program_for(job.scenario), script(job.scenario)
    return lambda seed: job.rows(_run(path, text, job.scenario, seed))


def _program_for(scenario: Scenario) -> Path:
    """Returns ns-2's location; raises UnavailableError if it lacks a module for a flow."""
    path = program()
    for agent in filter(None, map(agent_of, scenario.flows)):
        if agent.is_a_module and not _has(path, agent.agent):
            raise UnavailableError(
                f"engine ns2 needs an ns with the module {agent.agent} for this protocol "
                f"({VARIABLE} names it), and {path} has none: docs/comparison.md"
            )
    return path


@cache
def _has(program: Path, agent: str) -> bool:
    """Returns whether this ns-2 has an agent of this class."""
    asked = f"puts [llength [info commands Agent/{agent}]]\nputs end\nexit 0\n"
    return ["1"] in _execute(program, asked, f"looking for {agent}")


def script(scenario: Scenario) -> str:
    """Returns the scenario as an ns-2 script; raises InputError for what ns-2 can't do."""
    ns2_limits.check(scenario)
    built = network.build(scenario)
    lines = [f"nodes {built.nodes}"]
    has_syn = built.flows[0].handshake_rtt
    for link in built.links:
        ends = ((link.a, link.b, link.forward), (link.b, link.a, link.backward))
        for a, b, direction in ends:
            lines += _direction(a, b, direction, len(built.flows), has_syn)
    for flow, built_flow in zip(scenario.flows, built.flows, strict=True):
        agent = agent_of(flow)
        assert agent is not None  # check() has seen it
        lines.append(_flow(agent, built_flow))
    lines.append(f"$ns at {_s(built.duration)} {{report {_s(built.duration)}}}")
    return "".join(f"{line}\n" for line in lines)


def _s(picoseconds: int) -> str:
    return repr(picoseconds / PS_PER_S)


def _list(values: Mapping[str, Any]) -> str:
    words = (
        f"{key} {int(value) if isinstance(value, bool) else value}" for key, value in values.items()
    )
    return "{" + " ".join(words) + "}"


def _direction(a: int, b: int, side: _engine.Direction, flows: int, has_syn: bool) -> Iterator[str]:
    limit = _UNLIMITED if side.queue_packets < 0 else side.queue_packets
    red = _red(side.red) if side.queue_kind == "red" else {}
    yield f"direction {a} {b} {side.rate_bps} {_s(side.delay)} {limit} {_list(red)} {flows}"
    if isinstance(side.loss, _engine.Uniform):
        yield f"loses [uniform {side.loss.rate!r}] {a} {b} {flows}"
    elif isinstance(side.loss, _engine.LossList):
        numbers = _numbers(side.loss.packets, has_syn)
        yield f"loses [scripted {{{' '.join(map(str, numbers))}}}] {a} {b} {flows}"


def _numbers(packets: Sequence[int], has_syn: bool) -> Iterator[int]:
    """Yields the packet numbers of a single flow in ns-2's numbering, which begins with 0.

    In ours, 1 is the SYN, 2 the ACK that ends the handshake, and data starts at 3. ns-2 has no such
    ACK, and no SYN if `syn_` is off.
    """
    for number in packets:
        if number == 1 and has_syn:
            yield 0
        elif number > 2:
            yield number - 2 - (not has_syn)


def _red(red: _engine.Red) -> dict[str, Any]:
    """Returns RED's settings in packets; drops are spaced by the paper's method 2."""
    return {
        "thresh": red.min_packets,
        "maxthresh": red.max_packets,
        "linterm": 1 / red.max_p,
        "q_weight": red.weight,
        "mean_pktsize": red.mean_packet_bytes,
        "gentle": red.gentle,
        "setbit": red.ecn,
        "wait": False,
        "bytes": False,
        "queue_in_bytes": False,
        "adaptive": 0,
    }


def _flow(agent: Agent, flow: _engine.Flow) -> str:
    mss = flow.packet_bytes - flow.header_bytes
    window = max(1, flow.receive_window_bytes // mss)
    ssthresh = window if flow.initial_ssthresh < 0 else flow.initial_ssthresh
    settings = {
        "packetSize": mss,
        "tcpip_base_hdr_size": flow.header_bytes - (_STAMPS if flow.timestamps else 0),
        "timestamps": flow.timestamps,
        "ts_option_size": _STAMPS,
        "useHeaders": True,
        "window": window,
        "ssthresh": ssthresh,
        "windowInit": flow.initial_cwnd,
        "syn": flow.handshake_rtt,
        "delay_growth": flow.handshake_rtt,
        "tcpTick": _s(flow.clock_granularity),
        "minrto": _s(flow.min_rto),
        "maxrto": _s(flow.max_rto),
        "rtxcur_init": _s(flow.initial_rto),
        "numdupacks": flow.dupack_threshold,
        "singledup": int(flow.limited_transmit),
        "ecn": int(flow.ecn),
        "precisionReduce": False,  # the default changed in January 2006
        **agent.settings(flow),
    }
    sinks: dict[str, Any] = {"packetSize": flow.header_bytes}
    sink = agent.sink
    if flow.delayed_ack > 1:
        sink += "/DelAck"
        sinks["interval"] = _s(flow.delayed_ack_timeout)
    size = _FOREVER if flow.size_bytes < 0 else flow.size_bytes
    ends = f"{flow.from_node} {flow.to_node}"
    line = f"flow {agent.agent} {sink} {ends} {_s(flow.start)} {size}"
    return f"{line} {_list(settings)} {_list(sinks)} {{{agent.select}}}"


def _run(program: Path, text: str, scenario: Scenario, seed: int) -> Result:
    what, wall = f"{scenario.name}, seed {seed}", time.perf_counter()
    of_ns2 = 1 + (seed - 1) % _SEEDS
    lines = _execute(program, f"{_WORDS.read_text()}\nns-random {of_ns2}\n{text}$ns run\n", what)
    raw = _result(scenario, lines)
    cost = {"cpu_s": math.nan, "wall_s": time.perf_counter() - wall}
    return Result(scenario, seed, rows_of_run(scenario, seed, raw, cost, ENGINE), raw)


def _execute(program: Path, text: str, what: str) -> list[list[str]]:
    """Runs ns-2 with this script; returns the words of its output lines."""
    with tempfile.TemporaryFile("w") as file:
        file.write(text)
        file.flush()
        done = run([program, f"/proc/{os.getpid()}/fd/{file.fileno()}"], "")
    lines = [line.split() for line in done.out.splitlines()]
    if done.code != 0 or ["end"] not in lines:
        last = (done.errors.strip() or "no message").splitlines()[0]
        raise RunError(f"{what}: ns-2 ended with {one_line(last)}")
    return lines


def _result(scenario: Scenario, lines: Sequence[Sequence[str]]) -> RawResult:
    """Converts ns-2's output to an engine's raw result."""
    tables: dict[str, list[dict[str, str]]] = {"flow": [], "direction": []}
    for kind, *words in lines:
        if kind in tables:
            tables[kind].append(dict(zip(words[::2], words[1::2], strict=True)))
    flows, directions = tables["flow"], tables["direction"]
    counted = [
        _counts(flow, flow_texts) for flow, flow_texts in zip(scenario.flows, flows, strict=True)
    ]
    connections: dict[str, Any] = {"source": list(range(len(flows)))}
    for name, column in FLOW_COLUMNS.items():
        to, missing = (int, 0) if column.type == "COUNT" else (float, math.nan)
        connections[name] = [to(counts.get(name, missing)) for counts in counted]
    largest = max(flow.packet for flow in scenario.flow)
    both = [_side(direction, largest, scenario.duration / PS_PER_S) for direction in directions]
    kept = InMemory(lambda table: {})
    return RawResult(connections, both[::2], both[1::2], kept)


def _counts(flow: Any, counts: Mapping[str, str]) -> dict[str, float]:
    """Computes our columns of a flow from ns-2's counters, which include the SYN."""
    counted = {name: float(value) for name, value in counts.items()}
    packet, syn = flow.packet, flow.header if flow.handshake_rtt else 0
    segments = max(0.0, counted["in_order"] - syn) // packet
    data = max(0.0, counted["sent"] - (1 if syn else 0))
    arrived = max(0.0, counted["arrived"] - (1 if syn else 0))
    in_flight = data - arrived - counted["queue_drops"] - counted["lost"]
    return {
        **counted,
        "sent": data,
        "in_flight": in_flight,
        "delivered_bytes": segments * flow.mss,
        "ip_bytes_at_sink": arrived * packet,
        "fast_recoveries": max(0.0, counted["reductions"] - counted["timeouts"]),
    }


def _side(counts: Mapping[str, str], largest: int, duration_s: float) -> RawLinkSide:
    """Computes our columns of a link's direction.

    ns-2 does not report the size of a packet that is still being sent at the end; it is taken to be
    the largest.
    """
    counted = {name: float(value) for name, value in counts.items()}
    bps = counted.pop("bps")
    beyond_s = max(0.0, counted.pop("last_departure_s") + 8 * largest / bps - duration_s)
    sending_s = 8 * counted.pop("sent_bytes") / bps
    numbers = {name: counted.get(name, math.nan) for name in DIRECTION_COLUMNS}
    busy_s = max(0.0, sending_s - beyond_s)  # below 0 if less than a packet was sent
    return link_side({**numbers, "utilisation": busy_s / duration_s})
